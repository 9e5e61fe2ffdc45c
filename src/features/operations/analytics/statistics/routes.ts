// What everybody may see of a project's downloads.
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { ProjectParams } from '#platform/http/query-values.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { STATISTICS_DAYS, StatisticsQuery } from '../requests.ts'
import { ProjectStatisticsView } from '../views.ts'
import type { ProjectStatistics } from './project-statistics.ts'

export function projectStatisticsRoutes(app: App, deps: Deps & { statistics: ProjectStatistics }): void {
  app.get(
    '/v3/project/:id/statistics',
    {
      config: { auth: { read: ['PROJECT_READ'] } },
      schema: {
        operationId: 'getProjectStatistics',
        summary: "A project's downloads by day, version, loader, game version and country",
        description:
          'The series are null where the project keeps them to its members (`public_statistics`) and the caller has no ' +
          'VIEW_ANALYTICS on it. Numbers are at most a minute old.',
        params: ProjectParams,
        querystring: StatisticsQuery,
        response: { 200: ProjectStatisticsView },
      },
    },
    async (req) => {
      const project = await getProject(deps, req.viewer, req.params.id)
      return deps.statistics.read(project, req.viewer, req.query.days ?? STATISTICS_DAYS)
    },
  )
}
