// Response schemas of affiliate codes and conversions.
import Type, { type Static } from 'typebox'
import type { Viewer } from '#lib/access/viewer.ts'
import { toAmount } from '#lib/decimal.ts'
import { Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import { canSeeTerms } from './policy.ts'
import type { AffiliateCodeRow, ConversionRow } from './queries.ts'

export const AffiliateCodeView = Type.Object(
  {
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
  },
  { title: 'AffiliateCode' },
)
export type AffiliateCodeView = Static<typeof AffiliateCodeView>

export function toAffiliateCodeView(row: AffiliateCodeRow, viewer: Viewer): AffiliateCodeView {
  const shown = canSeeTerms(viewer)
  return {
    id: row.id,
    affiliate: row.account_id,
    source_name: row.source_name,
    created_at: shown ? row.created.toISOString() : null,
    created_by: shown ? row.created_by : null,
    revenue_split: shown ? row.share : null,
  }
}

export const ConversionView = Type.Object(
  {
    external_id: Type.String(),
    affiliate_code_id: Type.String(),
    at: Timestamp,
    amount: Type.String(),
    revenue: Type.String({ description: "The affiliate's share of the amount" }),
  },
  { title: 'Conversion' },
)
export type ConversionView = Static<typeof ConversionView>

export function toConversionView(row: ConversionRow): ConversionView {
  return {
    external_id: row.external_id,
    affiliate_code_id: row.affiliate_code_id,
    at: row.converted.toISOString(),
    amount: toAmount(row.amount),
    revenue: toAmount(row.revenue),
  }
}
