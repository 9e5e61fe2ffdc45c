// Finds the account of a token by the token's hash. Cached tokens need no query.

import { BlockList, isIPv6 } from 'node:net'
import { sql } from 'kysely'
import { HAS_SECOND_FACTOR } from '#features/basics/access/accounts.ts'
import { ALL_SCOPES, intersectScopes, scopeBitsOf } from '#features/basics/access/scopes.ts'
import type { Role, TokenLimits, Viewer } from '#features/basics/access/viewer.ts'
import { parseAuthorization, parseToken } from '#lib/access/tokens.ts'
import { addressKey } from '#lib/address-key.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { Db } from '#platform/db/db.ts'
import { findPublisherToken } from './publisher-tokens.ts'
import type { TokenUser, UsedKind } from './token-use.ts'

declare module '#platform/cache/changes.ts' {
  interface ChangeKinds {
    token: true
    viewer: true
  }
}

/** Owner, scopes and expiry of a token. The ID in the cache is the hash in hexadecimal. */
type TokenEntry = {
  hash: string
  id: string
  kind: UsedKind
  accountId: string
  scopes: number
  expiresAtMs: number
  limits: TokenLimits | undefined
  /** Networks from which the token works; undefined: everywhere. */
  networks: BlockList | undefined
  /** The member who created a token of a service account, in whose place it acts. */
  makerId: string | undefined
}

/** The properties of an account that determine the permissions of its tokens. */
type AccountEntry = {
  id: string
  role: Role
  hasTwoFactor: boolean
  emailVerified: boolean
  awaitsApproval: boolean
  isService: boolean
  suspendedUntilMs: number | null
  revision: number
}

// A command that ends a token must announce its hash as `token`; one that changes an account, its ID as `viewer`.
const TOKEN = defineCache({
  name: 'token',
  contains: 'Owner, scopes and expiry of a token',
  idOf: (token: TokenEntry) => token.hash,
  sizeOf: ({ limits, networks }: TokenEntry) =>
    200 +
    30 * ((limits?.projects.length ?? 0) + (limits?.organizations.length ?? 0)) +
    200 * (networks?.rules.length ?? 0),
})
const VIEWER = defineCache({
  name: 'viewer',
  contains: 'Role and suspension of an account',
  idOf: (account: AccountEntry) => account.id,
  sizeOf: () => 100,
  revisionOf: (account: AccountEntry) => account.revision,
})

type Powers = Pick<Viewer, 'role' | 'withheldRole'>

const isUnprotectedStaff = ({ role, hasTwoFactor }: AccountEntry): boolean => role !== 'developer' && !hasTwoFactor

/** The only place where the role of an account becomes the role of a viewer. */
function powersOf(account: AccountEntry, isRuled: boolean): Powers {
  const { role } = account
  return isRuled && isUnprotectedStaff(account) ? { role: 'developer', withheldRole: role } : { role }
}

type RuleReader = Pick<TokenDirectoryOptions, 'staffRule'>

function peekPowers({ staffRule }: RuleReader, account: AccountEntry): Powers | undefined {
  const isRuled = isUnprotectedStaff(account) ? staffRule.peek() : false
  return isRuled === undefined ? undefined : powersOf(account, isRuled)
}

async function readPowers({ staffRule }: RuleReader, account: AccountEntry): Promise<Powers> {
  return powersOf(account, isUnprotectedStaff(account) && (await staffRule.read()))
}

/** A caller without the role, which the directory adds. */
export type ForeignCaller = Omit<Viewer, 'caller' | 'address' | 'role'>

/** Authenticates a token of a code host by the linked account; undefined if the text is not such a token. */
export type ForeignTokens = (token: string) => Promise<ForeignCaller | 'invalid' | undefined>

const HASHES_MAX = 10_000

/** `suspended`: the token is valid, but its account is suspended. */
type Outcome = Viewer | 'missing' | 'invalid' | 'suspended'

export type TokenDirectory = {
  authenticate(authorization: string | undefined, req: TokenUser): Promise<Outcome>
  /** Does the same without waiting; undefined if the token or its account is not cached. */
  peek(authorization: string | undefined, req: TokenUser): Outcome | undefined
}

