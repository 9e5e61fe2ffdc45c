// Records a payout in the manual ledger: the operator pays people by any means, and records what was paid.

import { lockAccountIfAny } from '#features/basics/access/accounts.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { parseUnits } from '#lib/decimal.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { assertAvailable, type PayoutRow } from './queries.ts'
import type { NewPayout } from './requests.ts'

/**
 * Records a payout, or finds that it was recorded already with the same content. The account's row stays locked
 * meanwhile, so that two payouts never take the same money.
 * @throws ApiError `conflict` for the same external ID with other content, `validation_error` for an unknown user,
 * `invalid_input` for more than is available.
 */
export async function recordPayout(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  actor: Actor,
  input: NewPayout,
): Promise<{ payout: PayoutRow; isNew: boolean }> {
  return transaction(deps, async (tx) => {
    const account = await lockAccountIfAny(tx, input.userId)
    const known = await findPayout(tx, input.externalId)
    if (known !== undefined) return { payout: assertSame(known, account?.id ?? null, input), isNew: false }
    if (account === undefined) throw validationError('user_id', 'names no account')
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
    // Another account's payout with this ID came first.
    throw sameIdOtherContent()
  })
}

function findPayout(tx: Tx, externalId: string): Promise<PayoutRow | undefined> {
  return tx.selectFrom('payout').selectAll().where('external_id', '=', externalId).executeTakeFirst()
}

/** The status may have changed since, so it is not compared. After the account was deleted, row and call name none. */
function assertSame(row: PayoutRow, accountId: string | null, { amount, fee }: NewPayout): PayoutRow {
  const isSame =
    row.account_id === accountId &&
    parseUnits(row.amount) === parseUnits(amount) &&
    parseUnits(row.fee) === parseUnits(fee)
  if (!isSame) throw sameIdOtherContent()
  return row
}

function sameIdOtherContent(): ApiError {
  return new ApiError('conflict', 'This external_id was recorded with other content')
}
