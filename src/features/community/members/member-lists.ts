// Writes the members of projects and teams as JSON. The team of a project that is hidden from the viewer is hidden too.

import type { Viewer } from '#features/basics/access/viewer.ts'
import {
  getProject,
  listVisibleProjects,
  type ProjectReader,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import { listOwningTeams } from '#features/community/organizations/organization-cache.ts'
import {
  requireSizeLimit,
  shownMembers,
  shownProjectMembers,
  toMemberLists,
} from '#features/community/teams/member-lists.ts'
import { listCachedTeams } from '#features/community/teams/team-cache.ts'
import type { MemberWriter, ShownMember } from '#features/community/teams/views.ts'
import { notFound } from '#lib/errors.ts'

/**
 * Returns the members of a project's team, then those of its organization, without duplicates, as a JSON array.
 * @throws ApiError 404 if the project is absent or hidden.
 */
export async function listProjectMembers(
  reader: ProjectReader,
  viewer: Viewer | null,
  name: string,
  toJson?: MemberWriter,
): Promise<string> {
  const project = await getProject(reader, viewer, name)
  const teams = await listCachedTeams(reader, [project.team_id])
  const team = teams.get(project.team_id)
  if (team === undefined) throw notFound('project')
  const owning = await listOwningTeams(reader, [project])
  const shown = shownProjectMembers(team, viewer, owning.get(project.organization_id ?? ''))
  const [members = '[]'] = await toMemberLists(reader, [shown], toJson)
  return members
}

/**
 * Returns the members of each team as a JSON array, in the requested order. Skips unknown and hidden teams. Runs at most
 * seven statements for any number of teams.
 * @throws ApiError `invalid_input` naming `ids` if one response would contain too many members.
 */
export async function listTeams(
  reader: ProjectReader,
  viewer: Viewer | null,
  ids: readonly string[],
  toJson?: MemberWriter,
): Promise<string[]> {
  const teams = await listCachedTeams(reader, ids)
  const projectIds = [...teams.values()].flatMap(({ project_id }) => project_id ?? [])
  const projects = projectIds.length === 0 ? [] : await listVisibleProjects(reader, viewer, projectIds)
  const owning = await listOwningTeams(reader, projects)
  const projectOf = new Map(projects.map((project) => [project.id, project]))
  const shown = ids.flatMap((id): ShownMember[][] => {
    const team = teams.get(id)
    if (team === undefined) return []
    if (team.organization_id !== null) return [shownMembers(team, viewer)]
    const project = projectOf.get(team.project_id ?? '')
    return project === undefined ? [] : [shownMembers(team, viewer, owning.get(project.organization_id ?? ''))]
  })
  requireSizeLimit(shown)
  return toMemberLists(reader, shown, toJson)
}
