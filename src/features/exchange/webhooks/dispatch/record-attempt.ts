// Stores the result of an attempt, and switches webhooks off that do not work.

import { sql } from 'kysely'
import { disableWebhook } from '#features/people/revocation/disable-webhooks.ts'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { lockWebhook, type WebhookRow } from '../queries.ts'
import type { Attempt } from './attempt.ts'
import type { Claimed } from './claim.ts'
import { nextAttemptAt } from './schedule.ts'

/** A webhook is switched off after this time without success, and this number of failures in it. */
const FAILING_MS = 7 * DAY_MS
const FAILURES_MIN = 10
const PAUSE_MAX_MS = HOUR_MS

export type Outcome = 'delivered' | 'retried' | 'failed'
type RecordDeps = Pick<Deps, 'db' | 'cache' | 'now' | 'log'>

/** Stores an attempt with the state that follows from it. A result that another process has stored stays. */
export async function recordAttempt(deps: RecordDeps, claimed: Claimed, attempt: Attempt): Promise<Outcome> {
  const now = deps.now()
  return transaction(deps, async (tx, changed) => {
    const number = claimed.attempt + 1
    const isSuccess = attempt.error === null
    const again =
      isSuccess || attempt.isGone ? undefined : nextAttemptAt(number, { now, retryAfterMs: attempt.retryAfterMs })
    const state = isSuccess ? 'delivered' : again === undefined ? 'failed' : 'pending'
    const { numUpdatedRows } = await tx
      .updateTable('webhook_delivery')
      .set({ state, attempt: number, next_attempt: again ?? null, leased_until: null })
      .where('id', '=', claimed.id)
      .where('state', '=', 'pending')
      .where('attempt', '=', claimed.attempt)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows > 0n) {
      await insertAttempt(tx, claimed.id, number, attempt)
      await holdBack(tx, claimed, { again, pauseMs: attempt.pauseMs, now })
      await updateHealth(tx, changed, claimed.webhook, { isSuccess, isGone: attempt.isGone, now })
    }
    return state === 'pending' ? 'retried' : state
  })
}

async function insertAttempt(tx: Tx, deliveryId: string, number: number, attempt: Attempt): Promise<void> {
  const { at, ms, error, request, response } = attempt
  await tx
    .insertInto('webhook_attempt')
    .values({
      delivery_id: deliveryId,
      attempt: number,
      at,
      ms,
      error,
      request_headers: JSON.stringify(request.headers),
      request_body: request.body,
      response_status: response?.status ?? null,
      response_headers: JSON.stringify(response?.headers ?? {}),
      response_body: response?.body ?? null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Later deliveries of the subject wait for this one. A receiver that limits its rate gets nothing until then. */
async function holdBack(
  tx: Tx,
  { webhook, subject }: Claimed,
  { again, pauseMs, now }: { again: Date | undefined; pauseMs: number | undefined; now: number },
): Promise<void> {
  const pending = tx.updateTable('webhook_delivery').where('webhook_id', '=', webhook.id).where('state', '=', 'pending')
  if (again !== undefined) {
    await pending
      .set({ next_attempt: sql<Date>`greatest(next_attempt, ${again})` })
      .where('subject', '=', subject)
      .execute()
  }
  if (pauseMs !== undefined) {
    const at = new Date(now + Math.min(pauseMs, PAUSE_MAX_MS))
    await pending.set({ next_attempt: sql<Date>`greatest(next_attempt, ${at})` }).execute()
  }
}

async function updateHealth(
  tx: Tx,
  changed: ChangeSet,
  { id }: WebhookRow,
  { isSuccess, isGone, now }: { isSuccess: boolean; isGone: boolean; now: number },
): Promise<void> {
  const at = new Date(now)
  if (isSuccess) {
    const healthy = { last_success: at, failing_since: null, failures: 0 }
    await tx.updateTable('webhook').set(healthy).where('id', '=', id).execute()
    return
  }
  const row = await tx
    .updateTable('webhook')
    .set({
      last_failure: at,
      failing_since: sql<Date>`coalesce(failing_since, ${at})`,
      failures: sql<number>`failures + 1`,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  if (row === undefined || !row.active) return
  const since = row.failing_since?.getTime() ?? now
  if (isGone) await disableWebhook(tx, changed, row, 'gone')
  else if (row.failures >= FAILURES_MIN && now - since >= FAILING_MS) await disableWebhook(tx, changed, row, 'failing')
}

/** Switches a webhook off whose secret cannot be read. The delivery stays in the queue. */
export async function disableWithoutSecret(deps: RecordDeps, { id, webhook }: Claimed): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    await tx.updateTable('webhook_delivery').set({ leased_until: null }).where('id', '=', id).execute()
    const row = await lockWebhook(tx, webhook.id)
    if (row?.active === true) await disableWebhook(tx, changed, row, 'secret_lost')
  })
}

/** Gives a delivery up that the webhook may not receive: the subject was hidden in the meantime. */
export async function discard({ db }: Pick<Deps, 'db'>, { id }: Claimed): Promise<void> {
  await db
    .updateTable('webhook_delivery')
    .set({ state: 'discarded', next_attempt: null, leased_until: null })
    .where('id', '=', id)
    .where('state', '=', 'pending')
    .execute()
}
