// Routes to the reports about each item, for moderators.
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { ClaimView, toClaimView } from '#features/catalogue/reviews/claim-view.ts'
import { parseId } from '#lib/ids.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import { IdParams } from '#platform/http/query-values.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { toReportFilter } from '../requests.ts'
import { claimNextReport, claimReport, releaseReport } from './claim-report.ts'
import { closeReports } from './close-reports.ts'
import { countReportGroups, listReportGroups } from './queries.ts'
import { checkReportsToClose, NextReportRequest, ReportGroupsQuery, ReportsToClose } from './requests.ts'
import { NextReportView, ReportGroupsView, toReportGroupView } from './views.ts'

function claimRoutes(app: App, deps: Pick<Deps, 'db' | 'cache'>): void {
  const config = { auth: { scope: ['REPORT_WRITE'] }, role: 'moderator' } as const
  const tags = ['moderation']
  app.put('/moderation/reports/:id/claim', {
    config,
    schema: {
      operationId: 'claimReport',
      summary: 'Claim the item of a report with all reports about it',
      description: 'For 30 minutes. A repeated request extends the claim. Closing the last open report ends it.',
      tags,
      params: IdParams,
      response: { 200: ClaimView },
    },
    handler: async (req) => toClaimView(await claimReport(deps, requireViewer(req), parseId(req.params.id, 'id'))),
  })
  app.delete('/moderation/reports/:id/claim', {
    config,
    schema: { operationId: 'releaseReport', summary: 'Release the claimed item of a report', tags, params: IdParams },
    handler: (req): Promise<void> => releaseReport(deps, requireViewer(req), parseId(req.params.id, 'id')),
  })
  app.post('/moderation/reports/next', {
    config,
    schema: {
      operationId: 'claimNextReport',
      summary: 'Claim the next unclaimed item with open reports',
      description: 'The item with the oldest report. Concurrent requests claim different items.',
      tags,
      body: NextReportRequest,
      response: { 200: NextReportView },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const { itemType, reportType } = toReportFilter(req.body)
      const id = await claimNextReport(deps, viewer, { itemType, reportType })
      return { report_id: id ?? null }
    },
  })
}

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
        const { count = 50, offset = 0, claim, ...query } = req.query
        const own = claim === undefined ? {} : { claim: { by: claim, viewerId: requireViewer(req).id } }
        const filter = { ...toReportFilter(query), ...own }
        const counts = await countReportGroups(deps.db, filter)
        const groups = await listReportGroups(deps.db, { ...filter, count, offset })
        return { ...counts, groups: groups.map(toReportGroupView) }
      },
    })
    claimRoutes(scope, deps)
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
