// Routes to the changes of a project since its last approval, and of a reported item, for moderators.

import { ProjectParams } from '#features/basics/access/requests.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { getVisibleReport } from '#features/community/reports/queries.ts'
import { IdParams } from '#platform/http/query-values.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { ProjectChangesView, ReportChangesView } from './changes-views.ts'
import { readProjectChanges, readReportChanges } from './read-changes.ts'

export function changesRoutes(app: App, deps: Pick<Deps, 'db' | 'cache' | 'taxonomy' | 'config'>): void {
  app.get('/moderation/projects/:id/changes', {
    config: { auth: { scope: ['PROJECT_READ'] }, role: 'moderator' },
    schema: {
      operationId: 'getProjectChanges',
      summary: 'Get what has changed in a project since moderators last saw it',
      description:
        'Compares the project with its last approval. Before the first approval, compares it with the latest submission or message of moderators.',
      params: ProjectParams,
      response: { 200: ProjectChangesView },
    },
    handler: async (req) => readProjectChanges(deps, (await getProject(deps, requireViewer(req), req.params.id)).id),
  })
  app.get('/moderation/reports/:id/changes', {
    config: { auth: { scope: ['REPORT_READ'] }, role: 'moderator' },
    schema: {
      operationId: 'getReportChanges',
      summary: 'Get how a reported item has changed since the report',
      params: IdParams,
      response: { 200: ReportChangesView },
    },
    handler: async (req) => readReportChanges(deps, await getVisibleReport(deps.db, requireViewer(req), req.params.id)),
  })
}
