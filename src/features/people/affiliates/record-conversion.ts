// Records a sale that was made through an affiliate code.
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { differentContent } from '#features/people/payouts/requests.ts'
import { formatUnits, parseUnits, shareOf } from '#lib/decimal.ts'
import { validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { type ConversionRow, findAffiliateCode } from './queries.ts'
import type { NewConversion } from './requests.ts'

/** Time for refunds, after which the revenue is available. */
const HELD_BACK_MS = 60 * DAY_MS
/** Minimum revenue; smaller amounts count as 0. */
const SMALLEST_REVENUE = parseUnits('0.01')

/**
 * Records a conversion, or returns the existing record with the same content.
 * @throws ApiError `conflict` if the external ID has different content, `validation_error` for an unknown code.
 */
export async function recordConversion(
  deps: Pick<Deps, 'db' | 'cache' | 'now' | 'config'>,
  actor: Actor,
  fields: NewConversion,
): Promise<{ conversion: ConversionRow; isNew: boolean }> {
  return transaction(deps, async (tx, changed) => {
    const isKnown = (await selectConversion(tx, fields).executeTakeFirst()) !== undefined
    const conversion = isKnown ? undefined : await insertConversion(tx, fields, deps)
    if (conversion === undefined) {
      // If a concurrent call has inserted this ID, it has committed, because the insert waits for it.
      const earlier = await selectConversion(tx, fields).executeTakeFirstOrThrow()
      return { conversion: requireSame(earlier, fields), isNew: false }
    }
    const { affiliate_code_id: id, account_id: accountId, external_id, amount, revenue } = conversion
    if (accountId !== null) changed.add('balance', accountId)
    await recordAudit(tx, {
      action: 'affiliate.conversion_recorded',
      actor,
      subject: { kind: 'affiliate_code', id },
      accountIds: accountId === null ? [] : [accountId],
      details: { external_id, amount, revenue },
    })
    return { conversion, isNew: true }
  })
}

/** Inserts a conversion; returns undefined if the external ID exists. */
async function insertConversion(
  tx: Tx,
  { external_id, affiliate_code_id, amount, at }: NewConversion,
  { config, now }: Pick<Deps, 'config' | 'now'>,
): Promise<ConversionRow | undefined> {
  const code = isIdForm(affiliate_code_id) ? await findAffiliateCode(tx, affiliate_code_id) : undefined
  if (code === undefined) throw validationError('affiliate_code_id', 'must be the ID of an affiliate code')
  const converted = at ?? Math.floor(now())
  // The default is a floating-point number. Rounding it to 8 digits restores the decimal that the operator wrote.
  const share = shareOf(parseUnits(amount), code.share ?? config.money.affiliateShare.toFixed(8))
  return tx
    .insertInto('affiliate_conversion')
    .values({
      external_id,
      affiliate_code_id: code.id,
      account_id: code.account_id,
      converted: new Date(converted),
      amount,
      revenue: formatUnits(share < SMALLEST_REVENUE ? 0n : share),
      available: new Date(converted + HELD_BACK_MS),
      created: new Date(now()),
    })
    .onConflict((conflict) => conflict.column('external_id').doNothing())
    .returningAll()
    .executeTakeFirst()
}

function selectConversion(tx: Tx, { external_id }: NewConversion) {
  return tx.selectFrom('affiliate_conversion').selectAll().where('external_id', '=', external_id)
}

function requireSame(row: ConversionRow, { affiliate_code_id, amount, at }: NewConversion): ConversionRow {
  const isSame =
    row.affiliate_code_id === affiliate_code_id &&
    parseUnits(row.amount) === parseUnits(amount) &&
    (at === undefined || row.converted.getTime() === at)
  if (!isSame) throw differentContent()
  return row
}
