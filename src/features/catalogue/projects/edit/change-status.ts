// Changes the status of a project: checks the requirements, and writes the message, the snapshot and the decision.

import type { Updateable } from 'kysely'
import type { Membership } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { recordStatusEvents } from '#features/basics/events/record-event.ts'
import { announceHiddenProject } from '#features/catalogue/breakage/announce-loss.ts'
import { claimContentsOf } from '#features/catalogue/contents/content-owners.ts'
import {
  closeAppeal,
  findOpenAppeal,
  isAppealed,
  type OpenAppeal,
  reopenAppeal,
} from '#features/catalogue/reviews/appeals.ts'
import {
  announceDecision,
  type Decision,
  decisionText,
  dropDecision,
  findDecision,
  insertDecision,
} from '#features/catalogue/reviews/decisions.ts'
import { requireJudge } from '#features/catalogue/reviews/policy.ts'
import { requireSeen } from '#features/catalogue/reviews/seen.ts'
import { takeSnapshot } from '#features/catalogue/reviews/snapshots.ts'
import { deleteStatusMessage, insertMessage } from '#features/catalogue/threads/queries.ts'
import { ApiError } from '#lib/errors.ts'
import { isBlank } from '#lib/text/text-rules.ts'
import { MINUTE_MS } from '#lib/time.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Project } from '#platform/db/schema.ts'
import { isApprovedClass, type ProjectStatus } from '#taxonomy/project-status.ts'
import { listChecklistFacts, requireComplete } from '../checklist/checklist.ts'
import type { ProjectRow } from '../queries.ts'
import { checkKeptSchedule, scheduleRelease } from '../schedule-release.ts'
import { actsAsModerator, hidesIdentity, requireTransition, snapshotReason } from './policy.ts'
import type { ProjectPatch } from './requests.ts'

/** Fields of a patch that depend on each other and are written together. */
export type StatusField = 'status' | 'requested_status' | 'scheduled_at' | 'seen'

export type StatusChange = {
  viewer: Viewer
  membership: Membership
  /** The current row, locked. */
  project: ProjectRow
  /** Values after the other fields of the patch are applied. */
  next: Pick<ProjectRow, 'license' | 'license_decided' | 'summary' | 'description'>
  patch: Pick<ProjectPatch, StatusField | 'moderation_message' | 'moderation_message_body'>
  now: number
}

export type PreparedStatus = {
  columns: Updateable<Project>
  /** Claims the files, and writes the message, the snapshot and the notifications. Called after the columns are written. */
  announce: () => Promise<void>
}

const nothing = async (): Promise<void> => {}

/**
 * Checks the requested status change. A moderator who reverses a decision within its time undoes it: the project is as
 * before, and nobody is notified of either. Another decision closes an open appeal.
 * @throws ApiError 403, `conflict` if `seen` is out of date, `invalid_input` if the project does not meet the requirements
 * of the status.
 */
export async function changeStatus(tx: Tx, changed: ChangeSet, change: StatusChange): Promise<PreparedStatus> {
  const { viewer, project, next, patch, now } = change
  if (patch.seen !== undefined) await requireSeen(tx, project, patch.seen)
  const requested = patch.requested_status === undefined ? {} : { requested_status: patch.requested_status }
  const to = patch.status
  if (to !== 'scheduled') checkKeptSchedule(patch, to === undefined ? project : { status: to })
  if (to === undefined) return { columns: requested, announce: nothing }
  if (to === project.status && to !== 'scheduled') return { columns: requested, announce: nothing }
  requireTransition(viewer, project, to)
  const last = to === project.status ? undefined : await findDecision(tx, project.id)
  if (last !== undefined && undoes(change, last)) return undoDecision(tx, change, last)
  const appeal = to === project.status ? undefined : await findOpenAppeal(tx, project.id)
  // A moderator can give in to an appeal against their own decision, but not confirm the decision in another form.
  if (appeal !== undefined && (to === 'rejected' || to === 'withheld'))
    await requireJudge(tx, viewer, appeal.moderator_id)
  if (to === 'processing') await requireReviewable(tx, project.id, next)
  const schedule =
    to === 'scheduled'
      ? await scheduleRelease(tx, { project_id: project.id }, { patch, row: project, now })
      : { scheduled_at: null }
  const columns = {
    ...requested,
    ...schedule,
    status: to,
    ...(to === 'processing' ? { queued: new Date(now), moderation_message: null, moderation_message_body: null } : {}),
    ...(isApprovedClass(to) && project.approved === null ? { approved: new Date(now) } : {}),
  }
  if (to === project.status) return { columns, announce: nothing }
  return {
    columns,
    announce: async () => {
      await claimContentsOf(tx, project.id, to)
      // A later change makes the last decision final, so its members are not left without the reason.
      if (last !== undefined) await announceDecision(tx, changed, last)
      await announceChange(tx, change, { to, appeal })
      await endReview(tx, change, { to })
    },
  }
}

