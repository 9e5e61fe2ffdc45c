// Finds the account of a token by the token's hash. Cached tokens need no query.
import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { ALL_SCOPES } from '#lib/access/scopes.ts'
import { parseAuthorization, parseToken, type TokenKind } from '#lib/access/tokens.ts'
import type { Role, Viewer } from '#lib/access/viewer.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { Db } from '#platform/db/db.ts'
import { callerOf } from '../limits/client-address.ts'

/** Owner, scopes and expiry of a token. The ID in the cache is the hash in hexadecimal. */
type TokenEntry = {
  hash: string
  id: string
  kind: TokenKind
  accountId: string
  scopes: number
  expiresAtMs: number
}

/** The properties of an account that determine the permissions of its tokens. */
type AccountEntry = {
  id: string
  role: Role
  emailVerified: boolean
  suspendedUntilMs: number | null
  revision: number
}

// A command that ends a token must announce its hash as `token`; one that changes an account, its ID as `viewer`.
const TOKEN = { name: 'token' as const, idOf: (token: TokenEntry) => token.hash, sizeOf: () => 200 }
const VIEWER = {
  name: 'viewer' as const,
  idOf: (account: AccountEntry) => account.id,
  sizeOf: () => 100,
  revisionOf: (account: AccountEntry) => account.revision,
}

/** Authenticates a token of a code host by the linked account; undefined if the text is not such a token. */
export type ForeignTokens = (token: string) => Promise<Omit<Viewer, 'caller' | 'address'> | 'invalid' | undefined>

export type TokenDirectory = {
  /** `suspended`: the token is valid, but its account is suspended. */
  authenticate(
    authorization: string | undefined,
    req: FastifyRequest,
  ): Promise<Viewer | 'missing' | 'invalid' | 'suspended'>
}

export type TokenDirectoryOptions = {
  db: Db
  cache: EntityCache
  now: () => number
  /** Called at each use, to update `last_used` and the IP address of a session. Must not block. */
  onUse: (use: { kind: TokenKind; id: string; req: FastifyRequest }) => void
  foreignTokens?: ForeignTokens
}

/** Needs at most two queries, and none if the token and its account are cached. */
export function createTokenDirectory(options: TokenDirectoryOptions): TokenDirectory {
  const { db, now } = options
  const tokens = options.cache.kind(TOKEN)
  const accounts = options.cache.kind(VIEWER)
  return {
    async authenticate(authorization, req) {
      if (authorization === undefined) return 'missing'
      const text = parseAuthorization(authorization)
      if (text === undefined) return 'invalid'
      const parsed = parseToken(text)
      if (parsed === undefined) {
        const foreign = (await options.foreignTokens?.(text)) ?? 'invalid'
        return foreign === 'invalid' ? foreign : { ...foreign, caller: callerOf(req), address: req.clientAddress }
      }
      const hash = parsed.hash.toString('hex')
      const token = tokens.peek(hash) ?? (await tokens.get(hash, (hashes) => listTokens(db, parsed.kind, hashes)))
      if (token === undefined || token.expiresAtMs <= now()) return 'invalid'
      const account =
        accounts.peek(token.accountId) ?? (await accounts.get(token.accountId, (ids) => listAccounts(db, ids)))
      if (account === undefined) return 'invalid'
      if (account.suspendedUntilMs !== null && account.suspendedUntilMs > now()) return 'suspended'
      options.onUse({ kind: token.kind, id: token.id, req })
      return {
        id: account.id,
        role: account.role,
        emailVerified: account.emailVerified,
        scopes: token.scopes,
        caller: callerOf(req),
        address: req.clientAddress,
        token: { kind: token.kind, id: token.id },
      }
    },
  }
}

async function listTokens(db: Db, kind: TokenKind, hashes: string[]): Promise<TokenEntry[]> {
  const table = { session: 'session', pat: 'personal_access_token', oauth: 'oauth_token' }[kind]
  const scopes = kind === 'session' ? sql<number>`${sql.lit(ALL_SCOPES)}::bigint` : sql<number>`scopes`
  const { rows } = await sql<{ id: string; account_id: string; hash: string; scopes: number; expires: Date }>`
    select id, account_id, encode(token_hash, 'hex') as hash, ${scopes} as scopes, expires from ${sql.table(table)}
    where token_hash = any(${hashes.map((hash) => Buffer.from(hash, 'hex'))}::bytea[])`.execute(db)
  return rows.map((row) => ({
    hash: row.hash,
    id: row.id,
    kind,
    accountId: row.account_id,
    scopes: row.scopes,
    expiresAtMs: row.expires.getTime(),
  }))
}

async function listAccounts(db: Db, ids: string[]): Promise<AccountEntry[]> {
  const rows = await db
    .selectFrom('account')
    .select(['id', 'role', 'email_verified', 'suspended_at', 'suspended_until', 'revision'])
    .where('id', 'in', ids)
    .where('deletion_due', 'is', null)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    role: row.role as Role,
    emailVerified: row.email_verified,
    suspendedUntilMs: row.suspended_at === null ? null : (row.suspended_until?.getTime() ?? Number.POSITIVE_INFINITY),
    revision: row.revision,
  }))
}
