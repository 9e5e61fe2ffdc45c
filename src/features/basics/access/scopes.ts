// The scopes of tokens. Validation, the API description and the account pages use this table.
// A set of scopes is a number below 2^50, as in requests and responses. JavaScript's `|` and `&` support only 32 bits, so
// every operation splits the number into two halves.

export type ScopeGroup =
  | 'User'
  | 'Project'
  | 'Version'
  | 'Notification'
  | 'Collection'
  | 'Organization'
  | 'Analytics and payouts'
  | 'Reports and threads'
  | 'Sign-in and tokens'
  | 'Webhook'
  | 'Reserved'

type ScopeRow = readonly [bit: number, group: ScopeGroup, explanation: string, restricted?: 'restricted']

// `restricted`: neither a personal access token nor an OAuth application can have the scope.
// Depot accepts the reserved scopes, so that existing masks stay valid, but no operation requires them.
const TABLE = {
  USER_READ_EMAIL: [0, 'User', 'See your email address'],
  USER_READ: [1, 'User', 'See your account, the projects you follow and your settings'],
  USER_WRITE: [2, 'User', 'Change your profile and avatar, follow and unfollow projects'],
  USER_DELETE: [3, 'User', 'Delete your account', 'restricted'],
  USER_AUTH_WRITE: [4, 'User', 'Change your email address, password and two-factor sign-in', 'restricted'],
  NOTIFICATION_READ: [5, 'Notification', 'Read your notifications'],
  NOTIFICATION_WRITE: [6, 'Notification', 'Mark your notifications as read and delete them'],
  PAYOUTS_READ: [7, 'Analytics and payouts', 'See your revenue, balance and payouts'],
  PAYOUTS_WRITE: [8, 'Analytics and payouts', 'Change where your payouts go'],
  ANALYTICS: [9, 'Analytics and payouts', 'See the statistics of your projects and affiliate codes'],
  PROJECT_CREATE: [10, 'Project', 'Create projects in your name'],
  PROJECT_READ: [11, 'Project', 'See your projects and teams, including private ones'],
  PROJECT_WRITE: [12, 'Project', 'Change your projects, their images and their teams'],
  PROJECT_DELETE: [13, 'Project', 'Delete your projects'],
  VERSION_CREATE: [14, 'Version', 'Publish versions of your projects'],
  VERSION_READ: [15, 'Version', 'See the versions of your projects, including drafts'],
  VERSION_WRITE: [16, 'Version', 'Change versions of your projects and their files'],
  VERSION_DELETE: [17, 'Version', 'Delete versions of your projects'],
  REPORT_CREATE: [18, 'Reports and threads', 'File reports in your name'],
  REPORT_READ: [19, 'Reports and threads', 'Read your reports'],
  REPORT_WRITE: [20, 'Reports and threads', 'Change your reports'],
  REPORT_DELETE: [21, 'Reports and threads', 'Delete reports, if you are a moderator'],
  THREAD_READ: [22, 'Reports and threads', 'Read your conversations with moderators'],
  THREAD_WRITE: [23, 'Reports and threads', 'Write and delete messages in your conversations with moderators'],
  PAT_CREATE: [24, 'Sign-in and tokens', 'Create personal access tokens', 'restricted'],
  PAT_READ: [25, 'Sign-in and tokens', 'See your personal access tokens', 'restricted'],
  PAT_WRITE: [26, 'Sign-in and tokens', 'Change your personal access tokens', 'restricted'],
  PAT_DELETE: [27, 'Sign-in and tokens', 'Revoke your personal access tokens', 'restricted'],
  SESSION_READ: [28, 'Sign-in and tokens', 'See where you are signed in', 'restricted'],
  SESSION_DELETE: [29, 'Sign-in and tokens', 'End your sessions', 'restricted'],
  PERFORM_ANALYTICS: [30, 'Analytics and payouts', 'Submit views and other events to the statistics'],
  COLLECTION_CREATE: [31, 'Collection', 'Create collections in your name'],
  COLLECTION_READ: [32, 'Collection', 'See your collections, including private ones'],
  COLLECTION_WRITE: [33, 'Collection', 'Change your collections'],
  COLLECTION_DELETE: [34, 'Collection', 'Delete your collections'],
  ORGANIZATION_CREATE: [35, 'Organization', 'Create organizations in your name'],
  ORGANIZATION_READ: [36, 'Organization', 'See your organizations as a member'],
  ORGANIZATION_WRITE: [37, 'Organization', 'Change your organizations and which projects belong to them'],
  ORGANIZATION_DELETE: [38, 'Organization', 'Delete your organizations'],
  SESSION_ACCESS: [39, 'Sign-in and tokens', 'Act as if you were signed in yourself', 'restricted'],
  SHARED_INSTANCE_CREATE: [40, 'Reserved', 'Grants nothing at present'],
  SHARED_INSTANCE_READ: [41, 'Reserved', 'Grants nothing at present'],
  SHARED_INSTANCE_WRITE: [42, 'Reserved', 'Grants nothing at present'],
  SHARED_INSTANCE_DELETE: [43, 'Reserved', 'Grants nothing at present'],
  SHARED_INSTANCE_VERSION_CREATE: [44, 'Reserved', 'Grants nothing at present'],
  SHARED_INSTANCE_VERSION_READ: [45, 'Reserved', 'Grants nothing at present'],
  SHARED_INSTANCE_VERSION_WRITE: [46, 'Reserved', 'Grants nothing at present'],
  SHARED_INSTANCE_VERSION_DELETE: [47, 'Reserved', 'Grants nothing at present'],
  WEBHOOK_READ: [48, 'Webhook', 'See webhooks and their deliveries'],
  WEBHOOK_WRITE: [49, 'Webhook', 'Create, change and delete webhooks'],
} as const satisfies Record<string, ScopeRow>

