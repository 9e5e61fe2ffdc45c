// Routes of the v2 API to create and read reports, and to read threads.
import Type from 'typebox'
import { getReadableThread, listReadableThreads } from '#features/catalogue/threads/queries.ts'
import { joinThreads, listThreadBytes, requireSizeLimit } from '#features/catalogue/threads/thread-bytes.ts'
import { createReport } from '#features/community/reports/create-report.ts'
import { reporterToList } from '#features/community/reports/policy.ts'
import { getVisibleReport, listOpenReports, listVisibleReports } from '#features/community/reports/queries.ts'
import { parseReport, ReportInput } from '#features/community/reports/requests.ts'
import { ReportView, toReportView } from '#features/community/reports/views.ts'
import { parseId } from '#lib/ids.ts'
import { writeJsonArray } from '#lib/text/json-pieces.ts'
import { requireViewer } from '#platform/http/auth/auth.ts'
import { IdParams, IdsQuery, parseIds } from '#platform/http/query-values.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { Clamped, clamp } from '../requests.ts'
import { THREAD_FORM, ThreadV2 } from './views.ts'

type ConversationDeps = Pick<Deps, 'db' | 'cache'>

export function reportRoutesV2(app: App, { db }: ConversationDeps): void {
  const config = { auth: { scope: ['REPORT_READ'] }, cache: 'private' } as const
  const list = { 200: Type.Array(ReportView) }
  app.get(
    '/report/:id',
    {
      config,
      schema: { operationId: 'getReportV2', summary: 'Get a report', params: IdParams, response: { 200: ReportView } },
    },
    async (req) => toReportView(await getVisibleReport(db, requireViewer(req), parseId(req.params.id, 'id'))),
  )
  app.get(
    '/reports',
    {
      config,
      schema: {
        operationId: 'listReportsV2',
        summary: 'List reports by ID',
        description: 'Returns the reports in the requested order. Omits reports of other users, except for moderators.',
        querystring: IdsQuery,
        response: list,
      },
    },
    async (req, reply) => {
      const ids = parseIds(req.query.ids).map((id) => parseId(id, 'ids'))
      return sendBytes(reply, await writeJsonArray(await listVisibleReports(db, requireViewer(req), ids), toReportView))
    },
  )
  app.get(
    '/report',
    {
      config,
      schema: {
        operationId: 'listOpenReportsV2',
        summary: 'List open reports',
        description: 'The first page contains the oldest reports. Within a page, the newest report is first.',
        querystring: Type.Object({
          count: Clamped('Maximum number of reports, at most 1,000. Default: 100'),
          offset: Clamped('Number of reports to skip. Default: 0'),
          all: Type.Optional(
            Type.Boolean({
              description: 'Whether to return the reports of all users. Ignored unless the caller is a moderator',
            }),
          ),
        }),
        response: list,
      },
    },
    async (req, reply) => {
      const page = await listOpenReports(db, {
        reporterId: reporterToList(requireViewer(req), { all: req.query.all ?? false }),
        count: clamp(req.query.count, { fallback: 100, min: 0, max: 1000 }),
        offset: clamp(req.query.offset, { fallback: 0, min: 0, max: 1_000_000_000 }),
      })
      return sendBytes(reply, await writeJsonArray(page.reverse(), toReportView))
    },
  )
}

/** Differs from the v3 API only in the status 200. */
export function reportCreationV2(app: App, deps: Deps): void {
  app.post(
    '/report',
    {
      config: { auth: { scope: ['REPORT_CREATE'] } },
      schema: {
        operationId: 'createReportV2',
        summary: 'Report a project, a version or a user',
        body: ReportInput,
        response: { 200: ReportView },
      },
    },
    async (req) => {
      const viewer = requireViewer(req)
      const id = await createReport(deps, viewer, parseReport(req.body, deps.taxonomy))
      return toReportView(await getVisibleReport(deps.db, viewer, id))
    },
  )
}

export function threadRoutesV2(app: App, deps: ConversationDeps): void {
  const config = { auth: { scope: ['THREAD_READ'] }, cache: 'private' } as const
  app.get(
    '/thread/:id',
    {
      config,
      schema: {
        operationId: 'getThreadV2',
        summary: 'Get a thread',
        params: IdParams,
        response: { 200: ThreadV2 },
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const thread = await getReadableThread(deps.db, viewer, parseId(req.params.id, 'id'))
      const [bytes] = await listThreadBytes(deps, viewer, [thread], THREAD_FORM)
      return sendBytes(reply, bytes ?? Buffer.alloc(0))
    },
  )
  app.get(
    '/threads',
    {
      config,
      schema: {
        operationId: 'listThreadsV2',
        summary: 'List threads by ID',
        description: 'Returns the threads in the requested order. Omits threads that the caller cannot read.',
        querystring: IdsQuery,
        response: { 200: Type.Array(ThreadV2) },
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const ids = parseIds(req.query.ids).map((id) => parseId(id, 'ids'))
      const threads = await listReadableThreads(deps.db, viewer, ids)
      requireSizeLimit(threads)
      const { bytes, etag } = await joinThreads(await listThreadBytes(deps, viewer, threads, THREAD_FORM))
      return sendBytes(reply, bytes, etag)
    },
  )
}
