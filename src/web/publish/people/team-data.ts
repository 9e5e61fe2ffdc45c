// The team of a project or an organization, as its settings show it to one viewer.

import { ORGANIZATION_PERMISSIONS, PROJECT_PERMISSIONS } from '#features/basics/access/permissions.ts'
import { isAcceptedIn } from '#features/basics/access/team-policy.ts'
import { shownMembers } from '#features/community/teams/member-lists.ts'
import { editableBits } from '#features/community/teams/policy.ts'
import type { MemberRow, TeamRead } from '#features/community/teams/queries.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import type { UserView } from '#features/people/users/views.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { OwnRequest } from '#web/kit/pages.ts'

/** Column with permission bits. */
export type BitField = 'permissions' | 'organization_permissions'

export type ShownRow = MemberRow & { user: UserView }

export type TeamData = {
  kind: 'project' | 'organization'
  teamId: string
  revision: number
  /** Name of the project or organization. */
  name: string
  /** Path of the page. */
  path: string
  rows: readonly ShownRow[]
  /** Whether the viewer sees permissions and shares: accepted members do. */
  asMember: boolean
  may: { edit: boolean; invite: boolean; remove: boolean }
  /** Bits that the viewer can grant, by column. */
  grantable: Readonly<Partial<Record<BitField, number>>>
}

export const BITS: Readonly<Record<BitField, Readonly<Record<string, number>>>> = {
  permissions: PROJECT_PERMISSIONS,
  organization_permissions: ORGANIZATION_PERMISSIONS,
}

/** Returns the rows of a team that the viewer can see, with their users, in display order. */
export async function loadRows(
  { deps, viewer }: OwnRequest,
  team: TeamRead,
  owning?: TeamRead,
): Promise<{ rows: ShownRow[]; asMember: boolean }> {
  const shown = shownMembers(team, viewer, owning)
  const ids = shown.map(({ row }) => row.account_id)
  const users = new Map((await listCachedUsers(deps, ids)).map((user) => [user.id, viewOf(user)]))
  const rows = shown.flatMap(({ row }) => {
    const user = users.get(row.account_id)
    return user === undefined ? [] : [{ ...row, user }]
  })
  return { rows, asMember: isAcceptedIn(team.members, viewer) || isAcceptedIn(owning?.members ?? [], viewer) }
}

/** Returns the bits of a row that the viewer can change. */
export function changeable({ may, grantable }: TeamData, row: MemberRow, field: BitField): number {
  if (!may.edit || row.is_owner) return 0
  return editableBits(row[field] ?? 0, grantable[field] ?? 0)
}

/** Returns the names of the permissions in `bits`, in the order of the table. */
export function namesOf(field: BitField, bits: number): string[] {
  return Object.entries(BITS[field]).flatMap(([name, bit]) => ((bits & bit) === 0 ? [] : [name]))
}

/** Returns the bits of these permissions. Skips unknown names. */
export function bitsOf(field: BitField, names: readonly string[]): number {
  return names.reduce((bits, name) => bits | (Object.hasOwn(BITS[field], name) ? (BITS[field][name] ?? 0) : 0), 0)
}

/** Maximum number of columns of the matrix. */
const COLUMNS_MAX = 6

/** Returns the members whose permissions the matrix shows: the chosen ones, by default the first ones. */
export function columnsOf({ rows }: TeamData, chosen: readonly string[]): ShownRow[] {
  const wanted = new Set(chosen.flatMap((value) => value.split('.')))
  const found = rows.filter(({ account_id }) => wanted.has(account_id))
  return (found.length === 0 ? rows : found).slice(0, COLUMNS_MAX)
}

/** Returns whether the viewer has to choose columns. */
export const hasMoreColumns = ({ rows }: TeamData): boolean => rows.length > COLUMNS_MAX
