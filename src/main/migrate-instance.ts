import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { type MigrateOptions, migrate } from '#platform/db/migrate.ts'
import type { Deps } from '#ports/deps.ts'

/** Updates the schema and records this in the audit log. Returns the applied migrations. @throws as `migrate` */
export async function migrateInstance(
  { pool, db }: Pick<Deps, 'pool' | 'db'>,
  actor: Actor,
  options: Pick<MigrateOptions, 'onProgress'> = {},
): Promise<string[]> {
  const migrations = await migrate(pool, options)
  if (migrations.length > 0) await recordAudit(db, { action: 'schema.migrated', actor, details: { migrations } })
  return migrations
}
