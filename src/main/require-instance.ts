// Checks that the settings lead to an existing instance.
import { statSync } from 'node:fs'
import { OperatorError } from '#lib/operator-error.ts'
import type { Config } from '#platform/config/config.ts'
import { createPool } from '#platform/db/db.ts'
import { hasSchema } from '#platform/db/migrate.ts'
import { hasDatabase } from '#platform/embedded-postgres/location.ts'
import { connectionsOf } from './open-database.ts'
import { usable } from './preflight.ts'

/** Checks that the settings lead to an instance, and creates nothing. @throws OperatorError otherwise. */
export async function requireInstance(config: Config): Promise<void> {
  const { dataDir, database } = config
  const found = usable(dataDir, () => statSync(dataDir, { throwIfNoEntry: false }))
  if (found === undefined || (database.kind === 'embedded' && !hasDatabase(dataDir)))
    throw noInstance(`The data folder ${dataDir} (DATA_DIR) contains no instance of Depot`)
  if (database.kind === 'embedded') return
  const pool = createPool(connectionsOf(config, undefined).direct, { max: 1, applicationName: 'depot-check' })
  try {
    if (!(await hasSchema(pool))) throw noInstance('The database of DATABASE_URL contains no instance of Depot')
  } finally {
    await pool.end()
  }
}

function noInstance(sentence: string): OperatorError {
  const message = `${sentence}. Create one with \`depot serve\`, or use the settings of an existing instance (--env-file).`
  return new OperatorError(message, { dependency: 'instance' })
}
