// Who sees a project, and what a viewer may do to it: pure rules, with their SQL twin `visibleTo`; a test compares the
// two.
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import {
  ALL_PROJECT_PERMISSIONS,
  hasProjectPermission,
  MODERATOR_PROJECT_PERMISSIONS,
  type ProjectPermission,
} from '#lib/access/permissions.ts'
import { isAdmin, isModerator, type Viewer } from '#lib/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'
import { isPublicStatus, isSearchableStatus, PUBLIC_STATUSES } from '#lib/project-status.ts'

/** What of a project decides who sees it. */
export type ProjectFacts = { id: string; status: string; team_id: string; organization_id: string | null }

/** The viewer's rows in the project's team and in its organization's team; undefined where there is none. */
export type Membership = {
  project?: { accepted: boolean; is_owner: boolean; permissions: number }
  organization?: { accepted: boolean; is_owner: boolean; permissions: number }
}

/** Whether the viewer belongs to the project's team or its organization, by an accepted row. */
export function isMember(membership: Membership): boolean {
  return membership.project?.accepted === true || membership.organization?.accepted === true
}

/**
 * Whether the viewer may know that the project exists. Members and moderators see every status; an invitee sees the
 * project of the invitation, to decide on it. An invitation to an organization shows the organization, and not yet its
 * projects.
 */
export function canSeeProject(
  viewer: Viewer | null,
  project: Pick<ProjectFacts, 'status'>,
  membership: Membership,
): boolean {
  if (isPublicStatus(project.status) || isModerator(viewer)) return true
  return viewer !== null && (membership.project !== undefined || membership.organization?.accepted === true)
}

/** Whether the project stands in lists that are not the viewer's own (profiles, organizations). */
export function isListedFor(
  viewer: Viewer | null,
  project: Pick<ProjectFacts, 'status'>,
  membership: Membership,
): boolean {
  return isSearchableStatus(project.status) || isModerator(viewer) || isMember(membership)
}

/**
 * The permission bits, first match wins: admin all; accepted project member the bits of that row; accepted member of
 * the owning organization the project bits of that row; moderator a few; else none.
 */
export function projectPermissions(viewer: Viewer | null, membership: Membership): number {
  if (isAdmin(viewer)) return ALL_PROJECT_PERMISSIONS
  if (membership.project?.accepted === true) return membership.project.permissions
  if (membership.organization?.accepted === true) return membership.organization.permissions
  return isModerator(viewer) ? MODERATOR_PROJECT_PERMISSIONS : 0
}

/** @throws ApiError 403 naming the permission that the viewer lacks on a project. */
export function requirePermission(viewer: Viewer, membership: Membership, permission: ProjectPermission): void {
  requireProjectPermission(projectPermissions(viewer, membership), permission)
}

/** @throws ApiError 403 naming the permission when `bits` lack it. */
export function requireProjectPermission(bits: number, permission: ProjectPermission): void {
  if (!hasProjectPermission(bits, permission)) throw forbidden(`You lack the permission ${permission} on this project`)
}

/** @throws ApiError 403 unless the viewer is an accepted member or a moderator. */
export function requireMember(viewer: Viewer, membership: Membership): void {
  if (!isMember(membership) && !isModerator(viewer)) throw forbidden('You are no member of this project')
}

/** SQL twin of `canSeeProject`, over rows of `project`. */
export function visibleTo(viewer: Viewer | null): RawBuilder<SqlBool> {
  if (isModerator(viewer)) return sql<SqlBool>`true`
  const isPublic = sql<SqlBool>`project.status in (${sql.join(PUBLIC_STATUSES)})`
  return viewer === null ? isPublic : sql<SqlBool>`(${isPublic} or ${hasTeamRow(viewer.id, { acceptedOnly: false })})`
}

/** SQL twin of `isListedFor`, over rows of `project`. */
export function listedFor(viewer: Viewer | null): RawBuilder<SqlBool> {
  if (isModerator(viewer)) return sql<SqlBool>`true`
  const isSearchable = sql<SqlBool>`is_searchable(project.status)`
  return viewer === null ? isSearchable : sql<SqlBool>`(${isSearchable} or ${memberOf(viewer)})`
}

/** SQL twin of `isMember`, over rows of `project`. */
export function memberOf(viewer: Viewer): RawBuilder<SqlBool> {
  return hasTeamRow(viewer.id, { acceptedOnly: true })
}

function hasTeamRow(accountId: string, { acceptedOnly }: { acceptedOnly: boolean }): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (select 1 from team_member where team_member.account_id = ${accountId}
    and (team_member.team_id = project.team_id or team_member.accepted and team_member.team_id =
      (select organization.team_id from organization where organization.id = project.organization_id))
    and ${acceptedOnly ? sql`team_member.accepted` : sql`true`})`
}
