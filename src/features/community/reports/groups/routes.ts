// Routes to the reports about each item, for moderators.
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { toReportFilter } from '../requests.ts'
import { closeReports } from './close-reports.ts'
import { countReportGroups, listReportGroups } from './queries.ts'
import { checkReportsToClose, ReportGroupsQuery, ReportsToClose } from './requests.ts'
import { ReportGroupsView, toReportGroupView } from './views.ts'

export function reportGroupRoutes(app: App, deps: Pick<Deps, 'db' | 'cache' | 'now'>): void {
  mountInternal(app, (scope) => {
    scope.get('/moderation/reports', {
      config: { auth: { scope: ['REPORT_READ'] }, role: 'moderator' },
      schema: {
        operationId: 'listReportGroups',
        summary: 'List reports by reported item, oldest first',
        tags: ['moderation'],
        querystring: ReportGroupsQuery,
        response: { 200: ReportGroupsView },
      },
      handler: async (req) => {
        const { count = 50, offset = 0, ...query } = req.query
        const filter = toReportFilter(query)
        const counts = await countReportGroups(deps.db, filter)
        const groups = await listReportGroups(deps.db, { ...filter, count, offset })
        return { ...counts, groups: groups.map(toReportGroupView) }
      },
    })
    scope.post('/moderation/reports/close', {
      config: { auth: { scope: ['REPORT_WRITE'] }, role: 'moderator' },
      schema: {
        operationId: 'closeReports',
        summary: 'Close several reports about one item',
        description:
          'Closes all of them or none. Returns 409 with the IDs of reports that another moderator has closed.',
        tags: ['moderation'],
        body: ReportsToClose,
      },
      handler: (req): Promise<void> => closeReports(deps, requireViewer(req), checkReportsToClose(req.body)),
    })
  })
}
