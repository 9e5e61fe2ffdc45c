// Flows: one step of something that takes two (a mailed link, a second factor). Each is an unguessable secret of which
// only the hash is stored; it works once and for a bounded time.

import { sql } from 'kysely'
import { hashToken, newSecret } from '#lib/access/tokens.ts'
import { HOUR_MS } from '#lib/time.ts'
import type { Db, Tx } from '#platform/db/db.ts'

/** How long each kind of flow lives. */
const LIFETIME_MS = {
  verify_email: 24 * HOUR_MS,
  reset_password: 24 * HOUR_MS,
  sign_in_second_factor: HOUR_MS / 2,
  set_up_totp: HOUR_MS / 2,
  undo_email_change: 7 * 24 * HOUR_MS,
} as const

export type FlowKind = keyof typeof LIFETIME_MS

/** How long a flow of this kind works, in milliseconds. */
export function lifetimeOf(kind: FlowKind): number {
  return LIFETIME_MS[kind]
}

/** Of one account and kind only the newest live on, so that nobody fills the table by asking again and again. */
const FLOWS_MAX = 10
/** The first change of an address must stay undoable after many more; ten messages in an hour are the bound of these. */
const UNDO_FLOWS_MAX = 2_000

export type Flow = { account_id: string; data: Record<string, unknown> }

/** Makes a flow and returns its secret. */
export async function insertFlow(
  db: Db,
  flow: { kind: FlowKind; accountId: string; data?: Record<string, unknown>; now: number },
): Promise<string> {
  const { secret, hash } = newSecret()
  const { kind, accountId, data = {}, now } = flow
  await db
    .insertInto('account_flow')
    .values({
      token_hash: hash,
      kind,
      account_id: accountId,
      data: JSON.stringify(data),
      expires: new Date(now + LIFETIME_MS[kind]),
    })
    .execute()
  const max = kind === 'undo_email_change' ? UNDO_FLOWS_MAX : FLOWS_MAX
  await sql`delete from account_flow where account_id = ${accountId} and kind = ${kind} and token_hash in (
    select token_hash from account_flow where account_id = ${accountId} and kind = ${kind}
    order by expires desc, (token_hash = ${hash}) desc offset ${max})`.execute(db)
  return secret
}

/** The flow behind a secret, which stays usable; undefined when there is none, or no more. */
export async function findFlow(
  db: Db,
  kind: FlowKind,
  { secret, now }: { secret: string; now: number },
): Promise<Flow | undefined> {
  const row = await db
    .selectFrom('account_flow')
    .select(['account_id', 'data'])
    .where('token_hash', '=', hashToken(secret))
    .where('kind', '=', kind)
    .where('expires', '>', new Date(now))
    .executeTakeFirst()
  return row === undefined ? undefined : toFlow(row)
}

/** Uses a flow up. Of parallel calls with one secret a single one gets it; it comes back if the transaction fails. */
export async function takeFlow(
  tx: Tx,
  kind: FlowKind,
  { secret, now }: { secret: string; now: number },
): Promise<Flow | undefined> {
  const row = await tx
    .deleteFrom('account_flow')
    .where('token_hash', '=', hashToken(secret))
    .where('kind', '=', kind)
    .where('expires', '>', new Date(now))
    .returning(['account_id', 'data'])
    .executeTakeFirst()
  return row === undefined ? undefined : toFlow(row)
}

/** Ends an account's flows of these kinds: what they were made for has changed. */
export async function deleteFlows(tx: Tx, accountId: string, kinds: readonly FlowKind[]): Promise<void> {
  await tx.deleteFrom('account_flow').where('account_id', '=', accountId).where('kind', 'in', kinds).execute()
}

/** Only `insertFlow` writes the column, and always an object. */
function toFlow(row: { account_id: string; data: unknown }): Flow {
  return { account_id: row.account_id, data: row.data as Record<string, unknown> }
}
