// Whether the manifest of game versions could be read.
import type { Db } from '#platform/db/db.ts'

export type ManifestState = { readAt: Date | null; failingSince: Date | null; reason: string | null }

const REASON_LENGTH_MAX = 500

export async function readManifestState(db: Db): Promise<ManifestState> {
  const row = await db.selectFrom('version_manifest').selectAll().executeTakeFirst()
  return { readAt: row?.read_at ?? null, failingSince: row?.failing_since ?? null, reason: row?.reason ?? null }
}

export async function saveManifestRead(db: Db, at: Date): Promise<void> {
  const values = { read_at: at, failing_since: null, reason: null }
  await db
    .insertInto('version_manifest')
    .values(values)
    .onConflict((conflict) => conflict.column('only_one').doUpdateSet(values))
    .execute()
}

/** Stores the reason. The time stays that of the first failure since the manifest was last read. */
export async function saveManifestFailure(db: Db, at: Date, text: string): Promise<void> {
  const reason = text.slice(0, REASON_LENGTH_MAX)
  await db
    .insertInto('version_manifest')
    .values({ failing_since: at, reason })
    .onConflict((conflict) =>
      conflict
        .column('only_one')
        .doUpdateSet(({ fn, ref, val }) => ({
          reason,
          failing_since: fn.coalesce(ref('version_manifest.failing_since'), val(at)),
        })),
    )
    .execute()
}
