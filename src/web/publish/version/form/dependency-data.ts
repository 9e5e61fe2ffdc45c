// Loads what the rows of dependencies show: their projects, the versions to choose from, and the results of a search.
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { ApiError } from '#lib/errors.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import { EVERYTHING } from '#ports/search-index/filter/tree.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { findHits } from '#web/site/lists/list-query.ts'
import type { Hit } from '#web/site/lists/rows.ts'
import { listVersionChoices, type VersionChoice } from '../queries.ts'
import { viewsOfProjects } from './upload-data.ts'
import type { DependencyRow } from './version-values.ts'

/** A search for the project of a row (`new`: for another dependency), with its results. */
export type DependencySearch = { row: number | 'new'; text: string; hits: readonly Hit[] }

export type DependencyData = {
  rows: readonly DependencyRow[]
  /** The projects that the viewer can see, by ID. */
  projects: ReadonlyMap<string, ProjectView>
  /** The versions to choose from, by the ID of their project. */
  versions: ReadonlyMap<string, readonly VersionChoice[]>
  search: DependencySearch | undefined
}

/** Runs a constant number of statements. */
export async function loadDependencyData(
  request: OwnRequest,
  rows: readonly DependencyRow[],
  search?: DependencySearch,
): Promise<DependencyData> {
  const projects = await viewsOfProjects(
    request,
    rows.map(({ project }) => project),
  )
  const chosen = rows.map(({ version }) => version).filter((id) => id !== '')
  const choices = await listVersionChoices(request.deps.db, [...projects.keys()], chosen)
  return { rows, projects, versions: Map.groupBy(choices, ({ project_id }) => project_id), search }
}

const HITS_MAX = 6

/** Returns public projects whose names or summaries match, except `exceptId`. Nothing while the index is unavailable. */
export async function searchDependencies(
  { deps, req }: OwnRequest,
  text: string,
  exceptId: string,
): Promise<readonly Hit[]> {
  if (text.trim() === '') return []
  const query = { text: text.trim().slice(0, 256), sort: 'relevance', page: 1, caller: callerOf(req) } as const
  try {
    const { hits } = await findHits(deps, query, EVERYTHING, HITS_MAX)
    return hits.filter(({ project_id }) => project_id !== exceptId)
  } catch (error) {
    if (error instanceof ApiError) return []
    throw error
  }
}
