// Writes lists of members for one viewer, who cannot see every row and every field.
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { canSeeRow, isAcceptedIn } from '#features/basics/access/team-policy.ts'
import { coversOrganization, coversProject, type Viewer } from '#features/basics/access/viewer.ts'
import { listCachedUsers, type UserReader } from '#features/people/users/user-cache.ts'
import { invalidInput } from '#lib/errors.ts'
import type { TeamRead } from './queries.ts'
import { type MemberWriter, type ShownMember, toMemberJson } from './views.ts'

/** Number of members, a few milliseconds of work, after which other requests can run. */
const MEMBERS_PER_STEP = 2_000
/** Maximum number of members in a response whose teams the client chose: about 13 MB. */
const RESPONSE_MEMBERS_MAX = 30_000

/**
 * Returns the rows of a team that the viewer can see, in display order.
 * @param owning the team of the organization that owns the team's project: its members see what team members see.
 */
export function shownMembers(team: TeamRead, viewer: Viewer | null, owning?: TeamRead): ShownMember[] {
  const reader = viewer !== null && coversTeam(viewer, team, owning) ? viewer : null
  const asMember = isAcceptedIn(team.members, reader) || isAcceptedIn(owning?.members ?? [], reader)
  return team.members
    .filter((row) => canSeeRow(row, reader, asMember))
    .map((row) => ({ row, asMember, revision: team.revision }))
}

/** Returns whether the viewer's token covers the project or organization of a team. */
function coversTeam(viewer: Viewer, team: TeamRead, owning: TeamRead | undefined): boolean {
  if (team.organization_id !== null) return coversOrganization(viewer, team.organization_id)
  return coversProject(viewer, { id: team.project_id ?? '', organization_id: owning?.organization_id ?? null })
}

/** Returns the visible rows of a project's team, then the accepted members of its organization without duplicates. */
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

/** @throws ApiError `invalid_input` naming `ids` if the lists contain too many members for one response. */
export function requireSizeLimit(lists: readonly (readonly ShownMember[])[]): void {
  if (lists.reduce((sum, list) => sum + list.length, 0) <= RESPONSE_MEMBERS_MAX) return
  throw invalidInput(`The response would contain more than ${RESPONSE_MEMBERS_MAX} members; request fewer IDs`, 'ids')
}

/**
 * Writes each list as a JSON array. Skips deleted users. Runs at most one statement.
 */
export async function toMemberLists(
  reader: UserReader,
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
