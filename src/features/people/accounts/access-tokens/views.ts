import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp, toView } from '#lib/schema/schema-parts.ts'
import { TokenLimitsView } from './limits.ts'
import type { AccessTokenRow } from './queries.ts'

export const AccessTokenView = NamedObject('PersonalAccessToken', {
  id: Type.String(),
  name: Type.String(),
  access_token: Nullable(
    Type.String({ description: 'Secret, only in the response that creates the token; otherwise null' }),
  ),
  scopes: Type.Number({ description: 'Bit field of up to 48 bits' }),
  user_id: Type.String(),
  created: Timestamp,
  expires: Timestamp,
  last_used: Nullable(Timestamp),
  last_network: Nullable(
    Type.String({ description: 'Network of the last use: 24 bits of an IPv4 address, 48 bits of an IPv6 address' }),
  ),
  limits: TokenLimitsView,
})
export type AccessTokenView = Static<typeof AccessTokenView>

export function toAccessTokenView(row: AccessTokenRow, secret: string | null): AccessTokenView {
  const { project_ids: projects, organization_ids: organizations, addresses } = row
  const isLimited = projects !== null || organizations !== null || addresses !== null
  const limits = isLimited ? { projects, organizations, addresses } : null
  return toView(AccessTokenView, { ...row, limits, access_token: secret, user_id: row.account_id })
}
