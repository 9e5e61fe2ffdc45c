// The operator route of server errors.
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { ErrorsQuery } from '../requests.ts'
import { loadErrors } from './load-errors.ts'
import { ErrorsView } from './views.ts'

export function errorRoutes(app: App, deps: Pick<Deps, 'db' | 'now'>): void {
  app.get(
    '/admin/errors',
    {
      config: { auth: 'operator' },
      schema: {
        operationId: 'listServerErrors',
        summary: 'List the responses with 5xx by error code and route',
        querystring: ErrorsQuery,
        response: { 200: ErrorsView },
      },
    },
    async (req) => {
      const { period = '24h', limit = 100, offset = 0 } = req.query
      return loadErrors(deps, period, { limit, offset })
    },
  )
}
