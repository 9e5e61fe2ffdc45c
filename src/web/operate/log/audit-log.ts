// The audit log: filters in the URL, pages, export.
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { AUDIT_ACTIONS, SUBJECT_KINDS } from '#features/basics/audit/actions.ts'
import { exportEntries } from '#features/basics/audit/export-entries.ts'
import { findObject, listObjectNames } from '#features/basics/audit/object-names.ts'
import { listEntryPage } from '#features/basics/audit/queries.ts'
import { type AuditFilter, AuditQuery, toAuditFilter } from '#features/basics/audit/requests.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import { DAY_MS } from '#lib/time.ts'
import { attempt, checkValues, type FormRefusal } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { withQuery } from '#web/kit/paths.ts'
import { actionName, entryTable, kindName } from '#web/moderate/log/entries.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { checkbox, errorSummary, selectField, textField } from '#web/ui/parts/fields.ts'
import { showOperator } from '../sections.ts'

const PATH = '/operator/audit-log'
const EXPORT = '/operator/audit-log/export'
const ROWS = 50
const FIELDS = ['query', 'staff', 'action', 'actor', 'user', 'subject_kind', 'subject_id', 'since', 'until'] as const
const TYPES = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl; charset=utf-8' } as const

/** Names of the fields in error messages, which are English. */
const LABELS: Readonly<Record<string, string>> = {
  action: 'The action',
  actor: 'The field “By”',
  user: 'The field “About the user”',
  subject_kind: 'The kind',
  subject_id: 'The object',
  query: 'The text',
  since: 'The first day',
  until: 'The last day',
}

type Typed = Record<(typeof FIELDS)[number], string>

export function auditLogPages(pages: Pages): void {
  pages.own('GET', PATH, 'operateAuditLog', showLog, { role: 'admin', api: 'listAuditEntries exportAuditEntries' })
  pages.own('GET', EXPORT, 'operateAuditExport', sendExport, { role: 'admin', shows: false })
}

const typedOf = ({ query }: OwnRequest): Typed =>
  Object.fromEntries(FIELDS.map((name) => [name, query(name).trim()])) as Typed

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

/** Reads the filter: usernames or IDs of accounts, names or IDs of objects, and days or times. @throws ApiError naming the field */
async function readFilter({ deps }: OwnRequest, typed: Typed): Promise<AuditFilter> {
  const idOf = async (field: 'actor' | 'user') => {
    if (typed[field] === '') return undefined
    try {
      return (await getAccountByName(deps.db, typed[field], { withLeaving: true })).id
    } catch (error) {
      if (!(error instanceof ApiError) || error.kind !== 'not_found') throw error
      throw validationError(field, 'must be the username or the ID of an account')
    }
  }
  const { staff, ...texts } = typed
  const given = Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== ''))
  const object = typed.subject_id === '' ? undefined : await findObject(deps.db, typed.subject_id)
  const isNamed = object !== undefined && ['', object.kind].includes(typed.subject_kind)
  const values = {
    ...given,
    ...(staff === 'true' ? { staff: true } : {}),
    ...(isNamed ? { subject_kind: object.kind, subject_id: object.id } : {}),
    ...(typed.since === '' ? {} : { since: timeOf(typed.since, 0) }),
    // The page includes the whole day; the API excludes its value.
    ...(typed.until === '' ? {} : { until: timeOf(typed.until, DAY_MS) }),
    actor: await idOf('actor'),
    user: await idOf('user'),
  }
  return toAuditFilter(checkValues(AuditQuery, values))
}

/** Returns the start of a day, moved by `moveMs`; other texts are unchanged. */
function timeOf(text: string, moveMs: number): string {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return text
  const at = Date.parse(`${text}T00:00:00.000Z`)
  return Number.isNaN(at) ? text : new Date(at + moveMs).toISOString()
}

function filterForm(page: PageContext, typed: Typed, refusal: FormRefusal | undefined): Markup {
  const { language } = page
  const { t } = language
  const errors = refusal === undefined ? [] : [refusal]
  const any = { value: '', label: t('operate.log.any') }
  const actions = [...AUDIT_ACTIONS]
    .map((value) => ({ value, label: actionName(language, value), isChosen: value === typed.action }))
    .sort((a, b) => a.label.localeCompare(b.label, language.tag))
  const kinds = SUBJECT_KINDS.map((value) => {
    return { value, label: kindName(language, value), isChosen: value === typed.subject_kind }
  })
  const text = (name: 'actor' | 'user' | 'subject_id') =>
    textField(page, {
      name,
      label: t(`operate.log.${name}`),
      value: typed[name],
      isOptional: true,
      isUnmarked: true,
      isName: true,
      errors,
    })
  // A time in the URL, which the picker of days cannot show, stays a text.
  const day = (name: 'since' | 'until') =>
    textField(page, {
      name,
      ...(/^(\d{4}-\d\d-\d\d)?$/.test(typed[name]) ? { type: 'date' as const } : {}),
      label: t(`operate.log.${name}`),
      value: typed[name],
      isOptional: true,
      isUnmarked: true,
      errors,
    })
  const search = textField(page, {
    name: 'query',
    type: 'search',
    label: t('operate.log.query'),
    hint: t('operate.log.query.hint'),
    value: typed.query,
    maxLength: 128,
    isOptional: true,
    isUnmarked: true,
    errors,
  })
  const staff = checkbox({
    name: 'staff',
    value: 'true',
    isChecked: typed.staff === 'true',
    label: t('operate.log.staff'),
  })
  return html`<form method="get" action="${pathTo(page, PATH)}" class="part stack">${search}<div class="pair">
${selectField(page, { name: 'action', label: t('operate.log.action'), choices: [any, ...actions], isOptional: true, isUnmarked: true, errors })}
${text('actor')}
${text('user')}
${selectField(page, { name: 'subject_kind', label: t('operate.log.subject_kind'), choices: [any, ...kinds], isOptional: true, isUnmarked: true, errors })}
${text('subject_id')}
${day('since')}
${day('until')}
</div>${staff}<div class="line"><button class="main">${t('operate.log.filter')}</button><a class="button" href="${pathTo(page, PATH)}">${t('operate.log.reset')}</a></div></form>`
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
