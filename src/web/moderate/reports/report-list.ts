// The reported items, those with the oldest reports first.
import { countReportGroups, listReportGroups, type ReportGroup } from '#features/community/reports/groups/queries.ts'
import {
  type ItemType,
  REPORT_STATES,
  type ReportFilter,
  type ReportState,
} from '#features/community/reports/requests.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, pageNumber } from '#web/kit/paths.ts'
import { reasonName } from '#web/site/report.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { listTable, nameCell, type Row } from '#web/ui/parts/tables.ts'
import { moderatedReport, ROWS, showSection } from '../frame.ts'
import { filterForm, itemLink, itemStatus, listPager, offsetOf, userLink } from '../parts.ts'

const ITEM_TYPES = ['project', 'version', 'user'] as const satisfies readonly ItemType[]

export function reportListPage(pages: Pages): void {
  pages.own('GET', PATHS.moderationReports, 'moderateReports', showReports, {
    role: 'moderator',
    shows: 'Reports, grouped by the reported item',
    api: 'listReportGroups',
  })
}

/** Returns the filter of the URL. Unknown values filter nothing. */
function filterOf({ query, deps }: OwnRequest): ReportFilter & { state: ReportState } {
  return {
    state: REPORT_STATES.find((state) => state === query('state')) ?? 'open',
    itemType: ITEM_TYPES.find((type) => type === query('item_type')),
    reportType: deps.taxonomy.reportTypes.find((type) => type === query('report_type')),
  }
}

async function showReports(request: OwnRequest) {
  const { deps, page, t } = request
  const filter = filterOf(request)
  const current = pageNumber(request)
  const counts = await countReportGroups(deps.db, filter)
  const groups = await listReportGroups(deps.db, { ...filter, count: ROWS, offset: offsetOf(current) })
  const query = { state: filter.state, item_type: filter.itemType ?? '', report_type: filter.reportType ?? '' }
  return showSection(request, {
    section: PATHS.moderationReports,
    title: t('reports.list.title'),
    body: [
      sheetHead({
        title: t('reports.list.count', { items: counts.total }),
        text: t('reports.list.numbers', { open: counts.open, closed: counts.closed }),
      }),
      filters(request, query),
      groups.length === 0
        ? emptyState(page, { icon: 'flag', title: t('reports.list.empty'), text: t('reports.list.empty.text') })
        : groupTable(page, groups),
      listPager(page, { path: PATHS.moderationReports, current, total: counts.total, query }),
    ],
  })
}

function filters({ page, deps, t }: OwnRequest, query: Readonly<Record<string, string>>): Markup {
  return filterForm(page, {
    selects: [
      {
        name: 'state',
        label: t('reports.state'),
        value: query['state'] ?? '',
        choices: REPORT_STATES.map((value) => ({ value, label: t(`reports.state.${value}`) })),
        hasAny: false,
      },
      {
        name: 'item_type',
        label: t('reports.item-type'),
        value: query['item_type'] ?? '',
        choices: ITEM_TYPES.map((value) => ({ value, label: t(`reports.item-type.${value}`) })),
      },
      {
        name: 'report_type',
        label: t('reports.reason'),
        value: query['report_type'] ?? '',
        choices: deps.taxonomy.reportTypes.map((value) => ({ value, label: reasonName(page.language, value) })),
      },
    ],
  })
}

function groupTable(page: PageContext, groups: readonly ReportGroup[]): Markup {
  const { t } = page.language
  return listTable(page, {
    caption: t('reports.list.title'),
    columns: [
      { label: t('reports.item') },
      { label: t('reports.reason'), room: 'far' },
      { label: t('reports.reporters'), room: 'mid' },
      { label: t('reports.first'), room: 'mid' },
      { label: t('reports.latest'), room: 'far' },
      { label: t('reports.list.title'), isNumber: true },
    ],
    rows: groups.map((group) => groupRow(page, group)),
  })
}

function groupRow(page: PageContext, group: ReportGroup): Row {
  const { language } = page
  const { t } = language
  const reasons = group.types.map(({ type, count }) =>
    count === 1 ? reasonName(language, type) : `${reasonName(language, type)} (${count})`,
  )
  const first = timeAgo(language, group.open_since ?? group.first, page.now)
  const latest = timeAgo(language, group.latest, page.now)
  const [oldest] = group.report_ids
  const open = html`<a class="button tight" href="${pathTo(page, moderatedReport(oldest ?? ''))}">${t('reports.open-count', { count: group.reports })}</a>`
  return {
    cells: [
      nameCell({
        name: itemLink(page, group),
        details: html`${itemStatus(page, group)} ${t(`reports.item-type.${group.item_type}`)}`,
        near: [reasons.join(', '), ' · ', latest],
        least: [first],
      }),
      reasons.join(', '),
      reporters(page, group),
      first,
      latest,
      open,
    ],
  }
}

/** Renders the reporters with their record: how many of their reports led to action. */
export function reporters(page: PageContext, { reporters: shown, reporter_count }: ReportGroup): Part {
  const { t } = page.language
  const items = shown.map(
    (reporter) =>
      html`<li>${userLink(page, reporter)} <small class="soft">${t('reports.reporter.record', { action: reporter.action, reports: reporter.closed })}</small></li>`,
  )
  const more = reporter_count - shown.length
  return html`<ul>${items}${more > 0 && html`<li class="soft">${t('reports.more-reporters', { count: more })}</li>`}</ul>`
}
