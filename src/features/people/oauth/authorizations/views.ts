import Type, { type Static } from 'typebox'
import { Timestamp } from '#lib/schema/schema-parts.ts'
import type { AuthorizationRow } from './queries.ts'

export const AuthorizationView = Type.Object(
  {
    id: Type.String(),
    app_id: Type.String(),
    user_id: Type.String(),
    scopes: Type.Number({ description: 'Bit field of up to 48 bits' }),
    created: Timestamp,
  },
  { title: 'OAuthAuthorization' },
)

export function toAuthorizationView(row: AuthorizationRow): Static<typeof AuthorizationView> {
  const { id, app_id, user_id, scopes, created } = row
  return { id, app_id, user_id, scopes, created: created.toISOString() }
}
