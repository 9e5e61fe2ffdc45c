// The table of the user's projects.
import type { AttentionItem } from '#features/community/attention/views.ts'
import { listQueuePlaces } from '#features/community/moderation/queries.ts'
import { listCountedVersions } from '#features/reading/analytics/queries.ts'
import { releasesOf } from '#features/reading/search/facet-counts.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { offeredTypes, projectPath, withQuery } from '#web/kit/paths.ts'
import { tile } from '#web/site/lists/rows.ts'
import { typeName } from '#web/site/names.ts'
import { timeAgo, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { status, statusOf } from '#web/ui/parts/status.ts'
import { type Column, listTable, nameCell } from '#web/ui/parts/tables.ts'
import { spark } from '#web/ui/plots/spark.ts'
import type { ListedProject, OwnProject } from './dashboard-frame.ts'
import { loadProjectTrends, type ProjectTrends } from './trends.ts'

/** Orders of the table; `-` begins a descending order. */
export const SORTS = ['-downloads', 'downloads', 'name', '-name', '-updated', 'updated'] as const
export type Sort = (typeof SORTS)[number]

const COMPARE: Readonly<Record<string, (a: ListedProject, b: ListedProject) => number>> = {
  downloads: (a, b) => a.downloads - b.downloads,
  name: (a, b) => a.name.localeCompare(b.name),
  updated: (a, b) => Date.parse(a.updated) - Date.parse(b.updated),
}

export function sortProjects(projects: readonly OwnProject[], sort: Sort): OwnProject[] {
  const compare = COMPARE[sort.replace('-', '')] ?? (() => 0)
  const sign = sort.startsWith('-') ? -1 : 1
  return projects.toSorted((a, b) => sign * compare(a.view, b.view) || (a.view.id < b.view.id ? -1 : 1))
}

/** Facts that the rows show in addition to the projects. */
type RowData = {
  trends: ProjectTrends
  /** Numbers of the latest versions by version ID. */
  versions: ReadonlyMap<string, string>
  /** Positions in the review queue by project ID, and the length of the queue. */
  queue: { positions: ReadonlyMap<string, number>; total: number }
  /** Projects with a message of a moderator, and with a quarantined version. */
  asked: ReadonlySet<string>
  quarantined: ReadonlySet<string>
}

/** Loads what the rows show, with the same number of statements and queries for any number of projects. */
export async function loadRowData(
  request: OwnRequest,
  projects: readonly OwnProject[],
  { items = [], trends }: { items?: readonly AttentionItem[]; trends?: ProjectTrends } = {},
): Promise<RowData> {
  const ids = projects.map(({ view }) => view.id)
  const waiting = projects.filter(({ view }) => view.status === 'processing').map(({ view }) => view.id)
  const latest = projects.flatMap(({ view }) => view.latestVersion ?? [])
  const versions = await listCountedVersions(request.deps.db, latest)
  return {
    trends: trends ?? (await loadProjectTrends(request, ids)),
    versions: new Map(versions.map(({ id, version_number }) => [id, version_number])),
    queue: await listQueuePlaces(request.deps.db, waiting),
    asked: projectsWith(items, 'moderator_message'),
    quarantined: projectsWith(items, 'quarantined_version'),
  }
}

const projectsWith = (items: readonly AttentionItem[], wanted: AttentionItem['kind']): ReadonlySet<string> =>
  new Set(items.flatMap(({ kind, project }) => (kind === wanted && project !== null ? project.id : [])))

type Shown = RowData & {
  sort: Sort
  /** Path of the page that sorts the table, with its filters. */
  path: string
  /** Names of the organizations that the rows show, by ID. */
  organizations?: ReadonlyMap<string, string>
  /** IDs of the selected projects; undefined without checkboxes. */
  picked: readonly string[] | undefined
}

export function projectTable({ page, deps, t }: OwnRequest, projects: readonly OwnProject[], of: Shown): Markup {
  const sortable = (name: string, label: string, more: Partial<Column> = {}): Column => {
    const isAscending = of.sort === name
    const isDescending = of.sort === `-${name}`
    const next = name === 'name' ? (isAscending ? '-name' : 'name') : isDescending ? name : `-${name}`
    const order = isAscending ? 'ascending' : isDescending ? 'descending' : 'none'
    return { label, ...more, sort: { href: pathTo(page, withQuery(of.path, { sort: next })), order } }
  }
  const [game] = releasesOf(deps.taxonomy)
  return listTable(page, {
    caption: t('publish.projects'),
    columns: [
      sortable('name', t('publish.column.name')),
      { label: t('publish.column.status') },
      { label: t('publish.figures'), room: 'far' },
      sortable('downloads', t('publish.column.downloads'), { isNumber: true, room: 'mid' }),
      { label: t('publish.column.version'), room: 'mid' },
      ...(game === undefined
        ? []
        : [{ label: t('publish.column.game-version', { version: game }), room: 'far' as const }]),
      sortable('updated', t('publish.column.updated'), { room: 'far' }),
    ],
    rows: projects.map(({ view }) => ({
      cells: cellsOf(page, deps, { view, game, of }),
      ...(of.picked === undefined
        ? {}
        : { pick: { value: view.id, name: view.name, isPicked: of.picked.includes(view.id) } }),
    })),
  })
}

/** `game`: the latest release of the game, if the instance has any. */
type Cells = { view: ListedProject; game: string | undefined; of: Shown }

function cellsOf(page: PageContext, deps: OwnRequest['deps'], { view, game, of }: Cells): Part[] {
  const { t } = page.language
  const number = of.versions.get(view.latestVersion ?? '')
  const downloads = of.trends.get(view.id) ?? []
  const sum = downloads.reduce((all, count) => all + count, 0)
  const isSupported = game === undefined || number === undefined ? undefined : view.gameVersions.includes(game)
  const updated = timeAgo(page.language, new Date(view.updated), page.now)
  const support = (supported: boolean): string => t(supported ? 'publish.supported' : 'publish.unsupported')
  const name = nameCell({
    tile: tile(page, { iconUrl: view.icon_url, rawUrl: view.raw_icon_url }, 27),
    href: pathTo(page, `${projectPath(view)}/settings`),
    name: view.name,
    details: typeOf(page, view, { deps, owner: of.organizations?.get(view.organization ?? '') }),
    least: [
      number !== undefined && html`<bdi>${t('publish.version', { version: number })}</bdi>`,
      t('publish.downloads', { count: view.downloads }),
    ],
    near: html`${isSupported !== undefined && html`${game}: ${support(isSupported)}, `}${updated}`,
  })
  return [
    name,
    stateOf(page, view, of),
    sum > 0 && html`${spark(downloads)}<span class="vh">${t('publish.downloads', { count: sum })}</span>`,
    wholeNumber(page.language, view.downloads),
    number === undefined ? html`<span class="soft">${t('publish.no-version')}</span>` : html`<bdi>${number}</bdi>`,
    ...(game === undefined ? [] : [isSupported !== undefined && supportOf(page, isSupported, support(isSupported))]),
    updated,
  ]
}

const supportOf = (page: PageContext, isSupported: boolean, label: string): Markup =>
  status(page, isSupported ? { kind: 'good', icon: 'ok', label } : { kind: 'wait', icon: 'alert', label })

/** Renders the status, or a more urgent state: a message of a moderator, a quarantined version, the place in the queue. */
function stateOf(page: PageContext, { id, status: value }: ListedProject, { queue, asked, quarantined }: RowData) {
  const { t } = page.language
  if (value === 'rejected' || value === 'withheld') return statusOf(page, 'project', value)
  if (asked.has(id)) return status(page, { kind: 'bad', icon: 'chat', label: t('publish.state.asked') })
  if (quarantined.has(id)) return status(page, { kind: 'wait', icon: 'shield', label: t('work.scan.quarantine') })
  const position = queue.positions.get(id)
  if (position === undefined) return statusOf(page, 'project', value)
  return status(page, {
    kind: 'wait',
    icon: 'wait',
    label: t('publish.state.queued', { position, total: queue.total }),
  })
}

function typeOf(
  { language }: PageContext,
  view: ListedProject,
  { deps, owner }: { deps: Pick<OwnRequest['deps'], 'taxonomy'>; owner: string | undefined },
): Part {
  const name = offeredTypes(deps.taxonomy).find((each) => view.project_types.includes(each))
  const type = name === undefined ? language.t('publish.no-type') : typeName(language, name)
  return owner === undefined ? type : language.rich('publish.type-by', { type, owner: html`<bdi>${owner}</bdi>` })
}
