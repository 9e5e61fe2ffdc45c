// The reported items, those with the oldest reports first.

import { claimNextReport, claimReport, releaseReport } from '#features/community/reports/groups/claim-report.ts'
import { countReportGroups, listReportGroups, type ReportGroup } from '#features/community/reports/groups/queries.ts'
import {
  CLAIM_FILTERS,
  type ItemType,
  REPORT_STATES,
  type ReportFilter,
  type ReportState,
} from '#features/community/reports/requests.ts'
import { parseId } from '#lib/ids.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, pageNumber, withQuery } from '#web/kit/paths.ts'
import { reasonName } from '#web/site/report.ts'
import { timeAgo } from '#web/ui/format.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { form } from '#web/ui/parts/fields.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { shortcuts } from '#web/ui/parts/keys.ts'
import { badge, emptyState } from '#web/ui/parts/lists.ts'
import { listTable, nameCell, type Row } from '#web/ui/parts/tables.ts'
import { moderatedReport, ROWS, showSection } from '../frame.ts'
import { filterForm, itemStatus, listPager, offsetOf, userLink } from '../parts.ts'

const ITEM_TYPES = ['project', 'version', 'user'] as const satisfies readonly ItemType[]

type Choice = ReportFilter & { state: ReportState; claimed: string }

export function reportListPage(pages: Pages): void {
  formPage<Choice>(pages, {
    path: PATHS.moderationReports,
    name: 'moderateReports',
    shows: 'Reports, grouped by the reported item',
    api: 'listReportGroups claimNextReport',
    options: { role: 'moderator' },
    load: async (request) => filterOf(request),
    show: showReports,
    commands: { next: startNext, claim: claimOne, release: releaseOne },
  })
}

/** Returns the filter of the URL. Unknown values filter nothing. */
function filterOf({ query, deps, viewer }: OwnRequest): Choice {
  const by = CLAIM_FILTERS.find((each) => each === query('claim'))
  return {
    claimed: by ?? '',
    claim: by === undefined ? undefined : { by, viewerId: viewer.id },
    state: REPORT_STATES.find((state) => state === query('state')) ?? 'open',
    itemType: ITEM_TYPES.find((type) => type === query('item_type')),
    reportType: deps.taxonomy.reportTypes.find((type) => type === query('report_type')),
  }
}

/** Claims the unclaimed item with the oldest report that matches the filters, and opens it. */
async function startNext({ deps, viewer }: OwnRequest, filter: Choice): Promise<Outcome> {
  const id = await claimNextReport(deps, viewer, filter)
  return id === undefined ? { done: 'no-next-report', path: listPath(filter) } : { path: moderatedReport(id) }
}

async function claimOne({ deps, viewer }: OwnRequest, filter: Choice, { argument }: FormState): Promise<Outcome> {
  await claimReport(deps, viewer, parseId(argument, 'do'))
  return { done: 'report-claimed', path: listPath(filter), fragment: rowId(argument) }
}

async function releaseOne({ deps, viewer }: OwnRequest, filter: Choice, { argument }: FormState): Promise<Outcome> {
  await releaseReport(deps, viewer, parseId(argument, 'do'))
  return { done: 'report-released', path: listPath(filter), fragment: rowId(argument) }
}

const rowId = (id: string): string => `r-${id}`
const queryOf = ({ state, itemType, reportType, claimed }: Choice) => ({
  state,
  item_type: itemType ?? '',
  report_type: reportType ?? '',
  claim: claimed,
})
const listPath = (filter: Choice): string =>
  withQuery(PATHS.moderationReports, { ...queryOf(filter), state: filter.state === 'open' ? '' : filter.state })

/** ID of the form that the buttons of the rows send. */
const CLAIM_FORM = 'claims'

