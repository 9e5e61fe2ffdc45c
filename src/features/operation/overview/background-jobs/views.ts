// Response schemas of the job queue.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import { JOB_STATES, type JobRow } from '#platform/jobs/queue-state.ts'

export const TaskCounts = NamedObject('TaskCounts', {
  task: Type.String({ description: 'Type of the jobs, such as `accounts.send-mail`' }),
  due: Type.Integer({ description: 'Jobs that wait for a worker' }),
  scheduled: Type.Integer({ description: 'Jobs that are due later' }),
  running: Type.Integer(),
  retrying: Type.Integer({ description: 'Jobs that failed and run again' }),
  failed: Type.Integer({ description: 'Jobs that failed on their last attempt' }),
})
export type TaskCounts = Static<typeof TaskCounts>

export const JobView = NamedObject('Job', {
  id: Type.String(),
  task: Type.String(),
  state: Type.Enum([...JOB_STATES]),
  attempts: Type.Integer({ description: 'Runs so far, including a running one' }),
  max_attempts: Type.Integer(),
  created: Timestamp,
  run_at: Type.String({ format: 'date-time', description: 'When the job is due' }),
  started: Nullable(Type.String({ format: 'date-time', description: 'Start of the current run; null if not running' })),
  updated: Type.String({ format: 'date-time', description: 'When the job was last changed' }),
  error: Nullable(
    Type.String({ description: 'Error of the last run, without addresses; null before the first error' }),
  ),
})
export type JobView = Static<typeof JobView>

export const JobsPage = NamedObject('JobsPage', {
  tasks: Type.Array(TaskCounts, { description: 'All types of jobs that have jobs, by name' }),
  total: Type.Integer({ description: 'Number of jobs that match the filter' }),
  jobs: Type.Array(JobView, { description: 'The jobs that match the filter, last changed first' }),
})
export type JobsPage = Static<typeof JobsPage>

export const ChangedJobs = Type.Object({ jobs: Type.Integer({ description: 'Number of changed jobs' }) })

export function toJobView({ created, run_at, started, updated, ...rest }: JobRow): JobView {
  return {
    ...rest,
    created: created.toISOString(),
    run_at: run_at.toISOString(),
    started: started?.toISOString() ?? null,
    updated: updated.toISOString(),
  }
}
