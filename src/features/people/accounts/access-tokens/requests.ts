// Requests of personal access tokens.

import type { Updateable } from 'kysely'
import Type, { type Static } from 'typebox'
import { OwnerProofFields } from '#features/basics/access/requests.ts'
import { scopeField } from '#features/basics/access/scope-field.ts'
import { validationError } from '#lib/errors.ts'
import { toColumns } from '#lib/schema/patch.ts'
import { Maybe, NamedObject } from '#lib/schema/schema-parts.ts'
import { checkText } from '#lib/text/text-rules.ts'
import { DAY_MS } from '#lib/time.ts'
import type { Config } from '#platform/config/config.ts'
import type { PersonalAccessToken } from '#platform/db/schema.ts'
import { TokenLimits } from './limits.ts'

const NAME = { min: 3, max: 255, visible: true } as const
/** Maximum lifetime of a token. */
const LIFETIME_YEARS_MAX = 10
const YEAR_MS = 366 * DAY_MS

const NameField = Type.String({ minLength: NAME.min, maxLength: NAME.max })
const ExpiresField = Type.String({
  format: 'date-time',
  maxLength: 64,
  description: 'Time of expiry, at most 10 years from now; the operator can set an earlier limit',
})

export const NewToken = NamedObject('PersonalAccessTokenCreate', {
  name: NameField,
  scopes: scopeField('Scopes of the token, without restricted scopes'),
  expires: ExpiresField,
  limits: Maybe(TokenLimits),
  ...OwnerProofFields,
})

export const TokenPatch = NamedObject('PersonalAccessTokenUpdate', {
  name: Type.Optional(NameField),
  expires: Type.Optional(ExpiresField),
  scopes: Type.Optional(
    Type.Unknown({ description: 'Always rejected, because the scopes of a token cannot be changed' }),
  ),
  limits: Type.Optional(
    Type.Unknown({ description: 'Always rejected, because the limits of a token cannot be changed' }),
  ),
  ...OwnerProofFields,
})
export type TokenPatch = Static<typeof TokenPatch>

/** Returns the columns that a patch changes. @throws ApiError `validation_error` naming the field. */
export function toTokenColumns(
  patch: Omit<TokenPatch, keyof typeof OwnerProofFields>,
  { now, config }: { now: number; config: Config },
): Updateable<PersonalAccessToken> {
  const unchangeable = (field: string) => () => {
    throw validationError(field, 'cannot be changed; create a new token instead')
  }
  return toColumns<typeof patch, Updateable<PersonalAccessToken>>(patch, {
    name: (name) => ({ name: checkTokenName(name) }),
    expires: (expires) => ({ expires: checkExpiry(new Date(expires), now, config) }),
    scopes: unchangeable('scopes'),
    limits: unchangeable('limits'),
  })
}

/** @throws ApiError `validation_error` naming `name`. */
export function checkTokenName(name: string): string {
  return checkText(name, 'name', NAME)
}

/** @throws ApiError `validation_error` naming `expires` unless it is in the future and within the operator's limit. */
export function checkExpiry(
  expires: Date,
  now: number,
  { accounts: { tokenDaysMax } }: Pick<Config, 'accounts'>,
): Date {
  const at = expires.getTime()
  if (Number.isNaN(at)) throw validationError('expires', 'must be a valid time')
  if (at <= now) throw validationError('expires', 'must be in the future')
  if (at > now + LIFETIME_YEARS_MAX * YEAR_MS)
    throw validationError('expires', `must be at most ${LIFETIME_YEARS_MAX} years away`)
  if (tokenDaysMax > 0 && at > now + tokenDaysMax * DAY_MS)
    throw validationError('expires', `must be at most ${tokenDaysMax} days away`)
  return expires
}
