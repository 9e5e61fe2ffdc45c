// Who sees a version: what its project allows, and its own status (decisions.md 4).
import type { Viewer } from '#lib/viewer.ts'
import { isModerator } from '#lib/viewer.ts'
import { canSeeProject, isMember, type Membership, type ProjectFacts } from '../projects/policy.ts'
import { isPublicVersionStatus } from './status.ts'

/** What of a version decides who sees it. */
export type VersionFacts = { id: string; status: string; project: ProjectFacts }

/** Whether nothing about the viewer is needed to know that he may see it. */
export function isPublicVersion(version: VersionFacts): boolean {
  return isPublicVersionStatus(version.status) && canSeeProject(null, version.project, {})
}

/** Listed, archived and unlisted versions follow the project; the rest is for members and moderators. */
export function canSeeVersion(viewer: Viewer | null, version: VersionFacts, membership: Membership): boolean {
  if (!canSeeProject(viewer, version.project, membership)) return false
  return isPublicVersionStatus(version.status) || isModerator(viewer) || isMember(membership)
}
