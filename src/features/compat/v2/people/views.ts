// v2 views of users, members, notifications and threads.
import Type, { type Static } from 'typebox'
import type { ThreadForm } from '#features/catalogue/threads/thread-bytes.ts'
import { ThreadMessageView, ThreadView } from '#features/catalogue/threads/views.ts'
import type { MemberWriter } from '#features/community/teams/views.ts'
import type { NotificationRow } from '#features/people/notifications/queries.ts'
import type { NotificationForm } from '#features/people/notifications/routes.ts'
import { toNotificationView } from '#features/people/notifications/views.ts'
import type { UserForm } from '#features/people/users/routes.ts'
import { type CachedUser, userForm } from '#features/people/users/user-cache.ts'
import { UserView } from '#features/people/users/views.ts'
import { keepKnownKeys } from '#lib/schema/known-keys.ts'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import { bytesToKeep, JsonEntity } from '#lib/text/json-bytes.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { DerivedForm } from '#platform/cache/entries.ts'

const Text = Type.String()

const { revision: _revision, language: _language, service_of: _serviceOf, ...v3UserFields } = UserView.properties
/** A user inside a member or a thread: the v3 view without the revision. */
const NestedUser = Type.Object(v3UserFields, {
  title: 'User',
  description: '`email` and the fields after it are null unless the caller is this user or an admin.',
})
const { campaigns: _campaigns, allow_friend_requests: _requests, ...userFields } = v3UserFields
const PayoutDataV2 = Type.Object({
  payout_handle: Nullable(Text),
  balance: Type.Number({ description: 'Available amount' }),
  paypal_address: Type.Null(),
  paypal_country: Type.Null(),
  venmo_handle: Type.Null(),
})
const UserV2 = Type.Object(
  { ...userFields, payout_data: Nullable(PayoutDataV2), name: Type.Null(), github_id: Type.Null() },
  {
    title: 'AccountUser',
    description: '`email` and the following fields are null unless the caller is this user or an admin.',
  },
)
type UserV2 = Static<typeof UserV2>

function toUserV2(user: UserView): UserV2 {
  const payout_data = toPayoutDataV2(user.payout_data)
  return keepKnownKeys<UserV2>(UserV2, { ...user, payout_data, name: null, github_id: null })
}

function toPayoutDataV2(data: UserView['payout_data']): UserV2['payout_data'] {
  if (data === null) return null
  const { payout_handle, balance_number: balance } = data
  return { payout_handle, balance, paypal_address: null, paypal_country: null, venmo_handle: null }
}

const USER: DerivedForm<CachedUser, JsonEntity> = {
  derive: ({ bytes }) => new JsonEntity(bytesToKeep(JSON.stringify(toUserV2(JSON.parse(bytes.toString()))))),
  sizeOf: ({ bytes }) => bytes.length + 200,
}

export function userFormV2(reader: { cache: EntityCache }): UserForm {
  return { schema: UserV2, toJson: (user) => userForm(reader, user, USER), toView: toUserV2 }
}

const MemberV2 = Type.Object(
  {
    team_id: Text,
    user: NestedUser,
    role: Type.String({ description: 'Role. Only the owner has the role `Owner`' }),
    permissions: Nullable(Type.Integer({ description: 'Project permission bits' })),
    accepted: Type.Boolean({ description: 'Whether the user has accepted the invitation' }),
    payouts_split: Nullable(Type.Number({ description: 'Share of payouts, 0 to 5,000, in hundredths of a percent' })),
    ordering: Type.Integer(),
  },
  {
    title: 'TeamMember',
    description: '`permissions` and `payouts_split` are null unless the caller is an accepted member.',
  },
)

/** Removes the revision, the last key, from the v3 view of a user. */
function withoutRevision(user: string): string {
  return `${user.slice(0, user.lastIndexOf(',"revision":'))}}`
}

const OWNER = 'Owner'

/** Clients recognise the owner by the name of the role, so no other member can have it. */
const writeMemberV2: MemberWriter = ({ row, asMember }, user) => {
  const own = JSON.stringify({
    team_id: row.team_id,
    role: row.is_owner ? OWNER : row.role === OWNER ? 'Member' : row.role,
    permissions: asMember ? row.permissions : null,
    accepted: row.accepted,
    payouts_split: asMember ? row.payouts_split : null,
    ordering: row.ordering,
  })
  return `${own.slice(0, -1)},"user":${withoutRevision(user)}}`
}
export const MEMBER = { schema: MemberV2, toJson: writeMemberV2 }

const NotificationV2 = NamedObject('Notification', {
  id: Text,
  user_id: Text,
  read: Type.Boolean(),
  created: Timestamp,
  body: Type.Object(
    { type: Text },
    { additionalProperties: Type.Unknown(), description: 'Content of the notification. The fields depend on `type`' },
  ),
  type: Nullable(Type.String({ description: 'Type of the body' })),
  title: Text,
  text: Text,
  link: Type.String({ description: 'Path of a page on the web site' }),
  actions: Type.Array(
    Type.Object({
      title: Text,
      action_route: Type.Array(Text, {
        minItems: 2,
        maxItems: 2,
        description: 'HTTP method, and path below the version prefix without a leading slash',
      }),
    }),
  ),
})
type NotificationV2 = Static<typeof NotificationV2>

function toNotificationV2(row: NotificationRow): NotificationV2 {
  const { name, actions, body, ...rest } = toNotificationView(row)
  return {
    ...rest,
    body,
    type: body.type,
    title: name,
    actions: actions.map(({ name: title, action_route: [method = '', path = ''] }) => ({
      title,
      action_route: [method, path.replace(/^\//, '')],
    })),
  }
}

export const NOTIFICATION: NotificationForm = { schema: NotificationV2, toView: toNotificationV2 }

const { hide_identity: _, ...message } = ThreadMessageView.properties
const ThreadV2 = NamedObject('Thread', {
  ...ThreadView.properties,
  members: Type.Array(NestedUser, { description: 'Authors of messages whose identity the caller can see' }),
  messages: Type.Array(NamedObject('ThreadMessage', message)),
})

/** Messages without the fields that v2 clients do not know. */
export const THREAD: ThreadForm = {
  schema: ThreadV2,
  toShown: ({ hide_identity: _, ...shown }) => shown,
  toMember: ({ bytes }) => ({ bytes: Buffer.from(withoutRevision(bytes.toString())) }),
}
