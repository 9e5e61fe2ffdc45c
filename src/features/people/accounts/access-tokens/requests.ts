// What requests about personal access tokens bring.

import type { Updateable } from 'kysely'
import Type, { type Static } from 'typebox'
import { scopeField } from '#lib/access/scope-field.ts'
import { parseToken } from '#lib/access/tokens.ts'
import { validationError } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { type PatchColumns, toColumns } from '#lib/schema/patch.ts'
import { checkText } from '#lib/text/text-rules.ts'
import { DAY_MS } from '#lib/time.ts'
import type { PersonalAccessToken } from '#platform/db/schema.ts'

const NAME = { min: 3, max: 255, visible: true } as const
/** No program is left alone for longer. */
const LIFETIME_YEARS_MAX = 10
const YEAR_MS = 366 * DAY_MS

const NameField = Type.String({ minLength: NAME.min, maxLength: NAME.max })
const ExpiresField = Type.String({
  format: 'date-time',
  maxLength: 64,
  description: 'In the future, at most ten years from now',
})

export const NewToken = Type.Object(
  {
    name: NameField,
    scopes: scopeField('What the token may be used for, without restricted scopes'),
    expires: ExpiresField,
  },
  { title: 'NewPersonalAccessToken' },
)

export const TokenPatch = Type.Object(
  {
    name: Type.Optional(NameField),
    expires: Type.Optional(ExpiresField),
    scopes: Type.Optional(Type.Unknown({ description: 'Rejected: the scopes of a token cannot be changed' })),
  },
  { title: 'PersonalAccessTokenChanges' },
)
export type TokenPatch = Static<typeof TokenPatch>

/** A token of the caller, by its ID or by its secret. */
export type TokenReference = { id: string } | { hash: Buffer }

/** @throws ApiError 400 for what is neither an ID nor a secret. */
export function parseTokenReference(text: string): TokenReference {
  const secret = parseToken(text)
  return secret?.kind === 'pat' ? { hash: secret.hash } : { id: parseId(text, 'id') }
}

const columnsAt = (now: number) =>
  ({
    name: (name) => ({ name: checkTokenName(name) }),
    expires: (expires) => ({ expires: checkExpiry(new Date(expires), now) }),
    scopes: () => {
      throw validationError('scopes', 'cannot be changed; make a new token instead')
    },
  }) satisfies PatchColumns<TokenPatch, Updateable<PersonalAccessToken>>

/** What a patch sets in the token's row. @throws ApiError `validation_error` naming the field. */
export function toTokenColumns(patch: TokenPatch, now: number): Updateable<PersonalAccessToken> {
  return toColumns<TokenPatch, Updateable<PersonalAccessToken>>(patch, columnsAt(now))
}

/** @throws ApiError `validation_error` naming `name`. */
export function checkTokenName(name: string): string {
  return checkText(name, 'name', NAME)
}

/** @throws ApiError `validation_error` naming `expires`, which must be in the future and at most ten years away. */
export function checkExpiry(expires: Date, now: number): Date {
  const at = expires.getTime()
  if (Number.isNaN(at)) throw validationError('expires', 'must be a point in time')
  if (at <= now) throw validationError('expires', 'must be in the future')
  if (at > now + LIFETIME_YEARS_MAX * YEAR_MS)
    throw validationError('expires', `must be at most ${LIFETIME_YEARS_MAX} years away`)
  return expires
}