export type ScopeName = keyof typeof TABLE

/** A set of scopes: the sum of their values, a whole number from 0 to `ALL_SCOPES`. */
export type ScopeBits = number

export type Scope = {
  name: ScopeName
  value: ScopeBits
  group: ScopeGroup
  /** Description for the user who grants the scope. */
  explanation: string
  restricted: boolean
}

/** Every scope, lowest bit first. */
export const SCOPES: readonly Scope[] = (Object.entries(TABLE) as [ScopeName, ScopeRow][]).map(
  ([name, [bit, group, explanation, restricted]]) =>
    Object.freeze({ name, value: 2 ** bit, group, explanation, restricted: restricted === 'restricted' }),
)

const valueByName: ReadonlyMap<string, ScopeBits> = new Map(SCOPES.map(({ name, value }) => [name, value]))

const sum = (scopes: readonly Scope[]): ScopeBits => scopes.reduce((total, { value }) => total + value, 0)

/** The scopes of a session. */
export const ALL_SCOPES: ScopeBits = sum(SCOPES)

/** Scopes that neither a personal access token nor an OAuth application can have. */
export const RESTRICTED_SCOPES: ScopeBits = sum(SCOPES.filter(({ restricted }) => restricted))

/** Scopes that a personal access token or an OAuth application can have, including the reserved ones. */
export const GRANTABLE_SCOPES: ScopeBits = ALL_SCOPES - RESTRICTED_SCOPES

const HALF = 2 ** 32

/** Returns the union of two sets. */
export function combineScopes(a: ScopeBits, b: ScopeBits): ScopeBits {
  return (Math.floor(a / HALF) | Math.floor(b / HALF)) * HALF + ((a | b) >>> 0)
}

/** Returns the intersection of two sets. */
export function intersectScopes(a: ScopeBits, b: ScopeBits): ScopeBits {
  return (Math.floor(a / HALF) & Math.floor(b / HALF)) * HALF + ((a & b) >>> 0)
}

/** Whether `outer` contains every scope of `inner`. */
export function isScopeSubset(inner: ScopeBits, outer: ScopeBits): boolean {
  return intersectScopes(inner, outer) === inner
}

/** Returns the set of these scopes. */
export function scopeBitsOf(names: readonly ScopeName[]): ScopeBits {
  return names.reduce((total, name) => combineScopes(total, 2 ** TABLE[name][0]), 0)
}

/** Whether the set contains the named scope. */
export function hasScope(bits: ScopeBits, name: ScopeName): boolean {
  return isScopeSubset(2 ** TABLE[name][0], bits)
}

/** Whether a number is a set of scopes: an integer, not negative, without unknown bits. */
export function isScopeBits(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= ALL_SCOPES
}

/**
 * Returns why `holder` ("an access token") cannot have these scopes, as a predicate; undefined if it can. Unknown bits are
 * an error, so that no caller silently gets fewer scopes than requested.
 */
export function grantProblem(bits: number, holder: string): string | undefined {
  if (!isScopeBits(bits)) return 'contains unknown bits'
  const refused = scopeNames(intersectScopes(bits, RESTRICTED_SCOPES))
  return refused.length === 0 ? undefined : `contains scopes that ${holder} cannot have: ${refused.join(', ')}`
}

/** Returns the names of the scopes in the set, lowest bit first. */
export function scopeNames(bits: ScopeBits): ScopeName[] {
  return SCOPES.filter(({ value }) => isScopeSubset(value, bits)).map(({ name }) => name)
}

/**
 * Parses exact names in capitals. `unknown` lists the unknown names without duplicates; the caller must reject the list if
 * there are any.
 */
export function readScopeNames(names: Iterable<string>): { bits: ScopeBits; unknown: string[] } {
  let bits = 0
  const unknown = new Set<string>()
  for (const name of names) {
    const value = valueByName.get(name)
    if (value === undefined) unknown.add(name)
    else bits = combineScopes(bits, value)
  }
  return { bits, unknown: [...unknown] }
}

/**
 * Parses names from the command line: separated by spaces, `+` or commas, in any case. `unknown` is the same as in
 * `readScopeNames`.
 */
export function parseScopeNames(text: string): { bits: ScopeBits; unknown: string[] } {
  const words = [...new Set(text.split(/[\s+,]+/).filter((word) => word !== ''))]
  const { bits } = readScopeNames(words.map((word) => word.toUpperCase()))
  return { bits, unknown: words.filter((word) => !valueByName.has(word.toUpperCase())) }
}
