// What rows of projects show besides the projects themselves: by whom they are, whether they have a release yet, and their
// last weeks. Each costs a constant number of statements for a whole list, most of them none when it is warm.

import { type CachedProject, listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listUnreleased } from '#features/catalogue/versions/queries.ts'
import { listCachedOrganizations } from '#features/community/organizations/organization-cache.ts'
import { listCachedTeams } from '#features/community/teams/team-cache.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import type { SiteRequest } from '#web/kit/page.ts'
import { organizationPath, userPath } from '#web/kit/site-paths.ts'
import type { Organization } from '../project/project-data.ts'
import { type ProjectRow, rowOfProject } from './rows.ts'

type Reader = Pick<SiteRequest, 'deps' | 'trends'>

/** Rows of projects that do not come from the search index, which says by itself by whom they are. */
export async function rowsOfProjects(request: Reader, projects: readonly CachedProject[]): Promise<ProjectRow[]> {
  return withDetails(request, await authoredRows(request, projects))
}

/** The rows with what is known of their last weeks, and of their releases. */
export async function withDetails(request: Reader, rows: readonly ProjectRow[]): Promise<ProjectRow[]> {
  const { deps, trends } = request
  const ids = [...new Set(rows.map(({ id }) => id))]
  const [weekly, unreleased] = await Promise.all([trends.weekly(deps, ids), findUnreleased(request, ids)])
  return rows.map((row) => {
    const [weeks, channel] = [weekly.get(row.id), unreleased.get(row.id)]
    return { ...row, ...(weeks === undefined ? {} : { weeks }), ...(channel === undefined ? {} : { channel }) }
  })
}

/** The rows with what is known of their releases, for lists that have no room for weeks. */
export async function withChannels(request: Reader, rows: readonly ProjectRow[]): Promise<ProjectRow[]> {
  const unreleased = await findUnreleased(
    request,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => {
    const channel = unreleased.get(row.id)
    return channel === undefined ? row : { ...row, channel }
  })
}

/**
 * A version is announced as a change of its project, which is read so that a page which is kept is dropped with it. Not
 * from a replica: the page that is made next would be kept with what that does not have yet.
 */
async function findUnreleased({ deps }: Reader, ids: readonly string[]): Promise<Map<string, 'alpha' | 'beta'>> {
  await listVisibleProjects(deps, null, ids)
  return listUnreleased(deps.db, ids)
}

/** Rows with the organization that owns each, or the person. */
export async function authoredRows(
  { deps }: Pick<Reader, 'deps'>,
  projects: readonly CachedProject[],
): Promise<ProjectRow[]> {
  const organizationIds = projects.flatMap(({ organization_id }) => organization_id ?? [])
  const teamIds = projects.flatMap(({ organization_id, team_id }) => (organization_id === null ? [team_id] : []))
  const organizations = new Map(
    (await listCachedOrganizations(deps, organizationIds)).map(({ id, slug, openView }) => {
      const { name } = JSON.parse(`${openView}[]}`) as Organization
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
