// The wire shapes of collections (facts/people.md 1.0) and the bodies that make and edit them.
import Type, { type Static } from 'typebox'
import { Nullable, Timestamp } from '#lib/schema-parts.ts'
import { COLLECTION_STATUSES } from './policy.ts'
import type { CollectionReadRow } from './queries.ts'

/** The most projects a collection holds. */
const PROJECTS_MAX = 1024
export const NAME_LENGTH = { min: 3, max: 64 } as const

export const CollectionView = Type.Object(
  {
    id: Type.String(),
    user: Type.String({ description: 'ID of the creator' }),
    name: Type.String(),
    description: Nullable(Type.String()),
    icon_url: Nullable(Type.String()),
    color: Nullable(Type.Integer({ description: 'RGB, of the icon' })),
    status: Type.Enum([...COLLECTION_STATUSES]),
    created: Timestamp,
    updated: Timestamp,
    projects: Type.Array(Type.String(), { description: "IDs of those the caller may see, in the creator's order" }),
  },
  { title: 'Collection' },
)
export type CollectionView = Static<typeof CollectionView>

export function toCollectionView(row: CollectionReadRow): CollectionView {
  return {
    id: row.id,
    user: row.account_id,
    name: row.name,
    description: row.description,
    icon_url: row.icon_url,
    color: row.color,
    status: row.status as CollectionView['status'],
    created: row.created.toISOString(),
    updated: row.updated.toISOString(),
    projects: row.projects,
  }
}

const Name = Type.String({ minLength: NAME_LENGTH.min, maxLength: NAME_LENGTH.max })
const ProjectNames = Type.Array(Type.String({ maxLength: 64 }), {
  maxItems: PROJECTS_MAX,
  description: 'IDs or slugs; duplicates collapse',
})

/** Null stands for absent (facts/people.md 0.3). */
export const CollectionInput = Type.Object(
  {
    name: Name,
    description: Type.Optional(Nullable(Type.String({ minLength: 3, maxLength: 255 }))),
    projects: Type.Optional(Nullable(ProjectNames)),
  },
  { title: 'CollectionInput' },
)
export type CollectionInput = Static<typeof CollectionInput>

/** Absent keeps a field; null clears the description, and stands for absent elsewhere. */
export const CollectionPatch = Type.Object(
  {
    name: Type.Optional(Nullable(Name)),
    description: Type.Optional(Nullable(Type.String({ minLength: 3, maxLength: 256 }))),
    status: Type.Optional(Nullable(Type.Enum([...COLLECTION_STATUSES]))),
    new_projects: Type.Optional(Nullable(ProjectNames)),
  },
  { title: 'CollectionPatch' },
)
export type CollectionPatch = Static<typeof CollectionPatch>
