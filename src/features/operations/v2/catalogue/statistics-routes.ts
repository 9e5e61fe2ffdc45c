// The v2 route for catalogue statistics.
import { getStatistics } from '#features/basics/statistics/queries.ts'
import { StatisticsView } from '#features/basics/statistics/views.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'

export function statisticsRoutesV2(app: App, { dbRead }: Pick<Deps, 'dbRead'>): void {
  app.get(
    '/statistics',
    {
      config: { auth: 'public', cache: 'shared' },
      schema: {
        operationId: 'getStatisticsV2',
        summary: 'Count the public projects, versions, files and authors',
        response: { 200: StatisticsView },
      },
    },
    () => getStatistics(dbRead),
  )
}
