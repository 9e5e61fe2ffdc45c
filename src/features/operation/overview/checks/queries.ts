// Results of checks of the instance: its certificate, and the newest release of Depot. Each check has one row.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'

export type Checks = {
  /** The newest release in the feed of releases. */
  release?: { version: string; url: string }
  /** The end of the certificate at `BASE_URL`, in RFC 3339. */
  certificate?: { until: string }
  /** The content of BACKUP_TARGET, or why it cannot be read. */
  backup_target?: { backups: { name: string; bytes: number }[]; files_bytes: number; error: string | null }
  /** The progress of the backup that runs. */
  backup_progress?: { step: 'rows' | 'files' | 'events'; done: number; total: number | null }
}

/** Each result has the time of its check, in RFC 3339. */
export type CheckResults = { [Name in keyof Checks]: Checks[Name] & { at: string } }

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
export async function loadChecks(db: Db, now: number): Promise<CheckResults> {
  const { rows } = await sql<{ checks: CheckResults }>`
    select coalesce(jsonb_object_agg(name, value || jsonb_build_object('at', to_char(at at time zone 'UTC',
      'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))), '{}') as checks from instance_check
    where at > ${new Date(now)}::timestamptz - interval '2 days'`.execute(db)
  return rows[0]?.checks ?? {}
}
