// Background work as rows: a job is enqueued in the transaction that causes it, and exists if and only if that commits.
import { sql } from 'kysely'
import type { Tx } from '#platform/db/db.ts'
import { withTrace } from '#platform/telemetry/traces.ts'

/**
 * Every job there is, by name, with its payload: IDs, never snapshots and never secrets. The handlers are listed in
 * app.ts; each feature owns those of its jobs.
 */
export interface Jobs {
  'accounts.expire': Record<string, never>
  'accounts.send-mail':
    | { kind: 'verify-email' | 'password-changed' | 'two-factor-enabled' | 'two-factor-removed'; account_id: string }
    | { kind: 'suspended' | 'unsuspended' | 'deletion-pending' | 'deletion-undone'; account_id: string }
    | { kind: 'reset-password'; account_id: string | null }
    | {
        kind: 'email-changed'
        account_id: string
        former_email: string
        /** As it was before the change, for taking it back. */
        had_two_factor?: boolean
        changed_at?: number
      }
    | { kind: 'token-created'; account_id: string; token_id: string }
  'accounts.delete-due': Record<string, never>
  'audit.expire': Record<string, never>
  'downloads.reconcile': Record<string, never>
  'files.remove': { keys: string[] }
  'files.sweep': Record<string, never>
  'images.sweep': Record<string, never>
  'oauth.expire': Record<string, never>
  'notifications.send-mail': { notification_id: string }
  'projects.release': { project_id: string }
  'releases.sweep': Record<string, never>
  'scans.judge': Record<string, never>
  'seed.forget-events': Record<string, never>
  'seed.store-events': { projects: number }
  'statistics.fold': Record<string, never>
  'versions.notify-followers': { version_id: string }
  'versions.release': { version_id: string }
}

export type JobName = keyof Jobs

/**
 * Adds a job to run once the transaction commits.
 * `runAt` delays it; a second job with the same `jobKey` replaces the first while that has not started.
 */
export async function enqueue<Name extends JobName>(
  tx: Tx,
  name: Name,
  payload: Jobs[Name],
  options: { runAt?: Date; jobKey?: string; maxAttempts?: number } = {},
): Promise<void> {
  await sql`select graphile_worker.add_job(
    ${name}, payload => ${JSON.stringify(withTrace(payload))}::json, run_at => ${options.runAt ?? null}::timestamptz,
    job_key => ${options.jobKey ?? null}::text, max_attempts => ${options.maxAttempts ?? 12}::int)`.execute(tx)
}

/** Removes the job with a key if it exists and does not run. */
export async function removeJob(tx: Tx, jobKey: string): Promise<void> {
  await sql`select graphile_worker.remove_job(${jobKey})`.execute(tx)
}

/**
 * Takes back the jobs that wait, or have failed for good, for an account that is about to go: a payload may hold an
 * address. The library offers no removal by what a payload says; its table is read under the name of this version.
 */
export async function removeJobsOf(tx: Tx, accountId: string): Promise<void> {
  await sql`delete from graphile_worker._private_jobs
    where payload ->> 'account_id' = ${accountId} and locked_at is null`.execute(tx)
}
