// Enqueues background jobs as rows, in the transaction that causes them: a job exists if and only if it commits.
import { sql } from 'kysely'
import type { TokenKind } from '#lib/access/tokens.ts'
import type { Tx } from '#platform/db/db.ts'
import { withTrace } from '#platform/telemetry/traces.ts'

/**
 * Payloads of all jobs, by name. A payload contains IDs, never secrets or copies of data. Each feature contains
 * the handlers of its jobs; src/main/jobs.ts lists them.
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
        /** Whether two-factor sign-in was enabled before the change, to undo the change. */
        had_two_factor?: boolean
        changed_at?: number
      }
    | { kind: 'token-created'; account_id: string; token_id: string }
    | { kind: 'token-leaked'; account_id: string; token_kind: TokenKind; url: string | null }
  /** `email`: the address, also without an account. */
  'accounts.send-sign-up-mail': { email: string }
  'accounts.delete-due': Record<string, never>
  'audit.expire': Record<string, never>
  'backups.finish-restore': { is_quiet?: boolean; is_move?: boolean }
  'backups.make': Record<string, never>
  'decisions.announce': Record<string, never>
  'dependencies.find-broken': {
    reason: 'withdrawn' | 'hidden' | 'removed'
    project_id: string
    /** Null: every version of the project. */
    version_id: string | null
    /** The loaders of the version, which might be deleted before the job runs. */
    loaders: string[]
    game_versions: string[] | null
    at: number
  }
  'dependencies.notify': Record<string, never>
  'downloads.reconcile': Record<string, never>
  'events.expire': Record<string, never>
  'files.remove': { keys: string[] }
  'files.sweep': Record<string, never>
  'impact.compute': { report_id: string }
  'images.sweep': Record<string, never>
  'locks.forget': Record<string, never>
  'oauth.expire': Record<string, never>
  'overview.expire': Record<string, never>
  'notifications.send-mail': { notification_id: string }
  'publishers.expire': Record<string, never>
  'projects.release': { project_id: string }
  'releases.sweep': Record<string, never>
  'scans.judge': Record<string, never>
  'seed.forget-events': Record<string, never>
  'seed.store-events': { projects: number }
  'statistics.fold': Record<string, never>
  'storage.measure': Record<string, never>
  'uploads.expire': Record<string, never>
  'changes.number': Record<string, never>
  'changes.forget': Record<string, never>
  'versions.expire-drafts': Record<string, never>
  'versions.notify-followers': { version_id: string }
  'versions.release': { version_id: string }
  'webhooks.expire': Record<string, never>
}

export type JobName = keyof Jobs

/**
 * Adds a job that runs after the transaction commits. `runAt` delays the job. A second job with the same `jobKey` replaces
 * the first job if it has not started.
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

/** Adds one job per payload, in one statement. */
export async function enqueueEach<Name extends JobName>(
  tx: Tx,
  name: Name,
  payloads: readonly Jobs[Name][],
): Promise<void> {
  const texts = payloads.map((payload) => JSON.stringify(withTrace(payload)))
  await sql`select count(graphile_worker.add_job(${name}::text, payload => payload::json, max_attempts => 12))
    from unnest(${texts}::text[]) as payload`.execute(tx)
}

/** Removes the job with the given key, unless the job is running. */
export async function removeJob(tx: Tx, jobKey: string): Promise<void> {
  await sql`select graphile_worker.remove_job(${jobKey})`.execute(tx)
}

/**
 * Removes the pending and failed jobs of an account before the account is deleted, because a payload can contain an email
 * address. graphile-worker cannot remove jobs by payload, so the statement uses its private table.
 */
export async function removeJobsOf(tx: Tx, accountId: string): Promise<void> {
  await sql`delete from graphile_worker._private_jobs
    where payload ->> 'account_id' = ${accountId} and locked_at is null`.execute(tx)
}
