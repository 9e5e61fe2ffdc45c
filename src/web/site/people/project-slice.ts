// The projects of a user, an organization or a collection: one page of those of a type that are compatible with the
// visitor's setup, and the totals of all.

import { listLatestVersions } from '#features/catalogue/follows/queries.ts'
import {
  type CachedProject,
  listVisibleProjects,
  projectForm,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { convertInPieces } from '#lib/text/json-pieces.ts'
import type { DerivedForm } from '#platform/cache/entries.ts'
import { isSet, NO_SETUP, type Setup, setupFor } from '#web/kit/cookies.ts'
import { offeredTypes, type ProjectType, pageNumber, withQuery } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { rowsOfProjects } from '../lists/row-details.ts'
import type { ProjectRow } from '../lists/rows.ts'

const PER_PAGE = 20

/** The orders of the projects of a user or an organization; the first is the default. */
export const SORTS = ['updated', 'downloads'] as const

/** The limits and the order of the list of a profile. */
export type SliceFilter = {
  /** Undefined if the list has the order of its owner. */
  sort: (typeof SORTS)[number] | undefined
  type: ProjectType | undefined
  /** Empty if the URL ignores the setup. */
  setup: Setup
  ignoresSetup: boolean
}

export type ProjectSlice = {
  rows: ProjectRow[]
  filter: SliceFilter
  /** Number of projects that match the filter. */
  matching: number
  current: number
  last: number
  /** Number of projects that are compatible with the setup, by type. */
  types: ReadonlyMap<ProjectType, number>
  /** Number of projects that are compatible with the setup. */
  compatible: number
  /** Totals of all projects. */
  total: number
  downloads: number
  followers: number
  /** Time of the newest update of all projects; undefined without projects. */
  updated: string | undefined
}

type Facts = Pick<ProjectView, 'id' | 'project_types' | 'downloads' | 'followers' | 'updated'>
type Item = { project: CachedProject; view: Facts }

/** The fields by which all projects are counted and ordered. Reading the texts of thousands of projects is slow. */
const FACTS: DerivedForm<CachedProject, Facts> = {
  derive: (project) => {
    const { id, project_types, downloads, followers, updated } = viewOf(project)
    return { id, project_types, downloads, followers, updated }
  },
  sizeOf: () => 300,
}

/** Loads one page of these projects, without projects that are hidden from the viewer. `isOrdered`: whether to keep the order of the IDs. */
export async function loadSlice(
  request: PageRequest,
  ids: readonly string[],
  { isOrdered = false }: { isOrdered?: boolean } = {},
): Promise<ProjectSlice> {
  const { deps, viewer } = request
  const filter = { ...readSliceFilter(request), ...(isOrdered ? { sort: undefined } : {}) }
  const all = await convertInPieces(await listVisibleProjects(deps, viewer, ids), (project) => ({
    project,
    view: projectForm(deps, project, FACTS),
  }))
  // Times of one format, so that their texts have their order.
  const byUpdate = (a: Item, b: Item) =>
    a.view.updated < b.view.updated ? 1 : a.view.updated > b.view.updated ? -1 : 0
  if (filter.sort === 'updated') all.sort(byUpdate)
  if (filter.sort === 'downloads') all.sort((a, b) => b.view.downloads - a.view.downloads)
  const compatible = await listCompatible(request, all, filter.setup)
  const matching = compatible.filter(
    ({ view }) => filter.type === undefined || view.project_types.includes(filter.type),
  )
  const current = pageNumber(request)
  const shown = matching.slice((current - 1) * PER_PAGE, current * PER_PAGE)
  const count = (type: ProjectType) => compatible.filter(({ view }) => view.project_types.includes(type)).length
  return {
    rows: await rowsOfProjects(
      request,
      shown.map(({ project }) => project),
    ),
    filter,
    matching: matching.length,
    current,
    last: Math.max(1, Math.ceil(matching.length / PER_PAGE)),
    types: new Map(
      offeredTypes(deps.taxonomy)
        .filter((type) => all.some(({ view }) => view.project_types.includes(type)))
        .map((type) => [type, count(type)]),
    ),
    compatible: compatible.length,
    total: all.length,
    downloads: all.reduce((sum, { view }) => sum + view.downloads, 0),
    followers: all.reduce((sum, { view }) => sum + view.followers, 0),
    updated: all.toSorted(byUpdate)[0]?.view.updated,
  }
}

function readSliceFilter({ deps, query, setup }: PageRequest): SliceFilter {
  const ignoresSetup = query('setup') === 'any'
  return {
    sort: SORTS.find((sort) => sort === query('sort')) ?? SORTS[0],
    type: offeredTypes(deps.taxonomy).find((type) => type === query('type')),
    setup: ignoresSetup ? NO_SETUP : setup,
    ignoresSetup,
  }
}

/** Returns the path of a profile with a filter. */
export function slicePath(path: string, { type, ignoresSetup, sort }: SliceFilter, page = 1): string {
  return withQuery(path, {
    type,
    sort: sort === SORTS[0] ? '' : sort,
    setup: ignoresSetup ? 'any' : '',
    page: page === 1 ? '' : String(page),
  })
}

/** A project is compatible if one version fits both the game version and the loader. */
async function listCompatible({ deps }: PageRequest, all: readonly Item[], setup: Setup): Promise<readonly Item[]> {
  if (!isSet(setup)) return all
  const wanted = all.map(({ view }) => ({ id: view.id, ...setupFor(deps.taxonomy, setup, view.project_types) }))
  const found = new Set((await listLatestVersions(deps.db, wanted)).map(({ project_id }) => project_id))
  return all.filter(({ view }) => found.has(view.id))
}
