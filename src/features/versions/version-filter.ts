// What a version list, and with it every update check, may be narrowed to: one meaning, written once.
import { type Expression, type RawBuilder, sql } from 'kysely'

/** An empty list is no filter. */
export type VersionFilter = {
  loaders?: readonly string[]
  versionTypes?: readonly string[]
  /** Loader field → accepted values, any of which will do; a version without the field passes. */
  loaderFields?: Readonly<Record<string, readonly unknown[]>>
}

/** The same as values of SQL: two arrays of text and a JSON object of arrays. */
export type FilterExpressions = Record<keyof VersionFilter, Expression<unknown>>

/** The filter as parameters of a statement. */
export function filterValues({ loaders = [], versionTypes = [], loaderFields = {} }: VersionFilter): FilterExpressions {
  return {
    loaders: sql`${[...loaders]}::text[]`,
    versionTypes: sql`${[...versionTypes]}::text[]`,
    loaderFields: sql`${JSON.stringify(loaderFields)}::jsonb`,
  }
}

/** Whether a row of `version` stands in its project's lists and passes the filter. */
export function isListedAndPasses({ loaders, versionTypes, loaderFields }: FilterExpressions): RawBuilder<boolean> {
  // As literals, because the index over listed versions is chosen by them.
  return sql<boolean>`(version.status in ('listed', 'archived')
    and (cardinality(${loaders}) = 0 or version.loaders && ${loaders})
    and (cardinality(${versionTypes}) = 0 or version.version_type = any(${versionTypes}))
    and (${loaderFields} = '{}' or not exists (
      select 1 from jsonb_each(${loaderFields}) wanted
      where wanted.value <> '[]' and version.fields ? wanted.key and not exists (
        select 1 from jsonb_array_elements(wanted.value) accepted
        where version.fields -> wanted.key @> accepted.value or version.fields -> wanted.key = accepted.value))))`
}

/** The order of lists: those with an `ordering` first, ascending, then newest first (decisions.md 5). */
export const LIST_ORDER: RawBuilder<unknown> = sql`version.ordering, version.date_published desc, version.id`