export type TokenDirectoryOptions = {
  db: Db
  cache: EntityCache
  now: () => number
  /** Called at each use, to update `last_used` and the IP address of a session. Must not block. */
  onUse: (use: { kind: UsedKind; id: string; req: TokenUser }) => void
  /** Called for each use of a valid token from an IP address that its limits exclude. Must not reject. */
  onForeignAddress: (use: { tokenId: string; accountId: string; address: string }) => Promise<void>
  foreignTokens?: ForeignTokens
  /** Whether moderators and admins need two-factor sign-in. `peek` returns undefined if it would have to wait. */
  staffRule: { peek(): boolean | undefined; read(): Promise<boolean> }
}

/** Needs at most two queries, and none if the token and its account are cached. */
export function createTokenDirectory(options: TokenDirectoryOptions): TokenDirectory {
  const { db, now } = options
  const tokens = options.cache.kind(TOKEN)
  const accounts = options.cache.kind(VIEWER)
  const isSuspended = ({ suspendedUntilMs }: AccountEntry): boolean =>
    suspendedUntilMs !== null && suspendedUntilMs > now()
  /** Tokens of service accounts stop with the account of their maker. Those without a maker are from an older release. */
  const identify = (
    token: TokenEntry,
    account: AccountEntry,
    { powers, maker }: { powers: Powers; maker: AccountEntry | undefined },
    req: TokenUser,
  ): Outcome => {
    if (account.isService && maker === undefined) return 'invalid'
    if (isSuspended(account) || (maker !== undefined && isSuspended(maker))) return 'suspended'
    options.onUse({ kind: token.kind, id: token.id, req })
    const viewer = {
      id: account.id,
      ...powers,
      emailVerified: account.emailVerified,
      awaitsApproval: account.awaitsApproval,
      scopes: token.scopes,
      caller: addressKey(req.clientAddress),
      address: req.clientAddress,
      token: { kind: token.kind, id: token.id },
    }
    if (token.limits === undefined) return viewer
    const { withheldRole: _, ...unprivileged } = viewer
    const limited = { ...unprivileged, role: 'developer' as const, limits: token.limits }
    return maker === undefined ? limited : { ...limited, maker: maker.id }
  }
  /** Hashes of the tokens in recent `Authorization` headers. Hashing a token takes a third of the time of a cached response. */
  const hashes = new Map<string, string>()
  const peek = (authorization: string | undefined, req: TokenUser): Outcome | undefined => {
    if (authorization === undefined) return 'missing'
    let hash = hashes.get(authorization)
    if (hash === undefined) {
      const text = parseAuthorization(authorization)
      if (text === undefined) return 'invalid'
      hash = parseToken(text)?.hash.toString('hex')
      if (hash === undefined) return undefined
      if (hashes.size >= HASHES_MAX) hashes.clear()
      hashes.set(authorization, hash)
    }
    const token = tokens.peek(hash)
    const account = token === undefined ? undefined : accounts.peek(token.accountId)
    if (token === undefined || account === undefined || token.networks !== undefined) return undefined
    const maker = token.makerId === undefined ? undefined : accounts.peek(token.makerId)
    if (token.makerId !== undefined && maker === undefined) return undefined
    const powers = peekPowers(options, account)
    if (powers === undefined) return undefined
    return token.expiresAtMs <= now() ? 'invalid' : identify(token, account, { powers, maker }, req)
  }
  const accountOf = (id: string) => accounts.get(id, (ids) => listAccounts(db, ids))
  return {
    peek,
    async authenticate(authorization, req) {
      const known = peek(authorization, req)
      if (known !== undefined) return known
      const text = parseAuthorization(authorization) ?? ''
      const parsed = parseToken(text)
      if (parsed === undefined) {
        const foreign = (await options.foreignTokens?.(text)) ?? 'invalid'
        const account = foreign === 'invalid' ? undefined : await accountOf(foreign.id)
        if (foreign === 'invalid' || account === undefined) return 'invalid'
        return {
          ...foreign,
          ...(await readPowers(options, account)),
          caller: addressKey(req.clientAddress),
          address: req.clientAddress,
        }
      }
      const { kind } = parsed
      if (kind === 'publisher') return findPublisherToken(db, { hash: parsed.hash, now: now(), req })
      const hash = parsed.hash.toString('hex')
      const token = await tokens.get(hash, (hashes) => listTokens(db, kind, hashes))
      if (token === undefined || token.expiresAtMs <= now()) return 'invalid'
      const account = await accountOf(token.accountId)
      if (account === undefined) return 'invalid'
      if (token.networks !== undefined && !isSuspended(account) && !isInside(token.networks, req.clientAddress)) {
        await options.onForeignAddress({ tokenId: token.id, accountId: account.id, address: req.clientAddress })
        return 'invalid'
      }
      const maker = token.makerId === undefined ? undefined : await accountOf(token.makerId)
      return identify(token, account, { powers: await readPowers(options, account), maker }, req)
    },
  }
}

