// `depot jobs`: pending, running and failed background jobs.
import { readArguments } from '#cli/kit/arguments.ts'
import { table } from '#cli/kit/table.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { listJobCounts, listJobs } from '#platform/jobs/queue-state.ts'

const ERROR_SHOWN = 160
const FAILED_SHOWN = 100

/** Exits with 0 even if jobs have failed; `depot doctor` reports problems. */
export async function jobsCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { json: 'boolean' })
  await withDeps(env, async ({ db }) => {
    const tasks = await listJobCounts(db)
    const jobs = await listJobs(db, { state: 'failed' }, { limit: FAILED_SHOWN, offset: 0 })
    const failed = jobs.map(({ id, task, attempts, updated, error }) => {
      return { id, task, attempts, failed: updated.toISOString().replace(/\.\d+/, ''), error }
    })
    const counted = tasks.map((one) => [one.task, one.due, one.later, one.running, one.retried, one.failed].map(String))
    const errors = failed.map(({ id, task, attempts, error }) => {
      return [id, task, `${attempts} attempts`, (error ?? '').split('\n')[0]?.slice(0, ERROR_SHOWN) ?? '']
    })
    const head = ['TASK', 'DUE', 'LATER', 'RUNNING', 'RETRIED', 'FAILED']
    const pending = counted.length === 0 ? 'No pending jobs' : table(head, counted)
    const text = errors.length === 0 ? pending : `${pending}\n\nFailed permanently:\n${table([], errors)}`
    print({ json: { tasks, failed }, text }, values.json)
  })
}
