// Visibility and permissions of projects, as pure rules and as SQL conditions. A test compares the two forms.
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import {
  ALL_PROJECT_PERMISSIONS,
  hasProjectPermission,
  MODERATOR_PROJECT_PERMISSIONS,
  type ProjectPermission,
} from '#features/basics/access/permissions.ts'
import { isAdmin, isModerator, type MembershipViewer, type Viewer } from '#features/basics/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'
import { isPublicStatus, isSearchableStatus, PUBLIC_STATUSES } from '#taxonomy/project-status.ts'
import { mustAwaitApproval, requireApproved } from './email-policy.ts'

/** The columns of a project that determine its visibility. */
export type ProjectFacts = { id: string; status: string; team_id: string; organization_id: string | null }

/** The viewer's rows in the project's team and in its organization's team, if any. */
export type Membership = {
  project?: { accepted: boolean; is_owner: boolean; permissions: number }
  organization?: { accepted: boolean; is_owner: boolean; permissions: number }
}

/** Returns whether the viewer is an accepted member of the project's team or of its organization. */
export function isMember(membership: Membership): boolean {
  return membership.project?.accepted === true || membership.organization?.accepted === true
}

/**
 * Returns whether the viewer can see the project. Members and moderators see every status. A pending invitation to the
 * project's team is sufficient; a pending invitation to its organization is not.
 */
export function canSeeProject(
  viewer: Viewer | null,
  project: Pick<ProjectFacts, 'status'>,
  membership: Membership,
): boolean {
  if (isPublicStatus(project.status) || isModerator(viewer)) return true
  return viewer !== null && (membership.project !== undefined || membership.organization?.accepted === true)
}

/** Returns whether the project is listed in profiles and organizations that the viewer looks at. */
export function isListedFor(
  viewer: Viewer | null,
  project: Pick<ProjectFacts, 'status'>,
  membership: Membership,
): boolean {
  return isSearchableStatus(project.status) || isModerator(viewer) || isMember(membership)
}

/**
 * Returns the viewer's permission bits from the first rule that applies: admins have all; accounts that wait for approval
 * have none; accepted members of the project have those of their row; accepted members of its organization have those of
 * their row; moderators have a few.
 */
export function projectPermissions(viewer: Viewer | null, membership: Membership): number {
  if (isAdmin(viewer)) return ALL_PROJECT_PERMISSIONS
  if (mustAwaitApproval(viewer)) return 0
  if (membership.project?.accepted === true) return membership.project.permissions
  if (membership.organization?.accepted === true) return membership.organization.permissions
  return isModerator(viewer) ? MODERATOR_PROJECT_PERMISSIONS : 0
}

/** Returns the membership of a service account, reduced to the permissions of the member who created its token. */
export function capMembership({ project, organization }: Membership, maker: Membership): Membership {
  if (!isMember(maker)) return {}
  const bits = projectPermissions(null, maker)
  const cap = <Row extends { permissions: number }>(row: Row): Row => ({ ...row, permissions: row.permissions & bits })
  return {
    ...(project === undefined ? {} : { project: cap(project) }),
    ...(organization === undefined ? {} : { organization: cap(organization) }),
  }
}

/** Requires a permission on a project. @throws ApiError 403 naming the permission, or for an account that waits for approval. */
export function requirePermission(viewer: Viewer, membership: Membership, permission: ProjectPermission): void {
  requireApproved(viewer)
  requireProjectPermission(projectPermissions(viewer, membership), permission)
}

/** Requires that `bits` contain a permission. @throws ApiError 403 naming the permission. */
export function requireProjectPermission(bits: number, permission: ProjectPermission): void {
  if (!hasProjectPermission(bits, permission)) throw forbidden(`You lack the permission ${permission} on this project`)
}

/** Requires an accepted member or a moderator. @throws ApiError 403. */
export function requireMember(viewer: Viewer, membership: Membership): void {
  if (!isMember(membership) && !isModerator(viewer)) throw forbidden('You are not a member of this project')
}

/** SQL form of `canSeeProject`, over rows of `project`. */
export function visibleTo(viewer: Viewer | null): RawBuilder<SqlBool> {
  if (isModerator(viewer)) return sql<SqlBool>`true`
  const isPublic = sql<SqlBool>`project.status in (${sql.join(PUBLIC_STATUSES)})`
  return viewer === null ? isPublic : sql<SqlBool>`(${isPublic} or ${hasTeamRow(viewer, { acceptedOnly: false })})`
}

/** SQL form of `isListedFor`, over rows of `project`. */
export function listedFor(viewer: Viewer | null): RawBuilder<SqlBool> {
  if (isModerator(viewer)) return sql<SqlBool>`true`
  const isSearchable = sql<SqlBool>`is_searchable(project.status)`
  return viewer === null ? isSearchable : sql<SqlBool>`(${isSearchable} or ${memberOf(viewer)})`
}

/** SQL form of `isMember`, over rows of `project`. */
export function memberOf(viewer: Viewer): RawBuilder<SqlBool> {
  return hasTeamRow(viewer, { acceptedOnly: true })
}

/** SQL form of `coversProject`, over rows of `project`. */
export function isCovered({ limits }: Pick<Viewer, 'limits'>): RawBuilder<SqlBool> {
  if (limits === undefined) return sql<SqlBool>`true`
  return sql<SqlBool>`(project.id = any(${limits.projects}::text[])
    or project.organization_id = any(${limits.organizations}::text[]))`
}

function hasTeamRow(viewer: MembershipViewer, { acceptedOnly }: { acceptedOnly: boolean }): RawBuilder<SqlBool> {
  const { id, maker } = viewer
  const own = sql<SqlBool>`exists (select 1 from team_member where team_member.account_id = ${id}
    and (team_member.team_id = project.team_id or team_member.accepted and team_member.team_id =
      (select organization.team_id from organization where organization.id = project.organization_id))
    and ${acceptedOnly ? sql`team_member.accepted` : sql`true`} and ${isCovered(viewer)})`
  return maker === undefined ? own : sql<SqlBool>`(${own} and ${hasTeamRow({ id: maker }, { acceptedOnly: true })})`
}
