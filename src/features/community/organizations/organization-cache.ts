// Organizations kept as ready JSON up to their members, who are put in for each viewer. A change of an organization's
// row names its ID under `organization`; its members belong to the kind `team`.

import { requireSizeLimit, shownMembers, toMemberLists } from '#features/community/teams/member-lists.ts'
import type { TeamRead } from '#features/community/teams/queries.ts'
import { listCachedTeams } from '#features/community/teams/team-cache.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { notFound } from '#lib/errors.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { Db } from '#platform/db/db.ts'
import { listOrganizationsByNames, type OrganizationRow } from './queries.ts'
import { toOpenView } from './views.ts'

export type CachedOrganization = {
  id: string
  slug: string
  team_id: string
  revision: number
  openView: string
}

export type OrganizationReader = { db: Db; cache: EntityCache }

const ORGANIZATION = {
  name: 'organization' as const,
  idOf: (organization: CachedOrganization) => organization.id,
  sizeOf: (organization: CachedOrganization) => 2 * organization.openView.length + 200,
  aliasesOf: (organization: CachedOrganization) => [organization.slug],
  foldAlias: (name: string) => name.toLowerCase(),
  revisionOf: (organization: CachedOrganization) => organization.revision,
}

function toCachedOrganization(row: OrganizationRow): CachedOrganization {
  const { id, slug, team_id, revision } = row
  return { id, slug, team_id, revision, openView: toOpenView(row) }
}

/** Organizations by ID or slug (the ID wins), in the order asked for, each once. One statement at most. */
export async function listCachedOrganizations(
  { db, cache }: OrganizationReader,
  names: readonly string[],
): Promise<CachedOrganization[]> {
  const found = await cache
    .kind(ORGANIZATION)
    .getManyNamed(names, async (missing) => (await listOrganizationsByNames(db, missing)).map(toCachedOrganization))
  const byId = new Map<string, CachedOrganization>()
  for (const name of names) {
    const organization = found.get(name)
    if (organization !== undefined) byId.set(organization.id, organization)
  }
  return [...byId.values()]
}

/** @throws ApiError 404. */
export async function getOrganization(reader: OrganizationReader, name: string): Promise<CachedOrganization> {
  const [organization] = await listCachedOrganizations(reader, [name])
  if (organization === undefined) throw notFound('organization')
  return organization
}

/** The teams of the organizations that own these projects, by organization ID. Two statements at most. */
export async function listOwningTeams(
  reader: OrganizationReader,
  projects: readonly { organization_id: string | null }[],
): Promise<Map<string, TeamRead>> {
  const ids = new Set(projects.flatMap(({ organization_id }) => organization_id ?? []))
  if (ids.size === 0) return new Map()
  const organizations = await listCachedOrganizations(reader, [...ids])
  const teams = await listCachedTeams(
    reader,
    organizations.map(({ team_id }) => team_id),
  )
  return new Map(
    organizations.flatMap(({ id, team_id }) => {
      const team = teams.get(team_id)
      return team === undefined ? [] : [[id, team] as const]
    }),
  )
}

/**
 * The members of each of these organizations that the viewer sees, as a JSON array. Two statements at most.
 * @throws ApiError `invalid_input` when they are too many for one answer and the request has `named` them.
 */
export async function listOrganizationMembers(
  reader: OrganizationReader,
  viewer: Viewer | null,
  organizations: readonly CachedOrganization[],
  { named }: { named: boolean } = { named: false },
): Promise<string[]> {
  const teams = await listCachedTeams(
    reader,
    organizations.map(({ team_id }) => team_id),
  )
  const shown = organizations.map(({ team_id }) => {
    const team = teams.get(team_id)
    return team === undefined ? [] : shownMembers(team, viewer)
  })
  if (named) requireSizeLimit(shown)
  return toMemberLists(reader, shown)
}

/** The whole views of these organizations for one viewer, as ready JSON. Two statements at most. */
export async function toOrganizationViews(
  reader: OrganizationReader,
  viewer: Viewer | null,
  organizations: readonly CachedOrganization[],
  choice?: { named: boolean },
): Promise<{ bytes: Buffer }[]> {
  const members = await listOrganizationMembers(reader, viewer, organizations, choice)
  return organizations.map(({ openView }, index) => ({
    bytes: Buffer.from(`${openView}${members[index] ?? '[]'}}`),
  }))
}

/** One organization's whole view. */
export async function toOrganizationView(
  reader: OrganizationReader,
  viewer: Viewer | null,
  organization: CachedOrganization,
): Promise<Buffer> {
  const views = await toOrganizationViews(reader, viewer, [organization])
  return Buffer.concat(views.map(({ bytes }) => bytes))
}
