// The route for the download statistics of a project.

import { ProjectParams } from '#features/basics/access/requests.ts'
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { STATISTICS_DAYS, StatisticsQuery } from '../requests.ts'
import { ProjectStatisticsView } from '../views.ts'
import type { ProjectStatistics } from './project-statistics.ts'

export function projectStatisticsRoutes(app: App, deps: Deps & { statistics: ProjectStatistics }): void {
  app.get('/v3/project/:id/statistics', {
    config: { auth: { read: ['PROJECT_READ'] }, limitedTokens: 'resource', errors: ['500 analytics_database_error'] },
    schema: {
      operationId: 'getProjectStatistics',
      summary: 'Get the downloads of a project by day, version, loader, game version and country',
      description:
        '`series` is null if `public_statistics` is false and the caller does not have VIEW_ANALYTICS on the project. ' +
        'Numbers are cached for up to one minute.',
      params: ProjectParams,
      querystring: StatisticsQuery,
      response: { 200: ProjectStatisticsView },
    },
    handler: async (req) => {
      const project = await getProject(deps, req.viewer, req.params.id)
      return deps.statistics.read(project, req.viewer, req.query.days ?? STATISTICS_DAYS)
    },
  })
}
