// The age of the copies of mirrors and the number of objects that they lack, for the metrics.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { gauge, once, type Registered } from '#platform/telemetry/observe.ts'

/** The oldest last run of the mirrors, undefined without one, and the objects that they could not copy. */
type MirrorState = { ageSeconds: number | undefined; skipped: number }

/** A mirror whose first run has not ended waits from its creation on. */
async function readMirrorState(db: Db, now: number): Promise<MirrorState> {
  const { rows } = await sql<{ oldest: Date | null; skipped: number }>`
    select (select min(coalesce(last_run, created)) from mirror) as oldest,
      (select count(*)::int from mirror_failure) as skipped`.execute(db)
  const { oldest = null, skipped = 0 } = rows[0] ?? {}
  return { ageSeconds: oldest === null ? undefined : Math.max(0, (now - oldest.getTime()) / 1000), skipped }
}

/** Registers the mirrors, which all processes share. If reading fails, there are no values. */
export function observeMirrors(metrics: Registered, { db, now }: { db: Db; now: () => number }): void {
  const state = once(() => readMirrorState(db, now()).catch(() => undefined))
  gauge(metrics, {
    name: 'depot_mirror_age_seconds',
    help: 'Time since the last complete run of a mirror: of the one that has waited longest. There is no value without mirrors',
    read: async () => (await state())?.ageSeconds,
  })
  gauge(metrics, {
    name: 'depot_mirror_skipped_objects',
    help: 'Projects and versions that mirrors could not copy; every run tries them again',
    read: async () => (await state())?.skipped,
  })
}
