// Response schema of a team member, which combines a row and a cached user.
import Type from 'typebox'
import { UserView } from '#features/people/users/views.ts'
import { Nullable, Revision } from '#lib/schema/schema-parts.ts'
import type { MemberRow } from './queries.ts'

export const TeamMemberView = Type.Object(
  {
    team_id: Type.String(),
    user: UserView,
    role: Type.String(),
    is_owner: Type.Boolean(),
    permissions: Nullable(
      Type.Integer({
        description: 'Project permission bits; in the team of an organization, the bits for its projects',
      }),
    ),
    organization_permissions: Nullable(
      Type.Integer({ description: 'Organization permission bits; null in the team of a project' }),
    ),
    accepted: Type.Boolean({ description: 'Whether the user accepted the invitation' }),
    payouts_split: Nullable(
      Type.Number({ description: 'Share of revenue, as a weight from 0 to 5000 relative to the other members' }),
    ),
    ordering: Type.Integer(),
    revision: Revision('team', '. The same for all members; changes of `user` do not raise it'),
  },
  {
    title: 'TeamMember',
    description:
      '`permissions`, `organization_permissions` and `payouts_split` are null unless the caller is an accepted member.',
  },
)

/** A row that the viewer can see, whether they can see the fields for members, and the revision of the team. */
export type ShownMember = { row: MemberRow; asMember: boolean; revision: number }

/** Writes a member as JSON; `user` is the user's JSON. */
export type MemberWriter = (member: ShownMember, user: string) => string

/** Writes a member as JSON. Joining strings is faster than joining buffers in long lists. */
export function toMemberJson({ row, asMember, revision }: ShownMember, user: string): string {
  const own = JSON.stringify({
    team_id: row.team_id,
    role: row.role,
    is_owner: row.is_owner,
    permissions: asMember ? row.permissions : null,
    organization_permissions: asMember ? row.organization_permissions : null,
    accepted: row.accepted,
    payouts_split: asMember ? row.payouts_split : null,
    ordering: row.ordering,
    revision,
  })
  return `${own.slice(0, -1)},"user":${user}}`
}
