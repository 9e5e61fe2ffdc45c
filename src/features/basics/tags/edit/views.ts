// Responses of the routes with which operators edit tags.

import Type, { type TObject } from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import { MIB } from '#lib/text/sizes.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import type { Db } from '#platform/db/db.ts'
import { TAG_LISTS, type TagListName, type TagLists } from '#taxonomy/tag-lists.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { type TaxonomyData, tagListsOf } from '#taxonomy/taxonomy-files.ts'
import { countTagUses, type EditedLists, readEditedLists, type TagUses } from './queries.ts'
import { nameOf, type TagRow } from './tag-row.ts'

const listView = <Row extends TObject>(row: Row) =>
  Type.Object({
    source: Type.Enum(['files', 'operator'], { description: '`files`: the data files of the instance' }),
    revision: Type.Integer({ description: 'Increases with each change; 0 for the data files' }),
    changed: Nullable(Timestamp),
    rows: Type.Array(
      Type.Object({
        ...row.properties,
        hidden: Type.Boolean({ description: 'Whether the tag is not offered any more' }),
        uses: Type.Integer({
          description: 'Number of projects with this tag; for a category, of those of its project type',
        }),
      }),
    ),
  })

export const EditableTags = NamedObject('EditableTags', {
  games: listView(TAG_LISTS.games.items),
  loaders: listView(TAG_LISTS.loaders.items),
  categories: listView(TAG_LISTS.categories.items),
  game_versions: listView(TAG_LISTS.game_versions.items),
  loader_fields: listView(TAG_LISTS.loader_fields.items),
  licenses: listView(TAG_LISTS.licenses.items),
  link_platforms: listView(TAG_LISTS.link_platforms.items),
})

export const AddedGameVersions = NamedObject('AddedGameVersions', {
  added: Type.Array(Type.String(), { description: 'Names of the added game versions, newest first' }),
})

export const TagUsesView = NamedObject('UsesOfTag', {
  projects: Type.Integer({ description: 'Number of projects that use the tag' }),
  versions: Type.Integer({ description: 'Number of versions that use the tag; 0 if only projects can have it' }),
})
type EditableList<Row> = {
  source: 'files' | 'operator'
  revision: number
  changed: string | null
  rows: (Omit<Row, 'hidden'> & { hidden: boolean; uses: number })[]
}
export type EditableTags = { [List in TagListName]: EditableList<TagLists[List][number]> }

const USES = defineCache<RememberDefinition<TagUses>>({
  name: 'tag-uses',
  contains: 'Number of projects that use each tag, by the revisions of the lists',
  maxAgeMs: MINUTE_MS,
  maxBytes: MIB,
  isStaleAllowed: true,
  sizeOf: (uses) => Object.values(uses).reduce((bytes, { size }) => bytes + 64 * size, 0),
})

type TagDeps = { db: Db; cache: EntityCache; taxonomy: Taxonomy; taxonomyData: TaxonomyData }

/** Returns the number of projects that use each tag, at most a minute old. */
export async function readTagUses(deps: TagDeps, edited?: EditedLists): Promise<TagUses> {
  // An edit can rename tags in projects, so the counts belong to the revisions of the lists.
  const lists = Object.entries(edited ?? (await readEditedLists(deps.db)))
  const revisions = lists.map(([name, { revision }]) => `${name} ${revision}`)
  return deps.cache.remember(USES).get(revisions.join(), () => countTagUses(deps.db, deps.taxonomy))
}

/** Returns all lists with the number of projects that use each tag, at most a minute old, in at most two statements. */
export async function readEditableTags(deps: TagDeps): Promise<EditableTags> {
  const edited = await readEditedLists(deps.db)
  const uses = await readTagUses(deps, edited)
  const keyOf = (row: TagRow) => ('project_type' in row ? `${nameOf(row)} ${row.project_type}` : nameOf(row))
  const files = tagListsOf(deps.taxonomyData)
  const view = (list: TagListName) => ({
    source: edited[list] === undefined ? 'files' : 'operator',
    revision: edited[list]?.revision ?? 0,
    changed: edited[list]?.changed.toISOString() ?? null,
    rows: (rowsIn(edited, list) ?? files[list]).map((row) => ({
      ...row,
      hidden: 'hidden' in row && row.hidden === true,
      uses: uses[list].get(keyOf(row)) ?? 0,
    })),
  })
  const entries = (Object.keys(TAG_LISTS) as TagListName[]).map((list) => [list, view(list)])
  return Object.fromEntries(entries) as EditableTags
}

const rowsIn = (edited: EditedLists, list: TagListName) => edited[list]?.rows
