// The manual ledger: the operator pays people by whatever means, and writes down what was paid.
import type { Tx } from '#db/db.ts'
import { lockAccountIfAny } from '#features/access/accounts.ts'
import { parseUnits } from '#lib/decimal.ts'
import { ApiError, invalidInput, notFound, validationError } from '#lib/errors.ts'
import { isIdForm, newId } from '#lib/ids.ts'
import { getBalance, type PayoutRow } from './queries.ts'
import type { NewPayout, PayoutView } from './views.ts'

/** What takes money from a balance. */
const WITHDRAWS: readonly string[] = ['in-transit', 'success']

/**
 * Writes down a payout, or finds that it was written down already with the same content. The account's row stays
 * locked meanwhile, so that two payouts never take the same money.
 * @throws ApiError `conflict` for the same external ID with other content, `validation_error` for an unknown user and an
 * amount of nothing, `invalid_input` for more than is available.
 */
export async function recordPayout(
  tx: Tx,
  { fields, now }: { fields: NewPayout; now: number },
): Promise<{ payout: PayoutRow; isNew: boolean }> {
  const { fee = '0', status = 'success' } = fields
  if (parseUnits(fields.amount) === 0n) throw validationError('amount', 'must be more than nothing')
  const account = await lockPayee(tx, fields.user_id)
  const known = await findPayout(tx, fields.external_id)
  if (known !== undefined) return { payout: assertSame(known, account?.id ?? null, fields), isNew: false }
  if (account === undefined) throw validationError('user_id', 'names no account')
  await assertAvailable(tx, { accountId: account.id, units: parseUnits(fields.amount) + parseUnits(fee), now })
  const payout = await tx
    .insertInto('payout')
    .values({
      id: newId(),
      external_id: fields.external_id,
      account_id: account.id,
      amount: fields.amount,
      fee,
      status,
      address: account.payout_handle,
      created: new Date(now),
    })
    .onConflict((conflict) => conflict.column('external_id').doNothing())
    .returningAll()
    .executeTakeFirst()
  if (payout !== undefined) return { payout, isNew: true }
  // Another account's payout with this ID came first.
  throw sameIdOtherContent()
}

/**
 * Says how a payout went on. One that failed or was called off gives its money back, and can take it again.
 * @throws ApiError 404, `invalid_input` when the money is gone meanwhile.
 */
export async function updatePayout(
  tx: Tx,
  { id, status, now }: { id: string; status: PayoutView['status']; now: number },
): Promise<void> {
  const found = await tx.selectFrom('payout').select('account_id').where('id', '=', id).executeTakeFirst()
  if (found === undefined) throw notFound('payout')
  if (found.account_id !== null) await lockAccountIfAny(tx, found.account_id)
  const row = await tx.selectFrom('payout').selectAll().where('id', '=', id).forUpdate().executeTakeFirstOrThrow()
  if (row.account_id !== null && WITHDRAWS.includes(status) && !WITHDRAWS.includes(row.status)) {
    await assertAvailable(tx, { accountId: row.account_id, units: parseUnits(row.amount) + parseUnits(row.fee), now })
  }
  await tx.updateTable('payout').set({ status }).where('id', '=', id).execute()
}

async function assertAvailable(
  tx: Tx,
  { accountId, units, now }: { accountId: string; units: bigint; now: number },
): Promise<void> {
  const { available } = await getBalance(tx, accountId, now)
  if (units > parseUnits(available)) throw invalidInput(`Only ${available} is available`, 'amount')
}

/** @throws ApiError `validation_error` for what cannot be an ID. */
function lockPayee(tx: Tx, id: string): ReturnType<typeof lockAccountIfAny> {
  if (!isIdForm(id)) throw validationError('user_id', 'names no account')
  return lockAccountIfAny(tx, id)
}

function findPayout(tx: Tx, externalId: string): Promise<PayoutRow | undefined> {
  return tx.selectFrom('payout').selectAll().where('external_id', '=', externalId).executeTakeFirst()
}

/** The status is not content: it has moved on since. A row whose account was deleted names none, as the call then does. */
function assertSame(row: PayoutRow, accountId: string | null, { amount, fee = '0' }: NewPayout): PayoutRow {
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
