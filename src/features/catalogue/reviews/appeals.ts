// Appeals of authors against a decision that rejected or withheld their project. Each decision can be appealed once.
import { sql } from 'kysely'
import type { Db, Tx } from '#platform/db/db.ts'

export type AppealOutcome = 'accepted' | 'rejected' | 'withdrawn'

/** The decision that an author can appeal: the last status change, if a moderator rejected or withheld the project by it. */
export type AppealableDecision = {
  id: string
  thread_id: string
  status: string
  at: Date
  moderator_id: string | null
  /** The appeal against this decision. */
  appeal: { message_id: string; created: string; outcome: AppealOutcome | null; closed_at: string | null } | null
}

export type OpenAppeal = { decision_id: string; message_id: string; moderator_id: string | null }

/** SQL expression: the IDs of the projects with an open appeal. PostgreSQL reads them once per statement. */
export const APPEALED = sql<string[]>`array(select project_appeal.project_id from project_appeal where outcome is null)`

/** SQL expression: the IDs of the projects with an open appeal against a decision of this moderator. */
export const appealedFrom = (accountId: string) => sql<
  string[]
>`array(select appeal.project_id from project_appeal appeal
  join thread_message decision on decision.id = appeal.decision_id
  where appeal.outcome is null and decision.author_id = ${accountId})`

/** Returns the decision that keeps a project rejected or withheld, or undefined. */
export async function findAppealable(db: Db, projectId: string): Promise<AppealableDecision | undefined> {
  const { rows } = await sql<AppealableDecision>`
    select last.id, last.thread_id, project.status, last.created as at, last.author_id as moderator_id,
      case when appeal.decision_id is null then null else jsonb_build_object('message_id', appeal.message_id,
        'created', appeal.created, 'outcome', appeal.outcome, 'closed_at', appeal.closed_at) end as appeal
    from project join thread on thread.project_id = project.id
      join lateral (select message.* from thread_message message
        where message.thread_id = thread.id and message.body ->> 'type' = 'status_change'
        order by message.created desc, message.id desc limit 1) last
        on last.hide_identity and last.body ->> 'new_status' = project.status
      left join project_appeal appeal on appeal.decision_id = last.id
    where project.id = ${projectId} and project.status in ('rejected', 'withheld')`.execute(db)
  return rows[0]
}

/** Returns the open appeal of a project with the moderator whose decision it is about, or undefined. */
export async function findOpenAppeal(db: Db, projectId: string): Promise<OpenAppeal | undefined> {
  return db
    .selectFrom('project_appeal as appeal')
    .innerJoin('thread_message as decision', 'decision.id', 'appeal.decision_id')
    .select(['appeal.decision_id', 'appeal.message_id', 'decision.author_id as moderator_id'])
    .where('appeal.project_id', '=', projectId)
    .where('appeal.outcome', 'is', null)
    .executeTakeFirst()
}

/** Ends an appeal. `resultId` is the message or status change that answers it. */
export async function closeAppeal(
  tx: Tx,
  { decision_id }: OpenAppeal,
  { outcome, resultId, at }: { outcome: AppealOutcome; resultId: string | null; at: Date },
): Promise<void> {
  await tx
    .updateTable('project_appeal')
    .set({ outcome, closed_at: at, result_id: resultId })
    .where('decision_id', '=', decision_id)
    .execute()
}

/** Opens the appeal again that a decision has answered, because the decision is undone. */
export async function reopenAppeal(tx: Tx, resultId: string): Promise<void> {
  await tx
    .updateTable('project_appeal')
    .set({ outcome: null, closed_at: null, result_id: null })
    .where('result_id', '=', resultId)
    .execute()
}

/** Returns whether the author has appealed this decision, whatever became of the appeal. */
export async function isAppealed(tx: Tx, decisionId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('project_appeal')
    .select('decision_id')
    .where('decision_id', '=', decisionId)
    .executeTakeFirst()
  return row !== undefined
}
