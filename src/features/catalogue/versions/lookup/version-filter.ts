// What a version list, and with it every update check, may be narrowed to: one meaning, written once.
import { type RawBuilder, sql } from 'kysely'

/** An empty list is no filter. */
export type VersionFilter = {
  /** Any of them will do. */
  loaders?: readonly string[]
  versionTypes?: readonly string[]
  /** Loader field → accepted values, any of which will do; a version without the field passes. */
  loaderFields?: Readonly<Record<string, readonly unknown[]>>
}

/** Whether a row of `version` stands in its project's lists and passes the filter. */
export function isListedAndPasses({ loaders = [], versionTypes = [], loaderFields = {} }: VersionFilter) {
  const conditions = [sql<boolean>`is_listed(version.status)`]
  if (loaders.length > 0) conditions.push(hasLoader(loaders))
  if (versionTypes.length > 0) conditions.push(sql`version.version_type = any(${[...versionTypes]}::text[])`)
  for (const [name, values] of Object.entries(loaderFields)) {
    if (values.length > 0) conditions.push(sql`(not version.fields ? ${name} or ${hasValue(name, values)})`)
  }
  return sql<boolean>`(${sql.join(conditions, sql` and `)})`
}

// Beyond so many, a list of constants costs less as a hash table than compared one by one. PostgreSQL makes one of
// `= any`, whatever the list's length; of the operators on arrays and JSON it does not.
const COMPARED_MAX = 32

/** A pack is found by its own loader, and by those that it names inside. */
function hasLoader(names: readonly string[]): RawBuilder<boolean> {
  const wanted = sql`${[...names]}::text[]`
  if (names.length <= COMPARED_MAX) {
    return sql`(version.loaders && ${wanted} or version.fields -> 'mrpack_loaders' ?| ${wanted})`
  }
  return sql`(exists (select 1 from unnest(version.loaders) own where own = any(${wanted}))
    or exists (select 1 from jsonb_array_elements_text(version.fields -> 'mrpack_loaders') own where own = any(${wanted})))`
}

/** Whether the field is, or as a list holds, one of these texts, numbers and booleans. */
function hasValue(name: string, values: readonly unknown[]): RawBuilder<boolean> {
  const field = sql`version.fields -> ${name}`
  const wanted = sql`${values.map((value) => JSON.stringify(value))}::jsonb[]`
  if (values.length <= COMPARED_MAX) return sql`${field} @> any(${wanted})`
  return sql`exists (select 1 from jsonb_array_elements(
    case jsonb_typeof(${field}) when 'array' then ${field} else jsonb_build_array(${field}) end) own
    where own.value = any(${wanted}))`
}

/** The order of lists: those with an `ordering` first, ascending, then newest first. */
export const LIST_ORDER: RawBuilder<unknown> = sql`version.ordering, version.date_published desc, version.id`
