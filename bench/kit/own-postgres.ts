// A PostgreSQL for comparison: the operator's at DATABASE_URL, or a temporary one in a folder that is deleted
// afterwards.
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'

export async function withPostgres<T>(run: (databaseUrl: string) => Promise<T>): Promise<T> {
  const { DATABASE_URL } = process.env
  if (DATABASE_URL !== undefined && DATABASE_URL !== '') return run(DATABASE_URL)
  const dataDir = await mkdtemp(join(tmpdir(), 'depot-bench-postgres-'))
  await chmod(dataDir, 0o711)
  const quiet = () => undefined
  const log = { debug: quiet, info: quiet, warn: console.error, error: console.error }
  const postgres = await startEmbeddedPostgres({ dataDir, holder: 'command', log, systemDir: join(dataDir, 'system') })
  try {
    return await run(postgres.connectionString)
  } finally {
    await postgres.stop()
    await rm(dataDir, { recursive: true })
  }
}
