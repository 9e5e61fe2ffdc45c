// Statements that count what uses a tag, and replace the tag in all of it.
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '#platform/db/db.ts'
import type { TagListName } from '#taxonomy/tag-lists.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'

/** Lists whose tags can be merged. The author chooses a licence, and a loader field decides which values it can have. */
export const REPLACED_LISTS = ['categories', 'game_versions', 'loaders', 'link_platforms'] as const
export type ReplacedList = (typeof REPLACED_LISTS)[number]

type Names = { from: string; to: string }

/** Replaces a tag in all projects or versions. A project with both tags has the other one once. */
const STATEMENTS: Record<ReplacedList, (names: Names) => RawBuilder<unknown>> = {
  categories: ({ from, to }) => sql`
    update project set
      categories = array(select value from unnest(array_replace(categories, ${from}, ${to}))
        with ordinality as listed (value, place) group by value order by min(place)),
      additional_categories = array(select value from unnest(array_replace(additional_categories, ${from}, ${to}))
        with ordinality as listed (value, place) where not value = any(array_replace(categories, ${from}, ${to}))
        group by value order by min(place))
    where categories @> array[${from}] or additional_categories @> array[${from}]`,
  game_versions: ({ from, to }) => sql`
    update version set fields = jsonb_set(fields, '{game_versions}', (
      select jsonb_agg(value order by place) from (
        select case value when ${from} then ${to} else value end as value, min(place) as place
        from jsonb_array_elements_text(fields->'game_versions') with ordinality as listed (value, place) group by 1) named))
    where fields->'game_versions' @> to_jsonb(${from}::text)`,
  loaders: ({ from, to }) => sql`
    update version set loaders = array(select value from unnest(array_replace(loaders, ${from}, ${to}))
      with ordinality as listed (value, place) group by value order by min(place))
    where loaders @> array[${from}]`,
  link_platforms: ({ from, to }) => sql`
    update project set link_urls = case when jsonb_exists(link_urls, ${to}) then link_urls - ${from}::text
      else link_urls - ${from}::text || jsonb_build_object(${to}::text, link_urls->${from}::text) end
    where jsonb_exists(link_urls, ${from})`,
}

/** Returns the expression of a JSON list of names in which the tag is replaced. */
const replacedIn = (names: RawBuilder<unknown>, { from, to }: Names) => sql`(
  select coalesce(jsonb_agg(name order by place), '[]') from (
    select case value when ${from} then ${to} else value end as name, min(place) as place
    from jsonb_array_elements_text(${names}) with ordinality as listed (value, place) group by 1) named)`

/** Returns the expression of the versions of a snapshot in which the tag is replaced in a field. */
const versionsWith = (field: 'game_versions' | 'loaders', names: Names) => sql`jsonb_build_object('versions', (
  select coalesce(jsonb_agg(
    version || jsonb_build_object(${field}::text, ${replacedIn(sql`version->${field}`, names)}) order by position), '[]')
  from jsonb_array_elements(state->'versions') with ordinality as each (version, position)))`

/** The same fields in snapshots of projects: a review would show the replacement as a change of the author. */
const IN_SNAPSHOTS: Record<ReplacedList, (names: Names) => RawBuilder<unknown>> = {
  categories: (names) => sql`jsonb_build_object('categories', ${replacedIn(sql`state->'categories'`, names)},
    'additional_categories', ${replacedIn(sql`state->'additional_categories'`, names)})`,
  game_versions: (names) => versionsWith('game_versions', names),
  loaders: (names) => versionsWith('loaders', names),
  link_platforms: ({ from, to }) => sql`jsonb_build_object('links', case
    when not jsonb_exists(state->'links', ${from}) then state->'links'
    else jsonb_build_object(${to}::text, state->'links'->${from}::text) || ((state->'links') - ${from}::text) end)`,
}

/** Replaces a tag in everything that uses it. Returns the number of changed projects or versions. */
export async function replaceTag(tx: Tx, list: ReplacedList, names: Names): Promise<number> {
  const { numAffectedRows = 0n } = await STATEMENTS[list](names).execute(tx)
  await sql`update project_snapshot set state = state || ${IN_SNAPSHOTS[list](names)}
    where position(${JSON.stringify(names.from)} in state::text) > 0`.execute(tx)
  return Number(numAffectedRows)
}

export type UsesOfTag = { projects: number; versions: number }

const versionsWhere = (condition: RawBuilder<unknown>) =>
  sql<UsesOfTag>`select count(distinct project_id)::int as projects, count(*)::int as versions from version where ${condition}`
const projectsWhere = (condition: RawBuilder<unknown>) =>
  sql<UsesOfTag>`select count(*)::int as projects, 0 as versions from project where ${condition}`

/** Counts the projects and versions that use a tag now. A category is counted in all project types. */
export async function countUses(
  { db, taxonomy }: { db: Db; taxonomy: Taxonomy },
  list: TagListName,
  name: string,
): Promise<UsesOfTag> {
  const loaders = Array.from(taxonomy.loaders.values()).flatMap((loader) =>
    loader.games.includes(name) ? loader.name : [],
  )
  const statements: Record<TagListName, () => RawBuilder<UsesOfTag>> = {
    games: () => versionsWhere(sql`loaders && ${loaders}::text[]`),
    loaders: () => versionsWhere(sql`loaders @> array[${name}]`),
    categories: () => projectsWhere(sql`categories @> array[${name}] or additional_categories @> array[${name}]`),
    game_versions: () => versionsWhere(sql`fields->'game_versions' @> to_jsonb(${name}::text)`),
    loader_fields: () => versionsWhere(sql`jsonb_exists(fields, ${name})`),
    licenses: () => projectsWhere(sql`license = ${name}`),
    link_platforms: () => projectsWhere(sql`jsonb_exists(link_urls, ${name})`),
  }
  const [uses = { projects: 0, versions: 0 }] = (await statements[list]().execute(db)).rows
  return uses
}
