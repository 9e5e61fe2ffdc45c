// Details of project rows that the search index does not contain: author, release channel, and downloads per week. Each
// needs a constant number of queries per list, and usually none because the data is cached.

import { type CachedProject, listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listUnreleased } from '#features/catalogue/versions/queries.ts'
import { listCachedOrganizations } from '#features/community/organizations/organization-cache.ts'
import { listCachedTeams } from '#features/community/teams/team-cache.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { isSearchableStatus } from '#taxonomy/project-status.ts'
import { organizationPath, userPath } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { type ProjectRow, rowOfProject } from './rows.ts'

type Reader = Pick<PageRequest, 'deps' | 'trends'>

/** Returns the rows of projects with all details. */
export async function rowsOfProjects(request: Reader, projects: readonly CachedProject[]): Promise<ProjectRow[]> {
  return loadRowDetails(request, await rowsWithAuthors(request, projects))
}

/**
 * Returns the rows of search hits that can still be found: the index can be older than the database. Reading the projects
 * makes the cached page depend on them.
 */
export async function visibleRows({ deps }: Pick<Reader, 'deps'>, rows: readonly ProjectRow[]): Promise<ProjectRow[]> {
  const ids = rows.map(({ id }) => id)
  const projects = (await listVisibleProjects(deps, null, ids)).filter(({ status }) => isSearchableStatus(status))
  const found = new Set(projects.map(({ id }) => id))
  return rows.filter(({ id }) => found.has(id))
}

/** Adds the release channel of each project, and the downloads per week if the list shows them. */
export async function loadRowDetails(
  { deps, trends }: Reader,
  rows: readonly ProjectRow[],
  { weeks: showsWeeks = true }: { weeks?: boolean } = {},
): Promise<ProjectRow[]> {
  const ids = [...new Set(rows.map(({ id }) => id))]
  const [weekly, channels] = await Promise.all([
    showsWeeks ? trends.weekly(deps, ids) : new Map<string, readonly number[]>(),
    // Reads the primary, because a cached page must not contain the older data of a replica.
    listUnreleased(deps.db, ids),
  ])
  return rows.map((row) => {
    const [weeks, channel] = [weekly.get(row.id), channels.get(row.id)]
    return { ...row, ...(weeks === undefined ? {} : { weeks }), ...(channel === undefined ? {} : { channel }) }
  })
}

/** Returns the rows of projects with the organization or the user who owns each project. */
export async function rowsWithAuthors(
  { deps }: Pick<Reader, 'deps'>,
  projects: readonly CachedProject[],
): Promise<ProjectRow[]> {
  const organizationIds = projects.flatMap(({ organization_id }) => organization_id ?? [])
  const teamIds = projects.flatMap(({ organization_id, team_id }) => (organization_id === null ? [team_id] : []))
  const organizations = new Map(
    (await listCachedOrganizations(deps, organizationIds)).map((organization) => {
      const { id, name, slug } = viewOf(organization)
      return [id, { name, path: organizationPath(slug) }]
    }),
  )
  const owners = new Map(
    [...(await listCachedTeams(deps, teamIds)).values()].flatMap(({ id, members }) => {
      const owner = members.find(({ is_owner }) => is_owner)
      return owner === undefined ? [] : [[id, owner.account_id]]
    }),
  )
  const users = new Map(
    (await listCachedUsers(deps, [...new Set(owners.values())])).map(({ id, username }) => [
      id,
      { name: username, path: userPath(username) },
    ]),
  )
  return projects.map((project) => {
    const { organization_id, team_id } = project
    const by = organization_id === null ? users.get(owners.get(team_id) ?? '') : organizations.get(organization_id)
    return { ...rowOfProject(project), ...(by === undefined ? {} : { by }) }
  })
}
