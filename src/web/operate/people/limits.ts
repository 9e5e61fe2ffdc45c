// Request rates that operators grant to tokens and IP ranges.
import { actorOf } from '#features/basics/audit/actor.ts'
import { createRateLimit, type RateLimitDeps } from '#features/basics/rate-limits/create-rate-limit.ts'
import { deleteRateLimit } from '#features/basics/rate-limits/delete-rate-limit.ts'
import { type GrantRow, listGrants } from '#features/basics/rate-limits/queries.ts'
import { RateLimitInput, toGrantSubject } from '#features/basics/rate-limits/requests.ts'
import { parseId } from '#lib/ids.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { shortDayText, wholeNumber } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { buttonForm, form, textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { confirmFirst } from '../confirm-first.ts'
import { showOperator } from '../sections.ts'
import { numberOf } from './typed-numbers.ts'

export function limitPages(pages: Pages): void {
  formPage<GrantRow[]>(pages, {
    path: PATHS.operatorLimits,
    name: 'operateLimits',
    shows: 'Granted request rates',
    api: 'listRateLimits createRateLimit deleteRateLimit',
    options: { role: 'admin' },
    load: ({ deps }) => listGrants(deps.db),
    show: showLimits,
    commands: { create: grantRate, revoke: confirmFirst(askRevocation, revokeRate) },
    labels: {
      token_id: 'The ID of the token',
      address_range: 'The address range',
      requests_per_minute: 'The number of requests',
      note: 'The note',
    },
  })
}

const rateDeps = ({ deps, rateGrants }: OwnRequest): RateLimitDeps => ({ ...deps, rateGrants })

async function grantRate(request: OwnRequest, _rows: GrantRow[], state: FormState): Promise<Outcome> {
  const typed = (name: string): string | null => state.text(name).trim() || null
  const input = checkValues(RateLimitInput, {
    token_id: typed('token_id'),
    address_range: typed('address_range'),
    requests_per_minute: numberOf(state.text('requests_per_minute')),
    note: state.text('note').trim(),
  })
  const { requests_per_minute: requestsPerMinute, note = '' } = input
  const grant = { subject: toGrantSubject(input), requestsPerMinute, note }
  await createRateLimit(rateDeps(request), actorOf(request.viewer), grant)
  return { done: 'rate-granted' }
}

function askRevocation({ page, field }: OwnRequest, rows: GrantRow[]) {
  const { t } = page.language
  const grant = rows.find(({ id }) => id === field('id'))
  return {
    title: t('ops.limits.revoke.title', { name: nameOf(page, grant) }),
    consequences: [t('ops.limits.revoke.effect')],
    button: t('ops.revoke'),
  }
}

async function revokeRate(request: OwnRequest): Promise<Outcome> {
  await deleteRateLimit(rateDeps(request), actorOf(request.viewer), parseId(request.field('id'), 'id'))
  return { done: 'rate-revoked' }
}

function showLimits(request: OwnRequest, rows: GrantRow[], state: FormState) {
  const { page } = request
  const { t } = page.language
  return showOperator(request, {
    section: PATHS.operatorLimits,
    heading: t('ops.limits'),
    text: t('ops.limits.text'),
    form: state,
    body: [grantTable(page, rows), newGrant(page, state)],
  })
}

function grantTable(page: PageContext, rows: GrantRow[]): Part {
  const { t } = page.language
  if (rows.length === 0)
    return emptyState(page, { icon: 'gauge', title: t('ops.limits.none'), text: t('ops.limits.none.text') })
  const columns = [
    { label: t('ops.limits.for') },
    { label: t('ops.limits.rate'), isNumber: true },
    { label: t('ops.limits.since'), room: 'far' },
    { label: t('ops.actions'), isAction: true },
  ] as const
  const shown = rows.map(({ id, token_id, address_range, requests_per_minute, note, created }) => {
    const name = nameOf(page, { token_id, address_range })
    const button = buttonForm(page, {
      action: pathTo(page, PATHS.operatorLimits),
      text: t('ops.revoke'),
      isTight: true,
      label: t('ops.limits.revoke', { name }),
      fields: { do: 'revoke', id },
    })
    const since = shortDayText(page.language, created)
    const rate = wholeNumber(page.language, requests_per_minute)
    return { cells: [nameCell({ name, details: note, near: since }), rate, since, button] }
  })
  return listTable(page, { caption: t('ops.limits'), columns, rows: shown })
}

/** Returns the IP range or the token that a rate limit is for. */
const nameOf = ({ language: { t } }: PageContext, grant?: Pick<GrantRow, 'token_id' | 'address_range'>): string =>
  grant?.address_range ?? t('ops.limits.token', { id: grant?.token_id ?? '' })

function newGrant(page: PageContext, state: FormState): Part {
  const { t } = page.language
  const { errors } = state
  const content = html`${textField(page, { name: 'address_range', label: t('ops.limits.range'), hint: t('ops.limits.range.hint'), value: state.text('address_range'), maxLength: 64, isCode: true, isOptional: true, errors })}
${textField(page, { name: 'token_id', label: t('ops.limits.token-id'), hint: t('ops.limits.token-id.hint'), value: state.text('token_id'), maxLength: 64, isCode: true, isOptional: true, errors })}
${textField(page, { name: 'requests_per_minute', label: t('ops.limits.rate'), value: state.text('requests_per_minute', '600'), inputMode: 'numeric', errors })}
${textField(page, { name: 'note', label: t('ops.note'), value: state.text('note'), maxLength: 500, isOptional: true, errors })}
<div class="line"><button class="main" name="do" value="create">${t('ops.limits.grant')}</button></div>`
  const action = pathTo(page, PATHS.operatorLimits)
  return sheetPart({
    id: 'new',
    title: t('ops.limits.new'),
    content: form(page, { action, className: 'stack', content }),
  })
}
