// The audit log: operators see all entries, users see the entries about themselves.

import { Readable } from 'node:stream'
import Type from 'typebox'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import type { Db } from '#platform/db/db.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import { sendRaw } from '#platform/http/responses/declared-responses.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { exportEntries } from './export-entries.ts'
import { type AuditRow, listEntryPage } from './queries.ts'
import {
  AuditExportQuery,
  type AuditFilter,
  AuditQuery,
  ModerationLogQuery,
  OwnAuditQuery,
  toAuditFilter,
} from './requests.ts'
import {
  AuditPage,
  ModerationLog,
  OwnAuditPage,
  toAuditEntryView,
  toModerationEntryView,
  toOwnAuditEntryView,
} from './views.ts'

const TYPES = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl; charset=utf-8' } as const

export function auditOperatorRoutes(app: App, { db }: Pick<Deps, 'db'>): void {
  mountInternal(app, (scope) => {
    scope.get('/admin/audit-log', {
      config: { auth: 'operator', errors: ['400 decoding_error'] },
      schema: {
        operationId: 'listAuditEntries',
        summary: 'List the entries of the audit log, newest first',
        description:
          'With `query` or `staff`, a page searches 20,000 entries. It can have fewer entries than `limit` although `next` is not null.',
        querystring: AuditQuery,
        response: { 200: AuditPage },
      },
      handler: async (req) => {
        const { before, limit, ...query } = req.query
        return readPage(db, toAuditFilter(query), { before, limit }, toAuditEntryView)
      },
    })
    scope.get('/admin/audit-log/export', {
      config: { isTransfer: true, auth: 'operator', errors: ['400 decoding_error'] },
      schema: {
        operationId: 'exportAuditEntries',
        summary: 'Download the audit log, oldest entries first',
        querystring: AuditExportQuery,
        produces: ['application/jsonl', 'text/csv'],
        response: { 200: Type.Unsafe<unknown>({ type: 'string' }) },
      },
      handler: async (req, reply) => {
        const { format = 'jsonl', ...query } = req.query
        const pieces = exportEntries(db, toAuditFilter(query), format)
        void reply.header('content-disposition', `attachment; filename="audit-log.${format}"`)
        return sendRaw(reply.type(TYPES[format]), Readable.from(pieces, { objectMode: false }))
      },
    })
  })
}

export function auditRoutes(app: App, { db }: Pick<Deps, 'db'>): void {
  mountInternal(app, (scope) =>
    scope.get('/account/audit-log', {
      config: {
        auth: { scope: ['SESSION_READ'] },
        withoutPage: 'For programs; pages show sessions, tokens and authorizations',
      },
      schema: {
        operationId: 'listOwnAuditEntries',
        summary: "List the audit entries about the caller's account, newest first",
        querystring: OwnAuditQuery,
        response: { 200: OwnAuditPage },
      },
      handler: async (req) => {
        const { id: accountId } = requireViewer(req)
        return readPage(db, { accountId }, req.query, (row) => toOwnAuditEntryView(row, accountId))
      },
    }),
  )
}

/** The log of moderators: a filter of the audit log. */
export function moderationLogRoute(app: App, { db }: Pick<Deps, 'db'>): void {
  mountInternal(app, (scope) =>
    scope.get('/moderation/log', {
      config: { auth: { scope: ['REPORT_READ'] }, role: 'moderator', errors: ['400 decoding_error'] },
      schema: {
        operationId: 'listModerationLog',
        summary: 'List the actions of moderators, newest first',
        description: 'Claims, decisions, takedowns, closed reports, suspensions and deletions of the audit log.',
        querystring: ModerationLogQuery,
        response: { 200: ModerationLog },
      },
      handler: async (req) => {
        const { before, limit, ...query } = req.query
        const filter = { ...toAuditFilter(query), ofModeration: true }
        return readPage(db, filter, { before, limit }, toModerationEntryView)
      },
    }),
  )
}

type Page = { before?: number | undefined; limit?: number | undefined }

async function readPage<View>(
  db: Db,
  filter: AuditFilter,
  { before, limit = 100 }: Page,
  toView: (row: AuditRow) => View,
): Promise<{ next: number | null; entries: View[] }> {
  const { rows, next } = await listEntryPage(db, filter, { before, limit })
  return { next, entries: rows.map(toView) }
}
