import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'

/** Deletes an invitation. Accounts that were created with it remain. @throws ApiError 404. */
export async function revokeInvitation(deps: Pick<Deps, 'db' | 'cache'>, actor: Actor, id: string): Promise<void> {
  await transaction(deps, async (tx) => {
    const deleted = await tx.deleteFrom('invitation').where('id', '=', id).returning('id').executeTakeFirst()
    if (deleted === undefined) throw notFound('invitation')
    await recordAudit(tx, { action: 'invitation.revoked', actor, subject: { kind: 'invitation', id } })
  })
}
