// Requests to the job queue.
import Type, { type Static } from 'typebox'
import { invalidInput } from '#lib/errors.ts'
import { PageQuery } from '#platform/http/query-values.ts'
import { JOB_STATES, type JobFilter } from '#platform/jobs/queue-state.ts'

const task = (description: string) => Type.String({ minLength: 1, maxLength: 128, description })

export const JobsQuery = Type.Object({
  ...PageQuery.properties,
  state: Type.Optional(Type.Enum([...JOB_STATES], { description: 'State of the jobs' })),
  task: Type.Optional(task('Type of the jobs')),
})

export const TaskQuery = Type.Object({ task: task('Type of the jobs, all of whose failed jobs are changed') })

const ID_PATTERN = '^[1-9][0-9]{0,17}$'

export const JobParams = Type.Object({
  id: Type.String({ maxLength: 256, describedAs: { pattern: ID_PATTERN }, description: 'ID of the job' }),
})

/** @throws ApiError `invalid_input` */
export function parseJobId(text: string): string {
  if (!new RegExp(ID_PATTERN).test(text)) throw invalidInput('id must be the number of a job', 'id')
  return text
}

export function toJobFilter({ state, task }: Pick<Static<typeof JobsQuery>, 'state' | 'task'>): JobFilter {
  return { state, tasks: task === undefined ? undefined : [task] }
}
