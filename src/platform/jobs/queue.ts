// Enqueues background jobs as rows, in the transaction that causes them: a job exists if and only if it commits.
import { sql } from 'kysely'
import type { Tx } from '#platform/db/db.ts'
import { withTrace } from '#platform/telemetry/traces.ts'

/**
 * Payloads of all jobs, by name. A payload contains IDs, never secrets or copies of data. Each feature declares its jobs
 * next to their handlers; src/main/app.ts lists the features.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the features extend it.
export interface Jobs {}

/** Payload of jobs that find their work in the database. */
export type NoPayload = Record<string, never>

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
