// The list of everything that acts for an account or an organization, and the effect of each event that ends trust.
// `end-access.ts` executes the table, docs/operators/security.md shows it, and revocation.test.ts compares it with the
// responses of the API.

/** Everything that acts for an account or an organization, with the tables that store it, in the order in which it ends. */
export const ACCESS_KINDS = {
  sessions: { label: 'sessions', tables: ['session'] },
  sign_ins: { label: 'incomplete sign-ins', tables: ['account_flow'] },
  password_links: { label: 'links to set a password', tables: ['account_flow'] },
  email_changes: { label: 'links that verify an email address', tables: ['account_flow'] },
  undo_links: { label: 'links that undo a change of the email address', tables: ['account_flow'] },
  access_tokens: { label: 'personal access tokens', tables: ['personal_access_token'] },
  passkeys: { label: 'passkeys', tables: ['passkey'] },
  provider_links: { label: 'links to services that sign in', tables: ['account_provider'] },
  // Codes come before authorizations, in the same order as the exchange of a code.
  oauth_codes: { label: 'unexchanged codes of applications', tables: ['oauth_code', 'oauth_flow'] },
  oauth_grants: {
    label: 'authorizations of applications and their tokens',
    tables: ['oauth_authorization', 'oauth_token'],
  },
  secret_feeds: { label: 'secret feeds', tables: ['follow_feed'] },
  code_host: { label: 'the link to a code host', tables: ['account'] },
  service_tokens: { label: 'tokens of service accounts that the user created', tables: ['personal_access_token'] },
  webhooks: { label: 'webhooks that the user created', tables: ['webhook'] },
  trusted_publishers: {
    label: 'trusted publishers that the user added',
    tables: ['trusted_publisher', 'publisher_token'],
  },
} as const satisfies Record<string, { label: string; tables: readonly string[] }>

export type AccessKind = keyof typeof ACCESS_KINDS

/**
 * - `ends`: does not work any more, and cannot be restored. Webhooks are switched off; a member can switch them on again.
 * - `newer`: ends if it was created after the email address was changed.
 * - `pauses`: does nothing until the suspension is lifted or the deletion is undone.
 * - `limited`: works, and can do what the user can still do.
 * - `stays`: works.
 */
export type Effect = 'ends' | 'newer' | 'pauses' | 'limited' | 'stays'

/** Effects of an event on every kind. */
type Effects = Readonly<Record<AccessKind, Effect>>

const LINKS_STAY = { password_links: 'stays', email_changes: 'stays', undo_links: 'stays' } as const

const PASSWORD_CHANGED = {
  ...LINKS_STAY,
  sessions: 'ends',
  sign_ins: 'ends',
  password_links: 'ends',
  passkeys: 'stays',
  provider_links: 'stays',
  access_tokens: 'stays',
  oauth_grants: 'stays',
  oauth_codes: 'ends',
  secret_feeds: 'stays',
  code_host: 'stays',
  service_tokens: 'stays',
  webhooks: 'stays',
  trusted_publishers: 'stays',
} as const satisfies Effects

const SIGNED_OUT = { ...PASSWORD_CHANGED, password_links: 'stays' } as const satisfies Effects

/** Everything with which a program could act for the account. */
const TOKENS_END = {
  access_tokens: 'ends',
  oauth_grants: 'ends',
  secret_feeds: 'ends',
  code_host: 'ends',
  service_tokens: 'ends',
} as const

const PERMISSION_LOST = {
  ...LINKS_STAY,
  sessions: 'limited',
  sign_ins: 'stays',
  passkeys: 'stays',
  provider_links: 'stays',
  access_tokens: 'limited',
  oauth_grants: 'limited',
  oauth_codes: 'limited',
  secret_feeds: 'stays',
  code_host: 'limited',
  service_tokens: 'limited',
  webhooks: 'ends',
  trusted_publishers: 'limited',
} as const satisfies Effects

const LEFT = { ...PERMISSION_LOST, service_tokens: 'ends', trusted_publishers: 'ends' } as const satisfies Effects

const DELETED = {
  sessions: 'ends',
  sign_ins: 'ends',
  password_links: 'stays',
  email_changes: 'ends',
  undo_links: 'stays',
  passkeys: 'pauses',
  provider_links: 'pauses',
  access_tokens: 'ends',
  oauth_grants: 'ends',
  oauth_codes: 'ends',
  secret_feeds: 'ends',
  code_host: 'pauses',
  service_tokens: 'ends',
  webhooks: 'ends',
  trusted_publishers: 'ends',
} as const satisfies Effects

/** Events that end trust. */
export const ACCESS_EVENTS = {
  email_undone: {
    label: 'the user undoes a change of the email address',
    effects: {
      sessions: 'ends',
      sign_ins: 'ends',
      password_links: 'ends',
      email_changes: 'ends',
      undo_links: 'ends',
      passkeys: 'newer',
      provider_links: 'newer',
      access_tokens: 'newer',
      oauth_grants: 'newer',
      oauth_codes: 'ends',
      secret_feeds: 'newer',
      code_host: 'ends',
      service_tokens: 'newer',
      webhooks: 'ends',
      trusted_publishers: 'newer',
    },
  },
  password_reset: {
    label: 'a password is set or reset, and the tokens end with it',
    effects: { ...PASSWORD_CHANGED, ...TOKENS_END },
  },
  password_changed: { label: 'a password is set or reset, and the user keeps the tokens', effects: PASSWORD_CHANGED },
  signed_out: { label: 'sign-out everywhere', effects: SIGNED_OUT },
  revoked: { label: 'sign-out everywhere by an operator, with the tokens', effects: { ...SIGNED_OUT, ...TOKENS_END } },
  suspended: {
    label: 'suspension',
    effects: {
      ...LINKS_STAY,
      sessions: 'ends',
      sign_ins: 'ends',
      passkeys: 'pauses',
      provider_links: 'pauses',
      access_tokens: 'pauses',
      oauth_grants: 'pauses',
      oauth_codes: 'ends',
      secret_feeds: 'pauses',
      code_host: 'pauses',
      service_tokens: 'pauses',
      webhooks: 'pauses',
      trusted_publishers: 'pauses',
    },
  },
  deleted: { label: 'deletion of the account', effects: DELETED },
  cleaned_up: { label: 'mark as spam, after the hour in which it can be undone', effects: DELETED },
  left: { label: 'the user leaves or is removed from a project or organization', effects: LEFT },
  permission_lost: { label: 'the user loses a permission', effects: PERMISSION_LOST },
  organization_deleted: { label: 'deletion of the organization', effects: LEFT },
} as const satisfies Record<string, { label: string; effects: Effects }>

export type AccessEvent = keyof typeof ACCESS_EVENTS
