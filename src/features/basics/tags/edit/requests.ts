// Requests of operators that edit tags.
import Type, { type TObject, type TSchema } from 'typebox'
import { Maybe } from '#lib/schema/schema-parts.ts'
import { TAG_LISTS, type TagListName } from '#taxonomy/tag-lists.ts'
import { REPLACED_LISTS } from './replace-tag.ts'

const Revision = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'The revision that was edited; another one is 409. Default: any',
  }),
)

const listInput = <Rows extends TSchema>(rows: Rows) => Type.Object({ rows, revision: Revision })

/** Bodies that replace a list. */
export const LIST_INPUTS = {
  games: listInput(TAG_LISTS.games),
  loaders: listInput(TAG_LISTS.loaders),
  categories: listInput(TAG_LISTS.categories),
  game_versions: listInput(TAG_LISTS.game_versions),
  loader_fields: listInput(TAG_LISTS.loader_fields),
  licenses: listInput(TAG_LISTS.licenses),
  link_platforms: listInput(TAG_LISTS.link_platforms),
}

/** Returns the body that adds a tag, which ignores unknown keys like every body. */
const tagInput = <Row extends TObject>({ properties }: Row) => Type.Object(properties as Row['properties'])

export const TAG_INPUTS = {
  games: tagInput(TAG_LISTS.games.items),
  loaders: tagInput(TAG_LISTS.loaders.items),
  categories: tagInput(TAG_LISTS.categories.items),
  game_versions: tagInput(TAG_LISTS.game_versions.items),
  loader_fields: tagInput(TAG_LISTS.loader_fields.items),
  licenses: tagInput(TAG_LISTS.licenses.items),
  link_platforms: tagInput(TAG_LISTS.link_platforms.items),
}

const Position = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: 10_000,
    description: 'Position in the list, from 0; of a category, among those of its project type and header',
  }),
)

/** Body that changes a tag: its fields, except those that identify it. */
function tagPatch<Row extends TObject, Key extends keyof Row['properties'] & string>(
  row: Row,
  ...keys: readonly Key[]
) {
  const fields = Object.entries(row.properties).filter(([name]) => !keys.some((key) => key === name))
  return Type.Object({
    ...Object.fromEntries(fields.map(([name, schema]) => [name, Maybe(schema as TSchema)])),
    position: Position,
    revision: Revision,
  })
}

/** Bodies that change a tag. Projects and versions contain the name, and values of the type of their loader field. */
export const TAG_PATCHES = {
  games: tagPatch(TAG_LISTS.games.items, 'slug'),
  loaders: tagPatch(TAG_LISTS.loaders.items, 'name'),
  categories: tagPatch(TAG_LISTS.categories.items, 'name', 'project_type'),
  game_versions: tagPatch(TAG_LISTS.game_versions.items, 'value'),
  loader_fields: tagPatch(TAG_LISTS.loader_fields.items, 'name', 'type', 'values'),
  licenses: tagPatch(TAG_LISTS.licenses.items, 'id'),
  link_platforms: tagPatch(TAG_LISTS.link_platforms.items, 'name'),
}

const Id = Type.String({
  minLength: 1,
  maxLength: 129,
  description: 'Name of the tag; of a category, with its project type: `mod:magic`',
})
export const TagParams = Type.Object({ id: Id })
export const ListedTagParams = Type.Object({
  list: Type.Enum(Object.keys(TAG_LISTS) as TagListName[], { description: 'List of the tag' }),
  id: Id,
})
export const MergeParams = Type.Object({ list: Type.Enum([...REPLACED_LISTS], { description: 'List of both tags' }) })
export const TagMerge = Type.Object({
  from: Type.String({ minLength: 1, maxLength: 64, description: 'Name of the tag to remove' }),
  to: Type.String({ minLength: 1, maxLength: 64, description: 'Name of the tag that takes its place' }),
})

export const TagRename = Type.Object({
  from: Type.String({ minLength: 1, maxLength: 64, description: 'Present name of the tag' }),
  to: Type.String({ minLength: 1, maxLength: 64, description: 'New name of the tag' }),
})
