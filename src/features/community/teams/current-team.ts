// Runs an edit of a team that can depend on its revision.

import type { Viewer } from '#features/basics/access/viewer.ts'
import { projectViewer } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { UserReader } from '#features/people/users/user-cache.ts'
import { notFound } from '#lib/errors.ts'
import { withCurrentState } from '#platform/cache/revisions.ts'
import { isPublicStatus } from '#taxonomy/project-status.ts'
import { shownMembers, toMemberLists } from './member-lists.ts'
import { findProjectOfTeam, listTeamReads } from './queries.ts'

/** @throws ApiError `conflict` with the current members, if the edit requires another revision. */
export async function withCurrentMembers<Reader extends UserReader, T>(
  reader: Reader,
  viewer: Viewer,
  { teamId, edit }: { teamId: string; edit: () => Promise<T> },
): Promise<T> {
  return withCurrentState(reader, edit, (uncached) => readMembers(uncached, projectViewer(viewer), teamId))
}

/** Returns the members as `GET /v3/team/{id}/members` does. @throws ApiError 404. */
async function readMembers(reader: UserReader, viewer: Viewer | null, teamId: string): Promise<unknown> {
  const project = await findProjectOfTeam(reader.db, teamId)
  const owningId = project?.owning_team_id ?? undefined
  const teams = await listTeamReads(reader.db, owningId === undefined ? [teamId] : [teamId, owningId])
  const team = teams.find(({ id }) => id === teamId)
  const isHidden = viewer === null && project !== undefined && !isPublicStatus(project.status)
  if (team === undefined || isHidden) throw notFound('team')
  const owning = teams.find(({ id }) => id === owningId)
  const [members = '[]'] = await toMemberLists(reader, [shownMembers(team, viewer, owning)])
  return JSON.parse(members)
}
