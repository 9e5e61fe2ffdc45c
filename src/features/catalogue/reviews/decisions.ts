// Decisions of moderators: they take effect immediately, and the members are notified when they are final.
import { type Selectable, sql, type Updateable } from 'kysely'
import { listMemberIds } from '#features/basics/access/memberships.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import { isBlank } from '#lib/text/text-rules.ts'
import { MINUTE_MS } from '#lib/time.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Project, ProjectDecision } from '#platform/db/schema.ts'

/** Time in which a moderator can undo a decision. */
const UNDO_MS = 5 * MINUTE_MS

const RESTORED = [
  'queued',
  'approved',
  'requested_status',
  'scheduled_at',
  'moderation_message',
  'moderation_message_body',
] as const

type ReviewedProject = Pick<Selectable<Project>, 'id' | 'status' | (typeof RESTORED)[number]>

export type Decision = Selectable<ProjectDecision>

export type NewDecision = {
  /** The row before the decision. */
  project: ReviewedProject
  to: string
  accountId: string
  message: string | null
  threadMessageId: string | null
  snapshotId: number | null
  now: number
}

/** Returns the whole message of a decision in Markdown, or undefined. The details can start with the message. */
export function decisionText(message: string | null | undefined, details: string | null | undefined) {
  const short = message ?? ''
  const isStart = details?.startsWith(short.replace(/…$/, '')) === true
  const text = [isStart ? '' : short, details ?? ''].filter((part) => !isBlank(part)).join('\n\n')
  return text === '' ? undefined : text
}

/** Records a decision that can be undone. */
export async function insertDecision(tx: Tx, decision: NewDecision): Promise<void> {
  const { project, to, accountId, message, threadMessageId, snapshotId, now } = decision
  await tx
    .insertInto('project_decision')
    .values({
      project_id: project.id,
      account_id: accountId,
      decided: new Date(now),
      final_at: new Date(now + UNDO_MS),
      from_status: project.status,
      to_status: to,
      message,
      previous: JSON.stringify(Object.fromEntries(RESTORED.map((column) => [column, project[column]]))),
      thread_message_id: threadMessageId,
      snapshot_id: snapshotId,
    })
    .execute()
}

/** Returns the decision on a project that can still be undone, or undefined. */
export function findDecision(db: Db, projectId: string): Promise<Decision | undefined> {
  return db.selectFrom('project_decision').selectAll().where('project_id', '=', projectId).executeTakeFirst()
}

/** Lets the decisions on these projects be undone until a later time. */
export async function prolongDecisions(tx: Tx, projectIds: readonly string[], until: Date): Promise<void> {
  if (projectIds.length === 0) return
  await tx.updateTable('project_decision').set({ final_at: until }).where('project_id', 'in', projectIds).execute()
}

/** Deletes a decision with its snapshot. Returns the columns of the project as they were before. */
export async function dropDecision(tx: Tx, decision: Decision): Promise<Updateable<Project>> {
  await tx.deleteFrom('project_decision').where('project_id', '=', decision.project_id).execute()
  if (decision.snapshot_id !== null)
    await tx.deleteFrom('project_snapshot').where('id', '=', decision.snapshot_id).execute()
  return decision.previous as Updateable<Project>
}

/** Notifies the members of the project about a decision, which can then no longer be undone. */
export async function announceDecision(tx: Tx, changed: ChangeSet, decision: Decision): Promise<void> {
  const { project_id, from_status, to_status, message } = decision
  await tx.deleteFrom('project_decision').where('project_id', '=', project_id).execute()
  const project = await tx
    .selectFrom('project')
    .select(['team_id', 'organization_id'])
    .where('id', '=', project_id)
    .executeTakeFirstOrThrow()
  const accounts = await listMemberIds(tx, project)
  const written = message === null ? {} : { message }
  const statuses = { project_id, old_status: from_status, new_status: to_status, ...written }
  await insertNotifications(tx, changed, accounts, { type: 'status_change', ...statuses })
  await insertNotifications(
    tx,
    changed,
    accounts,
    to_status === 'approved'
      ? { type: 'project_status_approved', project_id, ...written }
      : { type: 'project_status_neutral', ...statuses },
  )
}

/** Returns the projects whose last decision is final, longest ago first. */
export async function listFinalDecisions(db: Db, now: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('project_decision')
    .select('project_id')
    .where('final_at', '<=', now)
    .orderBy('final_at')
    .limit(limit)
    .execute()
  return rows.map(({ project_id }) => project_id)
}

/** Returns the decision if it is final, and locks the project, so that nobody undoes it at the same time. */
export async function lockFinalDecision(tx: Tx, projectId: string, now: Date): Promise<Decision | undefined> {
  await sql`select 1 from project where id = ${projectId} for no key update`.execute(tx)
  const decision = await findDecision(tx, projectId)
  return decision !== undefined && decision.final_at <= now ? decision : undefined
}
