// What requests about users bring: bodies and queries with their bounds.
import Type, { type Static } from 'typebox'
import { OwnerProofFields } from '#features/basics/access/requests.ts'
import { ALL_BADGES } from '#lib/access/permissions.ts'
import { Maybe } from '#lib/schema/schema-parts.ts'
import { USERNAME_PATTERN } from '#lib/text/text-rules.ts'
import { Role } from './views.ts'

/** Absent keeps a field; null clears a bio or a payout handle, and stands for absent elsewhere, as clients send it. */
export const UserPatch = Type.Object(
  {
    username: Maybe(Type.String({ minLength: 1, maxLength: 39, pattern: USERNAME_PATTERN })),
    bio: Maybe(Type.String({ maxLength: 160 })),
    role: Maybe(Role),
    badges: Maybe(Type.Integer({ minimum: 0, maximum: ALL_BADGES, description: 'Bit field; for admins' })),
    payout_handle: Maybe(Type.String({ maxLength: 160, description: 'Needs PAYOUTS_WRITE, and `password`' })),
    allow_friend_requests: Maybe(Type.Boolean()),
    ...OwnerProofFields,
  },
  { title: 'UserPatch' },
)
/** What is changed, without the proof of who asks. */
export type UserPatch = Omit<Static<typeof UserPatch>, 'password' | 'code'>

export const UserSearchQuery = Type.Object({
  query: Type.String({ maxLength: 256, description: 'Beginning of the username, case-insensitive' }),
})

export const EmailQuery = Type.Object({
  email: Type.String({ maxLength: 254, description: 'The complete e-mail address' }),
})
