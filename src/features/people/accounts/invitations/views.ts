// Invitations as operators see them.
import type { Selectable } from 'kysely'
import Type, { type Static } from 'typebox'
import { Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import type { Invitation } from '#platform/db/schema.ts'

const fields = {
  id: Type.String(),
  email: Nullable(Type.String({ description: 'The only address it works for' })),
  note: Type.String(),
  uses: Type.Integer({ description: 'How many accounts may be made with it' }),
  used: Type.Integer({ description: 'How many have been made' }),
  created: Timestamp,
  expires: Timestamp,
}

export const InvitationView = Type.Object(fields, { title: 'Invitation' })
export type InvitationView = Static<typeof InvitationView>

export const MadeInvitation = Type.Object(
  {
    ...fields,
    code: Type.String({ description: 'The secret that new accounts need; shown this once' }),
    url: Type.String({ description: 'The page for signing up, with the code' }),
    mailed: Type.Boolean({ description: 'Whether a mail server has taken it for its address' }),
  },
  { title: 'MadeInvitation' },
)
export type MadeInvitation = Static<typeof MadeInvitation>

export function toInvitationView(row: Selectable<Invitation>): InvitationView {
  const { id, email, note, uses, uses_max, created, expires } = row
  return { id, email, note, uses: uses_max, used: uses, created: created.toISOString(), expires: expires.toISOString() }
}
