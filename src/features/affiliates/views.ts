// The wire shapes of affiliate codes and conversions.
import Type, { type Static } from 'typebox'
import { AMOUNT_PATTERN } from '#lib/decimal.ts'
import { Nullable, Timestamp } from '#lib/schema-parts.ts'
import { isAdmin, type Viewer } from '#lib/viewer.ts'
import type { AffiliateCodeRow } from './queries.ts'

const SourceName = Type.String({ minLength: 1, maxLength: 255, description: 'Where the code is used' })
/** A part of one, as decimal text. */
const Share = Type.String({
  pattern: '^(0(\\.\\d{1,6})?|1(\\.0{1,6})?)$',
  maxLength: 8,
  description: "Part of a conversion's amount that goes to the affiliate, 0 to 1; null: the operator's default",
})

export const AffiliateCodeView = Type.Object(
  {
    id: Type.String(),
    affiliate: Type.String({ description: 'The account whose code it is' }),
    source_name: Type.String(),
    // The rest is null unless the viewer is an admin.
    created_at: Nullable(Timestamp),
    created_by: Nullable(Type.String()),
    revenue_split: Nullable(Type.String({ description: 'Decimal' })),
  },
  { title: 'AffiliateCode' },
)
export type AffiliateCodeView = Static<typeof AffiliateCodeView>

export function toAffiliateCodeView(row: AffiliateCodeRow, viewer: Viewer): AffiliateCodeView {
  const shown = isAdmin(viewer)
  return {
    id: row.id,
    affiliate: row.account_id,
    source_name: row.source_name,
    created_at: shown ? row.created.toISOString() : null,
    created_by: shown ? row.created_by : null,
    revenue_split: shown ? row.share : null,
  }
}

export const NewAffiliateCode = Type.Object(
  {
    source_name: SourceName,
    affiliate: Type.Optional(
      Nullable(Type.String({ maxLength: 64, description: 'The account whose code it is to be; for admins' })),
    ),
    revenue_split: Type.Optional(Nullable(Share)),
  },
  { title: 'NewAffiliateCode' },
)
export type NewAffiliateCode = Static<typeof NewAffiliateCode>

export const AffiliateCodePatch = Type.Object(
  { source_name: Type.Optional(SourceName), revenue_split: Type.Optional(Nullable(Share)) },
  { title: 'AffiliateCodePatch', description: 'Absent keeps a field; `revenue_split` is for admins' },
)
export type AffiliateCodePatch = Static<typeof AffiliateCodePatch>

export const NewConversion = Type.Object(
  {
    external_id: Type.String({ minLength: 1, maxLength: 255, description: 'The same one is recorded once' }),
    affiliate_code_id: Type.String({ maxLength: 64 }),
    at: Type.Optional(Type.String({ maxLength: 64, description: 'RFC 3339; default now' })),
    amount: Type.String({ pattern: AMOUNT_PATTERN, maxLength: 21, description: 'Decimal' }),
  },
  { title: 'NewConversion' },
)
export type NewConversion = Static<typeof NewConversion>

export const ConversionView = Type.Object(
  {
    external_id: Type.String(),
    affiliate_code_id: Type.String(),
    at: Timestamp,
    amount: Type.String(),
    revenue: Type.String({ description: "The affiliate's part of the amount" }),
  },
  { title: 'Conversion' },
)
export type ConversionView = Static<typeof ConversionView>
