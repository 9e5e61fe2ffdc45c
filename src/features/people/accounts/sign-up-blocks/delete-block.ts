import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'

/** Removes a block of sign-ups. @throws ApiError 404. */
export async function deleteBlock(deps: Pick<Deps, 'db' | 'cache'>, actor: Actor, id: string): Promise<void> {
  await transaction(deps, async (tx) => {
    const row = await tx.deleteFrom('sign_up_block').where('id', '=', id).returningAll().executeTakeFirst()
    if (row === undefined) throw notFound('block')
    const details = { email_domain: row.email_domain, address_range: row.address_range }
    await recordAudit(tx, { action: 'sign_up_block.removed', actor, details })
  })
}
