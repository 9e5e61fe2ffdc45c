// Decides who may change which fields of a project.
import {
  isMember,
  type Membership,
  projectPermissions,
  requireProjectPermission,
} from '#features/basics/access/project-policy.ts'
import { isModerator, type Viewer } from '#features/basics/access/viewer.ts'
import type { SnapshotReason } from '#features/catalogue/reviews/snapshots.ts'
import { forbidden } from '#lib/errors.ts'
import { isApprovedClass, mayOwnerMove, type ProjectStatus } from '#taxonomy/project-status.ts'
import type { ProjectRow } from '../queries.ts'
import type { ProjectPatch } from './requests.ts'

/** @throws ApiError 403 without EDIT_BODY for the description, or without EDIT_DETAILS for other fields or an empty body. */
export function requireFieldPermissions(viewer: Viewer, membership: Membership, patch: ProjectPatch): void {
  const bits = projectPermissions(viewer, membership)
  const { description, ...details } = patch
  if (description !== undefined) requireProjectPermission(bits, 'EDIT_BODY')
  if (description === undefined || Object.keys(details).length > 0) requireProjectPermission(bits, 'EDIT_DETAILS')
}

/**
 * Only moderators set the moderation messages; members may clear them after the project was approved. Only moderators
 * change `monetization_status` to or from `force-demonetized`.
 * @throws ApiError 403.
 */
export function requireModerationRights(
  viewer: Viewer,
  project: Pick<ProjectRow, 'status' | 'monetization_status'>,
  patch: ProjectPatch,
): void {
  if (isModerator(viewer)) return
  if (patch.seen !== undefined) throw forbidden('Only moderators can send seen')
  for (const field of ['moderation_message', 'moderation_message_body'] as const) {
    const value = patch[field]
    if (value === undefined || (value === null && isApprovedClass(project.status))) continue
    throw forbidden(`Only moderators can change ${field}`)
  }
  const forced = 'force-demonetized'
  if (
    patch.monetization_status !== undefined &&
    (patch.monetization_status === forced || project.monetization_status === forced)
  )
    throw forbidden(`Only moderators can change monetization_status to or from ${forced}`)
}

/** Members may make the transitions of `mayOwnerMove`, and reschedule an approved project. @throws ApiError 403. */
export function requireTransition(
  viewer: Viewer,
  project: Pick<ProjectRow, 'status' | 'approved'>,
  to: ProjectStatus,
): void {
  if (isModerator(viewer)) return
  const from = project.status as ProjectStatus
  const reschedules = from === 'scheduled' && to === 'scheduled' && project.approved !== null
  if (!mayOwnerMove(from, to) && !reschedules)
    throw forbidden(`Only moderators can change the status of a project from ${from} to ${to}`)
  if (to === 'scheduled' && project.approved === null)
    throw forbidden('The project must be approved before its owner can schedule it')
}

/** Returns whether the viewer's identity is hidden from the team when they change a status. */
export function hidesIdentity(viewer: Viewer): boolean {
  return isModerator(viewer)
}

/** Returns why a change of the status needs a snapshot, or undefined if it needs none. */
export function snapshotReason(viewer: Viewer, to: ProjectStatus): SnapshotReason | undefined {
  if (to === 'processing') return 'submission'
  if (!isModerator(viewer)) return undefined
  return isApprovedClass(to) || to === 'scheduled' ? 'approval' : 'message'
}

/** Returns whether the viewer acts as a moderator and not as a member of the project. */
export function actsAsModerator(viewer: Viewer, membership: Membership): boolean {
  return isModerator(viewer) && !isMember(membership)
}
