// Counts of the catalogue.
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { getStatistics } from './queries.ts'
import { StatisticsView } from './views.ts'

export function statisticsRoutes(app: App, { dbRead }: Pick<Deps, 'dbRead'>): void {
  app.get(
    '/v3/statistics',
    {
      config: { auth: 'public', cache: 'shared' },
      schema: {
        operationId: 'getStatistics',
        summary: 'Get the number of projects, versions, files and authors',
        response: { 200: StatisticsView },
      },
    },
    () => getStatistics(dbRead),
  )
}
