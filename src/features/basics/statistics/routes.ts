// Counts of the catalogue.
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { getStatistics } from './queries.ts'
import { StatisticsView } from './views.ts'

/** `prefix`: the v2 API has the same route. */
export function statisticsRoutes(app: App, { dbRead }: Pick<Deps, 'dbRead'>, prefix = '/v3'): void {
  app.get(`${prefix}/statistics`, {
    config: { auth: 'public', cache: 'shared' },
    schema: {
      operationId: 'getStatistics',
      summary: 'Get the number of projects, versions, files and authors',
      response: { 200: StatisticsView },
    },
    handler: () => getStatistics(dbRead),
  })
}
