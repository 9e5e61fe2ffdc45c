// Requests of operators that edit tags.
import Type, { type TSchema } from 'typebox'
import { TAG_LISTS } from '#taxonomy/taxonomy-files.ts'

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
}

export const TagRename = Type.Object({
  from: Type.String({ minLength: 1, maxLength: 64, description: 'Present name of the tag' }),
  to: Type.String({ minLength: 1, maxLength: 64, description: 'New name of the tag' }),
})
