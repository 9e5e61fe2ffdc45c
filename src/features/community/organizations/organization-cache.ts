// Caches the JSON of organizations up to their members, which depend on the viewer. A command that changes an
// organization must add its ID to the change set, under `organization`; changes of members belong to `team`.

import { hasScope } from '#features/basics/access/scopes.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import type { FilesConfig } from '#features/basics/images/hosted-image.ts'
import { requireSizeLimit, shownMembers, toMemberLists } from '#features/community/teams/member-lists.ts'
import type { TeamRead } from '#features/community/teams/queries.ts'
import { listCachedTeams } from '#features/community/teams/team-cache.ts'
import type { UserReader } from '#features/people/users/user-cache.ts'
import { notFound } from '#lib/errors.ts'
import { bytesToKeep, extendJson, type JsonOf } from '#lib/text/json-bytes.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import { listOrganizationsByNames, type OrganizationRow } from './queries.ts'
import { type OpenOrganization, type OrganizationView, toOpenView } from './views.ts'

declare module '#platform/cache/changes.ts' {
  interface ChangeKinds {
    organization: true
  }
}

export type CachedOrganization = Pick<OrganizationRow, 'id' | 'slug' | 'team_id' | 'revision'> &
  JsonOf<OpenOrganization>

export type OrganizationReader = UserReader

const ORGANIZATION = defineCache({
  name: 'organization',
  contains: 'Organization as JSON, without its members',
  idOf: (organization: CachedOrganization) => organization.id,
  sizeOf: (organization: CachedOrganization) => organization.bytes.length + 250,
  aliasesOf: (organization: CachedOrganization) => [organization.slug],
  foldAlias: (name: string) => name.toLowerCase(),
  revisionOf: (organization: CachedOrganization) => organization.revision,
})

function toCachedOrganization(row: OrganizationRow, config: FilesConfig): CachedOrganization {
  const { id, slug, team_id, revision } = row
  return { id, slug, team_id, revision, bytes: bytesToKeep(JSON.stringify(toOpenView(row, config))) }
}

/** Returns the organizations with these IDs or slugs, in this order and without duplicates. An ID takes precedence. */
export async function listCachedOrganizations(
  { db, cache, config }: OrganizationReader,
  names: readonly string[],
): Promise<CachedOrganization[]> {
  const byName = await cache
    .kind(ORGANIZATION)
    .getManyNamed(names, async (missing) =>
      (await listOrganizationsByNames(db, missing)).map((row) => toCachedOrganization(row, config)),
    )
  const found = names.flatMap((name) => byName.get(name) ?? [])
  return [...new Map(found.map((organization) => [organization.id, organization])).values()]
}

/** @throws ApiError 404. */
export async function getOrganization(reader: OrganizationReader, name: string): Promise<CachedOrganization> {
  const [organization] = await listCachedOrganizations(reader, [name])
  if (organization === undefined) throw notFound('organization')
  return organization
}

/** Returns the teams of the organizations that own these projects, by organization ID. */
export async function listOwningTeams(
  reader: OrganizationReader,
  projects: readonly { organization_id: string | null }[],
): Promise<Map<string, TeamRead>> {
  const ids = new Set(projects.flatMap(({ organization_id }) => organization_id ?? []))
  if (ids.size === 0) return new Map()
  const organizations = await listCachedOrganizations(reader, [...ids])
  const teamIds = organizations.map(({ team_id }) => team_id)
  const teams = await listCachedTeams(reader, teamIds)
  return new Map(
    organizations.flatMap(({ id, team_id }) => {
      const team = teams.get(team_id)
      return team === undefined ? [] : [[id, team] as const]
    }),
  )
}

/**
 * Returns the members of each organization that the viewer can see, as a JSON array. Runs at most two statements.
 * @param isLimited whether to limit the number of members, because the client chose the organizations.
 * @throws ApiError `invalid_input` if the limit is exceeded.
 */
export async function listOrganizationMembers(
  reader: OrganizationReader,
  viewer: Viewer | null,
  organizations: readonly CachedOrganization[],
  { isLimited }: { isLimited: boolean } = { isLimited: false },
): Promise<string[]> {
  const teams = await listTeamsOf(reader, organizations)
  return toMembers(reader, viewer, { organizations, teams, isLimited })
}

type Teams = ReadonlyMap<string, TeamRead>

function listTeamsOf(reader: OrganizationReader, organizations: readonly CachedOrganization[]): Promise<Teams> {
  return listCachedTeams(
    reader,
    organizations.map(({ team_id }) => team_id),
  )
}

function toMembers(
  reader: OrganizationReader,
  viewer: Viewer | null,
  {
    organizations,
    teams,
    isLimited,
  }: { organizations: readonly CachedOrganization[]; teams: Teams; isLimited: boolean },
): Promise<string[]> {
  const shown = organizations.map(({ team_id }) => {
    const team = teams.get(team_id)
    return team === undefined ? [] : shownMembers(team, viewer)
  })
  if (isLimited) requireSizeLimit(shown)
  return toMemberLists(reader, shown)
}

/** Returns the views of these organizations for one viewer, as JSON. Runs at most two statements. */
export async function toOrganizationViews(
  reader: OrganizationReader,
  viewer: Viewer | null,
  organizations: readonly CachedOrganization[],
  { isLimited }: { isLimited: boolean } = { isLimited: false },
): Promise<JsonOf<OrganizationView>[]> {
  const teams = await listTeamsOf(reader, organizations)
  const members = await toMembers(reader, viewer, { organizations, teams, isLimited })
  return organizations.map((organization, index) => {
    // A change of a member is announced as a change of the team only, and raises the revision of the organization.
    const latest = Math.max(organization.revision, teams.get(organization.team_id)?.organization_revision ?? 0)
    return { bytes: extendJson(organization, `{"members":${members[index] ?? '[]'},"revision":${latest}}`) }
  })
}

/** Returns the view that the viewer's token can read. @throws ApiError 404. */
export async function getOrganizationView(
  reader: OrganizationReader,
  viewer: Viewer,
  name: string,
): Promise<JsonOf<OrganizationView>> {
  const organization = await getOrganization(reader, name)
  const shown = hasScope(viewer.scopes, 'ORGANIZATION_READ') ? viewer : null
  return { bytes: await toOrganizationView(reader, shown, organization) }
}

/** Returns the view of one organization for one viewer, as JSON. */
export async function toOrganizationView(
  reader: OrganizationReader,
  viewer: Viewer | null,
  organization: CachedOrganization,
): Promise<Buffer> {
  const [view] = await toOrganizationViews(reader, viewer, [organization])
  if (view === undefined) throw new Error('unreachable: one organization has one view')
  return view.bytes
}
