// The wire shape of an organization, and what bodies may say of one.
import Type, { type Static } from 'typebox'
import { TeamMemberView } from '#features/teams/views.ts'
import { Nullable } from '#lib/schema-parts.ts'
import { checkText, ORGANIZATION_SLUG_PATTERN } from '#lib/text-rules.ts'
import type { OrganizationRow } from './queries.ts'

export const OrganizationView = Type.Object(
  {
    id: Type.String(),
    slug: Type.String(),
    name: Type.String(),
    description: Type.String(),
    team_id: Type.String(),
    icon_url: Nullable(Type.String()),
    raw_icon_url: Nullable(Type.String({ description: 'The picture at its full size' })),
    color: Nullable(Type.Integer({ description: 'RGB' })),
    members: Type.Array(TeamMemberView),
  },
  { title: 'Organization' },
)

/** The view up to its members, which depend on the viewer: a JSON object cut before the array of members. */
export function toOpenView(row: OrganizationRow): string {
  const { id, slug, name, description, team_id, icon_url, raw_icon_url, color } = row
  const json = JSON.stringify({ id, slug, name, description, team_id, icon_url, raw_icon_url, color })
  return `${json.slice(0, -1)},"members":`
}

const NAME = { min: 3, max: 64, visible: true } as const
const DESCRIPTION = { min: 3, max: 256, visible: true } as const

const fields = {
  slug: Type.String({ minLength: 3, maxLength: 64, pattern: ORGANIZATION_SLUG_PATTERN }),
  name: Type.String({ minLength: NAME.min, maxLength: NAME.max }),
  description: Type.String({ minLength: DESCRIPTION.min, maxLength: DESCRIPTION.max }),
}

export const NewOrganization = Type.Object(fields, { title: 'NewOrganization' })
export type NewOrganization = Static<typeof NewOrganization>

/** Null stands for absent (facts/people.md 1.1): none of these can be cleared. */
export const OrganizationPatch = Type.Object(
  {
    slug: Type.Optional(Nullable(fields.slug)),
    name: Type.Optional(Nullable(fields.name)),
    description: Type.Optional(Nullable(fields.description)),
  },
  { title: 'OrganizationPatch' },
)

export type OrganizationTexts = Partial<NewOrganization>

const checkName = (name: string): string => checkText(name.trim(), 'name', NAME)
const checkDescription = (description: string): string => checkText(description, 'description', DESCRIPTION)

/**
 * The texts of a new organization, with their lengths counted in characters and the slug in lower case.
 * @throws ApiError `validation_error` with the field.
 */
export function checkNewTexts({ slug, name, description }: NewOrganization): NewOrganization {
  return { slug: slug.toLowerCase(), name: checkName(name), description: checkDescription(description) }
}

/** The same for those that a patch gives. */
export function checkTexts({ slug, name, description }: Static<typeof OrganizationPatch>): OrganizationTexts {
  return {
    ...(slug == null ? {} : { slug: slug.toLowerCase() }),
    ...(name == null ? {} : { name: checkName(name) }),
    ...(description == null ? {} : { description: checkDescription(description) }),
  }
}
