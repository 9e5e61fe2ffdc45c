import type { Selectable } from 'kysely'
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp, toView } from '#lib/schema/schema-parts.ts'
import type { Session } from '#platform/db/schema.ts'

export const SessionView = NamedObject('Session', {
  id: Type.String(),
  session: Nullable(Type.String({ description: 'Secret, only in the response that issues it; otherwise null' })),
  user_id: Type.String(),
  created: Timestamp,
  last_login: Timestamp,
  expires: Timestamp,
  refresh_expires: Timestamp,
  os: Nullable(Type.String()),
  platform: Nullable(Type.String()),
  user_agent: Type.String(),
  city: Nullable(Type.String()),
  country: Nullable(Type.String()),
  ip: Type.String(),
  current: Type.Boolean({ description: 'Whether the request uses this session, or the response issues it' }),
})
export type SessionView = Static<typeof SessionView>

export type SessionRow = Selectable<Session>

export function toSessionView(
  row: SessionRow,
  { secret, current }: { secret: string | null; current: boolean },
): SessionView {
  return toView(SessionView, { ...row, session: secret, user_id: row.account_id, current })
}
