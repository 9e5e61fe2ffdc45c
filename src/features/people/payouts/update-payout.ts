import { lockAccountIfAny } from '#features/basics/access/accounts.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { parseUnits } from '#lib/decimal.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { assertAvailable } from './queries.ts'
import type { PayoutPatch } from './requests.ts'

/** Statuses in which a payout reduces the balance. */
const WITHDRAWN: readonly string[] = ['in-transit', 'success']

/**
 * Changes the status of a payout. A failed or cancelled payout returns its amount to the balance.
 * @throws ApiError 404, `invalid_input` if the amount exceeds the available balance.
 */
export async function updatePayout(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  actor: Actor,
  { id, status }: PayoutPatch & { id: string },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const payout = await tx.selectFrom('payout').select('account_id').where('id', '=', id).executeTakeFirst()
    if (payout === undefined) throw notFound('payout')
    // Locks the account before the payout, like `recordPayout`, to prevent deadlocks.
    if (payout.account_id !== null) await lockAccountIfAny(tx, payout.account_id)
    const row = await tx.selectFrom('payout').selectAll().where('id', '=', id).forUpdate().executeTakeFirstOrThrow()
    if (row.account_id !== null && WITHDRAWN.includes(status) && !WITHDRAWN.includes(row.status)) {
      const units = parseUnits(row.amount) + parseUnits(row.fee)
      await assertAvailable(tx, { accountId: row.account_id, units, now: deps.now() })
    }
    if (row.account_id !== null) changed.add('balance', row.account_id)
    await tx.updateTable('payout').set({ status }).where('id', '=', id).execute()
    await recordAudit(tx, {
      action: 'payout.status_changed',
      actor,
      subject: { kind: 'payout', id },
      accountIds: row.account_id === null ? [] : [row.account_id],
      details: { from: row.status, to: status },
    })
  })
}