/** A fine-grained token does not read the email address and the payouts of its account. */
const LIMITED_SCOPES = ALL_SCOPES - scopeBitsOf(['USER_READ_EMAIL', 'PAYOUTS_READ', 'PAYOUTS_WRITE'])

type TokenRow = { id: string; account_id: string; hash: string; scopes: number; expires: Date } & {
  project_ids: string[] | null
  organization_ids: string[] | null
  addresses: string[] | null
  created_by: string | null
}

async function listTokens(db: Db, kind: UsedKind, hashes: string[]): Promise<TokenEntry[]> {
  const table = { session: 'session', pat: 'personal_access_token', oauth: 'oauth_token' }[kind]
  const scopes = kind === 'session' ? sql<number>`${sql.lit(ALL_SCOPES)}::bigint` : sql<number>`scopes`
  const limits =
    kind === 'pat'
      ? sql`project_ids, organization_ids, addresses::text[] as addresses, created_by`
      : sql`null as project_ids, null as organization_ids, null as addresses, null as created_by`
  const { rows } = await sql<TokenRow>`
    select id, account_id, encode(token_hash, 'hex') as hash, ${scopes} as scopes, expires, ${limits} from ${sql.table(table)}
    where token_hash = any(${hashes.map((hash) => Buffer.from(hash, 'hex'))}::bytea[])`.execute(db)
  return rows.map((row) => {
    const limits = limitsOf(row)
    return {
      hash: row.hash,
      id: row.id,
      kind,
      accountId: row.account_id,
      scopes: limits === undefined ? row.scopes : intersectScopes(row.scopes, LIMITED_SCOPES),
      expiresAtMs: row.expires.getTime(),
      limits,
      networks: row.addresses === null ? undefined : toNetworks(row.addresses),
      makerId: row.created_by ?? undefined,
    }
  })
}

function limitsOf({ project_ids, organization_ids }: TokenRow): TokenLimits | undefined {
  if (project_ids === null && organization_ids === null) return undefined
  return { projects: project_ids ?? [], organizations: organization_ids ?? [] }
}

/** `ranges` are networks in the form of PostgreSQL: `192.0.2.0/24`. */
function toNetworks(ranges: readonly string[]): BlockList {
  const networks = new BlockList()
  for (const range of ranges) {
    const [network = '', bits = ''] = range.split('/')
    networks.addSubnet(network, Number(bits), familyOf(network))
  }
  return networks
}

function isInside(networks: BlockList, address: string): boolean {
  return networks.check(address, familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4'
}

async function listAccounts(db: Db, ids: string[]): Promise<AccountEntry[]> {
  const rows = await db
    .selectFrom('account')
    .select([
      'id',
      'role',
      HAS_SECOND_FACTOR.as('hasTwoFactor'),
      'email_verified',
      'awaits_approval',
      'service_of',
      'suspended_at',
      'suspended_until',
      'revision',
    ])
    .where('id', 'in', ids)
    .where('deletion_due', 'is', null)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    role: row.role as Role,
    hasTwoFactor: row.hasTwoFactor,
    emailVerified: row.email_verified,
    awaitsApproval: row.awaits_approval,
    isService: row.service_of !== null,
    suspendedUntilMs: row.suspended_at === null ? null : (row.suspended_until?.getTime() ?? Number.POSITIVE_INFINITY),
    revision: row.revision,
  }))
}
