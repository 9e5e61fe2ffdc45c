// Finds the dependents of a project: the searchable projects with a listed version that depends on it.
import { sql } from 'kysely'
import {
  type CachedProject,
  listVisibleProjects,
  type ProjectReader,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import type { Db } from '#platform/db/db.ts'
import { cutPage, follows, type Position, positionOfTime } from '#platform/db/list-position.ts'

/** The types of dependencies in the order of their bits in `project_dependent.types`. */
const TYPES = ['required', 'optional', 'incompatible', 'embedded'] as const
export const DEPENDENT_SORTS = ['downloads', 'updated'] as const

/** Limits of a list of dependents. Default: all. */
export type DependentFilter = {
  /** Only dependents that depend on the project in this way. */
  type?: (typeof TYPES)[number] | undefined
  /** Only dependents whose newest listed version depends on the project. */
  isLatest?: boolean
  /** Only dependents of which a version with one of these loaders depends on the project. */
  loaders?: readonly string[]
}

type Slice = DependentFilter & {
  limit: number
  offset: number
  sort?: (typeof DEPENDENT_SORTS)[number]
  after?: Position | undefined
}

export type Dependent = { project: CachedProject; types: string[]; versions: number }

/** Returns one page of the dependents, their total number, and the cursor of the next page. */
export async function listDependents(
  reader: ProjectReader,
  projectId: string,
  slice: Slice,
): Promise<{ dependents: Dependent[]; total: number; next: string | null }> {
  const total = await countDependents(reader.db, projectId, slice)
  const { page, next } = cutPage(
    await readSlice(reader.db, projectId, { ...slice, limit: slice.limit + 1 }),
    slice.limit,
  )
  const rows = new Map(page.map((row) => [row.id, row]))
  const dependents = (await listPublic(reader, page)).flatMap((project) => {
    const { types = 0, versions = 0 } = rows.get(project.id) ?? {}
    return { project, types: TYPES.filter((_, bit) => (types & (1 << bit)) > 0), versions }
  })
  return { dependents, total, next }
}

/** Returns one page of the dependents, most downloaded first. */
export async function listDependentSlice(
  reader: ProjectReader,
  projectId: string,
  slice: Slice,
): Promise<CachedProject[]> {
  return listPublic(reader, await readSlice(reader.db, projectId, slice))
}

/** Everyone can see searchable projects, so the viewer does not matter. */
function listPublic(reader: ProjectReader, rows: readonly { id: string }[]): Promise<CachedProject[]> {
  const ids = rows.map(({ id }) => id)
  return listVisibleProjects(reader, null, ids)
}

type SliceRow = { id: string; types: number; versions: number; position: number }

async function readSlice(db: Db, projectId: string, slice: Slice): Promise<SliceRow[]> {
  const { limit, offset, sort = 'downloads', after, loaders } = slice
  const value = sql.ref(sort)
  const kind = sort === 'updated' ? 'time' : 'number'
  const isAfter = after === undefined ? sql`` : sql`and ${follows(kind, value, sql`dependent_id`, after)}`
  const isOfLoader =
    loaders === undefined
      ? sql``
      : sql`and exists (
    select from version join dependency on dependency.dependent_id = version.id
    where version.project_id = project_dependent.dependent_id and dependency.project_id = ${projectId}
      and is_listed(version.status) and version.loaders && ${[...loaders]}::text[])`
  const { rows } =
    await sql<SliceRow>`select dependent_id as id, types, versions, ${kind === 'time' ? positionOfTime(value) : value} as position
    from project_dependent where project_id = ${projectId} ${passes(slice)} ${isAfter} ${isOfLoader}
    order by ${value} desc, dependent_id limit ${limit} offset ${offset}`.execute(db)
  return rows
}

function passes({ type, isLatest = false }: DependentFilter) {
  const isOfType = type === undefined ? sql`` : sql`and types & ${1 << TYPES.indexOf(type)} > 0`
  return isLatest ? sql`${isOfType} and latest` : isOfType
}

/**
 * Returns the number of dependents, and their number by the type of the versions that depend on the project. A dependent
 * of several types counts for each.
 * @param typesOfLoaders Pairs of a loader and a type of its projects.
 */
export async function countDependentsByType(
  db: Db,
  projectId: string,
  typesOfLoaders: readonly (readonly [loader: string, type: string])[],
): Promise<{ total: number; byType: Map<string, number> }> {
  const [loaders, types] = [0, 1].map((index) => typesOfLoaders.map((pair) => pair[index] ?? ''))
  const { rows } = await sql<{ type: string | null; is_total: boolean; count: number }>`
    select kind.type, grouping(kind.type) = 1 as is_total, count(distinct project.id)::int as count
    from dependency
    join version on version.id = dependency.dependent_id
    join project on project.id = version.project_id
    left join unnest(${loaders}::text[], ${types}::text[]) as kind (loader, type) on kind.loader = any(version.loaders)
    where dependency.project_id = ${projectId} and project.id <> ${projectId}
      and is_listed(version.status) and is_searchable(project.status)
    group by grouping sets ((), (kind.type))`.execute(db)
  return {
    total: rows.find(({ is_total }) => is_total)?.count ?? 0,
    byType: new Map(rows.flatMap(({ type, count }) => (type === null ? [] : [[type, count] as const]))),
  }
}

/** Returns the number of dependents. */
export async function countDependents(db: Db, projectId: string, filter: DependentFilter = {}): Promise<number> {
  const { rows } = await sql<{ total: number }>`select coalesce(sum(total), 0)::int as total
    from dependent_count where project_id = ${projectId} ${passes(filter)}`.execute(db)
  return rows[0]?.total ?? 0
}
