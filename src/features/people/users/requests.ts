// Requests of users.
import Type, { type Static } from 'typebox'
import { ALL_BADGES } from '#features/basics/access/permissions.ts'
import { OwnerProofFields } from '#features/basics/access/requests.ts'
import { LANGUAGE_TAGS } from '#lib/languages.ts'
import { Maybe, NamedObject } from '#lib/schema/schema-parts.ts'
import { USERNAME_PATTERN } from '#lib/text/text-rules.ts'
import { Role } from './views.ts'

/** Missing fields remain unchanged. Null clears the bio and the payout handle; for other fields it means missing. */
export const UserPatch = NamedObject('UserUpdate', {
  username: Maybe(Type.String({ minLength: 1, maxLength: 39, pattern: USERNAME_PATTERN })),
  bio: Maybe(Type.String({ maxLength: 160 })),
  role: Maybe(Role),
  badges: Maybe(
    Type.Integer({
      minimum: 0,
      maximum: ALL_BADGES,
      description: 'Bit field; only the session of an admin can change it, with `password`',
    }),
  ),
  payout_handle: Maybe(
    Type.String({ maxLength: 160, description: 'Payout handle; requires the scope PAYOUTS_WRITE and `password`' }),
  ),
  allow_friend_requests: Maybe(Type.Boolean()),
  language: Maybe(Type.Enum(LANGUAGE_TAGS, { description: 'Language that the user reads' })),
  ...OwnerProofFields,
})
/** The changed fields, without the confirmation of the owner. */
export type UserPatch = Omit<Static<typeof UserPatch>, 'password' | 'code'>

export const UserSearchQuery = Type.Object({
  query: Type.String({ maxLength: 256, description: 'Prefix of the username; case-insensitive' }),
})

export const EmailQuery = Type.Object({ email: Type.String({ maxLength: 254, description: 'Complete email address' }) })
