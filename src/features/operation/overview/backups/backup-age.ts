// The age of the last good backup, and when it is too old.
import { sql } from 'kysely'
import type { Config } from '#platform/config/config.ts'
import type { Db } from '#platform/db/db.ts'

/** Age from which the newest backup is a problem. */
export const BACKUP_DAYS_MAX = 7

/** `lastGood`: time of the last backup in which no file was missing. */
export type BackupState = { lastGood: Date | null; instanceCreated: Date }

export async function readBackupState(db: Db): Promise<BackupState> {
  const { rows } = await sql<BackupState>`
    select created as "instanceCreated", (select at from audit_entry
      where action = 'backup.made' and coalesce((details ->> 'missing')::int, 0) = 0 order by id desc limit 1) as "lastGood"
    from instance`.execute(db)
  const [state] = rows
  if (state === undefined) throw new Error('The table instance has no row')
  return state
}

/** Returns the age of the last good backup. An instance without a backup needs its first one from its creation on. */
export function backupAgeMs({ lastGood, instanceCreated }: BackupState, now: number): number {
  return Math.max(0, now - (lastGood ?? instanceCreated).getTime())
}

/** Number of intervals after which a scheduled backup is late. */
const INTERVALS_MAX = 2

/** Whether scheduled backups fail: the last good one is older than two intervals. */
export function isBackupLate(ageMs: number, { backup: { target } }: Pick<Config, 'backup'>): boolean {
  return target !== undefined && ageMs > INTERVALS_MAX * target.everyMinutes * 60_000
}
