// Requests for the administration of accounts.
import Type, { type Static } from 'typebox'
import { OwnerProofFields, UserParams } from '#features/basics/access/requests.ts'
import { validationError } from '#lib/errors.ts'
import { Id, Maybe, NamedObject } from '#lib/schema/schema-parts.ts'
import { checkStorable, isBlank } from '#lib/text/text-rules.ts'
import type { LimitOverride } from './set-limits.ts'

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
  const stated = checkReason(reason)
  if (until === undefined || until === null) return { reason: stated, until: null }
  const at = Date.parse(until)
  if (!Number.isFinite(at) || at <= nowMs) throw validationError('until', 'must be a time in the future')
  return { reason: stated, until: new Date(at) }
}

/** Returns the schema of a request with a reason for the audit log. */
const withReason = (example: string) =>
  Type.Object({
    reason: Type.String({
      minLength: 1,
      maxLength: 1000,
      description: `Reason for the audit log, for example ${example}`,
    }),
    ...OwnerProofFields,
  })

export const TwoFactorReset = withReason('how the operator recognised the user')
export const UserExport = withReason('how the user asked for their data')

/** @throws ApiError `validation_error` naming `reason`. */
export function checkReason(reason: string): string {
  checkStorable(reason, 'reason')
  if (isBlank(reason)) throw validationError('reason', 'must not be blank')
  return reason.trim()
}

export const EmailChange = Type.Object({
  email: Type.String({ minLength: 1, maxLength: 254, description: 'The new or the present email address' }),
  verified: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Whether the address is known to be that of the user. Otherwise it receives a link that verifies it',
    }),
  ),
  ...OwnerProofFields,
})

export const SessionParams = Type.Object({ ...UserParams.properties, session: Id('ID of the session') })

export const SignOutQuery = Type.Object({
  tokens: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Whether to end everything else that acts for the account as well, such as access tokens and authorizations',
    }),
  ),
})

/** Largest limit of an account. */
export const LIMIT_MAX = 1_000_000

const limit = (kind: string) =>
  Maybe(
    Type.Integer({
      minimum: 0,
      maximum: LIMIT_MAX,
      description: `Maximum number of ${kind}. Default: null, the limit of the instance`,
    }),
  )

export const LimitsInput = Type.Object({
  projects: limit('projects'),
  organizations: limit('organizations'),
  collections: limit('collections'),
  ...OwnerProofFields,
})

/** Returns the limits; those that are absent are the limits of the instance. */
export function toLimits({ projects, organizations, collections }: Static<typeof LimitsInput>): LimitOverride {
  return { projects: projects ?? null, organizations: organizations ?? null, collections: collections ?? null }
}
