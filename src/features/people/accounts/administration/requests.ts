// Requests for the administration of accounts.
import Type, { type Static } from 'typebox'
import { OwnerProofFields } from '#features/basics/access/requests.ts'
import { validationError } from '#lib/errors.ts'
import { Maybe, NamedObject } from '#lib/schema/schema-parts.ts'
import { checkStorable, isBlank } from '#lib/text/text-rules.ts'

export const Suspension = NamedObject('Suspension', {
  reason: Type.String({ minLength: 1, maxLength: 1000, description: 'Reason, which the user receives by email' }),
  until: Maybe(
    Type.String({
      maxLength: 64,
      format: 'date-time',
      description: 'When the suspension expires. Default: it lasts until an operator lifts it',
    }),
  ),
  ...OwnerProofFields,
})

export type SuspensionInput = { reason: string; until: Date | null }

/** @throws ApiError `validation_error` naming `reason` or `until`. */
export function toSuspension({ reason, until }: Static<typeof Suspension>, nowMs: number): SuspensionInput {
  checkStorable(reason, 'reason')
  if (isBlank(reason)) throw validationError('reason', 'must not be blank')
  if (until === undefined || until === null) return { reason: reason.trim(), until: null }
  const at = Date.parse(until)
  if (!Number.isFinite(at) || at <= nowMs) throw validationError('until', 'must be a time in the future')
  return { reason: reason.trim(), until: new Date(at) }
}

export const SignOutQuery = Type.Object({
  tokens: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Whether to end everything else that acts for the account as well, such as access tokens and authorizations',
    }),
  ),
})
