// Response schemas of service accounts.
import Type, { type Static } from 'typebox'
import { AccessTokenView, toAccessTokenView } from '#features/people/accounts/access-tokens/views.ts'
import { NamedObject, Timestamp } from '#lib/schema/schema-parts.ts'
import type { ServiceAccount } from './queries.ts'

export const ServiceAccountView = NamedObject('ServiceAccount', {
  id: Type.String(),
  username: Type.String(),
  created: Timestamp,
  tokens: Type.Array(AccessTokenView, { description: 'Newest first; without their secrets' }),
})
export type ServiceAccountView = Static<typeof ServiceAccountView>

export function toServiceAccountView({ id, username, created, tokens }: ServiceAccount): ServiceAccountView {
  return { id, username, created: created.toISOString(), tokens: tokens.map((row) => toAccessTokenView(row, null)) }
}
