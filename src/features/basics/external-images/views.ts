// Responses about images of other hosts.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import type { BlockedRow } from './queries.ts'

const BlockedImageView = NamedObject('BlockedExternalImage', {
  url: Type.String(),
  created: Timestamp,
  blocked_by: Nullable(Type.String({ description: 'Name of the moderator; null for a takedown or a deleted account' })),
  takedown_id: Nullable(Type.String({ description: 'The takedown of a project whose texts contain the image' })),
})

export const BlockedImagesView = NamedObject('BlockedExternalImages', {
  total: Type.Integer(),
  images: Type.Array(BlockedImageView),
})

export const toBlockedImageView = ({ id: _, created, ...row }: BlockedRow): Static<typeof BlockedImageView> => ({
  ...row,
  created: created.toISOString(),
})
