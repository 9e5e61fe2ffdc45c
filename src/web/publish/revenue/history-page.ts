// Earnings that became available and payouts, newest first, also as CSV.
import type { FastifyReply } from 'fastify'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { getHistory } from '#features/people/payouts/queries.ts'
import type { HistoryView } from '#features/people/payouts/views.ts'
import { csvLines } from '#lib/text/csv.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { listPage, PATHS } from '#web/kit/paths.ts'
import { showWork } from '#web/kit/work-page.ts'
import { dayText, moneyText } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { emptyState, pager } from '#web/ui/parts/lists.ts'
import { status } from '#web/ui/parts/status.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { dashboardSections } from '../dashboard/dashboard-frame.ts'

const PATH = `${PATHS.revenue}/history`
const ROWS = 50

type Entry = HistoryView[number]
type Payout = Extract<Entry, { type: 'withdrawal' }>

export function historyPages(pages: Pages): void {
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
        ? emptyState(page, {
            icon: 'coins',
            title: t('revenue.history.empty'),
            text: t('revenue.history.empty.text'),
          })
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
