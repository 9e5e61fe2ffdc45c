import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { diskSpace } from '#features/operation/overview/storage/disk.ts'
import type { Config } from '#platform/config/config.ts'
import { type MigrateOptions, migrate } from '#platform/db/migrate.ts'
import { databaseFolder } from '#platform/embedded-postgres/location.ts'
import type { Deps } from '#ports/deps.ts'

/** Updates the schema and records this in the audit log. Returns the applied migrations. @throws as `migrate` */
export async function migrateInstance(
  { pool, db, config }: Pick<Deps, 'pool' | 'db' | 'config'>,
  actor: Actor,
  options: Pick<MigrateOptions, 'onProgress' | 'onWait'> = {},
): Promise<string[]> {
  const migrations = await migrate(pool, { ...options, freeBytes: freeSpaceOf(config) })
  if (migrations.length > 0) await recordAudit(db, { action: 'schema.migrated', actor, details: { migrations } })
  return migrations
}

/** Returns a function that measures the free space for the embedded database; undefined for a server of the operator. */
export function freeSpaceOf({ database, dataDir }: Config): (() => Promise<number>) | undefined {
  if (database.kind === 'external') return undefined
  return async () => (await diskSpace(databaseFolder(dataDir))).freeBytes
}
