// Flows: the pending second step of an action, such as a link in an email or a two-factor code. Each has a secret, of
// which only the hash is stored. It works once and expires.

import { sql } from 'kysely'
import { hashToken, newSecret } from '#lib/access/tokens.ts'
import { type ApiError, invalidInput } from '#lib/errors.ts'
import { HOUR_MS } from '#lib/time.ts'
import type { Db, Tx } from '#platform/db/db.ts'

/** Lifetime of each kind of flow. */
export const FLOW_LIFETIME_MS = {
  verify_email: 24 * HOUR_MS,
  reset_password: 24 * HOUR_MS,
  sign_in_second_factor: HOUR_MS / 2,
  set_up_totp: HOUR_MS / 2,
  undo_email_change: 7 * 24 * HOUR_MS,
  use_passkey: HOUR_MS / 4,
  add_passkey: HOUR_MS / 4,
  provider_sign_in: HOUR_MS / 4,
  provider_sign_up: HOUR_MS / 2,
} as const

export type FlowKind = keyof typeof FLOW_LIFETIME_MS

/** Maximum number of flows of an account and kind. A new flow deletes the oldest, so that requests cannot fill the table. */
const FLOWS_MAX = 10
/** Higher limit for undo links: the first change must remain undoable, at 10 emails per hour for 7 days. */
const UNDO_FLOWS_MAX = 2_000

/** Only `insertFlow` writes `data`, and always an object. */
export type Flow = { account_id: string; data: Record<string, unknown> }

/** Creates a flow and returns its secret. `accountId` is null if the flow only finds out the account. */
export async function insertFlow(
  db: Db,
  flow: { kind: FlowKind; accountId: string | null; data?: Record<string, unknown>; now: number },
): Promise<string> {
  const { secret, hash } = newSecret()
  const { kind, accountId, data = {}, now } = flow
  const expires = new Date(now + FLOW_LIFETIME_MS[kind])
  await db
    .insertInto('account_flow')
    .values({ token_hash: hash, kind, account_id: accountId, data: JSON.stringify(data), expires })
    .execute()
  if (accountId === null) return secret
  const max = kind === 'undo_email_change' ? UNDO_FLOWS_MAX : FLOWS_MAX
  await sql`delete from account_flow where account_id = ${accountId} and kind = ${kind} and token_hash in (
    select token_hash from account_flow where account_id = ${accountId} and kind = ${kind}
    order by expires desc, (token_hash = ${hash}) desc offset ${max})`.execute(db)
  return secret
}

type Secret = { secret: string; now: number }

/** Returns the flow with this secret without using it; undefined if it does not exist or has expired. */
export function findFlow(db: Db, kind: FlowKind, { secret, now }: Secret): Promise<Flow | undefined> {
  return db
    .selectFrom('account_flow')
    .select(['account_id', 'data'])
    .where('token_hash', '=', hashToken(secret))
    .where('kind', '=', kind)
    .where('expires', '>', new Date(now))
    .$castTo<Flow>()
    .executeTakeFirst()
}

/** Deletes and returns the flow with this secret. Of concurrent calls, only one gets it. */
export function takeFlow(db: Db, kind: FlowKind, { secret, now }: Secret): Promise<Flow | undefined> {
  return db
    .deleteFrom('account_flow')
    .where('token_hash', '=', hashToken(secret))
    .where('kind', '=', kind)
    .where('expires', '>', new Date(now))
    .returning(['account_id', 'data'])
    .$castTo<Flow>()
    .executeTakeFirst()
}

/** Deletes an account's flows of these kinds. */
export async function deleteFlows(tx: Tx, accountId: string, kinds: readonly FlowKind[]): Promise<void> {
  await tx.deleteFrom('account_flow').where('account_id', '=', accountId).where('kind', 'in', kinds).execute()
}

export function invalidLink(): ApiError {
  return invalidInput('The link is unknown, was used, or has expired', 'flow')
}
