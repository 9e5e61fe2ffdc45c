// What a new invitation may be.
import Type, { type Static } from 'typebox'
import { validationError } from '#lib/errors.ts'
import { Maybe } from '#lib/schema/schema-parts.ts'
import { checkStorable } from '#lib/text/text-rules.ts'
import { DAY_MS } from '#lib/time.ts'
import { checkEmail } from '../sign-up/create-account.ts'

export const USES_MAX = 10_000
const LIFETIME_DEFAULT_MS = 14 * DAY_MS
const LIFETIME_MAX_MS = 366 * DAY_MS

export const NewInvitation = Type.Object(
  {
    uses: Type.Optional(
      Type.Integer({ minimum: 1, maximum: USES_MAX, default: 1, description: 'How many accounts may be made with it' }),
    ),
    expires: Type.Optional(
      Type.String({
        maxLength: 64,
        format: 'date-time',
        description: 'At most 366 days ahead; absent: 14 days from now',
      }),
    ),
    email: Maybe(Type.String({ maxLength: 254, description: 'The only address it works for' })),
    note: Type.Optional(Type.String({ maxLength: 200, description: 'For operators: whom it is for' })),
  },
  { title: 'NewInvitation' },
)

export type InvitationInput = { uses: number; expires: Date; email: string | null; note: string }

/** @throws ApiError `validation_error` naming the field. */
export function toInvitation(
  { uses = 1, expires, email = null, note = '' }: Static<typeof NewInvitation>,
  nowMs: number,
): InvitationInput {
  const at = expires === undefined ? nowMs + LIFETIME_DEFAULT_MS : Date.parse(expires)
  if (!(at > nowMs && at <= nowMs + LIFETIME_MAX_MS)) {
    throw validationError('expires', 'must be a time in the future, at most 366 days ahead')
  }
  if (email !== null) checkEmail(email)
  checkStorable(note, 'note')
  return { uses, expires: new Date(at), email, note: note.trim() }
}
