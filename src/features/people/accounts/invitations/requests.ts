// Requests that create invitations.
import Type, { type Static } from 'typebox'
import { validationError } from '#lib/errors.ts'
import { Maybe, NamedObject } from '#lib/schema/schema-parts.ts'
import { checkStorable } from '#lib/text/text-rules.ts'
import { DAY_MS } from '#lib/time.ts'
import { checkEmail } from '../sign-up/create-account.ts'

export const USES_MAX = 10_000
const LIFETIME_DEFAULT_MS = 14 * DAY_MS
const LIFETIME_MAX_MS = 366 * DAY_MS

export const NewInvitation = NamedObject('InvitationCreate', {
  uses: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: USES_MAX,
      default: 1,
      description: 'Maximum number of accounts that can be created with it',
    }),
  ),
  expires: Type.Optional(
    Type.String({
      maxLength: 64,
      format: 'date-time',
      description: 'Time of expiry, at most 366 days from now. Default: 14 days from now',
    }),
  ),
  email: Maybe(Type.String({ maxLength: 254, description: 'Email address that the new account must have' })),
  note: Type.Optional(Type.String({ maxLength: 200, description: 'Note for operators' })),
})

export type InvitationInput = { uses: number; expires: Date; email: string | null; note: string }

/** @throws ApiError `validation_error` naming the field. */
export function toInvitation(
  { uses = 1, expires, email = null, note = '' }: Static<typeof NewInvitation>,
  nowMs: number,
): InvitationInput {
  const at = expires === undefined ? nowMs + LIFETIME_DEFAULT_MS : Date.parse(expires)
  if (!(at > nowMs && at <= nowMs + LIFETIME_MAX_MS))
    throw validationError('expires', 'must be in the future, at most 366 days from now')
  if (email !== null) checkEmail(email)
  checkStorable(note, 'note')
  return { uses, expires: new Date(at), email, note: note.trim() }
}
