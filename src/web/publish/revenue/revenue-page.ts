// The balance of the user: available and pending amounts, their release dates, the payout address, and the history.
import type { FastifyReply } from 'fastify'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { getBalance, getHistory } from '#features/people/payouts/queries.ts'
import type { BalanceView, HistoryView } from '#features/people/payouts/views.ts'
import { formatUnits, parseUnits } from '#lib/decimal.ts'
import { csvLines } from '#lib/text/csv.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { listPage, PATHS } from '#web/kit/paths.ts'
import { showWork } from '#web/kit/work-page.ts'
import { datedDayText, dayText, moneyText, moneyTile } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { sheetHead, sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState, pager } from '#web/ui/parts/lists.ts'
import { status } from '#web/ui/parts/status.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { barPlot } from '#web/ui/plots/bar-plot.ts'
import { dashboardSections, showDashboardPage } from '../dashboard/dashboard-frame.ts'

/** Number of release dates that the plot draws; the table has all. */
const DRAWN_MAX = 24

export function revenuePages(pages: Pages): void {
  pages.own('GET', PATHS.revenue, 'ownRevenue', showRevenue, { api: 'getBalance' })
  historyPages(pages)
}

async function showRevenue(request: OwnRequest): Promise<FastifyReply> {
  const { deps, viewer, page, t } = request
  const balance = await getBalance(deps.db, viewer.id, deps.now())
  const { currency } = await getSettings(deps)
  return showDashboardPage(request, {
    path: PATHS.revenue,
    title: t('revenue.title'),
    tools: html`<a class="button" href="${pathTo(page, `${PATHS.revenue}/history`)}">${icon(page, 'history')}${t('revenue.history')}</a>`,
    body: [
      sheetHead({ title: t('revenue.title'), text: t('revenue.text') }),
      balanceTiles(page, balance, currency),
      payoutPart(request),
      releaseDates(page, balance, currency),
    ],
  })
}

function balanceTiles(page: PageContext, balance: BalanceView, currency: string | null): Markup {
  const { language } = page
  const { t } = language
  const tiles: readonly (readonly [IconName, string, string])[] = [
    ['coins', t('revenue.available'), balance.available],
    ['clock', t('revenue.pending'), balance.pending],
    ['calendar', t('revenue.withdrawn-year'), balance.withdrawn_ytd],
    ['archive', t('revenue.withdrawn'), balance.withdrawn_lifetime],
  ]
  return html`<dl class="tiles">${tiles.map(([name, label, value]) => html`<div><dt>${icon(page, name)}${label}</dt><dd class="big">${moneyTile(language, value, currency)}</dd></div>`)}</dl>`
}

function payoutPart({ page, account, t, rich }: OwnRequest): Markup {
  const settings = (text: Part) => html`<a href="${pathTo(page, PATHS.security)}#payout">${text}</a>`
  const { payout_handle: address } = account
  const text =
    address === null || address === ''
      ? rich('revenue.no-address', { link: settings })
      : rich('revenue.address', { address: html`<b><bdi>${address}</bdi></b>`, link: settings })
  return sheetPart({ id: 'payouts', title: t('revenue.payouts'), content: html`<p>${text}</p>` })
}

function releaseDates(page: PageContext, { dates, pending }: BalanceView, currency: string | null): Markup {
  const { language } = page
  const { t } = language
  const bars = Object.entries(dates).map(([day, amount]) => ({
    label: datedDayText(language, new Date(day)),
    value: Number(amount),
    text: moneyText(language, amount, null),
  }))
  const [next] = bars
  if (next === undefined)
    return sheetPart({
      id: 'dates',
      title: t('revenue.dates'),
      content: html`<p class="soft">${t('revenue.dates.none')}</p>`,
    })
  const drawn = sumOf(Object.values(dates).slice(0, DRAWN_MAX))
  const values = { count: bars.length, day: next.label, amount: moneyText(language, pending, currency) }
  const rest =
    bars.length > DRAWN_MAX
      ? t('revenue.dates.rest', { count: DRAWN_MAX, amount: moneyText(language, drawn, currency) })
      : ''
  return html`<div class="plots">${barPlot(page, {
    id: 'dates',
    title: t('revenue.dates'),
    summary: [t('revenue.dates.summary', values), rest].filter(Boolean).join(' '),
    bars,
    labels: [t('revenue.date'), amountLabel(page, currency)],
    shownMax: DRAWN_MAX,
  })}</div>`
}

const sumOf = (amounts: readonly string[]): string =>
  formatUnits(amounts.reduce((sum, amount) => sum + parseUnits(amount), 0n))

/** Header of a column of amounts, with the currency if the operator has set one. */
export function amountLabel({ language: { t } }: PageContext, currency: string | null): string {
  return currency === null ? t('revenue.amount') : t('revenue.amount-in', { currency })
}

const PATH = `${PATHS.revenue}/history`
const ROWS = 50

type Entry = HistoryView[number]
type Payout = Extract<Entry, { type: 'withdrawal' }>

