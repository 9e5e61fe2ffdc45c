// Filters of the audit log and of the log of moderators: action, users, object and days.
import { SUBJECT_KINDS } from '#features/basics/audit/actions.ts'
import { findObject } from '#features/basics/audit/object-names.ts'
import { type AuditFilter, AuditQuery, toAuditFilter } from '#features/basics/audit/requests.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import { DAY_MS } from '#lib/time.ts'
import { checkValues, type FormRefusal } from '#web/kit/forms/read-form.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { selectField, textField } from '#web/ui/parts/fields.ts'
import { actionName, kindName } from './entries.ts'

const FIELDS = ['action', 'actor', 'user', 'subject_kind', 'subject_id', 'since', 'until'] as const

/** Names of the fields in error messages, which are English. */
export const LOG_LABELS: Readonly<Record<string, string>> = {
  action: 'The action',
  actor: 'The field “By”',
  user: 'The field “About the user”',
  subject_kind: 'The kind',
  subject_id: 'The object',
  since: 'The first day',
  until: 'The last day',
}

/** The values of the filters, as they are in the URL. */
export type TypedLog = Record<(typeof FIELDS)[number], string>

export const typedLogOf = ({ query }: OwnRequest): TypedLog =>
  Object.fromEntries(FIELDS.map((name) => [name, query(name).trim()])) as TypedLog

/**
 * Reads the filter: usernames or IDs of accounts, names or IDs of objects, and days or times. `more`: other values of the
 * query of the API.
 * @throws ApiError naming the field
 */
export async function readLogFilter({ deps }: OwnRequest, typed: TypedLog, more: object = {}): Promise<AuditFilter> {
  const idOf = async (field: 'actor' | 'user') => {
    if (typed[field] === '') return undefined
    try {
      return (await getAccountByName(deps.db, typed[field], { withLeaving: true })).id
    } catch (error) {
      if (!(error instanceof ApiError) || error.kind !== 'not_found') throw error
      throw validationError(field, 'must be the username or the ID of an account')
    }
  }
  const given = Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== ''))
  const object = typed.subject_id === '' ? undefined : await findObject(deps.db, typed.subject_id)
  const isNamed = object !== undefined && ['', object.kind].includes(typed.subject_kind)
  const values = {
    ...given,
    ...more,
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

/** Renders the filters. `search` and `boxes`: other fields above and below them. */
export function logFilterForm(
  page: PageContext,
  typed: TypedLog,
  of: { path: string; actions: readonly string[]; refusal: FormRefusal | undefined; search?: Part; boxes?: Part },
): Markup {
  const { language } = page
  const { t } = language
  const errors = of.refusal === undefined ? [] : [of.refusal]
  const any = { value: '', label: t('operate.log.any') }
  const actions = of.actions
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
  return html`<form method="get" action="${pathTo(page, of.path)}" class="part stack">${of.search}<div class="pair">
${selectField(page, { name: 'action', label: t('operate.log.action'), choices: [any, ...actions], isOptional: true, isUnmarked: true, errors })}
${text('actor')}
${text('user')}
${selectField(page, { name: 'subject_kind', label: t('operate.log.subject_kind'), choices: [any, ...kinds], isOptional: true, isUnmarked: true, errors })}
${text('subject_id')}
${day('since')}
${day('until')}
</div>${of.boxes}<div class="line"><button class="main">${t('operate.log.filter')}</button><a class="button" href="${pathTo(page, of.path)}">${t('operate.log.reset')}</a></div></form>`
}
