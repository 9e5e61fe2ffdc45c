// Response schemas of blocks of sign-ups.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp, toView } from '#lib/schema/schema-parts.ts'
import type { BlockRow } from './queries.ts'

const BlockView = NamedObject('SignUpBlock', {
  id: Type.String(),
  email_domain: Nullable(Type.String({ description: 'The block includes the subdomains' })),
  address_range: Nullable(Type.String()),
  note: Type.String(),
  created: Timestamp,
  ends: Nullable(Timestamp),
})

export const BlockListView = NamedObject('SignUpBlockList', { total: Type.Integer(), blocks: Type.Array(BlockView) })
export const NewBlocksView = NamedObject('CreatedSignUpBlocks', {
  count: Type.Integer({ description: 'Number of blocks' }),
})

export const toBlockView = (row: BlockRow): Static<typeof BlockView> => toView(BlockView, row)
