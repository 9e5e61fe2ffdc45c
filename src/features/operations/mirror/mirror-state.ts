// The age of the copies of mirrors and the number of objects that they lack, for the metrics.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import type { MirrorState } from '#platform/telemetry/observe.ts'

/** A mirror whose first run has not ended waits from its creation on. */
export async function readMirrorState(db: Db, now: number): Promise<MirrorState> {
  const { rows } = await sql<{ oldest: Date | null; skipped: number }>`
    select (select min(coalesce(last_run, created)) from mirror) as oldest,
      (select count(*)::int from mirror_failure) as skipped`.execute(db)
  const { oldest = null, skipped = 0 } = rows[0] ?? {}
  return { ageSeconds: oldest === null ? undefined : Math.max(0, (now - oldest.getTime()) / 1000), skipped }
}
