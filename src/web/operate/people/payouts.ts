// Payouts that operators have made, and revenue that they distribute. Depot keeps the ledger and transfers no money.

import { actorOf } from '#features/basics/audit/actor.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { distributeRevenue } from '#features/people/payouts/distribute-revenue.ts'
import { getBalance, listPayouts } from '#features/people/payouts/queries.ts'
import { recordPayout } from '#features/people/payouts/record-payout.ts'
import { NewPayout, NewRevenue, PayoutPatch, parsePayout, parseRevenue } from '#features/people/payouts/requests.ts'
import { updatePayout } from '#features/people/payouts/update-payout.ts'
import { listAccountsByNames } from '#features/people/users/queries.ts'
import { AMOUNT_PATTERN } from '#lib/decimal.ts'
import { validationError } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { fields } from '#web/kit/forms/fields.ts'
import { EMPTY, type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues, refusedField } from '#web/kit/forms/read-form.ts'
import { dateOf, decimalOf } from '#web/kit/forms/typed.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { datedDayText, moneyText } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { formPart } from '#web/ui/parts/actions.ts'
import { form, hiddenField, selectField, textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { showOperator } from '../sections.ts'
import { accountPath } from './accounts.ts'

const ROWS = 50
const STATUSES = ['in-transit', 'success', 'cancelled', 'failed'] as const
const PAYOUT = fields(NewPayout, {
  amount: { label: 'ops.payouts.amount', inputMode: 'decimal' },
  fee: { label: 'ops.payouts.fee', hint: 'ops.payouts.fee.hint', inputMode: 'decimal', isOptional: true },
  external_id: { label: 'ops.payouts.id', said: 'The ID of the record', hint: 'ops.payouts.id.hint', isCode: true },
})
const REVENUE = fields(NewRevenue, {
  day: { label: 'ops.revenue.day', hint: 'ops.revenue.day.hint' },
  amount: { label: 'ops.payouts.amount' },
  external_id: { label: 'ops.payouts.id', said: 'The ID of the record', hint: 'ops.payouts.id.hint' },
})
/** Both forms have an amount and an ID. */
const REVENUE_IDS = {
  day: { id: 'revenue-day' },
  amount: { id: 'revenue-amount' },
  external_id: { id: 'revenue-external_id' },
}
type Ledger = {
  payouts: Awaited<ReturnType<typeof listPayouts>>
  currency: string | null
  /** Balance of the user whose name was searched for. */
  found: { id: string; username: string; available: string; pending: string } | undefined
}

export function payoutPages(pages: Pages): void {
  formPage<Ledger>(pages, {
    path: PATHS.operatorPayouts,
    name: 'operatePayouts',
    api: 'recordPayout updatePayout distributeRevenue',
    options: { role: 'admin' },
    load: loadLedger,
    show: showLedger,
    commands: { payout: savePayout, status: saveStatus, revenue: saveRevenue },
    labels: { ...PAYOUT.said, ...REVENUE.said, username: 'The username', status: 'The status' },
  })
}

async function loadLedger({ deps, query }: OwnRequest): Promise<Ledger> {
  const [payouts, { currency }] = await Promise.all([listPayouts(deps.db, ROWS), getSettings(deps)])
  const name = query('user').trim()
  const [account] = name === '' ? [] : await listAccountsByNames(deps.db, [name])
  if (account === undefined) return { payouts, currency, found: undefined }
  const { available, pending } = await getBalance(deps.db, account.id, deps.now())
  return { payouts, currency, found: { id: account.id, username: account.username, available, pending } }
}

/** Returns the form with amounts and days as the API reads them. @throws ApiError naming the field, with an example */
function readTyped({ language }: OwnRequest, state: FormState): FormState {
  const text: FormState['text'] = (name, current) => {
    const typed = state.text(name, current)
    if (name === 'day') return dateOf(typed)
    if ((name !== 'amount' && name !== 'fee') || typed.trim() === '') return typed
    const amount = decimalOf(language.tag, typed)
    if (!new RegExp(AMOUNT_PATTERN).test(amount)) throw refusedField(name, language.t('refusal.amount'))
    return amount
  }
  return { ...state, text }
}

async function savePayout(request: OwnRequest, _data: Ledger, typed: FormState): Promise<Outcome> {
  const { deps, viewer } = request
  const state = readTyped(request, typed)
  const [account] = await listAccountsByNames(deps.db, [state.text('username').trim()])
  if (account === undefined) throw validationError('username', 'is not the name of a user')
  const input = PAYOUT.read(state, { user_id: account.id, status: state.text('status').trim() })
  const { isNew } = await recordPayout(deps, actorOf(viewer), parsePayout(input))
  return { done: isNew ? 'payout-recorded' : 'payout-known', with: { user: account.username } }
}

async function saveStatus({ deps, viewer, field }: OwnRequest): Promise<Outcome> {
  const { status } = checkValues(PayoutPatch, { status: field('status') })
  await updatePayout(deps, actorOf(viewer), { id: parseId(field('id'), 'id'), status })
  return { done: 'payout-changed' }
}

async function saveRevenue(request: OwnRequest, _data: Ledger, state: FormState): Promise<Outcome> {
  const { deps, viewer } = request
  const input = REVENUE.read(readTyped(request, state))
  const { revenue, isNew } = await distributeRevenue(deps, actorOf(viewer), parseRevenue(input, deps.now()))
  const { distributed, projects } = revenue
  if (!isNew) return { done: 'revenue-known' }
  return { done: 'revenue-distributed', with: { sum: distributed, projects: String(projects) } }
}

function showLedger(request: OwnRequest, data: Ledger, state: FormState) {
  const { page, query, t } = request
  const of = (form: string): FormState => (state.text('do') === form ? state : EMPTY)
  return showOperator(request, {
    section: PATHS.operatorPayouts,
    heading: t('ops.payouts'),
    text: t('ops.payouts.text'),
    form: state,
    notice: { sum: sumText(page, query('sum'), data.currency), projects: Number(query('projects')) || 0 },
    body: [
      balancePart(page, data, query('user')),
      payoutTable(page, data),
      payoutForm(page, data, of('payout')),
      revenueForm(page, of('revenue')),
    ],
  })
}

/** The sum comes from the URL, which can be made by hand. */
const sumText = ({ language }: PageContext, sum: string, currency: string | null): string =>
  new RegExp(AMOUNT_PATTERN).test(sum) ? moneyText(language, sum, currency) : ''

function balancePart(page: PageContext, { found, currency }: Ledger, name: string): Part {
  const { t } = page.language
  const field = textField(page, {
    name: 'user',
    id: 'balance-user',
    label: t('ops.payouts.user'),
    value: name,
    maxLength: 256,
    isName: true,
  })
  const content = html`<form method="get" class="stack">${field}<div class="line"><button>${t('ops.payouts.show')}</button></div></form>
${name !== '' && found === undefined && html`<p>${t('ops.payouts.unknown')}</p>`}
${
  found !== undefined &&
  html`<dl class="pairs wide"><dt>${t('ops.payouts.available')}</dt><dd>${moneyText(page.language, found.available, currency)}</dd><dt>${t('ops.payouts.pending')}</dt><dd>${moneyText(page.language, found.pending, currency)}</dd></dl>`
}`
  return sheetPart({ id: 'balance', title: t('ops.payouts.balance'), content })
}

function payoutTable(page: PageContext, { payouts, currency }: Ledger): Part {
  const { t } = page.language
  if (payouts.length === 0)
    return emptyState(page, { icon: 'coins', title: t('ops.payouts.none'), text: t('ops.payouts.none.text') })
  const columns = [
    { label: t('ops.payouts.recipient') },
    { label: t('ops.payouts.amount'), isNumber: true },
    { label: t('ops.payouts.date'), room: 'far' },
    { label: t('ops.payouts.status') },
  ] as const
  const rows = payouts.map((row) => {
    const name = row.username ?? t('ops.payouts.deleted')
    const date = datedDayText(page.language, row.created)
    const change = form(page, {
      action: pathTo(page, PATHS.operatorPayouts),
      className: 'line',
      content: html`${hiddenField('do', 'status')}${hiddenField('id', row.id)}${statusField(page, { id: `status-${row.id}`, name, current: row.status })}<button class="tight">${t('ops.payouts.change')}</button>`,
    })
    const href = row.account_id === null ? {} : { href: pathTo(page, accountPath(row.account_id)) }
    const cell = nameCell({ ...href, name, details: row.external_id, near: date })
    return { cells: [cell, moneyText(page.language, row.amount, currency), date, change] }
  })
  return listTable(page, { caption: t('ops.payouts'), columns, rows })
}

function statusField(page: PageContext, { id, name, current }: { id: string; name: string; current: string }): Part {
  return html`<label class="vh" for="${id}">${page.language.t('ops.payouts.status-of', { name })}</label><select id="${id}" name="status">${STATUSES.map(
    (value) =>
      value === current
        ? html`<option value="${value}" selected>${statusName(page, value)}</option>`
        : html`<option value="${value}">${statusName(page, value)}</option>`,
  )}</select>`
}

function statusName(page: PageContext, value: (typeof STATUSES)[number]): string {
  const { t } = page.language
  if (value === 'in-transit') return t('ops.payouts.in-transit')
  if (value === 'success') return t('ops.payouts.success')
  return value === 'cancelled' ? t('ops.payouts.cancelled') : t('ops.payouts.failed')
}
function payoutForm(page: PageContext, { found }: Ledger, state: FormState): Part {
  const { t } = page.language
  const { errors } = state
  const choices = (['success', 'in-transit'] as const).map((status) => ({
    value: status,
    label: statusName(page, status),
    isChosen: state.text('status') === status,
  }))
  const username = state.text('username', found?.username)
  const content = html`${textField(page, { name: 'username', label: t('ops.payouts.user'), hint: t('ops.payouts.user.hint'), value: username, maxLength: 256, isName: true, usersFrom: pathTo(page, '/v3/users/search'), errors })}
${PAYOUT.controls(page, state)}
${selectField(page, { name: 'status', label: t('ops.payouts.status'), choices, errors })}
<div class="line"><button class="main" name="do" value="payout">${t('ops.payouts.record')}</button></div>`
  return formPart(page, { id: 'payout', title: t('ops.payouts.new'), path: PATHS.operatorPayouts, content })
}

function revenueForm(page: PageContext, state: FormState): Part {
  const { t } = page.language
  const content = html`${REVENUE.controls(page, state, {}, REVENUE_IDS)}
<div class="line"><button class="main" name="do" value="revenue">${t('ops.revenue.distribute')}</button></div>`
  const of = { id: 'revenue', title: t('ops.revenue'), text: t('ops.revenue.text') }
  return formPart(page, { ...of, path: PATHS.operatorPayouts, content })
}
