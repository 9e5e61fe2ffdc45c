// Operator routes of the job queue.
import { operatorOf } from '#features/basics/audit/actor.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { discardJobs } from './discard-jobs.ts'
import { loadJobs } from './queries.ts'
import { JobParams, JobsQuery, parseJobId, TaskQuery, toJobFilter } from './requests.ts'
import { retryJobs } from './retry-jobs.ts'
import { ChangedJobs, JobsPage } from './views.ts'

const config = { auth: 'operator' } as const
/** Operators repair the queue also while the instance is read-only. */
const repair = { auth: 'operator', whenReadOnly: 'answers' } as const

export function jobRoutes(app: App, deps: Pick<Deps, 'db' | 'cache'>): void {
  app.get('/admin/jobs', {
    config,
    schema: {
      operationId: 'listJobs',
      summary: 'List the background jobs',
      querystring: JobsQuery,
      response: { 200: JobsPage },
    },
    handler: async (req) => {
      const { limit = 100, offset = 0, ...query } = req.query
      return loadJobs(deps.db, toJobFilter(query), { limit, offset })
    },
  })
  taskRoutes(app, deps)
  app.post('/admin/job/:id/retry', {
    config: { ...repair, errors: ['409 conflict'] },
    schema: {
      operationId: 'retryJob',
      summary: 'Run a failed job again as soon as possible',
      description: 'The job gets all its attempts again.',
      params: JobParams,
    },
    handler: async (req) => {
      await retryJobs(deps, operatorOf(req), { id: parseJobId(req.params.id) })
    },
  })
  app.delete('/admin/job/:id', {
    config: { ...repair, errors: ['409 conflict'], withoutPage: 'Does for one item what a page does for several' },
    schema: {
      operationId: 'discardJob',
      summary: 'Delete a failed job without running it',
      description: 'The work of the job is lost, for example an email is never sent.',
      params: JobParams,
    },
    handler: async (req) => {
      await discardJobs(deps, operatorOf(req), { id: parseJobId(req.params.id) })
    },
  })
}

function taskRoutes(app: App, deps: Pick<Deps, 'db' | 'cache'>): void {
  app.post('/admin/jobs/retry', {
    config: repair,
    schema: {
      operationId: 'retryJobs',
      summary: 'Run all failed jobs of a type again as soon as possible',
      querystring: TaskQuery,
      response: { 200: ChangedJobs },
    },
    handler: async (req) => ({ jobs: await retryJobs(deps, operatorOf(req), { task: req.query.task }) }),
  })
  app.delete('/admin/jobs', {
    config: repair,
    schema: {
      operationId: 'discardJobs',
      summary: 'Delete all failed jobs of a type without running them',
      querystring: TaskQuery,
      response: { 200: ChangedJobs },
    },
    handler: async (req) => ({ jobs: await discardJobs(deps, operatorOf(req), { task: req.query.task }) }),
  })
}
