// Requests to create and edit collections.
import type { Updateable } from 'kysely'
import Type, { type Static } from 'typebox'
import { type PatchColumns, toColumns } from '#lib/schema/patch.ts'
import { Maybe, NamedObject } from '#lib/schema/schema-parts.ts'
import { checkText, NAME_PATTERN } from '#lib/text/text-rules.ts'
import type { Collection } from '#platform/db/schema.ts'
import { COLLECTION_STATUSES } from './policy.ts'

/** Maximum number of projects in a collection. */
export const PROJECTS_MAX = 1024
const NAME = { min: 3, max: 64, visible: true, isName: true } as const

const Name = Type.String({ minLength: NAME.min, maxLength: NAME.max })
const ProjectNames = Type.Array(Type.String({ maxLength: 64, describedAs: { pattern: NAME_PATTERN } }), {
  maxItems: PROJECTS_MAX,
  description: 'IDs or slugs of projects; duplicates are ignored',
})

/** Null means absent. */
export const CollectionInput = NamedObject('CollectionCreate', {
  name: Name,
  description: Maybe(Type.String({ minLength: 3, maxLength: 255 })),
  projects: Maybe(ProjectNames),
})
export type CollectionInput = Static<typeof CollectionInput>

/** An absent field stays unchanged. Null clears the description and means absent in other fields. */
export const CollectionPatch = NamedObject('CollectionUpdate', {
  name: Maybe(Name),
  description: Maybe(Type.String({ minLength: 3, maxLength: 256 })),
  status: Maybe(Type.Enum([...COLLECTION_STATUSES])),
  new_projects: Maybe(ProjectNames),
})
export type CollectionPatch = Static<typeof CollectionPatch>

/** @throws ApiError `validation_error` naming `name`. */
export function checkName(name: string): string {
  return checkText(name.trim(), 'name', NAME)
}

const columns = {
  name: (name) => (name === null ? {} : { name: checkName(name) }),
  description: (description) => ({ description }),
  status: (status) => (status === null ? {} : { status }),
  // Separate rows.
  new_projects: () => ({}),
} satisfies PatchColumns<CollectionPatch, Updateable<Collection>>

/** Returns the columns that a patch sets. @throws ApiError `validation_error` naming `name`. */
export function toCollectionColumns(patch: CollectionPatch): Updateable<Collection> {
  return toColumns<CollectionPatch, Updateable<Collection>>(patch, columns)
}
