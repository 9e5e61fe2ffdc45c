// The wire shapes of a user: what everybody sees, and what the user himself and admins see beyond it
// (facts/people.md 1.0).
import Type, { type Static } from 'typebox'
import { ALL_BADGES } from '#lib/permissions.ts'
import { Nullable, Timestamp } from '#lib/schema-parts.ts'
import { USERNAME_PATTERN } from '#lib/text-rules.ts'
import type { AccountRow } from './queries.ts'

const Role = Type.Enum(['developer', 'moderator', 'admin'])

export const UserView = Type.Object(
  {
    id: Type.String(),
    username: Type.String(),
    avatar_url: Nullable(Type.String()),
    bio: Nullable(Type.String()),
    created: Timestamp,
    role: Role,
    badges: Type.Integer({ description: 'Bit field' }),
    // The rest is null unless the viewer is the user himself, or an admin.
    email: Nullable(Type.String()),
    email_verified: Nullable(Type.Boolean()),
    has_password: Nullable(Type.Boolean()),
    has_totp: Nullable(Type.Boolean()),
    auth_providers: Nullable(Type.Array(Type.String())),
    allow_friend_requests: Nullable(Type.Boolean()),
    payout_data: Nullable(
      Type.Object({
        payout_handle: Nullable(Type.String()),
        balance: Type.String({ description: 'Decimal: what is available' }),
      }),
    ),
  },
  { title: 'User', description: 'From `email` on, null unless the caller is the user himself, or an admin.' },
)
export type UserView = Static<typeof UserView>

/** What everybody sees. */
export function toPublicUserView(row: AccountRow): UserView {
  return {
    id: row.id,
    username: row.username,
    avatar_url: row.avatar_url,
    bio: row.bio,
    created: row.created.toISOString(),
    role: row.role as UserView['role'],
    badges: row.badges,
    email: null,
    email_verified: null,
    has_password: null,
    has_totp: null,
    auth_providers: null,
    allow_friend_requests: null,
    payout_data: null,
  }
}

/** What the user himself and admins see; e-mail and the available balance only where the token's scopes allow. */
export function toPrivateUserView(row: AccountRow, show: { email: boolean; balance: string | undefined }): UserView {
  return {
    ...toPublicUserView(row),
    email: show.email ? row.email : null,
    email_verified: row.email_verified,
    has_password: row.password_hash !== null,
    has_totp: row.totp_secret !== null,
    auth_providers: row.code_host_id === null ? [] : ['code-host'],
    allow_friend_requests: row.allow_friend_requests,
    payout_data: show.balance === undefined ? null : { payout_handle: row.payout_handle, balance: show.balance },
  }
}

/** Absent keeps a field; null clears a bio or a payout handle, and stands for absent elsewhere (facts/people.md 0.3). */
export const UserPatch = Type.Object(
  {
    username: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 39, pattern: USERNAME_PATTERN }))),
    bio: Type.Optional(Nullable(Type.String({ maxLength: 160 }))),
    role: Type.Optional(Nullable(Role)),
    badges: Type.Optional(
      Nullable(Type.Integer({ minimum: 0, maximum: ALL_BADGES, description: 'Bit field; for admins' })),
    ),
    payout_handle: Type.Optional(Nullable(Type.String({ maxLength: 160, description: 'Needs PAYOUTS_WRITE' }))),
    allow_friend_requests: Type.Optional(Nullable(Type.Boolean())),
  },
  { title: 'UserPatch' },
)
export type UserPatch = Static<typeof UserPatch>

/** What the export adds to the view of the user. */
export const OwnFacts = Type.Object(
  {
    code_host_id: Nullable(Type.String({ description: 'The linked account at the code host' })),
    raw_avatar_url: Nullable(Type.String()),
    limits: Nullable(
      Type.Object({
        projects: Nullable(Type.Integer()),
        organizations: Nullable(Type.Integer()),
        collections: Nullable(Type.Integer()),
      }),
    ),
    backup_codes: Type.Integer({ description: 'How many are left' }),
  },
  { title: 'OwnFacts' },
)
export type OwnFacts = Static<typeof OwnFacts>

/** A user in the answer to a search. */
export const FoundUserView = Type.Object(
  { id: Type.String(), username: Type.String(), avatar_url: Nullable(Type.String()) },
  { title: 'FoundUser' },
)
