// Who may change what of a project: pure rules.
import {
  isMember,
  type Membership,
  projectPermissions,
  requireProjectPermission,
} from '#features/basics/access/project-policy.ts'
import { isModerator, type Viewer } from '#lib/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'
import { isApprovedClass, mayOwnerMove, type ProjectStatus } from '#lib/project-status.ts'
import type { ProjectRow } from '../queries.ts'
import type { ProjectPatch } from './requests.ts'

/** The description wants EDIT_BODY, every other field EDIT_DETAILS; so does a body without fields. */
export function requireFieldPermissions(viewer: Viewer, membership: Membership, patch: ProjectPatch): void {
  const bits = projectPermissions(viewer, membership)
  const { description, ...details } = patch
  if (description !== undefined) requireProjectPermission(bits, 'EDIT_BODY')
  if (description === undefined || Object.keys(details).length > 0) requireProjectPermission(bits, 'EDIT_DETAILS')
}

/**
 * Fields of moderation: only moderators write the messages, members may clear them once a review has passed; only
 * moderators force a project to earn nothing, or end that.
 */
export function requireModerationRights(
  viewer: Viewer,
  project: Pick<ProjectRow, 'status' | 'monetization_status'>,
  patch: ProjectPatch,
): void {
  if (isModerator(viewer)) return
  for (const field of ['moderation_message', 'moderation_message_body'] as const) {
    const value = patch[field]
    if (value === undefined || (value === null && isApprovedClass(project.status))) continue
    throw forbidden(`Only moderators may change ${field}`)
  }
  const forced = 'force-demonetized'
  if (
    patch.monetization_status !== undefined &&
    (patch.monetization_status === forced || project.monetization_status === forced)
  ) {
    throw forbidden(`Only moderators may change monetization_status to or from ${forced}`)
  }
}

/** Moderators may make every transition; an owner those of the table, and may move the date of a schedule. */
export function requireTransition(
  viewer: Viewer,
  project: Pick<ProjectRow, 'status' | 'approved'>,
  to: ProjectStatus,
): void {
  if (isModerator(viewer)) return
  const from = project.status as ProjectStatus
  const reschedules = from === 'scheduled' && to === 'scheduled' && project.approved !== null
  if (!mayOwnerMove(from, to) && !reschedules) {
    throw forbidden(`Only moderators may take a project from ${from} to ${to}`)
  }
  if (to === 'scheduled' && project.approved === null) {
    throw forbidden('Only a project that was approved before may be scheduled by its owner')
  }
}

/** The team does not see which moderator changed a status. */
export function hidesIdentity(viewer: Viewer): boolean {
  return isModerator(viewer)
}

/** Whether the viewer acts on the project as a moderator, and not as one of its members. */
export function actsAsModerator(viewer: Viewer, membership: Membership): boolean {
  return isModerator(viewer) && !isMember(membership)
}
