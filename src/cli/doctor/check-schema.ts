// Checks the schema of the database before the instance is used.
import { COMMAND } from '#features/basics/audit/actor.ts'
import { error, type Finding, warning } from '#features/operation/doctor/finding.ts'
import { reasonOf } from '#lib/errors.ts'
import { migrateInstance } from '#main/migrate-instance.ts'
import { pendingMigrations } from '#platform/db/migrate.ts'
import type { Deps } from '#ports/deps.ts'

/** Returns the findings, and whether the instance can be checked further. */
export async function checkSchema(
  deps: Pick<Deps, 'pool' | 'db' | 'config'>,
): Promise<{ findings: Finding[]; isCurrent: boolean }> {
  try {
    const pending = await pendingMigrations(deps.pool)
    if (pending.length === 0) return { findings: [], isCurrent: true }
    const names = pending.map(({ name }) => name).join(', ')
    const message = `The schema is older than this release (${names}); run \`depot migrate\`, \`depot doctor --fix\`, or start Depot.`
    return {
      findings: [warning('migrations_pending', message, () => migrateInstance(deps, COMMAND))],
      isCurrent: false,
    }
  } catch (cause) {
    return { findings: [error('schema_unknown', reasonOf(cause))], isCurrent: false }
  }
}
