// Response schema of a collection.
import Type, { type Static } from 'typebox'
import { type FilesConfig, imageUrl } from '#features/basics/images/hosted-image.ts'
import { NamedObject, Nullable, Revision, Timestamp } from '#lib/schema/schema-parts.ts'
import { COLLECTION_STATUSES } from './policy.ts'
import type { CollectionReadRow } from './queries.ts'

export const CollectionView = NamedObject('Collection', {
  id: Type.String(),
  revision: Revision('collection'),
  user: Type.String({ description: 'ID of the creator' }),
  name: Type.String(),
  description: Nullable(Type.String()),
  icon_url: Nullable(Type.String()),
  raw_icon_url: Nullable(Type.String({ description: 'URL of the icon in full size' })),
  color: Nullable(Type.Integer({ description: 'Main colour of the icon, as RGB' })),
  status: Type.Enum([...COLLECTION_STATUSES]),
  created: Timestamp,
  updated: Timestamp,
  projects: Type.Array(Type.String(), {
    description: 'IDs of the projects that the caller can see, in the order set by the creator',
  }),
})
export type CollectionView = Static<typeof CollectionView>

export const toCollectionView =
  (config: FilesConfig) =>
  (row: CollectionReadRow): CollectionView => ({
    id: row.id,
    revision: row.revision,
    user: row.account_id,
    name: row.name,
    description: row.description,
    icon_url: imageUrl(config, row.icon_url),
    raw_icon_url: imageUrl(config, row.raw_icon_url),
    color: row.color,
    status: row.status,
    created: row.created.toISOString(),
    updated: row.updated.toISOString(),
    projects: row.projects,
  })
