// When and from where tokens were last used: noted in memory at each request, written in one batch a minute.

import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { TokenKind } from '#lib/access/tokens.ts'
import { MINUTE_MS } from '#lib/time.ts'
import type { Db } from '#platform/db/db.ts'
import type { Log } from '#platform/telemetry/log.ts'

type Use = { at: Date; ip: string; userAgent: string }

export type TokenUse = {
  record(use: { kind: TokenKind; id: string; req: FastifyRequest }): void
  /** Writes what was noted; called once more when the server closes. */
  flush(): Promise<void>
}

const FLUSH_MS = MINUTE_MS
/** Beyond this many tokens in one minute the rest of their uses goes unnoted. */
const NOTED_MAX = 50_000
const USER_AGENT_LENGTH_MAX = 512

/** What a killed process has noted and not written is lost: the last minute of "last used". */
export function createTokenUse({ db, now, log }: { db: Db; now: () => number; log: Log }): TokenUse {
  let noted = { session: new Map<string, Use>(), pat: new Map<string, Use>(), oauth: new Map<string, Use>() }
  const flush = async (): Promise<void> => {
    const { session, pat, oauth } = noted
    noted = { session: new Map(), pat: new Map(), oauth: new Map() }
    if (session.size > 0) await writeSessionUse(db, session)
    if (pat.size > 0) await writeTokenUse(db, 'personal_access_token', pat)
    if (oauth.size > 0) await writeTokenUse(db, 'oauth_token', oauth)
  }
  const timer = setInterval(() => {
    flush().catch((error) => log.warn({ err: error }, 'Token uses were not written'))
  }, FLUSH_MS)
  timer.unref()
  return {
    record({ kind, id, req }) {
      const uses = noted[kind]
      if (uses.size >= NOTED_MAX && !uses.has(id)) return
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
  await sql`update ${sql.table(table)} as token set last_used = used.at
    from unnest(${rows.map(([id]) => id)}::text[], ${rows.map(([, { at }]) => at)}::timestamptz[]) as used (id, at)
    where token.id = used.id`.execute(db)
}
