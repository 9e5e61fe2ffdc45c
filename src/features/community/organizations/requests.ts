// Requests to create and edit organizations.
import type { Updateable } from 'kysely'
import Type, { type Static } from 'typebox'
import { type PatchColumns, toColumns } from '#lib/schema/patch.ts'
import { Id, IdOrName, Maybe, NamedObject } from '#lib/schema/schema-parts.ts'
import { checkText, ORGANIZATION_SLUG_PATTERN } from '#lib/text/text-rules.ts'
import type { Organization } from '#platform/db/schema.ts'

const NAME = { min: 3, max: 64, visible: true, isName: true } as const
const DESCRIPTION = { min: 3, max: 256, visible: true } as const

const fields = {
  slug: Type.String({ minLength: 3, maxLength: 64, pattern: ORGANIZATION_SLUG_PATTERN }),
  name: Type.String({ minLength: NAME.min, maxLength: NAME.max }),
  description: Type.String({ minLength: DESCRIPTION.min, maxLength: DESCRIPTION.max }),
}

export const NewOrganization = NamedObject('OrganizationCreate', fields)
export type NewOrganization = Static<typeof NewOrganization>

/** Null means absent: no field can be cleared. */
export const OrganizationPatch = NamedObject('OrganizationUpdate', {
  slug: Maybe(fields.slug),
  name: Maybe(fields.name),
  description: Maybe(fields.description),
})
export type OrganizationPatch = Static<typeof OrganizationPatch>

export const ProjectParams = Type.Object({
  id: IdOrName('Organization ID or slug'),
  project_id: IdOrName('Project ID or slug'),
})

export const ProjectAddition = NamedObject('OrganizationProjectAddition', {
  project_id: IdOrName('Project ID or slug'),
})

export const ProjectRemoval = NamedObject('OrganizationProjectRemoval', {
  new_owner: Id('ID of the organization member who becomes the owner of the project'),
})

const checkName = (name: string): string => checkText(name.trim(), 'name', NAME)
const checkDescription = (description: string): string => checkText(description, 'description', DESCRIPTION)

/**
 * Returns the fields of a new organization, checked and normalised.
 * @throws ApiError `validation_error` naming the field.
 */
export function checkNewOrganization({ slug, name, description }: NewOrganization): NewOrganization {
  return { slug: slug.toLowerCase(), name: checkName(name), description: checkDescription(description) }
}

const columns = {
  slug: (slug) => (slug === null ? {} : { slug: slug.toLowerCase() }),
  name: (name) => (name === null ? {} : { name: checkName(name) }),
  description: (description) => (description === null ? {} : { description: checkDescription(description) }),
} satisfies PatchColumns<OrganizationPatch, Updateable<Organization>>

/** Returns the columns that a patch sets. @throws ApiError `validation_error` naming the field. */
export function toOrganizationColumns(patch: OrganizationPatch): Updateable<Organization> {
  return toColumns<OrganizationPatch, Updateable<Organization>>(patch, columns)
}
