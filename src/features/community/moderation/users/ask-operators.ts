import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'

/** Maximum number of admins who receive a message: those whose account is the oldest. */
const RECIPIENTS_MAX = 20

/** Sends a moderator's message about a user to the admins. */
export async function askOperators(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  { accountId, message }: { accountId: string; message: string },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const admins = await tx
      .selectFrom('account')
      .select('id')
      .where('role', '=', 'admin')
      .where('deletion_due', 'is', null)
      .orderBy('created')
      .orderBy('id')
      .limit(RECIPIENTS_MAX)
      .execute()
    const ids = admins.map(({ id }) => id)
    await insertNotifications(tx, changed, ids, { type: 'operator_question', user_id: accountId, message })
    const subject = { kind: 'user', id: accountId } as const
    await recordAudit(tx, { action: 'account.operators_asked', actor: actorOf(viewer), subject })
  })
}
