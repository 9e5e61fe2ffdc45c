// Response schemas of users, with the fields that only the user and admins see.
import Type, { type Static } from 'typebox'
import { type FilesConfig, imageUrl } from '#features/basics/images/hosted-image.ts'
import { NamedObject, Nullable, Revision, Timestamp, toView } from '#lib/schema/schema-parts.ts'
import type { AccountRow } from './queries.ts'

export const Role = Type.Enum(['developer', 'moderator', 'admin'])

export const UserView = Type.Object(
  {
    id: Type.String(),
    username: Type.String(),
    avatar_url: Nullable(Type.String()),
    bio: Nullable(Type.String()),
    created: Timestamp,
    role: Role,
    badges: Type.Integer({ description: 'Bit field' }),
    campaigns: Type.Object(
      { pride_26: Type.Null() },
      { description: 'Donation campaigns. Always empty; existing clients require the key' },
    ),
    // The following fields are null unless the viewer is the user or an admin.
    email: Nullable(Type.String()),
    email_verified: Nullable(Type.Boolean()),
    has_password: Nullable(Type.Boolean()),
    has_totp: Nullable(Type.Boolean()),
    auth_providers: Nullable(Type.Array(Type.String())),
    allow_friend_requests: Nullable(Type.Boolean()),
    payout_data: Nullable(
      Type.Object({
        payout_handle: Nullable(Type.String()),
        balance: Type.String({ description: 'Available amount, as a decimal string' }),
        balance_number: Type.Number({
          description: 'Available amount as a number, for clients that cannot parse the string',
        }),
      }),
    ),
    // The v2 API omits the rest.
    revision: Revision('user', ' (fields that others cannot see included)'),
    language: Type.Optional(
      Nullable(
        Type.String({
          description: 'Language that the user reads, null if it is unknown. Only the user and admins see the key',
        }),
      ),
    ),
    service_of: Type.Optional(
      Type.String({ description: 'ID of the organization that owns this service account; nobody signs in as it' }),
    ),
  },
  {
    title: 'User',
    description:
      '`email` and the fields from there to `payout_data` are null unless the caller is this user or an admin.',
  },
)
export type UserView = Static<typeof UserView>

/** Maps an account to the public view. */
export function toPublicUserView(row: AccountRow, config: FilesConfig): UserView {
  const { service_of: owner, language: _, ...fields } = row
  return toView(UserView, {
    ...fields,
    ...(owner === null ? {} : { service_of: owner }),
    avatar_url: imageUrl(config, row.avatar_url),
    campaigns: { pride_26: null },
    email: null,
    email_verified: null,
    has_password: null,
    has_totp: null,
    auth_providers: null,
    allow_friend_requests: null,
    payout_data: null,
  })
}

/** The fields of an account that only the user and admins see. */
export type PrivateFields = Pick<
  UserView,
  'email' | 'email_verified' | 'has_password' | 'has_totp' | 'auth_providers' | 'allow_friend_requests' | 'language'
> & { payout_handle: string | null }

export function toPrivateFields(row: AccountRow): PrivateFields {
  return {
    email: row.email,
    email_verified: row.email_verified,
    has_password: row.password_hash !== null,
    has_totp: row.totp_secret !== null,
    auth_providers: [...(row.code_host_id === null ? [] : ['code-host']), ...row.sign_in_providers],
    allow_friend_requests: row.allow_friend_requests,
    language: row.language,
    payout_handle: row.payout_handle,
  }
}

/** Adds the private fields to a public view, with the email address and balance if the scopes of the token allow it. */
export function toPrivateUserView(
  view: UserView,
  { payout_handle, email, ...fields }: PrivateFields,
  show: { email: boolean; balance: string | undefined },
): UserView {
  return {
    ...view,
    ...fields,
    email: show.email ? email : null,
    payout_data:
      show.balance === undefined
        ? null
        : { payout_handle, balance: show.balance, balance_number: Number(show.balance) },
  }
}

/** Fields that the data export contains in addition to the view of the user. */
export const OwnFacts = NamedObject('OwnFacts', {
  code_host_id: Nullable(Type.String({ description: 'ID of the linked account at the code host' })),
  raw_avatar_url: Nullable(Type.String()),
  limits: Nullable(
    Type.Object({
      projects: Nullable(Type.Integer()),
      organizations: Nullable(Type.Integer()),
      collections: Nullable(Type.Integer()),
    }),
  ),
  backup_codes: Type.Integer({ description: 'Number of unused backup codes' }),
})
export type OwnFacts = Static<typeof OwnFacts>

export const FoundUserView = NamedObject('FoundUser', {
  id: Type.String(),
  username: Type.String(),
  avatar_url: Nullable(Type.String()),
})

/** Responses of the empty routes. */
export const NoUsers = Type.Array(Type.Unknown(), { maxItems: 0 })
export const NoPreferences = Type.Object({})
