// Records a payout that the operator has made by any means outside Depot.

import { lockAccountIfAny } from '#features/basics/access/accounts.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { parseUnits } from '#lib/decimal.ts'
import { validationError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { assertAvailable } from './queries.ts'
import { differentContent, type NewPayout } from './requests.ts'
import type { PayoutRow } from './views.ts'

/**
 * Records a payout, or returns the existing record with the same content. Locks the account's row, so that two payouts
 * cannot use the same money.
 * @throws ApiError `conflict` if the external ID has different content, `validation_error` for an unknown user,
 * `invalid_input` if the amount exceeds the available balance.
 */
export async function recordPayout(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  actor: Actor,
  input: NewPayout,
): Promise<{ payout: PayoutRow; isNew: boolean }> {
  const { externalId, amount, fee, status } = input
  return transaction(deps, async (tx, changed) => {
    const account = await lockAccountIfAny(tx, input.userId)
    const existing = await tx.selectFrom('payout').selectAll().where('external_id', '=', externalId).executeTakeFirst()
    if (existing !== undefined) return { payout: assertSame(existing, account?.id ?? null, input), isNew: false }
    if (account === undefined) throw validationError('user_id', 'must be the ID of an account')
    const now = deps.now()
    const units = parseUnits(amount) + parseUnits(fee)
    await assertAvailable(tx, { accountId: account.id, units, now })
    const payout = await tx
      .insertInto('payout')
      .values({
        id: newId(),
        external_id: externalId,
        account_id: account.id,
        amount,
        fee,
        status,
        address: account.payout_handle,
        created: new Date(now),
      })
      .onConflict((conflict) => conflict.column('external_id').doNothing())
      .returningAll()
      .executeTakeFirst()
    // Without a row, a concurrent payout to another account has used this external ID.
    if (payout === undefined) throw differentContent()
    changed.add('balance', account.id)
    await recordAudit(tx, {
      action: 'payout.recorded',
      actor,
      subject: { kind: 'payout', id: payout.id },
      accountIds: [account.id],
      details: { external_id: payout.external_id, amount: payout.amount, fee: payout.fee, status: payout.status },
    })
    return { payout, isNew: true }
  })
}

/** Compares everything except the status, which can have changed. After an account is deleted, both IDs are null. */
function assertSame(row: PayoutRow, accountId: string | null, { amount, fee }: NewPayout): PayoutRow {
  const hasSameMoney = parseUnits(row.amount) === parseUnits(amount) && parseUnits(row.fee) === parseUnits(fee)
  if (row.account_id !== accountId || !hasSameMoney) throw differentContent()
  return row
}
