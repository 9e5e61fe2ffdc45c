// The place of scheduled backups: its content at the last listing, and the work on it now.
import { sql } from 'kysely'
import { timeOfBackup } from '#features/operation/backup/scheduled/target.ts'
import type { Db } from '#platform/db/db.ts'
import { type JobRow, listJobs } from '#platform/jobs/queue-state.ts'
import type { Deps } from '#ports/deps.ts'
import { type CheckResults, loadChecks } from '../checks/queries.ts'
import type { BackupTargetView } from './views.ts'

const TASKS = ['backups.make', 'backups.verify'] as const

export async function loadBackupTarget({
  db,
  config: { backup },
  now,
}: Pick<Deps, 'db' | 'config' | 'now'>): Promise<BackupTargetView> {
  const { backup_target: listed, backup_progress: progress } = await loadChecks(db, now())
  const jobs = await listJobs(db, { tasks: TASKS }, { limit: 10, offset: 0 })
  const of = (task: (typeof TASKS)[number]) => jobs.find((job) => job.task === task && job.state !== 'failed')
  const [making, verifying] = [of('backups.make'), of('backups.verify')]
  const { target } = backup
  const isEncrypting = backup.recipients.length > 0
  const encrypted = await readEncryption(db, listed?.backups.map(({ name }) => name) ?? [])
  return {
    target:
      target === undefined
        ? null
        : {
            address: target.address,
            every_minutes: target.everyMinutes,
            at_minute: target.atMinute,
            keep: target.keep,
            encrypted: isEncrypting,
          },
    listed:
      listed === undefined
        ? null
        : {
            ...listed,
            backups: listed.backups.map((stored) => ({
              ...stored,
              created: timeOfBackup(stored.name).toISOString(),
              encrypted: encrypted.get(stored.name) ?? isEncrypting,
            })),
          },
    making: making === undefined ? null : progressOf(making, progress),
    failure: jobs.find(({ task, state }) => task === 'backups.make' && state === 'failed')?.error ?? null,
    verifying: verifying !== undefined,
    last_verification: await findVerification(db),
  }
}

/** Returns whether backups are encrypted, as the audit log records it. */
export async function readEncryption(db: Db, names: readonly string[]): Promise<Map<string, boolean>> {
  const { rows } = await sql<{ name: string; encrypted: boolean }>`
    select details ->> 'name' as name, coalesce((details ->> 'encrypted')::boolean, false) as encrypted
    from audit_entry where action = 'backup.made' and details ->> 'name' = any(${names}::text[])`.execute(db)
  return new Map(rows.map(({ name, encrypted }) => [name, encrypted]))
}

/** The progress of an earlier backup says nothing about this one. */
function progressOf({ started }: JobRow, progress: CheckResults['backup_progress']): BackupTargetView['making'] {
  if (started === null) return { state: 'waiting', progress: null }
  const isOfThis = progress !== undefined && new Date(progress.at) >= started
  return { state: 'running', progress: isOfThis ? progress : null }
}

async function findVerification(db: Db): Promise<BackupTargetView['last_verification']> {
  const { rows } = await sql<{ at: Date; name: string; good: boolean; reason: string | null }>`
    select at, details ->> 'name' as name, (details ->> 'good')::boolean as good, details ->> 'reason' as reason
    from audit_entry where action = 'backup.verified' order by id desc limit 1`.execute(db)
  const [last] = rows
  return last === undefined ? null : { ...last, at: last.at.toISOString() }
}
