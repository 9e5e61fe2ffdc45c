// Response schemas for the administration of accounts.
import Type, { type Static } from 'typebox'
import type { AccountRow } from '#features/people/users/queries.ts'
import { Role } from '#features/people/users/views.ts'
import { networkOf } from '#lib/address-key.ts'
import { NamedObject, Nullable, Timestamp, toView } from '#lib/schema/schema-parts.ts'
import type { PendingDeletion } from '../deletion/queries.ts'
import type { SessionRow } from '../sessions/views.ts'

export const SuspendedAccount = NamedObject('SuspendedAccount', {
  id: Type.String(),
  username: Type.String(),
  role: Role,
  since: Timestamp,
  until: Nullable(Timestamp),
  reason: Type.String(),
})

export const DeletedAccount = NamedObject('DeletedAccount', {
  id: Type.String(),
  username: Type.String(),
  role: Role,
  requested: Timestamp,
  due: { ...Timestamp, description: 'When the account is deleted permanently' },
  by_owner: Type.Boolean({ description: 'Whether the user requested the deletion. If true, the user can undo it' }),
})

export const PasswordLink = NamedObject('PasswordLink', {
  url: Type.String({ description: 'URL of the page on which the user sets a new password; works once' }),
  expires: Timestamp,
})

export const UserSession = NamedObject('UserSession', {
  id: Type.String(),
  created: Timestamp,
  last_login: { ...Timestamp, description: 'When the session was last used to sign in or refreshed' },
  refresh_expires: Timestamp,
  os: Nullable(Type.String()),
  platform: Nullable(Type.String()),
  user_agent: Type.String(),
  city: Nullable(Type.String()),
  country: Nullable(Type.String()),
  address_range: Type.String({ description: 'Shortened IP address: 24 bits of IPv4, 48 bits of IPv6' }),
})

const AccountLimit = Type.Object({
  current: Type.Integer({ description: 'Number of owned resources' }),
  max: Nullable(Type.Integer({ description: 'Limit that applies; null without a limit' })),
  override: Nullable(
    Type.Integer({ description: 'Limit that an operator has set; null for the limit of the instance' }),
  ),
})

export const AccountLimitsView = NamedObject('AccountLimits', {
  projects: AccountLimit,
  organizations: AccountLimit,
  collections: AccountLimit,
  versions: Type.Integer({ description: 'Number of versions in the projects that the account owns' }),
  bytes: Type.Integer({ description: 'Size of their files in bytes' }),
})

export function toUserSession(row: SessionRow): Static<typeof UserSession> {
  return toView(UserSession, { ...row, address_range: networkOf(row.ip) })
}

export function toDeletedAccount(row: PendingDeletion): Static<typeof DeletedAccount> {
  return toView(DeletedAccount, row)
}

export function toSuspendedAccount(row: AccountRow): Static<typeof SuspendedAccount> {
  const { suspended_at, suspended_until: until, suspension_reason } = row
  return toView(SuspendedAccount, {
    ...row,
    since: suspended_at ?? row.created,
    until,
    reason: suspension_reason ?? '',
  })
}
