// The organization of a settings page, its team and the viewer's permissions.

import { hasOrganizationPermission, type OrganizationPermission } from '#features/basics/access/permissions.ts'
import { organizationPermissions } from '#features/basics/access/team-policy.ts'
import { isModerator } from '#features/basics/access/viewer.ts'
import { type CachedOrganization, getOrganization } from '#features/community/organizations/organization-cache.ts'
import type { OpenOrganization } from '#features/community/organizations/views.ts'
import type { MemberRow, TeamRead } from '#features/community/teams/queries.ts'
import { listCachedTeams } from '#features/community/teams/team-cache.ts'
import { notFound } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { organizationPath } from '#web/kit/paths.ts'

export type ManagedOrganization = {
  organization: CachedOrganization
  /** The view without members. */
  view: OpenOrganization
  team: TeamRead
  /** The viewer's row; undefined unless the viewer is a member. */
  member: MemberRow | undefined
  /** Permission bits of the viewer. */
  permissions: number
  /** Path of the organization's public page. */
  path: string
  /** Path of the settings. */
  settings: string
}

/** Returns the organization of the path. @throws ApiError 404 unless the viewer is a member or a moderator */
export async function loadManagedOrganization({ deps, viewer, param }: OwnRequest): Promise<ManagedOrganization> {
  const organization = await getOrganization(deps, param('name'))
  const team = (await listCachedTeams(deps, [organization.team_id])).get(organization.team_id)
  const member = team?.members.find(({ account_id, accepted }) => accepted && account_id === viewer.id)
  if (team === undefined || (member === undefined && !isModerator(viewer))) throw notFound('organization')
  const path = organizationPath(organization.slug)
  return {
    organization,
    view: viewOf(organization),
    team,
    member,
    permissions: organizationPermissions(viewer, member),
    path,
    settings: `${path}/settings`,
  }
}

/** Whether the viewer has a permission in the organization. */
export const may = ({ permissions }: ManagedOrganization, permission: OrganizationPermission): boolean =>
  hasOrganizationPermission(permissions, permission)
