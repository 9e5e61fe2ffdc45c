// Response schema of granted request rates.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import type { GrantRow } from './queries.ts'

export const RateLimitView = NamedObject('RateLimit', {
  id: Type.String(),
  token_id: Nullable(Type.String({ description: 'ID of a personal access token, a session or an OAuth token' })),
  account_id: Nullable(Type.String({ description: 'Owner of the token; null for a range and for a deleted token' })),
  address_range: Nullable(Type.String()),
  requests_per_minute: Type.Integer(),
  note: Type.String(),
  created: Timestamp,
})

export function toRateLimitView({ created, ...row }: GrantRow): Static<typeof RateLimitView> {
  return { ...row, created: created.toISOString() }
}