async function showReports(request: OwnRequest, filter: Choice, state: FormState) {
  const { deps, page, t } = request
  const current = pageNumber(request)
  const counts = await countReportGroups(deps.db, filter)
  const groups = await listReportGroups(deps.db, { ...filter, count: ROWS, offset: offsetOf(current) })
  const query = queryOf(filter)
  const action = pathTo(page, listPath(filter))
  const start = html`<button class="main" name="do" value="next" data-key="n">${t('moderate.start.oldest')}</button>`
  return showSection(request, {
    section: PATHS.moderationReports,
    title: t('reports.list.title'),
    form: state,
    body: [
      sheetHead({
        title: t('reports.list.count', { items: counts.total }),
        text: t('reports.list.numbers', { open: counts.open, closed: counts.closed }),
        ...(groups.length === 0 ? {} : { action: form(page, { action, content: start }) }),
      }),
      filters(request, query),
      groups.length === 0
        ? emptyState(page, { icon: 'flag', title: t('reports.list.empty'), text: t('reports.list.empty.text') })
        : groupTable(request, groups),
      form(page, { id: CLAIM_FORM, action, content: '' }),
      groups.length > 0 && listKeys(page),
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
      {
        name: 'claim',
        label: t('moderate.column.assigned'),
        value: query['claim'] ?? '',
        choices: CLAIM_FILTERS.map((value) => ({ value, label: t(`moderate.claim.${value}`) })),
      },
    ],
  })
}

function listKeys(page: PageContext): Markup {
  const { t } = page.language
  const keys = [
    { keys: ['J', 'K'], label: t('moderate.key.rows') },
    { keys: ['Enter'], label: t('reports.key.open') },
    { keys: ['T'], label: t('reports.key.claim-row') },
    { keys: ['N'], label: t('reports.key.start') },
  ]
  return html`<div class="part">${shortcuts(page, keys)}</div>`
}

function groupTable(request: OwnRequest, groups: readonly ReportGroup[]): Markup {
  const { page, t } = request
  return listTable(page, {
    caption: t('reports.list.title'),
    columns: [
      { label: t('reports.item') },
      { label: t('reports.reason'), room: 'far' },
      { label: t('reports.reporters'), room: 'mid' },
      { label: t('reports.first'), room: 'mid' },
      { label: t('reports.latest'), room: 'far' },
      { label: t('moderate.column.assigned'), room: 'mid' },
    ],
    rows: groups.map((group) => groupRow(request, group)),
  })
}

function groupRow(request: OwnRequest, group: ReportGroup): Row {
  const { page, language, t } = request
  const reasons = group.types.map(({ type, count }) =>
    count === 1 ? reasonName(language, type) : `${reasonName(language, type)} (${count})`,
  )
  const first = timeAgo(language, group.open_since ?? group.first, page.now)
  const latest = timeAgo(language, group.latest, page.now)
  const [oldest = ''] = group.report_ids
  const assigned = claimPart(request, group, oldest)
  return {
    id: rowId(oldest),
    isStep: true,
    cells: [
      nameCell({
        href: pathTo(page, moderatedReport(oldest)),
        name: group.item?.name ?? t('reports.item.deleted', { id: group.item_id }),
        details: html`${t('reports.open-count', { count: group.reports })} · ${t(`reports.item-type.${group.item_type}`)} ${itemStatus(page, group)}`,
        near: html`${reasons.join(', ')} · ${t('reports.latest')}: ${latest}`,
        least: [html`${t('reports.first')}: ${first}`, assigned],
      }),
      reasons.join(', '),
      reporters(page, group),
      first,
      latest,
      assigned,
    ],
  }
}

function claimPart({ viewer, t }: OwnRequest, group: ReportGroup, id: string): Part {
  const { claim, open } = group
  const isOwn = claim?.id === viewer.id
  const state =
    claim === null
      ? html`<span class="soft">${t('moderate.unassigned')}</span>`
      : isOwn
        ? badge('good', t('moderate.you'))
        : html`<bdi>${claim.username}</bdi>`
  if (open === 0 || (claim !== null && !isOwn)) return open === 0 ? null : state
  const command = isOwn ? 'release' : 'claim'
  const more = attributes({ form: CLAIM_FORM, value: `${command}.${id}`, 'data-key': isOwn ? 'u' : 't' })
  const name = group.item?.name ?? group.item_id
  return html`${state} <button class="plain" name="do"${more}>${t(`moderate.bulk.${command}`)}<span class="vh"> ${name}</span></button>`
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