/** Returns whether a change is the reverse of a decision, and has no message. */
function undoes({ viewer, membership, project, patch, now }: StatusChange, last: Decision): boolean {
  const isReverse = last.from_status === patch.status && last.to_status === project.status
  const hasMessage = patch.moderation_message !== undefined || patch.moderation_message_body !== undefined
  return isReverse && !hasMessage && actsAsModerator(viewer, membership) && last.final_at.getTime() > now
}

/** @throws ApiError `conflict` if the author has appealed: the members know the decision, and an appeal needs an answer. */
async function undoDecision(tx: Tx, change: StatusChange, last: Decision): Promise<PreparedStatus> {
  if (last.thread_message_id !== null && (await isAppealed(tx, last.thread_message_id)))
    throw new ApiError(
      'conflict',
      'The author has appealed this decision, so that it cannot be undone; decide the appeal',
    )
  const previous = await dropDecision(tx, last)
  return {
    columns: { ...previous, status: last.from_status as ProjectStatus },
    announce: async () => {
      await claimContentsOf(tx, change.project.id, last.from_status)
      if (last.thread_message_id !== null) {
        await reopenAppeal(tx, last.thread_message_id)
        await deleteStatusMessage(tx, last.thread_message_id)
      }
      await endReview(tx, change, { to: last.from_status, isUndo: true })
    },
  }
}

/** Ends the claim and records the change, for a decision with the time that the project waited. */
async function endReview(
  tx: Tx,
  { viewer, project, now }: StatusChange,
  { to, isUndo = false }: { to: string; isUndo?: boolean },
): Promise<void> {
  await tx.deleteFrom('moderation_claim').where('project_id', '=', project.id).execute()
  const isDecision = project.status === 'processing' && hidesIdentity(viewer)
  const waitedMs = now - (project.queued ?? project.published).getTime()
  const waited = isDecision ? { waited_minutes: Math.round(waitedMs / MINUTE_MS) } : {}
  await recordAudit(tx, {
    action: 'project.status_changed',
    actor: actorOf(viewer),
    subject: { kind: 'project', id: project.id },
    details: { from: project.status, to, ...(isUndo ? { undo: true } : {}), ...waited },
  })
  await recordStatusEvents(tx, { id: project.id, from: project.status, to })
  await announceHiddenProject(tx, project.id, { from: project.status, to, at: new Date(now) })
}

/** @throws ApiError `invalid_input` naming the field if the project, with the values after the patch, is not complete. */
async function requireReviewable(tx: Tx, projectId: string, next: StatusChange['next']): Promise<void> {
  const facts = (await listChecklistFacts(tx, [projectId])).get(projectId)
  if (facts !== undefined) requireComplete({ ...facts, ...next })
}

/** Writes a message to the project's thread and the snapshot, and closes an appeal. Records the decision of a moderator. */
async function announceChange(
  tx: Tx,
  { viewer, membership, project, patch, now }: StatusChange,
  { to, appeal }: { to: ProjectStatus; appeal: OpenAppeal | undefined },
): Promise<void> {
  const reason = snapshotReason(viewer, to)
  const snapshotId = reason === undefined ? null : await takeSnapshot(tx, project.id, { reason, at: new Date(now) })
  const author = { authorId: viewer.id, hideIdentity: hidesIdentity(viewer) }
  const outcome = hidesIdentity(viewer) ? 'accepted' : 'withdrawn'
  const isAccepted = appeal !== undefined && outcome === 'accepted'
  const text = decisionText(patch.moderation_message, patch.moderation_message_body)
  const threadMessageId = await insertStatusMessage(tx, { project, to, isAccepted, text, ...author })
  if (appeal !== undefined) await closeAppeal(tx, appeal, { outcome, resultId: threadMessageId, at: new Date(now) })
  if (!actsAsModerator(viewer, membership)) return
  const written = patch.moderation_message ?? null
  const message = written === null || isBlank(written) ? null : written
  await insertDecision(tx, { project, to, accountId: viewer.id, message, threadMessageId, snapshotId, now })
}

/**
 * Records a status change in the project's thread, after the message of the decision. Returns the ID of the record, or null
 * if there is no thread.
 */
export async function insertStatusMessage(
  tx: Tx,
  {
    project,
    to,
    authorId,
    hideIdentity,
    isAccepted = false,
    text,
  }: {
    project: Pick<ProjectRow, 'id' | 'status'>
    to: string
    authorId: string | null
    hideIdentity: boolean
    /** Whether the change accepts an appeal. */
    isAccepted?: boolean
    /** Message of the moderator to the members, in Markdown. */
    text?: string | undefined
  },
): Promise<string | null> {
  const thread = await tx.selectFrom('thread').select('id').where('project_id', '=', project.id).executeTakeFirst()
  if (thread === undefined) return null
  const written = { type: 'text', body: text ?? '', private: false, replying_to: null } as const
  const said =
    text === undefined
      ? undefined
      : await insertMessage(tx, { threadId: thread.id, authorId, body: written, hideIdentity })
  const body = {
    type: 'status_change' as const,
    ...{ old_status: project.status, new_status: to },
    ...(said === undefined ? {} : { message_id: said.id }),
    ...(isAccepted ? { appeal: 'accepted' as const } : {}),
  }
  return (await insertMessage(tx, { threadId: thread.id, authorId, body, hideIdentity })).id
}
