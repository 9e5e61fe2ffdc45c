// Decides who can see a version, by its status and the visibility of its project.
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import {
  canSeeProject,
  isMember,
  type Membership,
  memberOf,
  type ProjectFacts,
  visibleTo,
} from '#features/basics/access/project-policy.ts'
import { isPublicVersionStatus, PUBLIC_VERSION_STATUSES } from '#features/basics/access/version-status.ts'
import { isModerator, type Viewer } from '#features/basics/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'

/** The facts that decide who can see a version. */
export type VersionFacts = { id: string; status: string; project: ProjectFacts }

/** Returns whether everyone can see the version. */
export function isPublicVersion(version: VersionFacts): boolean {
  return isPublicVersionStatus(version.status) && canSeeProject(null, version.project, {})
}

/** Everyone who can see the project can see its listed, archived and unlisted versions; members and moderators see all. */
export function canSeeVersion(viewer: Viewer | null, version: VersionFacts, membership: Membership): boolean {
  if (!canSeeProject(viewer, version.project, membership)) return false
  return isPublicVersionStatus(version.status) || seesHiddenVersions(viewer, membership)
}

/** Returns whether the viewer can see versions of every status of a project. */
export function seesHiddenVersions(viewer: Viewer | null, membership: Membership): boolean {
  return isModerator(viewer) || isMember(membership)
}

/** @throws ApiError 403 unless the viewer may set download counts. */
export function requireCounterRights(viewer: Viewer): void {
  if (!isModerator(viewer)) throw forbidden('Only moderators can change downloads')
}

/** @throws ApiError 403 if the project accepts versions of trusted publishers only, and this is not the token of one. */
export function requireTrustedPublisher(viewer: Viewer, project: { publishing: string }): void {
  if (project.publishing !== 'trusted_only' || viewer.token.kind === 'publisher') return
  throw forbidden(
    'This project accepts versions only from trusted publishers (its setting `publishing` is `trusted_only`)',
  )
}

/** SQL twin of `canSeeVersion`, over rows of `version` joined with their `project`. */
export function versionVisibleTo(viewer: Viewer | null): RawBuilder<SqlBool> {
  if (isModerator(viewer)) return visibleTo(viewer)
  const isPublic = sql<SqlBool>`version.status in (${sql.join(PUBLIC_VERSION_STATUSES)})`
  const maySeeStatus = viewer === null ? isPublic : sql<SqlBool>`(${isPublic} or ${memberOf(viewer)})`
  return sql<SqlBool>`(${visibleTo(viewer)} and ${maySeeStatus})`
}
