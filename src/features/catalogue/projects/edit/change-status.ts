// Changes the status of a project: checks the requirements, and writes the message and notifications.

import { sql, type Updateable } from 'kysely'
import { listMemberIds } from '#features/basics/access/memberships.ts'
import type { Membership } from '#features/basics/access/project-policy.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { insertMessage } from '#features/catalogue/threads/queries.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput } from '#lib/errors.ts'
import { isApprovedClass, type ProjectStatus } from '#lib/project-status.ts'
import { isBlank } from '#lib/text/text-rules.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Project } from '#platform/db/schema.ts'
import type { ProjectRow } from '../queries.ts'
import { checkKeptSchedule, scheduleRelease } from '../schedule-release.ts'
import { actsAsModerator, hidesIdentity, requireTransition } from './policy.ts'
import type { ProjectPatch } from './requests.ts'

/** Fields of a patch that depend on each other and are written together. */
export type StatusField = 'status' | 'requested_status' | 'scheduled_at'

export type StatusChange = {
  viewer: Viewer
  membership: Membership
  /** The current row, locked. */
  project: ProjectRow
  /** Values after the other fields of the patch are applied. */
  next: Pick<ProjectRow, 'license' | 'summary'>
  patch: Pick<ProjectPatch, StatusField | 'moderation_message'>
  now: number
}

/**
 * Returns the columns that the requested status change sets, and writes its thread message and notifications.
 * @throws ApiError 403, `invalid_input` if the project does not meet the requirements of the status.
 */
export async function changeStatus(tx: Tx, change: StatusChange): Promise<Updateable<Project>> {
  const { viewer, project, next, patch, now } = change
  const requested = patch.requested_status === undefined ? {} : { requested_status: patch.requested_status }
  const to = patch.status
  if (to !== 'scheduled') checkKeptSchedule(patch, to === undefined ? project : { status: to })
  if (to === undefined) return requested
  if (to === project.status && to !== 'scheduled') return requested
  requireTransition(viewer, project, to)
  if (to === 'processing') await requireReviewable(tx, project.id, next)
  const schedule =
    to === 'scheduled'
      ? await scheduleRelease(tx, { project_id: project.id }, { patch, row: project, now })
      : { scheduled_at: null }
  if (to !== project.status) {
    await announceChange(tx, change, to)
    await tx.deleteFrom('moderation_claim').where('project_id', '=', project.id).execute()
    await recordAudit(tx, {
      action: 'project.status_changed',
      actor: actorOf(viewer),
      subject: { kind: 'project', id: project.id },
      details: { from: project.status, to },
    })
  }
  return {
    ...requested,
    ...schedule,
    status: to,
    ...(to === 'processing' ? { queued: new Date(now), moderation_message: null, moderation_message_body: null } : {}),
    ...(isApprovedClass(to) && project.approved === null ? { approved: new Date(now) } : {}),
  }
}

/** @throws ApiError `invalid_input` if a version, license or summary that the review needs is missing. */
async function requireReviewable(
  tx: Tx,
  projectId: string,
  { license, summary }: Pick<ProjectRow, 'license' | 'summary'>,
): Promise<void> {
  const version = await tx
    .selectFrom('version')
    .select('id')
    .where('project_id', '=', projectId)
    // Includes versions that will be listed after the scan of their files.
    .where(sql<boolean>`is_listed(case status when 'unknown' then requested_status else status end)`)
    .limit(1)
    .executeTakeFirst()
  if (version === undefined) throw invalidInput('A project needs a listed version before it can be reviewed', 'status')
  if (license === '') throw invalidInput('A project needs a license before it can be reviewed', 'license_id')
  if (summary.trim() === '') throw invalidInput('A project needs a summary before it can be reviewed', 'summary')
}

/** Writes a message to the project's thread. If a moderator made the change, also notifies the members. */
async function announceChange(
  tx: Tx,
  { viewer, membership, project, patch }: StatusChange,
  to: ProjectStatus,
): Promise<void> {
  await insertStatusMessage(tx, { project, to, authorId: viewer.id, hideIdentity: hidesIdentity(viewer) })
  if (!actsAsModerator(viewer, membership)) return
  const accounts = await listMemberIds(tx, project)
  const { moderation_message: message } = patch
  const written = message === undefined || message === null || isBlank(message) ? {} : { message }
  const statuses = { project_id: project.id, old_status: project.status, new_status: to, ...written }
  await insertNotifications(tx, accounts, { type: 'status_change', ...statuses })
  await insertNotifications(
    tx,
    accounts,
    to === 'approved'
      ? { type: 'project_status_approved', project_id: project.id }
      : { type: 'project_status_neutral', ...statuses },
  )
}

/** Records a status change in the project's thread. */
export async function insertStatusMessage(
  tx: Tx,
  {
    project,
    to,
    authorId,
    hideIdentity,
  }: { project: Pick<ProjectRow, 'id' | 'status'>; to: string; authorId: string | null; hideIdentity: boolean },
): Promise<void> {
  const thread = await tx.selectFrom('thread').select('id').where('project_id', '=', project.id).executeTakeFirst()
  if (thread === undefined) return
  const body = { type: 'status_change', old_status: project.status, new_status: to } as const
  await insertMessage(tx, { threadId: thread.id, authorId, body, hideIdentity })
}
