// Lists of members for one viewer: which rows they see, which fields of them, and the users behind them.
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { canSeeRow, isAcceptedIn } from '#features/basics/access/team-policy.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput } from '#lib/errors.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { Db } from '#platform/db/db.ts'
import type { TeamRead } from './queries.ts'
import { type MemberWriter, type ShownMember, toMemberJson } from './views.ts'

/** After about so many members, some milliseconds of work, other requests may run. */
const MEMBERS_PER_STEP = 2_000
/** In an answer whose teams the request has chosen: some 13 MB. */
const ANSWER_MEMBERS_MAX = 30_000

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

/** @throws ApiError `invalid_input` naming `ids` when the lists that a request has named hold too much for one answer. */
export function requireSizeLimit(lists: readonly (readonly ShownMember[])[]): void {
  if (lists.reduce((sum, list) => sum + list.length, 0) <= ANSWER_MEMBERS_MAX) return
  throw invalidInput(`These have more than ${ANSWER_MEMBERS_MAX} members: name fewer`, 'ids')
}

/**
 * Each list as a JSON array of what `toJson` writes; the users come from one statement at most. Users who are gone are
 * left out.
 */
export async function toMemberLists(
  reader: { db: Db; cache: EntityCache },
  lists: readonly (readonly ShownMember[])[],
  toJson: MemberWriter = toMemberJson,
): Promise<string[]> {
  const ids = new Set<string>()
  for (const list of lists) for (const { row } of list) ids.add(row.account_id)
  const users = new Map<string, string>()
  for (const { id, bytes } of await listCachedUsers(reader, [...ids])) users.set(id, bytes.toString())
  const texts: string[] = []
  let sinceYield = 0
  for (const list of lists) {
    const members: string[] = []
    for (const member of list) {
      const user = users.get(member.row.account_id)
      if (user !== undefined) members.push(toJson(member, user))
    }
    texts.push(`[${members.join()}]`)
    sinceYield += list.length
    if (sinceYield < MEMBERS_PER_STEP) continue
    sinceYield = 0
    await yieldToOthers()
  }
  return texts
}
