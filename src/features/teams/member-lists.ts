// Lists of members for one viewer: which rows he sees, which fields of them, and the users behind them.
import type { EntityCache } from '#cache/entity-cache.ts'
import type { Db } from '#db/db.ts'
import type { Viewer } from '#lib/viewer.ts'
import { getCachedUsers } from '../users/user-cache.ts'
import { canSeeRow, isAcceptedIn } from './policy.ts'
import type { TeamRead } from './queries.ts'
import { type ShownMember, toMemberBytes } from './views.ts'

export type MemberBytes = { bytes: Buffer }

/**
 * The rows of a team that a viewer sees, in display order, as a member or as a stranger.
 * @param owning the team of the organization that owns the team's project: its members count as members.
 */
export function shownMembers(team: TeamRead, viewer: Viewer | null, owning?: TeamRead): ShownMember[] {
  const asMember = isAcceptedIn(team.members, viewer) || isAcceptedIn(owning?.members ?? [], viewer)
  return team.members.filter((row) => canSeeRow(row, viewer, asMember)).map((row) => ({ row, asMember }))
}

/** The project's own rows as `shownMembers`, then the accepted members of its organization who are not among them. */
export function shownProjectMembers(
  team: TeamRead,
  viewer: Viewer | null,
  owning: TeamRead | undefined,
): ShownMember[] {
  const own = shownMembers(team, viewer, owning)
  if (owning === undefined) return own
  const listed = new Set(own.map(({ row }) => row.account_id))
  const added = shownMembers(owning, viewer).filter(({ row }) => row.accepted && !listed.has(row.account_id))
  return [...own, ...added]
}

/** Each list as ready members, whose users come from one statement at most. */
export async function toMemberLists(
  reader: { db: Db; cache: EntityCache },
  lists: readonly (readonly ShownMember[])[],
): Promise<MemberBytes[][]> {
  const ids = new Set(lists.flatMap((list) => list.map(({ row }) => row.account_id)))
  const users = new Map((await getCachedUsers(reader, [...ids])).map((user) => [user.id, user]))
  return lists.map((list) =>
    list.flatMap((member) => {
      const user = users.get(member.row.account_id)
      return user === undefined ? [] : [{ bytes: toMemberBytes(member, user) }]
    }),
  )
}
