// Request rates that operators grant to tokens and IP ranges.

import { actorOf } from '#features/basics/audit/actor.ts'
import { createRateLimit, type RateLimitDeps } from '#features/basics/rate-limits/create-rate-limit.ts'
import { deleteRateLimit } from '#features/basics/rate-limits/delete-rate-limit.ts'
import { type GrantRow, listGrants } from '#features/basics/rate-limits/queries.ts'
import { RateLimitInput, toGrantSubject } from '#features/basics/rate-limits/requests.ts'
import { parseId } from '#lib/ids.ts'
import { confirmFirst } from '#web/kit/forms/confirm.ts'
import { fields } from '#web/kit/forms/fields.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { datedDayText, wholeNumber } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { formPart } from '#web/ui/parts/actions.ts'
import { buttonForm } from '#web/ui/parts/fields.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { showOperator } from '../sections.ts'

const FIELDS = fields(RateLimitInput, {
  address_range: { label: 'ops.limits.range', hint: 'ops.limits.range.hint', isCode: true, isOptional: true },
  token_id: {
    label: 'ops.limits.token-id',
    said: 'The ID of the token',
    hint: 'ops.limits.token-id.hint',
    isCode: true,
    isOptional: true,
  },
  requests_per_minute: {
    label: 'ops.limits.rate',
    said: 'The number of requests',
    hint: 'ops.limits.rate.hint',
    inputMode: 'numeric',
  },
  note: { label: 'ops.note', isOptional: true },
})

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
    labels: FIELDS.said,
  })
}

const rateDeps = ({ deps, rateGrants }: OwnRequest): RateLimitDeps => ({ ...deps, rateGrants })

async function grantRate(request: OwnRequest, _rows: GrantRow[], state: FormState): Promise<Outcome> {
  const input = FIELDS.read(state)
  const { requests_per_minute: requestsPerMinute, note = '' } = input
  const grant = { subject: toGrantSubject(input), requestsPerMinute, note }
  await createRateLimit(rateDeps(request), actorOf(request.viewer), grant)
  return { done: 'rate-granted' }
}

function askRevocation({ page, field, t }: OwnRequest, rows: GrantRow[]) {
  const grant = rows.find(({ id }) => id === field('id'))
  return {
    title: t('ops.limits.revoke.title', { name: nameOf(page, grant) }),
    consequences: [t('ops.limits.revoke.effect'), t('operate.recorded')],
    button: t('ops.revoke'),
  }
}

async function revokeRate(request: OwnRequest): Promise<Outcome> {
  await deleteRateLimit(rateDeps(request), actorOf(request.viewer), parseId(request.field('id'), 'id'))
  return { done: 'rate-revoked' }
}

function showLimits(request: OwnRequest, rows: GrantRow[], state: FormState) {
  const { page, t } = request
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
    const since = datedDayText(page.language, created)
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
  const content = html`${FIELDS.controls(page, state, { requests_per_minute: 600 })}
<div class="line"><button class="main" name="do" value="create">${t('ops.limits.grant')}</button></div>`
  return formPart(page, { id: 'new', title: t('ops.limits.new'), path: PATHS.operatorLimits, content })
}
