// Reads the job queue for operators.
import { ApiError, notFound } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'
import { countJobs, type JobFilter, type JobRow, listJobCounts, listJobs } from '#platform/jobs/queue-state.ts'
import type { JobsPage, TaskCounts } from './views.ts'
import { toJobView } from './views.ts'

/** Returns a page of the jobs that match, with the counts of all tasks. */
export async function loadJobs(db: Db, filter: JobFilter, page: { limit: number; offset: number }): Promise<JobsPage> {
  const tasks = await loadTaskCounts(db)
  const total = await countJobs(db, filter)
  const rows = await listJobs(db, filter, page)
  return { tasks, total, jobs: rows.map(toJobView) }
}

export async function loadTaskCounts(db: Db): Promise<TaskCounts[]> {
  const counts = await listJobCounts(db)
  return counts.map(({ task, due, later, running, retried, failed }) => {
    return { task, due, scheduled: later, running, retrying: retried, failed }
  })
}

/** @throws ApiError 404 if the job has finished. */
export async function getJob(db: Db, id: string): Promise<JobRow> {
  const [job] = await listJobs(db, { id }, { limit: 1, offset: 0 })
  if (job === undefined) throw notFound('job')
  return job
}

/** Returns the reason why a job cannot be retried or discarded. */
export async function explainUnchanged(db: Db, id: string): Promise<ApiError> {
  const { state } = await getJob(db, id)
  const message = state === 'running' ? 'This job is running' : 'This job has not failed'
  return new ApiError('conflict', message, { details: { state } })
}
