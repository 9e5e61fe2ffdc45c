// Scans of versions: by state, with their findings, to release or repeat.
import { overrideScan, repeatScan } from '#features/catalogue/scans/override-scan.ts'
import { countScans, type ListedScan, listScans, type ScanState } from '#features/catalogue/scans/queries.ts'
import { SCAN_STATES } from '#features/catalogue/scans/views.ts'
import { parseId } from '#lib/ids.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, pageNumber, reviewPath, withQuery } from '#web/kit/paths.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { buttonForm } from '#web/ui/parts/fields.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { emptyState, tabs } from '#web/ui/parts/lists.ts'
import { statusOf } from '#web/ui/parts/status.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { ROWS, showSection, takedownPath } from '../frame.ts'
import { filterForm, listPager, offsetOf } from '../parts.ts'

type Data = { state: ScanState; text: string; current: number; counts: Record<ScanState, number>; scans: ListedScan[] }

export function scanListPage(pages: Pages): void {
  formPage<Data>(pages, {
    path: PATHS.moderationScans,
    name: 'moderateScans',
    api: 'listVersionScans releaseVersion repeatVersionScan',
    load: loadScans,
    show: showScans,
    commands: { release, repeat },
    options: { role: 'moderator' },
  })
}

async function loadScans(request: OwnRequest): Promise<Data> {
  const { deps, query } = request
  const state = SCAN_STATES.find((each) => each === query('state')) ?? 'quarantine'
  const text = query('query').trim().slice(0, 256)
  const current = pageNumber(request)
  const counts = await countScans(deps.db, { text })
  const scans = await listScans(deps.db, { state, text, count: ROWS, offset: offsetOf(current) })
  return { state, text, current, counts, scans }
}

/** Returns to the list with its filter. */
const back = ({ state, text }: Data) => ({
  path: withQuery(PATHS.moderationScans, { state: state === 'quarantine' ? undefined : state, query: text }),
})

async function release({ deps, viewer, field }: OwnRequest, data: Data): Promise<Outcome> {
  await overrideScan(deps, viewer, parseId(field('id'), 'id'))
  return { done: 'scan-released', ...back(data) }
}

async function repeat({ deps, field }: OwnRequest, data: Data): Promise<Outcome> {
  await repeatScan(deps, parseId(field('id'), 'id'))
  return { done: 'scan-repeated', ...back(data) }
}

function showScans(request: OwnRequest, data: Data, state: FormState) {
  const { page, t } = request
  const query = { state: data.state, query: data.text }
  const items = SCAN_STATES.map((each) => ({
    href: pathTo(page, withQuery(PATHS.moderationScans, { state: each, query: data.text })),
    label: t(`work.scan.${each}`),
    icon: 'scan' as const,
    count: data.counts[each],
    isCurrent: each === data.state,
  }))
  return showSection(request, {
    section: PATHS.moderationScans,
    title: t('reports.scans.title'),
    form: state,
    body: [
      tabs(page, t('reports.scans.states'), items),
      sheetHead({ title: t(`work.scan.${data.state}`) }),
      filterForm(page, {
        selects: [],
        search: { name: 'query', label: t('reports.scans.search'), value: data.text },
        hidden: { state: data.state },
      }),
      data.scans.length === 0
        ? emptyState(page, { icon: 'scan', title: t('reports.scans.empty') })
        : scanTable(page, data),
      listPager(page, { path: PATHS.moderationScans, current: data.current, total: data.counts[data.state], query }),
    ],
  })
}

function scanTable(page: PageContext, data: Data): Markup {
  const { t } = page.language
  return listTable(page, {
    caption: t('reports.scans.title'),
    columns: [
      { label: t('reports.scans.version') },
      { label: t('reports.scans.finding'), room: 'mid' },
      { label: t('reports.scans.requested'), room: 'far' },
      { label: t('reports.actions'), isAction: true },
    ],
    rows: data.scans.map((scan) => ({
      cells: [
        nameCell({
          href: pathTo(page, reviewPath(scan.project_id)),
          name: `${scan.project_name} ${scan.version_number}`,
          details: statusOf(page, 'version', scan.version_status),
          near: timeAgo(page.language, scan.requested, page.now),
          least: [html`<span dir="auto">${scan.reason}</span>`],
        }),
        finding(page, scan),
        timeAgo(page.language, scan.requested, page.now),
        actions(page, data, scan),
      ],
    })),
  })
}

/** Renders the reason, and the files that the scanner has not passed. Names of files are untrusted. */
function finding(page: PageContext, scan: ListedScan): Part {
  const { t } = page.language
  const files = scan.findings.filter(({ verdict }) => verdict !== 'pass')
  const list =
    files.length > 0 &&
    html`<ul>${files.map(({ filename, verdict, reason }) => html`<li><code dir="ltr">${filename}</code> ${statusOf(page, 'scan', verdict)} ${reason !== null && html`<span dir="auto">${reason}</span>`}</li>`)}</ul>`
  return html`${scan.reason !== null && html`<span dir="auto">${scan.reason}</span>`}${scan.last_error !== null && html`<p class="soft">${t('reports.scans.error', { attempts: scan.attempts })} <span dir="auto" lang="en">${scan.last_error}</span></p>`}${list}${scan.released_by !== null && html`<p class="soft">${t('reports.scans.released')}</p>`}`
}

function actions(page: PageContext, data: Data, scan: ListedScan): Markup {
  const { t } = page.language
  const action = pathTo(page, back(data).path)
  const name = `${scan.project_name} ${scan.version_number}`
  const button = (command: 'release' | 'repeat') =>
    buttonForm(page, {
      action,
      text: t(`reports.scans.${command}`),
      isTight: true,
      label: `${t(`reports.scans.${command}`)}: ${name}`,
      fields: { do: command, id: scan.version_id },
    })
  const isHeld = scan.state === 'quarantine' || scan.state === 'pending'
  return html`${isHeld && button('release')}${scan.state !== 'pending' && button('repeat')}<a class="button tight" href="${pathTo(page, takedownPath('version', scan.version_id))}">${t('reports.takedown.link')}</a>`
}
