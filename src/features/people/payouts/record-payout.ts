// Records a payout that the operator has made by any means outside Depot.

import { lockAccountIfAny } from '#features/basics/access/accounts.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { parseUnits } from '#lib/decimal.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { assertAvailable } from './queries.ts'
import type { NewPayout } from './requests.ts'
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
  return transaction(deps, async (tx) => {
    const account = await lockAccountIfAny(tx, input.userId)
    const existing = await findPayout(tx, input.externalId)
    if (existing !== undefined) return { payout: assertSame(existing, account?.id ?? null, input), isNew: false }
    if (account === undefined) throw validationError('user_id', 'must be the ID of an account')
    const now = deps.now()
    const units = parseUnits(input.amount) + parseUnits(input.fee)
    await assertAvailable(tx, { accountId: account.id, units, now })
    const payout = await tx
      .insertInto('payout')
      .values({
        id: newId(),
        external_id: input.externalId,
        account_id: account.id,
        amount: input.amount,
        fee: input.fee,
        status: input.status,
        address: account.payout_handle,
        created: new Date(now),
      })
      .onConflict((conflict) => conflict.column('external_id').doNothing())
      .returningAll()
      .executeTakeFirst()
    if (payout !== undefined) {
      await recordAudit(tx, {
        action: 'payout.recorded',
        actor,
        subject: { kind: 'payout', id: payout.id },
        accountIds: [account.id],
        details: { external_id: payout.external_id, amount: payout.amount, fee: payout.fee, status: payout.status },
      })
      return { payout, isNew: true }
    }
    // A concurrent payout to another account has used this external ID.
    throw differentContent()
  })
}

function findPayout(tx: Tx, externalId: string): Promise<PayoutRow | undefined> {
  return tx.selectFrom('payout').selectAll().where('external_id', '=', externalId).executeTakeFirst()
}

/** Compares everything except the status, which can have changed. After an account is deleted, both IDs are null. */
function assertSame(row: PayoutRow, accountId: string | null, { amount, fee }: NewPayout): PayoutRow {
  const isSame =
    row.account_id === accountId &&
    parseUnits(row.amount) === parseUnits(amount) &&
    parseUnits(row.fee) === parseUnits(fee)
  if (!isSame) throw differentContent()
  return row
}

function differentContent(): ApiError {
  return new ApiError('conflict', 'This external_id was already recorded with different content')
}
