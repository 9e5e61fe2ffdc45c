// Response schemas of affiliate codes and conversions.
import Type, { type Static } from 'typebox'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { toAmount } from '#lib/decimal.ts'
import { NamedObject, Nullable, Timestamp, toView } from '#lib/schema/schema-parts.ts'
import { seesAllCodes } from './policy.ts'
import type { AffiliateCodeRow, ConversionRow } from './queries.ts'

export const AffiliateCodeView = NamedObject('AffiliateCode', {
  id: Type.String(),
  affiliate: Type.String({ description: 'ID of the account that owns the code' }),
  source_name: Type.String(),
  // Only admins see the following fields; for others they are null.
  created_at: Nullable(Timestamp),
  created_by: Nullable(Type.String()),
  revenue_split: Nullable(
    Type.String({
      description: 'Share of a sale, from 0 to 1; null if the caller is not an admin or the default applies',
    }),
  ),
})
export type AffiliateCodeView = Static<typeof AffiliateCodeView>

export function toAffiliateCodeView(row: AffiliateCodeRow, viewer: Viewer): AffiliateCodeView {
  const terms = seesAllCodes(viewer) ? row : { created: null, created_by: null, share: null }
  const { created: created_at, created_by, share: revenue_split } = terms
  return toView(AffiliateCodeView, { ...row, affiliate: row.account_id, created_at, created_by, revenue_split })
}

export const ConversionView = NamedObject('Conversion', {
  external_id: Type.String(),
  affiliate_code_id: Type.String(),
  at: Timestamp,
  amount: Type.String(),
  revenue: Type.String({ description: "The affiliate's share of the amount" }),
})
export type ConversionView = Static<typeof ConversionView>

export function toConversionView(row: ConversionRow): ConversionView {
  const { converted: at, amount, revenue } = row
  return toView(ConversionView, { ...row, at, amount: toAmount(amount), revenue: toAmount(revenue) })
}
