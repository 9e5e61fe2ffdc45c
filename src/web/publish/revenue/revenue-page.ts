// The balance of the user: available and pending amounts, their release dates, and the payout address.
import type { FastifyReply } from 'fastify'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { getBalance } from '#features/people/payouts/queries.ts'
import type { BalanceView } from '#features/people/payouts/views.ts'
import { formatUnits, parseUnits } from '#lib/decimal.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { datedDayText, moneyText, moneyTile } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { sheetHead, sheetPart } from '#web/ui/parts/frame.ts'
import { barPlot } from '#web/ui/plots/bar-plot.ts'
import { showDashboardPage } from '../dashboard/dashboard-frame.ts'
import { historyPages } from './history-page.ts'

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
