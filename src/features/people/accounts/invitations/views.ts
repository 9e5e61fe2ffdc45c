// Response schemas of invitations.
import type { Selectable } from 'kysely'
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp, toView } from '#lib/schema/schema-parts.ts'
import type { Invitation } from '#platform/db/schema.ts'

const fields = {
  id: Type.String(),
  email: Nullable(Type.String({ description: 'Email address that the new account must have; null for any' })),
  note: Type.String(),
  uses: Type.Integer({ description: 'Maximum number of accounts that can be created with it' }),
  used: Type.Integer({ description: 'Number of accounts that were created with it' }),
  created: Timestamp,
  expires: Timestamp,
}

export const InvitationView = NamedObject('Invitation', fields)
export type InvitationView = Static<typeof InvitationView>

export const NewInvitationView = NamedObject('MadeInvitation', {
  ...fields,
  code: Type.String({ description: 'Secret code for the sign-up, returned only in this response' }),
  url: Type.String({ description: 'URL of the sign-up page with the code' }),
  mailed: Type.Boolean({ description: 'Whether the mail server accepted the email with the invitation' }),
})
export type NewInvitationView = Static<typeof NewInvitationView>

export function toInvitationView(row: Selectable<Invitation>): InvitationView {
  return toView(InvitationView, { ...row, uses: row.uses_max, used: row.uses })
}
