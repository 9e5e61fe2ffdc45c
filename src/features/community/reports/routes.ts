// Routes to report projects, versions and users, and to read and process reports.
import Type from 'typebox'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { parseId } from '#lib/ids.ts'
import { writeJsonArray } from '#lib/text/json-pieces.ts'
import { IdParams, IdsQuery, parseIdList } from '#platform/http/query-values.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { createReport } from './create-report.ts'
import { reportGroupRoutes } from './groups/routes.ts'
import { reporterToList } from './policy.ts'
import { getVisibleReport, listReportPage, listVisibleReports } from './queries.ts'
import { checkReportPatch, parseReport, ReportInput, ReportPatch, ReportsQuery, toReportFilter } from './requests.ts'
import { deleteReport, updateReport } from './update-report.ts'
import { ReportView, toReportView } from './views.ts'

const READ = { auth: { scope: ['REPORT_READ'] }, cache: 'private' } as const

export function reportRoutes(app: App, deps: Deps): void {
  reportReads(app, deps)
  reportCreation(app, deps)
  reportEdits(app, deps)
  reportGroupRoutes(app, deps)
}

/** `prefix`: the v2 API has the same routes. */
export function reportReads(app: App, { db }: Pick<Deps, 'db'>, prefix = '/v3'): void {
  const list = { 200: Type.Array(ReportView) }
  app.get(`${prefix}/report/:id`, {
    config: READ,
    schema: { operationId: 'getReport', summary: 'Get a report', params: IdParams, response: { 200: ReportView } },
    handler: async (req) => toReportView(await getVisibleReport(db, requireViewer(req), parseId(req.params.id, 'id'))),
  })
  app.get(`${prefix}/reports`, {
    config: { ...READ, errors: ['400 decoding_error'] },
    schema: {
      operationId: 'listReports',
      summary: 'Get reports by ID',
      description: 'Returns reports in the requested order. Only moderators receive the reports of other users.',
      querystring: IdsQuery,
      response: list,
    },
    handler: async (req, reply) => {
      const ids = parseIdList(req.query.ids)
      const reports = await listVisibleReports(db, requireViewer(req), ids)
      return sendBytes(reply, await writeJsonArray(reports, toReportView))
    },
  })
  app.get(`${prefix}/report`, {
    config: READ,
    schema: {
      operationId: 'listOpenReports',
      summary: 'List reports, by default the open ones',
      description:
        'Pages are ordered from the oldest reports to the newest. Within a page, the newest report comes first.',
      querystring: ReportsQuery,
      response: list,
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const { count = 100, offset = 0, all = false, ...filter } = req.query
      const reporterId = reporterToList(viewer, { all })
      const page = await listReportPage(db, { ...toReportFilter(filter), reporterId, count, offset })
      return sendBytes(reply, await writeJsonArray(page.reverse(), toReportView))
    },
  })
}

/** The v2 API has another prefix and the status 200. */
export function reportCreation(app: App, deps: Deps, prefix = '/v3', created: 200 | 201 = 201): void {
  app.post(`${prefix}/report`, {
    config: { auth: { scope: ['REPORT_CREATE'] }, errors: ['400 LimitReached', '404 not_found'] },
    schema: {
      operationId: 'createReport',
      summary: 'Report a project, a version or a user',
      body: ReportInput,
      response: { [created]: ReportView },
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const id = await createReport(deps, viewer, parseReport(req.body, deps.taxonomy))
      return reply.status(created).send(toReportView(await getVisibleReport(deps.db, viewer, id)))
    },
  })
}

/** `prefix`: the v2 API has the same routes. */
export function reportEdits(app: App, deps: Deps, prefix = '/v3'): void {
  app.patch(`${prefix}/report/:id`, {
    config: { auth: { scope: ['REPORT_WRITE'] } },
    schema: {
      operationId: 'updateReport',
      summary: 'Edit, close or reopen a report',
      description:
        'Only moderators can close and reopen reports. Depot then notifies the reporter. Reopening removes the outcome.',
      params: IdParams,
      body: ReportPatch,
    },
    handler: async (req) => {
      const id = parseId(req.params.id, 'id')
      await updateReport(deps, requireViewer(req), { id, patch: checkReportPatch(req.body) })
    },
  })
  app.delete(`${prefix}/report/:id`, {
    config: {
      auth: { scope: ['REPORT_DELETE'] },
      withoutPage: 'Pages withhold, close and reply instead, so that the record stays',
    },
    schema: {
      operationId: 'deleteReport',
      summary: 'Delete a report and its thread',
      description: 'Only for moderators.',
      params: IdParams,
    },
    handler: (req): Promise<void> => deleteReport(deps, requireViewer(req), parseId(req.params.id, 'id')),
  })
}
