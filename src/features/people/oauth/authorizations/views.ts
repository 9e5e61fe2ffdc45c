import Type, { type Static } from 'typebox'
import { NamedObject, Timestamp, toView } from '#lib/schema/schema-parts.ts'
import type { AuthorizationRow } from './queries.ts'

export const AuthorizationView = NamedObject('OAuthAuthorization', {
  id: Type.String(),
  app_id: Type.String(),
  user_id: Type.String(),
  scopes: Type.Number({ description: 'Bit field of up to 48 bits' }),
  created: Timestamp,
})

export function toAuthorizationView(row: AuthorizationRow): Static<typeof AuthorizationView> {
  return toView(AuthorizationView, { ...row, app_id: row.client_id, user_id: row.account_id })
}
