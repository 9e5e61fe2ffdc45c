// Results of checks of the instance: its certificate, and the newest release of Depot. Each check has one row.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'

export type Checks = {
  /** The newest release in the feed of releases. */
  release?: { version: string; url: string }
  /** The end of the certificate at `BASE_URL`, in RFC 3339. */
  certificate?: { until: string }
}

export async function saveCheck<Name extends keyof Checks>(
  db: Db,
  name: Name,
  { value, at }: { value: Checks[Name]; at: Date },
): Promise<void> {
  const row = { at, value: JSON.stringify(value) }
  await db
    .insertInto('instance_check')
    .values({ name, ...row })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
    .execute()
}

/** Returns the results that are at most two days old: a check that is off or fails says nothing. */
export async function loadChecks(db: Db, now: number): Promise<Checks> {
  const { rows } = await sql<{ checks: Checks }>`
    select coalesce(jsonb_object_agg(name, value), '{}') as checks from instance_check
    where at > ${new Date(now)}::timestamptz - interval '2 days'`.execute(db)
  return rows[0]?.checks ?? {}
}
