// The audit log: filters in the URL, pages, export.
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { AUDIT_ACTIONS } from '#features/basics/audit/actions.ts'
import { exportEntries } from '#features/basics/audit/export-entries.ts'
import { listObjectNames } from '#features/basics/audit/object-names.ts'
import { listEntryPage } from '#features/basics/audit/queries.ts'
import type { AuditFilter } from '#features/basics/audit/requests.ts'
import { attempt, type FormRefusal } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { withQuery } from '#web/kit/paths.ts'
import { entryTable } from '#web/moderate/log/entries.ts'
import { LOG_LABELS, logFilterForm, readLogFilter, type TypedLog, typedLogOf } from '#web/moderate/log/log-filter.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { checkbox, errorSummary, textField } from '#web/ui/parts/fields.ts'
import { showOperator } from '../sections.ts'

const PATH = '/operator/audit-log'
const EXPORT = '/operator/audit-log/export'
const ROWS = 50
const TYPES = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl; charset=utf-8' } as const
const LABELS = { ...LOG_LABELS, query: 'The text' }

type Typed = TypedLog & { query: string; staff: string }

export function auditLogPages(pages: Pages): void {
  pages.own('GET', PATH, 'operateAuditLog', showLog, { role: 'admin', api: 'listAuditEntries exportAuditEntries' })
  pages.own('GET', EXPORT, 'operateAuditExport', sendExport, { role: 'admin', shows: false })
}

const typedOf = (request: OwnRequest): Typed => {
  const { query } = request
  return { ...typedLogOf(request), query: query('query').trim(), staff: query('staff').trim() }
}

async function showLog(request: OwnRequest): Promise<FastifyReply> {
  const { deps, page, query, t } = request
  const typed = typedOf(request)
  const { value: filter, refusal } = await attempt(() => readFilter(request, typed), LABELS)
  const before = /^[1-9]\d{0,14}$/.test(query('before')) ? Number(query('before')) : undefined
  const nothing = { rows: [], next: null }
  const { rows, next } = filter === undefined ? nothing : await listEntryPage(deps.db, filter, { before, limit: ROWS })
  const names = await listObjectNames(deps.db, rows)
  const more = rows.length < ROWS ? t('operate.log.continue') : t('operate.older')
  const errors = refusal === undefined ? [] : [refusal]
  return showOperator(request, {
    section: PATH,
    heading: t('operate.audit-log'),
    text: t('operate.log.text'),
    action: exportLinks(page, typed),
    notes: errorSummary(page, errors),
    ...(refusal === undefined ? {} : { status: refusal.status }),
    body: html`${filterForm(page, typed, refusal)}
${refusal === undefined && entryTable(page, rows, { names, caption: t('operate.audit-log'), empty: t('operate.log.none') })}
${next !== null && html`<p class="part"><a href="${pathTo(page, withQuery(PATH, { ...typed, before: String(next) }))}">${more}</a></p>`}`,
  })
}

/** @throws ApiError naming the field */
function readFilter(request: OwnRequest, { query, staff, ...typed }: Typed): Promise<AuditFilter> {
  const search = { ...(query === '' ? {} : { query }), ...(staff === 'true' ? { staff: true } : {}) }
  return readLogFilter(request, typed, search)
}

function filterForm(page: PageContext, { query, staff, ...typed }: Typed, refusal: FormRefusal | undefined): Markup {
  const { t } = page.language
  const search = textField(page, {
    name: 'query',
    type: 'search',
    label: t('operate.log.query'),
    hint: t('operate.log.query.hint'),
    value: query,
    maxLength: 128,
    isOptional: true,
    isUnmarked: true,
    errors: refusal === undefined ? [] : [refusal],
  })
  const boxes = checkbox({ name: 'staff', value: 'true', isChecked: staff === 'true', label: t('operate.log.staff') })
  return logFilterForm(page, typed, { path: PATH, actions: AUDIT_ACTIONS, refusal, search, boxes })
}

function exportLinks(page: PageContext, typed: Typed): Markup {
  const { t } = page.language
  const link = (format: keyof typeof TYPES, label: string) =>
    html`<a class="button" href="${pathTo(page, withQuery(EXPORT, { ...typed, format }))}" download>${label}</a>`
  return html`<div class="line">${link('csv', t('operate.log.csv'))}${link('jsonl', t('operate.log.json'))}</div>`
}

/** Sends all entries that match, oldest first. @throws ApiError `invalid_input` */
async function sendExport(request: OwnRequest): Promise<FastifyReply> {
  const { deps, query, reply } = request
  const format = query('format') === 'csv' ? 'csv' : 'jsonl'
  const filter = await readFilter(request, typedOf(request))
  return reply
    .type(TYPES[format])
    .header('content-disposition', `attachment; filename="audit-log.${format}"`)
    .header('cache-control', 'no-store')
    .send(Readable.from(exportEntries(deps.db, filter, format), { objectMode: false }))
}
