// A sale that a code brought about, recorded once whatever happens to the call.
import type { Selectable } from 'kysely'
import { parseRfc3339 } from '#analytics-store/rfc3339.ts'
import type { Tx } from '#db/db.ts'
import type { AffiliateConversion } from '#db/schema.ts'
import { formatUnits, parseUnits, shareOf, toAmount } from '#lib/decimal.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { findAffiliateCode } from './queries.ts'
import type { ConversionView, NewConversion } from './views.ts'

const DAY_MS = 86_400_000
/** Refunds come in this time; then the money is the affiliate's. */
const HELD_BACK_MS = 60 * DAY_MS
/** How far the caller's clock may be ahead of ours. */
const CLOCK_SKEW_MS = 5 * 60_000
/** Less than a hundredth earns nothing (facts/analytics.md 1.10). */
const SMALLEST_REVENUE = parseUnits('0.01')

/**
 * Records it, or finds that it was recorded already with the same content.
 * @throws ApiError `conflict` for the same external ID with other content, `validation_error` for an unknown code and a
 * time that is none or lies ahead.
 */
export async function recordConversion(
  tx: Tx,
  { fields, defaultShare, now }: { fields: NewConversion; defaultShare: string; now: number },
): Promise<{ conversion: ConversionView; isNew: boolean }> {
  const at = fields.at === undefined ? undefined : parseTime(fields.at, now)
  const known = await findConversion(tx, fields.external_id)
  if (known !== undefined) return { conversion: assertSame(known, fields, at), isNew: false }
  const code = isIdForm(fields.affiliate_code_id) ? await findAffiliateCode(tx, fields.affiliate_code_id) : undefined
  if (code === undefined) throw validationError('affiliate_code_id', 'names no affiliate code')
  const converted = at ?? Math.floor(now)
  const share = shareOf(parseUnits(fields.amount), code.share ?? defaultShare)
  const row = await tx
    .insertInto('affiliate_conversion')
    .values({
      external_id: fields.external_id,
      affiliate_code_id: code.id,
      account_id: code.account_id,
      converted: new Date(converted),
      amount: fields.amount,
      revenue: formatUnits(share < SMALLEST_REVENUE ? 0n : share),
      available: new Date(converted + HELD_BACK_MS),
      created: new Date(now),
    })
    .onConflict((conflict) => conflict.column('external_id').doNothing())
    .returningAll()
    .executeTakeFirst()
  if (row !== undefined) return { conversion: toView(row), isNew: true }
  // Another call with this ID came first; it has committed, or this one would still wait for it.
  const first = await findConversion(tx, fields.external_id)
  if (first === undefined) throw new ApiError('database_error', 'The conversion could not be recorded')
  return { conversion: assertSame(first, fields, at), isNew: false }
}

type Row = Selectable<AffiliateConversion>

function findConversion(tx: Tx, externalId: string): Promise<Row | undefined> {
  return tx.selectFrom('affiliate_conversion').selectAll().where('external_id', '=', externalId).executeTakeFirst()
}

function assertSame(row: Row, fields: NewConversion, at: number | undefined): ConversionView {
  const isSame =
    row.affiliate_code_id === fields.affiliate_code_id &&
    parseUnits(row.amount) === parseUnits(fields.amount) &&
    (at === undefined || row.converted.getTime() === at)
  if (!isSame) throw new ApiError('conflict', 'This external_id was recorded with other content')
  return toView(row)
}

function toView(row: Row): ConversionView {
  return {
    external_id: row.external_id,
    affiliate_code_id: row.affiliate_code_id,
    at: row.converted.toISOString(),
    amount: toAmount(row.amount),
    revenue: toAmount(row.revenue),
  }
}

function parseTime(text: string, now: number): number {
  const ms = parseRfc3339(text)
  if (ms === undefined) throw validationError('at', 'must be an RFC 3339 timestamp')
  if (ms > now + CLOCK_SKEW_MS) throw validationError('at', 'lies in the future')
  return ms
}
