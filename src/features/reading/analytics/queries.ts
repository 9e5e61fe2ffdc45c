// Database queries for analytics: played versions, the projects of a user, revenue and conversions.
import { sql } from 'kysely'
import { isCovered } from '#features/basics/access/project-policy.ts'
import type { MembershipViewer } from '#features/basics/access/viewer.ts'
import type { VersionFacts } from '#features/catalogue/versions/policy.ts'
import type { Db } from '#platform/db/db.ts'
import { isNamed } from '#platform/db/names.ts'
import { type SliceGrid, sliceEdges } from '#ports/analytics-store/slices.ts'

export type PlayedVersion = VersionFacts & {
  /** Loaders of any version of the project. */
  project_loaders: string[]
}

/** Returns the versions with these IDs, including hidden ones. */
export async function listPlayedVersions(db: Db, ids: readonly string[]): Promise<PlayedVersion[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('version')
    .innerJoin('project', 'project.id', 'version.project_id')
    .select(['version.id', 'version.status', 'version.project_id', 'project.status as project_status'])
    .select(['project.team_id', 'project.organization_id'])
    .where('version.id', 'in', ids)
    .execute()
  const loaders = await listProjectLoaders(db, [...new Set(rows.map(({ project_id }) => project_id))])
  return rows.map(({ id, status, project_id, project_status, team_id, organization_id }) => ({
    id,
    status,
    project: { id: project_id, status: project_status, team_id, organization_id },
    project_loaders: loaders.get(project_id) ?? [],
  }))
}

async function listProjectLoaders(db: Db, projectIds: readonly string[]): Promise<Map<string, string[]>> {
  if (projectIds.length === 0) return new Map()
  const { rows } = await sql<{ project_id: string; loaders: string[] }>`
    select project_id, array_agg(distinct loader) as loaders from version, unnest(loaders) loader
    where project_id = any(${projectIds}::text[]) group by project_id`.execute(db)
  return new Map(rows.map(({ project_id, loaders }) => [project_id, loaders]))
}

/** Returns at most `limit` IDs of projects whose team, or organization's team, has the account as an accepted member. */
export async function listProjectIdsOfMember(db: Db, viewer: MembershipViewer, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select id from (${projectsOf(viewer)}
    ${viewer.maker === undefined ? sql`` : sql`intersect ${projectsOf({ id: viewer.maker })}`}) own limit ${limit}`.execute(
    db,
  )
  return rows.map(({ id }) => id)
}

/** Each half uses an index. A single query with `or` would read every project. */
function projectsOf(viewer: MembershipViewer) {
  const teams = sql`(select team_id from team_member where account_id = ${viewer.id} and accepted)`
  return sql`(select id from project where team_id in ${teams} and ${isCovered(viewer)}
    union
    select project.id from project join organization on organization.id = project.organization_id
      where organization.team_id in ${teams} and ${isCovered(viewer)})`
}

/** Returns the IDs of the projects with these IDs or slugs. If a name is both, the ID wins. */
export async function listProjectIdsByNames(db: Db, names: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('project')
    .select(['id', 'slug'])
    .where(isNamed('id', 'slug', names))
    .execute()
  const byId = new Set(rows.map(({ id }) => id))
  const bySlug = new Map(rows.map(({ id, slug }) => [slug, id]))
  return [...new Set(names.flatMap((name) => (byId.has(name) ? name : (bySlug.get(name.toLowerCase()) ?? []))))]
}

/** A version that analytics count, with what identifies it in a list. */
export type CountedVersion = {
  id: string
  project_id: string
  version_number: string
  loaders: string[]
  game_versions: string[]
}

/** Returns the versions with these IDs, including hidden ones. Omits deleted versions. */
export async function listCountedVersions(db: Db, ids: readonly string[]): Promise<CountedVersion[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<CountedVersion>`
    select id, project_id, version_number, loaders,
      coalesce((select array_agg(value) from jsonb_array_elements_text(version.fields -> 'game_versions') value), '{}')
        as game_versions
    from version where id = any(${[...ids]}::text[])`.execute(db)
  return rows
}

/** Amount, as a decimal string, that records add to one slice and source. */
export type RecordCell = { slice: number; source: string; amount: string }

/** Sums the revenue of projects over all shares, by the day of the revenue. */
export async function sumProjectRevenue(db: Db, grid: SliceGrid, projectIds: readonly string[]): Promise<RecordCell[]> {
  const { rows } = await sql<RecordCell>`
    select ${sliceIndex(grid, 'day')} as slice, project_id as source, sum(amount)::text as amount
    from revenue_share
    where project_id = any(${projectIds}::text[]) and ${isWithin(grid, 'day')}
    group by 1, 2`.execute(db)
  return rows
}

/** Counts the conversions of affiliate codes and sums their revenue. */
export async function sumConversions(
  db: Db,
  grid: SliceGrid,
  codeIds: readonly string[],
): Promise<(RecordCell & { conversions: number })[]> {
  const { rows } = await sql<RecordCell & { conversions: number }>`
    select ${sliceIndex(grid, 'converted')} as slice, affiliate_code_id as source, sum(revenue)::text as amount,
      count(*) as conversions
    from affiliate_conversion
    where affiliate_code_id = any(${codeIds}::text[]) and ${isWithin(grid, 'converted')}
    group by 1, 2`.execute(db)
  return rows
}

const millisecondsOf = (column: string) => sql`(extract(epoch from ${sql.ref(column)}) * 1000)::bigint`

/** Returns the index of the half-open slice, as in the store: a time on an edge belongs to the later slice. */
function sliceIndex(grid: SliceGrid, column: string) {
  return sql<number>`width_bucket(${millisecondsOf(column)}, ${sliceEdges(grid)}::bigint[]) - 1`
}

function isWithin({ startMs, endMs }: SliceGrid, column: string) {
  return sql`${sql.ref(column)} >= ${new Date(startMs)} and ${sql.ref(column)} < ${new Date(endMs)}`
}
