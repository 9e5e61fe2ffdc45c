// How much there is, for whoever asks.
import Type from 'typebox'
import type { App } from '#http/server.ts'
import type { Deps } from '#main/deps.ts'
import { getStatistics } from './queries.ts'

const Count = (description: string) => Type.Integer({ minimum: 0, description })

const StatisticsView = Type.Object(
  {
    projects: Count('Approved and archived projects'),
    versions: Count('Their listed and archived versions'),
    files: Count('The files of these versions'),
    authors: Count('Accepted members of the teams and organizations of these projects'),
  },
  { title: 'Statistics' },
)

export function statisticsRoutes(app: App, { dbRead }: Pick<Deps, 'dbRead'>): void {
  app.get(
    '/v3/statistics',
    {
      config: { auth: 'public', cache: 'shared' },
      schema: {
        operationId: 'getStatistics',
        summary: 'How many projects, versions, files and authors the catalogue shows',
        response: { 200: StatisticsView },
      },
    },
    () => getStatistics(dbRead),
  )
}
