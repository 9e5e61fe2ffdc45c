// The appeal of an author against the decision on their project.
import type { Membership } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { lockProject } from '#features/catalogue/projects/queries.ts'
import { findAppealable } from '#features/catalogue/reviews/appeals.ts'
import { requireAppealer } from '#features/catalogue/reviews/policy.ts'
import { insertMessage } from '#features/catalogue/threads/queries.ts'
import { ApiError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'

/**
 * Adds the appeal to the thread of the project and the project to the queue. The project keeps its status.
 * @throws ApiError 403, `conflict` if no moderator has rejected or withheld the project, or the decision was appealed before
 */
export async function appealDecision(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  { projectId, membership, text }: { projectId: string; membership: Membership; text: string },
): Promise<void> {
  requireAppealer(viewer, membership)
  await transaction(deps, async (tx) => {
    // Without the lock, a moderator could change the decision, or another member could appeal, at the same time.
    await lockProject(tx, projectId)
    const decision = await findAppealable(tx, projectId)
    if (decision === undefined) throw new ApiError('conflict', 'No decision of a moderator can be appealed')
    if (decision.appeal !== null) throw new ApiError('conflict', 'This decision was appealed before')
    const { id: messageId } = await insertMessage(tx, {
      threadId: decision.thread_id,
      authorId: viewer.id,
      body: { type: 'text', body: text, private: false, replying_to: null, appeal: 'made' },
      hideIdentity: false,
    })
    await tx
      .insertInto('project_appeal')
      .values({
        ...{ decision_id: decision.id, project_id: projectId, message_id: messageId },
        created: new Date(deps.now()),
      })
      .execute()
    const subject = { kind: 'project', id: projectId } as const
    const details = { status: decision.status }
    await recordAudit(tx, { action: 'project.appealed', actor: actorOf(viewer), subject, details })
  })
}
