// Statements of feeds.
import type { Db } from '#platform/db/db.ts'

/** Returns the identity of the instance, which never changes. */
export function getInstance(db: Db): Promise<{ id: string; created: Date }> {
  return db.selectFrom('instance').select(['id', 'created']).executeTakeFirstOrThrow()
}
