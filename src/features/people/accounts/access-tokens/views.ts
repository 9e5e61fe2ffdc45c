import type { Selectable } from 'kysely'
import Type, { type Static } from 'typebox'
import { Nullable, Timestamp, toView } from '#lib/schema/schema-parts.ts'
import type { PersonalAccessToken } from '#platform/db/schema.ts'

export const AccessTokenView = Type.Object(
  {
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
  },
  { title: 'PersonalAccessToken' },
)
export type AccessTokenView = Static<typeof AccessTokenView>

export type AccessTokenRow = Selectable<PersonalAccessToken>

export function toAccessTokenView(row: AccessTokenRow, secret: string | null): AccessTokenView {
  return toView(AccessTokenView, { ...row, access_token: secret, user_id: row.account_id })
}
