// Queries of sessions, which last 14 days and can be refreshed for 60 days.

import { sql } from 'kysely'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { newToken } from '#lib/access/tokens.ts'
import { addressKey } from '#lib/address-key.ts'
import { newId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { recordOrigin } from './origins.ts'
import { describeUserAgent, USER_AGENT_LENGTH_MAX } from './user-agent.ts'
import { type SessionRow, type SessionView, toSessionView } from './views.ts'

export const LIFETIME_MS = 14 * DAY_MS
const REFRESHABLE_MS = 60 * DAY_MS
/** Time for which a session remains confirmed after the user entered the password. */
const CONFIRMED_MS = 10 * 60_000
/** Maximum number of sessions of an account. A new session ends the least recently used one. */
const SESSIONS_MAX = 100

/** The client that signs in. */
export type Client = { ip: string; userAgent: string }

/** Creates a session, and records its origin. The result contains the secret, which cannot be read again. */
export async function issueSession(
  tx: Tx,
  changed: ChangeSet,
  { accountId, client, now }: { accountId: string; client: Client; now: number },
): Promise<SessionView> {
  const { token, hash } = newToken('session')
  const at = new Date(now)
  const row = await tx
    .insertInto('session')
    .values({
      id: newId(),
      account_id: accountId,
      token_hash: hash,
      created: at,
      last_login: at,
      // The user enters the password to sign in.
      confirmed_at: at,
      expires: new Date(now + LIFETIME_MS),
      refresh_expires: new Date(now + REFRESHABLE_MS),
      ...toClientColumns(client),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await endOldestSessions(tx, changed, accountId)
  await recordOrigin(tx, { accountId, event: 'sign_in', client, now })
  return toSessionView(row, { secret: token, current: true })
}

/** Returns whether the viewer's session was confirmed within the last 10 minutes; always false for other tokens. */
export async function isConfirmed(db: Db, { token }: Viewer, now: number): Promise<boolean> {
  if (token.kind !== 'session') return false
  const row = await db
    .selectFrom('session')
    .select('id')
    .where('id', '=', token.id)
    .where('confirmed_at', '>', new Date(now - CONFIRMED_MS))
    .executeTakeFirst()
  return row !== undefined
}

/** Returns whether a session of the account, also an expired one, has used the client of an IP address. */
export async function hasSessionAt(
  db: Db,
  { accountId, address }: { accountId: string; address: string },
): Promise<boolean> {
  const rows = await db.selectFrom('session').select('ip').where('account_id', '=', accountId).execute()
  return rows.some(({ ip }) => addressKey(ip) === addressKey(address))
}

/** Marks the viewer's session as confirmed; does nothing for other tokens. */
export async function markConfirmed(db: Db, { token }: Viewer, now: number): Promise<void> {
  if (token.kind !== 'session') return
  await db
    .updateTable('session')
    .set({ confirmed_at: new Date(now) })
    .where('id', '=', token.id)
    .execute()
}

/** Returns the columns that describe the client of a session. */
export function toClientColumns({ ip, userAgent }: Client) {
  return { ip, user_agent: userAgent.slice(0, USER_AGENT_LENGTH_MAX), ...describeUserAgent(userAgent) }
}

async function endOldestSessions(tx: Tx, changed: ChangeSet, accountId: string): Promise<void> {
  const { rows } = await sql<{ token_hash: Buffer }>`delete from session where id in (
    select id from session where account_id = ${accountId} order by last_login desc, id desc offset ${SESSIONS_MAX})
    returning token_hash`.execute(tx)
  addTokens(changed, rows)
}

/** Returns the account's sessions that have not expired, newest first. */
export function listSessions(db: Db, { accountId, now }: { accountId: string; now: number }): Promise<SessionRow[]> {
  return db
    .selectFrom('session')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('expires', '>', new Date(now))
    .orderBy('created', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

function addTokens(changed: ChangeSet, rows: readonly { token_hash: Buffer }[]): void {
  changed.add('token', ...rows.map((row) => row.token_hash.toString('hex')))
}
