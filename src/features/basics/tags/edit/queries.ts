// Queries of the lists of tags that operators have edited, and of what uses their tags.
import { sql } from 'kysely'
import type { Db, Tx } from '#platform/db/db.ts'
import type { TagListName, TagLists } from '#taxonomy/tag-lists.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'

type EditedList = { rows: TagLists[TagListName]; revision: number; changed: Date; removed: string[] }
export type EditedLists = { [List in TagListName]?: EditedList & { rows: TagLists[List] } }

/** Returns the edited lists; the others come from the data files. */
export async function readEditedLists(db: Db | Tx): Promise<EditedLists> {
  const rows = await db.selectFrom('tag_list').selectAll().execute()
  return Object.fromEntries(rows.map(({ name, ...list }) => [name, list])) as EditedLists
}

/** Prevents other edits until the end of the transaction, because lists refer to each other. */
export async function lockEditedLists(tx: Tx): Promise<EditedLists> {
  await sql`lock table tag_list in share row exclusive mode`.execute(tx)
  return readEditedLists(tx)
}

export async function saveList(
  tx: Tx,
  name: TagListName,
  { rows, ...list }: { rows: readonly object[]; changed: Date; removed: string[] },
): Promise<void> {
  const values = { rows: JSON.stringify(rows), ...list }
  await tx
    .insertInto('tag_list')
    .values({ name, ...values })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(values))
    .execute()
}

export async function deleteList(tx: Tx, name: TagListName): Promise<void> {
  await tx.deleteFrom('tag_list').where('name', '=', name).execute()
}

/**
 * Number of projects that use each tag, by list and name. Categories are also counted by name and project type
 * (`magic mod`), because a category of one name exists in several types.
 */
export type TagUses = { [List in TagListName]: ReadonlyMap<string, number> }

export async function countTagUses(db: Db, { loaders }: Pick<Taxonomy, 'loaders'>): Promise<TagUses> {
  const { rows } = await sql<{ list: TagListName; name: string; uses: number }>`
    with used as (select distinct project_id, loader from version, unnest(loaders) loader),
      playable as (select key as loader, jsonb_array_elements_text(value) as game
        from jsonb_each(${byLoader(loaders, 'games')}::jsonb)),
      typed as (select distinct project_id, type from used
          join (select key as loader, jsonb_array_elements_text(value) as type
            from jsonb_each(${byLoader(loaders, 'project_types')}::jsonb)) known using (loader)
        union select id, draft_type from project
          where draft_type is not null and not exists (select from used where used.project_id = project.id))
    select 'loaders' as list, loader as name, count(*) as uses from used group by loader
    union all
    select 'games', game, count(distinct project_id) from used join playable using (loader) group by game
    union all
    select 'categories', category, count(*) from project, unnest(categories || additional_categories) category
      group by category
    union all
    select 'categories', category || ' ' || type, count(*) from project join typed on typed.project_id = project.id,
      unnest(categories || additional_categories) category group by category, type
    union all
    select 'game_versions', value, count(distinct project_id)
      from version, jsonb_array_elements_text(fields->'game_versions') value
      where jsonb_typeof(fields->'game_versions') = 'array' group by value
    union all
    select 'loader_fields', field, count(distinct project_id) from version, jsonb_object_keys(fields) field group by field
    union all
    select 'licenses', license, count(*) from project group by license
    union all
    select 'link_platforms', platform, count(*) from project, jsonb_object_keys(link_urls) platform
      group by platform`.execute(db)
  const of = (list: TagListName) =>
    new Map(rows.filter((row) => row.list === list).map(({ name, uses }) => [name, Number(uses)]))
  return {
    games: of('games'),
    loaders: of('loaders'),
    categories: of('categories'),
    game_versions: of('game_versions'),
    loader_fields: of('loader_fields'),
    licenses: of('licenses'),
    link_platforms: of('link_platforms'),
  }
}

const byLoader = (loaders: Taxonomy['loaders'], field: 'games' | 'project_types'): string =>
  JSON.stringify(Object.fromEntries(Array.from(loaders.values(), (loader) => [loader.name, loader[field]])))
