// The answer of a moderator to an appeal: the decision stays.
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { lockProject } from '#features/catalogue/projects/queries.ts'
import { closeAppeal, findAppealable, findOpenAppeal } from '#features/catalogue/reviews/appeals.ts'
import { requireJudge } from '#features/catalogue/reviews/policy.ts'
import { requireSeen } from '#features/catalogue/reviews/seen.ts'
import { notifyOtherSide } from '#features/catalogue/threads/post-message.ts'
import { insertMessage } from '#features/catalogue/threads/queries.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'

/**
 * Rejects the open appeal of a project with a message to its members. Any other decision accepts the appeal.
 * @throws ApiError 404, 403 for the moderator whose decision it is, `conflict` if there is no open appeal or `seen` is out of date
 */
export async function rejectAppeal(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  { projectId, message, seen }: { projectId: string; message: string; seen?: string | undefined },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const project = await lockProject(tx, projectId)
    if (project === undefined) throw notFound('project')
    const [appeal, decision] = [await findOpenAppeal(tx, projectId), await findAppealable(tx, projectId)]
    if (appeal === undefined || decision === undefined)
      throw new ApiError('conflict', 'This project has no open appeal')
    await requireJudge(tx, viewer, appeal.moderator_id)
    if (seen !== undefined) await requireSeen(tx, project, seen)
    const { id: messageId } = await insertMessage(tx, {
      threadId: decision.thread_id,
      authorId: viewer.id,
      body: { type: 'text', body: message, private: false, replying_to: null, appeal: 'rejected' },
      hideIdentity: true,
    })
    await closeAppeal(tx, appeal, { outcome: 'rejected', resultId: messageId, at: new Date(deps.now()) })
    await tx.deleteFrom('moderation_claim').where('project_id', '=', projectId).execute()
    const thread = { id: decision.thread_id, project_id: projectId, report_id: null, reporter_id: null }
    await notifyOtherSide(tx, changed, viewer, { thread, messageId })
    const subject = { kind: 'project', id: projectId } as const
    const details = { status: decision.status }
    await recordAudit(tx, { action: 'project.appeal_rejected', actor: actorOf(viewer), subject, details })
  })
}
