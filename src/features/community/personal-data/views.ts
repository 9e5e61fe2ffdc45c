import Type from 'typebox'
import { ProjectView } from '#features/catalogue/projects/views.ts'
import { CollectionView } from '#features/community/collections/views.ts'
import { OrganizationView } from '#features/community/organizations/views.ts'
import { PackView } from '#features/community/packs/views.ts'
import { AccessTokenView } from '#features/people/accounts/access-tokens/views.ts'
import { SessionView } from '#features/people/accounts/sessions/views.ts'
import { NotificationView } from '#features/people/notifications/views.ts'
import { BalanceView, HistoryView } from '#features/people/payouts/views.ts'
import { OwnFacts, UserView } from '#features/people/users/views.ts'
import { NamedObject } from '#lib/schema/schema-parts.ts'

const Rows = Type.Array(Type.Object({}, { additionalProperties: Type.Unknown() }))
/** All data that Depot stores about a user. */
export const ExportView = NamedObject('DataExport', {
  user: UserView,
  account: OwnFacts,
  projects: Type.Array(ProjectView),
  orgs: Type.Array(OrganizationView),
  collections: Type.Array(CollectionView),
  packs: Type.Array(PackView),
  notifs: Type.Array(NotificationView),
  sessions: Type.Array(SessionView),
  pats: Type.Array(AccessTokenView),
  origins: Rows,
  terms_consents: Rows,
  cleanups: Rows,
  teams: Rows,
  versions: Rows,
  pack_saves: Rows,
  previous_pack_slugs: Rows,
  reserved_usernames: Rows,
  previous_usernames: Rows,
  email_settings: Rows,
  webhooks: Rows,
  passkeys: Rows,
  sign_in_providers: Rows,
  follow_feed: Rows,
  follows: Rows,
  reports: Rows,
  messages: Rows,
  oauth_clients: Rows,
  oauth_authorizations: Rows,
  oauth_tokens: Rows,
  affiliate_codes: Rows,
  uploaded_images: Rows,
  released_scans: Rows,
  balance: BalanceView,
  payouts: HistoryView,
})