function historyPages(pages: Pages): void {
  pages.own('GET', PATH, 'ownRevenueHistory', showHistory, { shows: 'Payouts', api: 'getPayoutHistory' })
  pages.own('GET', `${PATH}.csv`, 'ownRevenueHistoryCsv', sendCsv)
}

/** Newest first. */
async function listEntries({ deps, viewer }: OwnRequest): Promise<HistoryView> {
  return (await getHistory(deps.db, viewer.id, deps.now())).reverse()
}

async function showHistory(request: OwnRequest): Promise<FastifyReply> {
  const { deps, page, t } = request
  const entries = await listEntries(request)
  const { currency } = await getSettings(deps)
  const { shown, pages } = listPage(request, entries, { path: PATH, size: ROWS })
  const csv = html`<a class="button" href="${pathTo(page, `${PATH}.csv`)}" download>${icon(page, 'download')}${t('plot.csv')}</a>`
  return showWork(request, {
    title: t('revenue.history'),
    subject: {
      name: t('revenue.history'),
      crumbs: [
        { path: PATHS.dashboard, label: t('publish.dashboard') },
        { path: PATHS.revenue, label: t('revenue.title') },
      ],
      ...(entries.length === 0 ? {} : { tools: csv }),
    },
    sections: dashboardSections(page, PATHS.revenue),
    body: [
      sheetHead({ title: t('revenue.history.count', { count: entries.length }), text: t('revenue.history.text') }),
      entries.length === 0
        ? emptyState(page, { icon: 'coins', title: t('revenue.history.empty'), text: t('revenue.history.empty.text') })
        : historyTable(page, shown, currency),
      pager(page, pages),
    ],
  })
}

function historyTable(page: PageContext, entries: HistoryView, currency: string | null): Markup {
  const { language } = page
  const { t } = language
  return listTable(page, {
    caption: t('revenue.history'),
    columns: [
      { label: t('revenue.entry') },
      { label: t('revenue.date'), room: 'far' },
      { label: t('revenue.status'), room: 'mid' },
      { label: t('revenue.amount'), isNumber: true },
    ],
    rows: entries.map((entry) => {
      const at = dayText(language, new Date(entry.created))
      const state = stateOf(page, entry)
      return {
        cells: [
          nameCell({ name: nameOf(page, entry), details: detailsOf(page, entry, currency), near: at, least: [state] }),
          at,
          state,
          amountOf(page, entry, currency),
        ],
      }
    }),
  })
}

function nameOf({ language: { t } }: PageContext, entry: Entry): string {
  if (entry.type === 'withdrawal') return t('revenue.payout')
  return entry.payout_source === 'affiliates' ? t('revenue.of-affiliates') : t('revenue.of-projects')
}

function detailsOf({ language }: PageContext, entry: Entry, currency: string | null): Part {
  if (entry.type !== 'withdrawal') return null
  const { method_address: address, fee } = entry
  return [
    address !== null &&
      html`<span>${language.rich('revenue.payout.to', { address: html`<bdi>${address}</bdi>` })}</span>`,
    address !== null && Number(fee) > 0 && ' · ',
    Number(fee) > 0 && html`<span>${language.t('revenue.fee', { fee: moneyText(language, fee, currency) })}</span>`,
  ]
}

const STATES = {
  success: { kind: 'good', icon: 'check' },
  'in-transit': { kind: 'wait', icon: 'wait' },
  cancelled: { kind: undefined, icon: 'x' },
  failed: { kind: 'bad', icon: 'alert' },
} as const

function stateOf(page: PageContext, entry: Entry): Markup {
  const { t } = page.language
  if (entry.type !== 'withdrawal') return status(page, { kind: 'good', icon: 'check', label: t('revenue.available') })
  const { kind, icon: name } = STATES[entry.status]
  return status(page, {
    ...(kind === undefined ? {} : { kind }),
    icon: name,
    label: t(`revenue.state.${entry.status}`),
  })
}

/** Payouts that were made reduce the balance. */
function amountOf({ language }: PageContext, entry: Entry, currency: string | null): Part {
  const text = moneyText(language, entry.amount, currency)
  if (entry.type !== 'withdrawal') return `+${text}`
  return reduces(entry) ? `−${text}` : html`<s>${text}</s>`
}

const reduces = ({ status: state }: Payout): boolean => state === 'success' || state === 'in-transit'

async function sendCsv(request: OwnRequest): Promise<FastifyReply> {
  const { deps, reply } = request
  const entries = await listEntries(request)
  const { currency } = await getSettings(deps)
  const rows = entries.map((entry) =>
    entry.type === 'withdrawal'
      ? [entry.created, 'withdrawal', '', entry.amount, entry.fee, entry.status, entry.method_address ?? '']
      : [entry.created, 'payout_available', entry.payout_source, entry.amount, '', '', ''],
  )
  const header = ['created', 'type', 'payout_source', 'amount', 'fee', 'status', 'method_address', 'currency']
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', 'attachment; filename="revenue.csv"')
    .header('cache-control', 'private, no-cache')
    .send(csvLines([header, ...rows.map((row) => [...row, currency ?? ''])]))
}
