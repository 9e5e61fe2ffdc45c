// The table of the user's projects.
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { timeAgo, wholeNumber } from '#platform/html/format.ts'
import { html, type Markup, type Part } from '#platform/html/html.ts'
import { type PageContext, pathTo } from '#platform/html/page-context.ts'
import { statusOf } from '#platform/html/work/status.ts'
import { type Column, listTable, nameCell } from '#platform/html/work/tables.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { offeredTypes, projectPath, withQuery } from '#web/kit/paths.ts'
import { tile } from '#web/site/lists/rows.ts'
import { typeName } from '#web/site/names.ts'
import type { OwnProject } from './dashboard-frame.ts'

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

type Shown = {
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
  return listTable(page, {
    caption: t('publish.projects'),
    columns: [
      sortable('name', t('publish.column.name')),
      { label: t('publish.column.status') },
      sortable('downloads', t('publish.column.downloads'), { isNumber: true, room: 'mid' }),
      sortable('updated', t('publish.column.updated'), { room: 'far' }),
    ],
    rows: projects.map(({ view }) => ({
      cells: [
        nameOf(
          page,
          view,
          tile(page, { iconUrl: view.icon_url, rawUrl: view.raw_icon_url }, 27),
          typeOf(page, view, deps),
        ),
        statusOf(page, 'project', view.status),
        wholeNumber(page.language, view.downloads),
        timeAgo(page.language, new Date(view.updated), page.now),
      ],
      ...(of.hasPicks === true
        ? { pick: { value: view.id, name: view.name, isPicked: of.picked?.includes(view.id) === true } }
        : {}),
    })),
  })
}

function nameOf(page: PageContext, view: ProjectView, icon: Part, type: Part): Markup {
  const { t } = page.language
  return nameCell({
    tile: icon,
    href: pathTo(page, `${projectPath(view)}/settings`),
    name: view.name,
    details: type,
    least: [t('publish.downloads', { count: view.downloads })],
    near: html`${timeAgo(page.language, new Date(view.updated), page.now)}`,
  })
}

function typeOf(page: PageContext, view: ProjectView, { taxonomy }: Pick<OwnRequest['deps'], 'taxonomy'>): string {
  const type = offeredTypes(taxonomy).find((name) => view.project_types.includes(name))
  return type === undefined ? page.language.t('publish.no-type') : typeName(page.language, type)
}
