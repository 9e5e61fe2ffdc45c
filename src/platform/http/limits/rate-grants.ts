// Higher request rates that operators granted. Every process has them in memory, because the limiter runs before every
// request. They are loaded at the start, and again when a grant or a token with a grant changes.
import { BlockList, isIPv6 } from 'node:net'
import { sql } from 'kysely'
import { parseAuthorization, parseToken } from '#lib/access/tokens.ts'
import { addressKey } from '#lib/address-key.ts'
import type { ChangedIds } from '#platform/cache/changes.ts'
import type { InvalidationSubscriber } from '#platform/cache/listen.ts'
import type { Db } from '#platform/db/db.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { GrantedRate, RateGrants } from './rate-limit.ts'

declare module '#platform/cache/changes.ts' {
  interface ChangeKinds {
    'rate-grant': true
  }
}

/** A command that changes a grant must call `changed.addAll` with this kind. */
const RATE_GRANT_KIND = 'rate-grant'

export type RateGrantDirectory = RateGrants & {
  /** Loads the grants as they are now. */
  refresh(): Promise<void>
  /** Reload the grants after a change. */
  subscribers: readonly InvalidationSubscriber[]
}

type TokenGrant = GrantedRate & { expiresAtMs: number }
type RangeGrant = { id: string; requestsPerMinute: number; range: BlockList }
type Grants = {
  tokens: ReadonlyMap<string, TokenGrant>
  /** The narrowest first. */
  ranges: readonly RangeGrant[]
  /** All ranges together, for a fast check whether an address is in any of them. */
  anyRange: BlockList
  /** Results by address, because searching 1,000 ranges takes a millisecond. */
  byAddress: Map<string, GrantedRate>
}

const NONE: Grants = { tokens: new Map(), ranges: [], anyRange: new BlockList(), byAddress: new Map() }
const BY_ADDRESS_MAX = 10_000
/** Pause after a failed load. */
const RETRY_MS = 1_000

/** Starts without grants: `refresh`, or the first invalidation message, loads them. */
export function createRateGrants({ db, log, now }: { db: Db; log: Log; now: () => number }): RateGrantDirectory {
  let grants = NONE
  let loading: Promise<void> = Promise.resolve()

  // Loads run in sequence, so that an older result never replaces a newer one.
  const refresh = (): Promise<void> => {
    const load = async (): Promise<void> => {
      grants = await loadGrants(db)
    }
    loading = loading.then(load, load)
    return loading
  }
  const refreshSoon = (): void => {
    refresh().catch((error: unknown) => {
      log.warn({ err: error }, 'Could not load the granted request rates; the previous ones still apply')
      setTimeout(refreshSoon, RETRY_MS).unref()
    })
  }
  return {
    forRequest(authorization, address) {
      if (grants === NONE) return undefined
      return forToken(grants, authorization, now()) ?? forAddress(grants, address)
    },
    refresh,
    subscribers: [
      { kind: RATE_GRANT_KIND, handle: refreshSoon },
      {
        kind: 'token',
        handle: (ids: ChangedIds) => {
          const { tokens } = grants
          if (tokens.size > 0 && (ids === 'all' || [...ids].some((hash) => tokens.has(hash)))) refreshSoon()
        },
      },
    ],
  }
}

function forToken({ tokens }: Grants, authorization: string | undefined, nowMs: number): GrantedRate | undefined {
  if (tokens.size === 0 || authorization === undefined) return undefined
  const token = parseToken(parseAuthorization(authorization) ?? '')
  const grant = token === undefined ? undefined : tokens.get(token.hash.toString('hex'))
  return grant !== undefined && grant.expiresAtMs > nowMs ? grant : undefined
}

/** Finds the narrowest range that contains the address. Each client in the range has the whole rate. */
function forAddress({ ranges, anyRange, byAddress }: Grants, address: string): GrantedRate | undefined {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4'
  if (!anyRange.check(address, family)) return undefined
  const cached = byAddress.get(address)
  if (cached !== undefined) return cached
  const grant = ranges.find(({ range }) => range.check(address, family))
  if (grant === undefined) return undefined
  const granted = { requestsPerMinute: grant.requestsPerMinute, key: `${grant.id}:${addressKey(address)}` }
  if (byAddress.size >= BY_ADDRESS_MAX) byAddress.clear()
  byAddress.set(address, granted)
  return granted
}

type GrantRow = {
  id: string
  requests_per_minute: number
  /** Hexadecimal; null for a range, and for a deleted token. */
  token_hash: string | null
  token_expires: Date | null
  address: string | null
  prefix: number | null
}

async function loadGrants(db: Db): Promise<Grants> {
  const { rows } = await sql<GrantRow>`
    select rate_limit_grant.id, requests_per_minute, encode(token.token_hash, 'hex') as token_hash,
      token.expires as token_expires, host(address_range) as address, masklen(address_range) as prefix
    from rate_limit_grant left join (
      select id, token_hash, expires from personal_access_token
      union all select id, token_hash, expires from session
      union all select id, token_hash, expires from oauth_token
    ) token on token.id = rate_limit_grant.token_id
    order by masklen(address_range) desc, rate_limit_grant.id`.execute(db)
  if (rows.length === 0) return NONE
  const tokens = new Map<string, TokenGrant>()
  const ranges: RangeGrant[] = []
  const anyRange = new BlockList()
  for (const { id, requests_per_minute: requestsPerMinute, token_hash, token_expires, address, prefix } of rows) {
    if (token_hash !== null && token_expires !== null) {
      tokens.set(token_hash, { requestsPerMinute, key: id, expiresAtMs: token_expires.getTime() })
    } else if (address !== null && prefix !== null) {
      const range = new BlockList()
      for (const list of [range, anyRange]) list.addSubnet(address, prefix, isIPv6(address) ? 'ipv6' : 'ipv4')
      ranges.push({ id, requestsPerMinute, range })
    }
  }
  return { tokens, ranges, anyRange, byAddress: new Map() }
}
