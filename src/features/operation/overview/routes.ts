// Operator routes of the state of the instance.
import type { DeliveryDeps } from '#features/basics/mail/deliver-mail.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { jobRoutes } from './background-jobs/routes.ts'
import { backupRoutes } from './backups/routes.ts'
import { loadErrors } from './errors/load-errors.ts'
import { ErrorsView } from './errors/views.ts'
import { loadOverview, type OverviewDeps } from './load-overview.ts'
import { mailRoutes } from './mail/routes.ts'
import { ErrorsQuery, OverviewQuery } from './requests.ts'
import { storageRoutes } from './storage/routes.ts'
import { OverviewView } from './views.ts'

const config = { auth: 'operator' } as const

export function overviewRoutes(app: App, deps: OverviewDeps & DeliveryDeps & Pick<Deps, 'commands'>): void {
  mountInternal(app, (scope) => {
    scope.get('/admin/overview', {
      config,
      schema: {
        operationId: 'getOverview',
        summary: 'Get the problems, dependencies, figures and jobs of the instance',
        description:
          'The figures cover all processes. They are stored every minute, per minute for 24 hours and per hour for 90 days.',
        querystring: OverviewQuery,
        response: { 200: OverviewView },
      },
      handler: (req) => loadOverview(deps, req.query.period ?? '24h'),
    })
    backupRoutes(scope, deps)
    jobRoutes(scope, deps)
    storageRoutes(scope, deps)
    mailRoutes(scope, deps)
    scope.get('/admin/errors', {
      config,
      schema: {
        operationId: 'listServerErrors',
        summary: 'List the responses with 5xx by error code and route',
        querystring: ErrorsQuery,
        response: { 200: ErrorsView },
      },
      handler: async (req) => {
        const { period = '24h', limit = 100, offset = 0 } = req.query
        return loadErrors(deps, period, { limit, offset })
      },
    })
  })
}
