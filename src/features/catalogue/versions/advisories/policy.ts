// Permissions to see, create and decide advisories.
import { isMember, type Membership, requirePermission } from '#features/basics/access/project-policy.ts'
import { isModerator, type Viewer } from '#features/basics/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'

type AdvisoryFacts = { status: string; author_id: string | null }

/** Everyone sees public advisories; their authors, members of the project and moderators see all of it. */
export function canSeeAdvisory(
  viewer: Viewer | null,
  { status, author_id }: AdvisoryFacts,
  membership: Membership,
): boolean {
  if (status === 'published' || status === 'withdrawn' || isModerator(viewer)) return true
  return viewer !== null && (isMember(membership) || (author_id === viewer.id && viewer.limits === undefined))
}

/** @throws ApiError 403 without UPLOAD_VERSION, and for anyone but moderators without a project. */
export function requireAdvisoryAuthor(viewer: Viewer, membership: Membership | undefined): void {
  if (membership !== undefined) requirePermission(viewer, membership, 'UPLOAD_VERSION')
  else if (!isModerator(viewer)) throw forbidden('Only moderators can create an advisory without a project')
}

/** @throws ApiError 403 unless the viewer is a moderator. */
export function requireAdvisoryReviewer(viewer: Viewer | null): void {
  if (!isModerator(viewer)) throw forbidden('Only moderators can see the advisories in review')
}

/** Returns the status of a new advisory. */
export const firstStatus = (viewer: Viewer): 'published' | 'review' => (isModerator(viewer) ? 'published' : 'review')
