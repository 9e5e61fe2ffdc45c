// What a body may say of a member, and the rules for the permissions in it: nobody grants what he does not hold.
import Type, { type Static } from 'typebox'
import { requireProjectPermission } from '#features/access/project-policy.ts'
import { requireOrganizationPermission } from '#features/access/team-policy.ts'
import { type ApiError, validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { ALL_ORGANIZATION_PERMISSIONS, ALL_PROJECT_PERMISSIONS, isBitSubset } from '#lib/permissions.ts'
import { Maybe, Ordering } from '#lib/schema-parts.ts'
import { checkText } from '#lib/text-rules.ts'
import type { Scene } from './lock-team.ts'

const ROLE_LENGTH_MAX = 255
const PAYOUTS_SPLIT_MAX = 5000

/**
 * Null stands for absent, as clients send it (facts/people.md 0.3). Both masks are unbroken from bit 0, so that a range
 * refuses every bit that does not exist.
 */
export const MemberFields = Type.Object({
  role: Maybe(Type.String({ maxLength: ROLE_LENGTH_MAX })),
  permissions: Maybe(
    Type.Integer({
      minimum: 0,
      maximum: ALL_PROJECT_PERMISSIONS,
      description: 'Project permission bits; in an organization, those for its projects',
    }),
  ),
  organization_permissions: Maybe(
    Type.Integer({
      minimum: 0,
      maximum: ALL_ORGANIZATION_PERMISSIONS,
      description: 'Organization permission bits; not for project teams',
    }),
  ),
  payouts_split: Maybe(
    Type.Number({
      minimum: 0,
      maximum: PAYOUTS_SPLIT_MAX,
      description: 'The share of revenue, against those of the others',
    }),
  ),
  ordering: Maybe(Ordering),
})

const NamedAccount = Type.Object({ user_id: Type.String({ maxLength: 64, description: 'A user ID' }) })

export const Invitation = Type.Interface([NamedAccount, MemberFields], {}, { title: 'TeamInvitation' })
export const MemberPatch = Type.Interface([MemberFields], {}, { title: 'TeamMemberPatch' })
export const NewOwner = Type.Interface([NamedAccount], {}, { title: 'TeamOwnerChange' })

/** The same with nulls gone and the role's length counted in characters. */
export type MemberChange = {
  role?: string
  permissions?: number
  organization_permissions?: number
  payouts_split?: number
  ordering?: number
}

export function toMemberChange(fields: Static<typeof MemberFields>): MemberChange {
  const { role, permissions, organization_permissions, payouts_split, ordering } = fields
  if (role != null) checkText(role, 'role', { max: ROLE_LENGTH_MAX })
  return {
    ...(role == null ? {} : { role }),
    ...(permissions == null ? {} : { permissions }),
    ...(organization_permissions == null ? {} : { organization_permissions }),
    ...(payouts_split == null ? {} : { payouts_split }),
    ...(ordering == null ? {} : { ordering }),
  }
}

/** @throws ApiError `validation_error` when a body's value cannot be an ID. */
export function parseBodyId(value: string, field: string): string {
  if (!isIdForm(value)) throw validationError(field, 'is not a base62 identifier of 1 to 11 characters')
  return value
}

/** Permissions over a team that projects and organizations both have, with bits of their own. */
type TeamPermission = 'MANAGE_INVITES' | 'REMOVE_MEMBER' | 'EDIT_MEMBER'

/** @throws ApiError 403 naming the permission that the caller lacks over the team. */
export function requireTeamPermission({ subject, bits }: Scene, permission: TeamPermission): void {
  if ('organization' in subject) requireOrganizationPermission(bits.own, permission)
  else requireProjectPermission(bits.own, permission)
}

/**
 * The permissions that a caller gives to the scene's target.
 * @throws ApiError 403 when he may give none of this kind, 400 for more than he holds himself, and for anything less
 * than everything in the hands of the organization's owner.
 */
export function checkGrants(
  { subject, bits, target }: Scene,
  given: Pick<MemberChange, 'permissions' | 'organization_permissions'>,
): void {
  if ('organization' in subject) {
    if (given.permissions !== undefined) {
      requireOrganizationPermission(bits.own, 'EDIT_MEMBER_DEFAULT_PERMISSIONS')
    }
    if (!isBitSubset(given.organization_permissions ?? 0, bits.own)) throw beyondOwn('organization_permissions')
  } else {
    if (given.organization_permissions !== undefined) {
      throw validationError('organization_permissions', 'is for the teams of organizations only')
    }
    const ownsAll = target.organization?.is_owner === true
    if (ownsAll && given.permissions !== undefined && given.permissions !== ALL_PROJECT_PERMISSIONS) {
      throw validationError('permissions', "cannot be less than everything for the organization's owner")
    }
  }
  if (!isBitSubset(given.permissions ?? 0, bits.project)) throw beyondOwn('permissions')
}

function beyondOwn(field: string): ApiError {
  return validationError(field, 'holds a permission that you do not have')
}
