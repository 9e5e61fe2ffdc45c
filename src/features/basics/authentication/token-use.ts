// Records the last use of tokens in memory, and writes one batch per minute.

import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { networkOf } from '#lib/address-key.ts'
import { MINUTE_MS } from '#lib/time.ts'
import type { Db } from '#platform/db/db.ts'
import type { Log } from '#platform/telemetry/log.ts'

/** Kinds of tokens with a last use. */
export type UsedKind = 'session' | 'pat' | 'oauth'

/** The parts of a request that are recorded with the use of a token. */
export type TokenUser = Pick<FastifyRequest, 'headers' | 'clientAddress'>

type Use = { at: Date; ip: string; userAgent: string }

export type TokenUse = {
  record(use: { kind: UsedKind; id: string; req: TokenUser }): void
  /** Writes the recorded uses. Also called when the server closes. */
  flush(): Promise<void>
}

const FLUSH_MS = MINUTE_MS
/** Maximum number of recorded tokens per minute and kind. */
const RECORDED_MAX = 50_000
const USER_AGENT_LENGTH_MAX = 512

/** A killed process loses the uses of the last minute. */
export function createTokenUse({ db, now, log }: { db: Db; now: () => number; log: Log }): TokenUse {
  let recorded = { session: new Map<string, Use>(), pat: new Map<string, Use>(), oauth: new Map<string, Use>() }
  const flush = async (): Promise<void> => {
    const { session, pat, oauth } = recorded
    recorded = { session: new Map(), pat: new Map(), oauth: new Map() }
    if (session.size > 0) await writeSessionUse(db, session)
    if (pat.size > 0) await writeTokenUse(db, 'personal_access_token', pat)
    if (oauth.size > 0) await writeTokenUse(db, 'oauth_token', oauth)
  }
  const timer = setInterval(() => {
    flush().catch((error) => log.warn({ err: error }, 'Could not store the last uses of tokens'))
  }, FLUSH_MS)
  timer.unref()
  return {
    record({ kind, id, req }) {
      const uses = recorded[kind]
      if (uses.size >= RECORDED_MAX && !uses.has(id)) return
      const userAgent = (req.headers['user-agent'] ?? '').slice(0, USER_AGENT_LENGTH_MAX)
      uses.set(id, { at: new Date(now()), ip: req.clientAddress, userAgent })
    },
    flush: async () => {
      clearInterval(timer)
      await flush()
    },
  }
}

async function writeSessionUse(db: Db, uses: Map<string, Use>): Promise<void> {
  const rows = [...uses]
  await sql`update session set last_login = used.at, ip = used.ip, user_agent = used.user_agent
    from unnest(${rows.map(([id]) => id)}::text[], ${rows.map(([, { at }]) => at)}::timestamptz[],
      ${rows.map(([, { ip }]) => ip)}::text[], ${rows.map(([, { userAgent }]) => userAgent)}::text[])
      as used (id, at, ip, user_agent)
    where session.id = used.id`.execute(db)
}

async function writeTokenUse(
  db: Db,
  table: 'personal_access_token' | 'oauth_token',
  uses: Map<string, Use>,
): Promise<void> {
  const rows = [...uses]
  const network = table === 'oauth_token' ? sql`` : sql`, last_network = used.network`
  await sql`update ${sql.table(table)} as token set last_used = used.at ${network}
    from unnest(${rows.map(([id]) => id)}::text[], ${rows.map(([, { at }]) => at)}::timestamptz[],
      ${rows.map(([, { ip }]) => networkOf(ip))}::text[]) as used (id, at, network)
    where token.id = used.id`.execute(db)
}
