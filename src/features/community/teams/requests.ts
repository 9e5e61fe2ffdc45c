// Requests to invite and edit team members.
import Type, { type Static } from 'typebox'
import { ALL_ORGANIZATION_PERMISSIONS, ALL_PROJECT_PERMISSIONS } from '#features/basics/access/permissions.ts'
import { validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { type PatchColumns, toColumns } from '#lib/schema/patch.ts'
import { Id, Maybe, NamedObject, Ordering } from '#lib/schema/schema-parts.ts'
import { checkText } from '#lib/text/text-rules.ts'
import type { MemberRow } from './queries.ts'

const ROLE_LENGTH_MAX = 255
const PAYOUTS_SPLIT_MAX = 5000

export const MemberParams = Type.Object({ id: Id('Team ID'), user_id: Id('User ID') })

/**
 * Null means absent. The bits of both masks are consecutive, so that the maximum rejects every bit that does not exist.
 */
const MemberFields = Type.Object({
  role: Maybe(Type.String({ maxLength: ROLE_LENGTH_MAX })),
  permissions: Maybe(
    Type.Integer({
      minimum: 0,
      maximum: ALL_PROJECT_PERMISSIONS,
      description: 'Project permission bits; in the team of an organization, the bits for its projects',
    }),
  ),
  organization_permissions: Maybe(
    Type.Integer({
      minimum: 0,
      maximum: ALL_ORGANIZATION_PERMISSIONS,
      description: 'Organization permission bits; not allowed in the team of a project',
    }),
  ),
  payouts_split: Maybe(
    Type.Number({
      minimum: 0,
      maximum: PAYOUTS_SPLIT_MAX,
      description:
        'Share of revenue, as a weight relative to the shares of the other members. Only the owner can raise their own ' +
        'share; nobody else can change the share of the owner.',
    }),
  ),
  ordering: Maybe(Ordering),
})
type MemberFields = Static<typeof MemberFields>

const NamedAccount = Type.Object({ user_id: Id('User ID') })

export const Invitation = Type.Interface([NamedAccount, MemberFields], {}, { title: 'TeamMemberCreate' })
export const MemberPatch = Type.Interface([MemberFields], {}, { title: 'TeamMemberUpdate' })
export const NewOwner = Type.Interface([NamedAccount], {}, { title: 'TeamOwnerChange' })

/** The length of the longest list is that of the largest team. */
export const MembersPatch = NamedObject('TeamMembersUpdate', {
  members: Type.Array(Type.Interface([NamedAccount, MemberFields], {}, { title: 'TeamMemberChange' }), {
    maxItems: 1000,
    description: 'The changed members and invitees, each once',
  }),
})
export type MembersPatch = Static<typeof MembersPatch>

/** Checked columns of a member, without nulls. */
export type MemberChange = Partial<
  Pick<MemberRow, 'role' | 'permissions' | 'payouts_split' | 'ordering'> & { organization_permissions: number }
>

const columnsAt = (place: string): PatchColumns<MemberFields, MemberChange> => ({
  role: (role) => (role === null ? {} : { role: checkText(role, `${place}role`, { max: ROLE_LENGTH_MAX }) }),
  permissions: (permissions) => (permissions === null ? {} : { permissions }),
  organization_permissions: (bits) => (bits === null ? {} : { organization_permissions: bits }),
  payouts_split: (split) => (split === null ? {} : { payouts_split: split }),
  ordering: (ordering) => (ordering === null ? {} : { ordering }),
})

/** Roles that Depot writes for owners, who would otherwise be easy to imitate. */
const OWNER_ROLES = ['owner', 'inherited owner']

/** @throws ApiError `validation_error` naming `role` if only owners have this role. */
export function requireOpenRole(role: string): void {
  const folded = role.normalize('NFKC').trim().replaceAll(/ +/g, ' ').toLowerCase()
  if (OWNER_ROLES.includes(folded)) throw validationError('role', `must not be ${role}, which is reserved for owners`)
}

/** @throws ApiError `validation_error` naming `role`, after the prefix `place`. */
export function toMemberChange(fields: MemberFields, place = ''): MemberChange {
  return toColumns(fields, columnsAt(place))
}

/** @throws ApiError `validation_error` naming the field of a member. */
export function toMembersChange({ members }: MembersPatch): { accountId: string; fields: MemberChange }[] {
  return members.map((member, index) => {
    const place = `members.${index}`
    const { user_id, ...fields } = member
    return { accountId: parseBodyId(user_id, `${place}.user_id`), fields: toMemberChange(fields, `${place}.`) }
  })
}

/** Returns an ID from a body. @throws ApiError `validation_error` if the value is not an ID. */
export function parseBodyId(value: string, field: string): string {
  if (!isIdForm(value)) throw validationError(field, 'is not a base62 identifier of 1 to 11 characters')
  return value
}
