// The table of the user's projects.
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { listCountedVersions } from '#features/operations/analytics/queries.ts'
import { releasesOf } from '#features/operations/search/facet-counts.ts'
import { timeAgo, wholeNumber } from '#platform/html/format.ts'
import { html, type Markup, type Part } from '#platform/html/html.ts'
import { type PageContext, pathTo } from '#platform/html/page-context.ts'
import { spark } from '#platform/html/plots/spark.ts'
import { status, statusOf } from '#platform/html/work/status.ts'
import { type Column, listTable, nameCell } from '#platform/html/work/tables.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { offeredTypes, projectPath, withQuery } from '#web/kit/paths.ts'
import { tile } from '#web/site/lists/rows.ts'
import { typeName } from '#web/site/names.ts'
import type { OwnProject } from './dashboard-frame.ts'
import { loadProjectTrends, type ProjectTrends } from './trends.ts'

/** Orders of the table; `-` begins a descending order. */
export const SORTS = ['-downloads', 'downloads', 'name', '-name', '-updated', 'updated'] as const
export type Sort = (typeof SORTS)[number]

const COMPARE: Readonly<Record<string, (a: ProjectView, b: ProjectView) => number>> = {
  downloads: (a, b) => a.downloads - b.downloads,
  name: (a, b) => a.name.localeCompare(b.name),
  updated: (a, b) => Date.parse(a.updated) - Date.parse(b.updated),
}

export function sortProjects(projects: readonly OwnProject[], sort: Sort): OwnProject[] {
  const compare = COMPARE[sort.replace('-', '')] ?? (() => 0)
  const sign = sort.startsWith('-') ? -1 : 1
  return projects.toSorted((a, b) => sign * compare(a.view, b.view) || (a.view.id < b.view.id ? -1 : 1))
}

/** The trends of the projects, and the numbers of their latest versions by version ID. */
type RowData = { trends: ProjectTrends; versions: ReadonlyMap<string, string> }

/** Loads what the rows show, with the same number of statements and queries for any number of projects. */
export async function loadRowData(
  request: OwnRequest,
  projects: readonly OwnProject[],
  trends?: ProjectTrends,
): Promise<RowData> {
  const ids = projects.map(({ view }) => view.id)
  const latest = projects.flatMap(({ view }) => view.versions.at(-1) ?? [])
  const versions = await listCountedVersions(request.deps.db, latest)
  return {
    trends: trends ?? (await loadProjectTrends(request, ids)),
    versions: new Map(versions.map(({ id, version_number }) => [id, version_number])),
  }
}

type Shown = RowData & {
  sort: Sort
  /** Path of the page that sorts the table. */
  path: string
  hasPicks?: boolean
  picked?: readonly string[]
}

export function projectTable({ page, deps }: OwnRequest, projects: readonly OwnProject[], of: Shown): Markup {
  const { t } = page.language
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
      ...(of.hasPicks === true
        ? { pick: { value: view.id, name: view.name, isPicked: of.picked?.includes(view.id) === true } }
        : {}),
    })),
  })
}

/** `game`: the latest release of the game, if the instance has any. */
type Cells = { view: ProjectView; game: string | undefined; of: RowData }

function cellsOf(page: PageContext, deps: OwnRequest['deps'], { view, game, of }: Cells): Part[] {
  const { t } = page.language
  const number = of.versions.get(view.versions.at(-1) ?? '')
  const downloads = of.trends.get(view.id) ?? []
  const sum = downloads.reduce((all, count) => all + count, 0)
  const isSupported = game === undefined || number === undefined ? undefined : supports(view, game)
  const updated = timeAgo(page.language, new Date(view.updated), page.now)
  const support = (supported: boolean): string => t(supported ? 'publish.supported' : 'publish.unsupported')
  const name = nameCell({
    tile: tile(page, { iconUrl: view.icon_url, rawUrl: view.raw_icon_url }, 27),
    href: pathTo(page, `${projectPath(view)}/settings`),
    name: view.name,
    details: typeOf(page, view, deps),
    least: [
      number !== undefined && html`<bdi>${t('publish.version', { version: number })}</bdi>`,
      t('publish.downloads', { count: view.downloads }),
    ],
    near: html`${isSupported !== undefined && html`${game}: ${support(isSupported)}, `}${updated}`,
  })
  return [
    name,
    statusOf(page, 'project', view.status),
    sum > 0 && html`${spark(downloads)}<span class="vh">${t('publish.downloads', { count: sum })}</span>`,
    wholeNumber(page.language, view.downloads),
    number === undefined ? html`<span class="soft">${t('publish.no-version')}</span>` : html`<bdi>${number}</bdi>`,
    ...(game === undefined ? [] : [isSupported !== undefined && supportOf(page, isSupported, support(isSupported))]),
    updated,
  ]
}

const supports = (view: ProjectView, game: string): boolean =>
  ((view as Record<string, unknown>)['game_versions'] as readonly unknown[] | undefined)?.includes(game) === true

const supportOf = (page: PageContext, isSupported: boolean, label: string): Markup =>
  status(page, isSupported ? { kind: 'good', icon: 'ok', label } : { kind: 'wait', icon: 'alert', label })

function typeOf(page: PageContext, view: ProjectView, { taxonomy }: Pick<OwnRequest['deps'], 'taxonomy'>): string {
  const type = offeredTypes(taxonomy).find((name) => view.project_types.includes(name))
  return type === undefined ? page.language.t('publish.no-type') : typeName(page.language, type)
}
