// The filter of version lists and update checks.
import { type RawBuilder, sql } from 'kysely'
import { LIST_ORDER } from '#features/basics/access/version-status.ts'
import type { Db } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'

/** Conditions that a version must all match. An empty list matches every version. */
export type VersionFilter = {
  /** The version must have one of these loaders. */
  loaders?: readonly string[]
  versionTypes?: readonly string[]
  /** Loader field → accepted values. A version without the field matches. */
  loaderFields?: Readonly<Record<string, readonly unknown[]>>
}

/** Returns the SQL condition for rows of `version` that are listed and match the filter. */
export function isListedAndPasses({ loaders = [], versionTypes = [], loaderFields = {} }: VersionFilter) {
  const conditions = [sql<boolean>`is_listed(version.status)`]
  if (loaders.length > 0) conditions.push(hasLoader(loaders))
  if (versionTypes.length > 0) conditions.push(sql`version.version_type = any(${[...versionTypes]}::text[])`)
  for (const [name, values] of Object.entries(loaderFields)) {
    if (values.length > 0) conditions.push(sql`(not version.fields ? ${name} or ${hasValue(name, values)})`)
  }
  return sql<boolean>`(${sql.join(conditions, sql` and `)})`
}

/** Condition for rows of `version`: everything that chooses a version skips withdrawn versions, unless the request names one. */
export const NOT_WITHDRAWN = sql<boolean>`version.withdrawn_at is null`

/** Returns the SQL condition for rows of `version` of which one can be chosen: listed, not withdrawn, and match the filter. */
export function isOfferedAndPasses(filter: VersionFilter): RawBuilder<boolean> {
  return sql<boolean>`(${isListedAndPasses(filter)} and ${NOT_WITHDRAWN})`
}

// For longer lists, a hash table is faster than comparisons one by one. PostgreSQL builds a hash table for `= any`, but
// not for the operators on arrays and JSON.
const COMPARED_MAX = 32

/** A modpack matches by its own loader and by the loaders of its index. */
function hasLoader(names: readonly string[]): RawBuilder<boolean> {
  const wanted = sql`${[...names]}::text[]`
  if (names.length <= COMPARED_MAX)
    return sql`(version.loaders && ${wanted} or version.fields -> 'mrpack_loaders' ?| ${wanted})`
  return sql`(exists (select 1 from unnest(version.loaders) own where own = any(${wanted}))
    or exists (select 1 from jsonb_array_elements_text(version.fields -> 'mrpack_loaders') own where own = any(${wanted})))`
}

/** Returns the condition that the field has one of these values, or is a list that contains one. */
function hasValue(name: string, values: readonly unknown[]): RawBuilder<boolean> {
  const field = sql`version.fields -> ${name}`
  const wanted = sql`${values.map((value) => JSON.stringify(value))}::jsonb[]`
  if (values.length <= COMPARED_MAX) return sql`${field} @> any(${wanted})`
  return sql`exists (select 1 from jsonb_array_elements(
    case jsonb_typeof(${field}) when 'array' then ${field} else jsonb_build_array(${field}) end) own
    where own.value = any(${wanted}))`
}

/** A version that is or will be in the list of its project. `number`: undefined if it is not yet chosen. */
type PlacedVersion = {
  projectId: string
  id?: string | undefined
  number?: string | undefined
  ordering: number | null
}

/**
 * Returns the version that stays before a new version in the project's list because of its `ordering` or its number, or
 * undefined if the new version becomes the first. A new version without a number is not compared by its number.
 */
export async function findVersionAhead(
  db: Db,
  version: PlacedVersion,
): Promise<{ version_number: string; ordering: number | null } | undefined> {
  const { projectId, id = '', number = '', ordering } = version
  const { rows } = await sql<{ version_number: string; ordering: number | null }>`
    select version.version_number, version.ordering from version
    where version.project_id = ${projectId} and ${isOfferedAndPasses({})} and version.id <> ${id} and (
      version.ordering is not null and (${ordering}::int is null or version.ordering < ${ordering}::int)
      or version.ordering is not distinct from ${ordering}::int and ${number}::text <> ''
        and version.number_key > version_number_key(${number}))
    order by ${LIST_ORDER} limit 1`.execute(db)
  return rows[0]
}

/** Adds a warning to a dry run if the new version does not become the first in the project's list. */
export async function warnOfVersionAhead(
  { db, dryRun }: { db: Db } & Pick<Deps, 'dryRun'>,
  version: PlacedVersion,
): Promise<void> {
  if (dryRun === undefined) return
  const ahead = await findVersionAhead(db, version)
  if (ahead === undefined) return
  const first = `Version ${ahead.version_number} stays before this version in lists and remains the latest version, because of its ordering or its number`
  dryRun.warn('ordering', first)
}

/** Number of different filters per statement. */
const FILTERS_PER_STATEMENT = 64

type FirstVersionsQuery = {
  filter: VersionFilter
  projectIds: readonly string[]
  /** Receives the ID of each project's first version that matches. */
  firsts: Map<string, string | undefined>
}

/** Reads the first version in each project's list that matches the filter and is not withdrawn. */
export async function readFirstVersions(db: Db, queries: readonly FirstVersionsQuery[]): Promise<void> {
  for (let start = 0; start < queries.length; start += FILTERS_PER_STATEMENT) {
    const batch = queries.slice(start, start + FILTERS_PER_STATEMENT)
    const { rows } = await sql<{ position: number; project_id: string; id: string }>`${sql.join(
      batch.map(selectFirstVersions),
      sql` union all `,
    )}`.execute(db)
    for (const { position, project_id, id } of rows) batch[position]?.firsts.set(project_id, id)
  }
}

function selectFirstVersions({ filter, projectIds }: FirstVersionsQuery, position: number) {
  return sql`select ${sql.lit(position)} as position, requested.project_id, first.id
    from unnest(${projectIds}::text[]) as requested (project_id)
    cross join lateral (
      select version.id from version
      where version.project_id = requested.project_id and ${isOfferedAndPasses(filter)}
      order by ${LIST_ORDER} limit 1) first`
}
