// Statements of deliveries.
import { type Selectable, sql } from 'kysely'
import { PING } from '#features/basics/events/event-kinds.ts'
import { countRows, type Db, type Tx } from '#platform/db/db.ts'
import type { Event, WebhookAttempt, WebhookDelivery } from '#platform/db/schema.ts'
import type { DeliveryState } from './requests.ts'

export type DeliveryRow = Selectable<WebhookDelivery> & { event_key: string; event_kind: Event['kind'] }
export type AttemptRow = Selectable<WebhookAttempt>

function readDeliveries(db: Db, webhookId: string) {
  return db
    .selectFrom('webhook_delivery')
    .innerJoin('event', 'event.id', 'webhook_delivery.event_id')
    .selectAll('webhook_delivery')
    .select(['event.key as event_key', 'event.kind as event_kind'])
    .where('webhook_id', '=', webhookId)
}

/** Returns the deliveries of a webhook, newest first; `before` is the last sequence of the previous page. */
export function listDeliveries(
  db: Db,
  webhookId: string,
  { state, before, limit }: { state: DeliveryState | undefined; before: string | undefined; limit: number },
): Promise<DeliveryRow[]> {
  return readDeliveries(db, webhookId)
    .$if(state !== undefined, (query) => query.where('state', '=', state ?? 'pending'))
    .$if(before !== undefined, (query) => query.where('sequence', '<', sql<number>`${before}::bigint`))
    .orderBy('sequence', 'desc')
    .limit(limit)
    .execute()
}

export function findDelivery(db: Db, webhookId: string, id: string): Promise<DeliveryRow | undefined> {
  return readDeliveries(db, webhookId).where('webhook_delivery.id', '=', id).executeTakeFirst()
}

/** Returns the attempts of a delivery, oldest first. */
export function listAttempts(db: Db, deliveryId: string): Promise<AttemptRow[]> {
  return db.selectFrom('webhook_attempt').selectAll().where('delivery_id', '=', deliveryId).orderBy('attempt').execute()
}

/** Gives up the queued deliveries of a webhook that were created before a time, unless one is being sent. */
export async function discardQueued(tx: Tx, webhookId: string, before: Date): Promise<void> {
  await tx
    .updateTable('webhook_delivery')
    .set({ state: 'discarded', next_attempt: null, leased_until: null })
    .where('webhook_id', '=', webhookId)
    .where('state', '=', 'pending')
    .where('created', '<', before)
    .execute()
}

/** Adds a ping, which waits for no other delivery. Returns the ID of the delivery. */
export async function insertPing(tx: Tx, webhookId: string, at: Date): Promise<string> {
  const { rows } = await sql<{ id: string }>`with ping as (
      insert into event (kind, subject_kind, subject_id, is_public, at, data)
      values (${PING}, 'webhook', ${webhookId}, false, ${at}, ${JSON.stringify({ webhook_id: webhookId })}::jsonb)
      returning id, key
    )
    insert into webhook_delivery (webhook_id, event_id, subject, next_attempt, created)
    select ${webhookId}, id, 'ping ' || key, ${at}, ${at} from ping returning id`.execute(tx)
  return rows[0]?.id ?? ''
}

/** Adds a delivery of the same event, after the queued ones of its subject. Returns its ID. */
export async function insertAgain(tx: Tx, { webhook_id, event_id, subject }: DeliveryRow, at: Date): Promise<string> {
  const { id } = await tx
    .insertInto('webhook_delivery')
    .values({ webhook_id, event_id, subject, next_attempt: at, created: at })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export function countPending(tx: Tx, webhookId: string, kind: Event['kind']): Promise<number> {
  return countRows(
    tx
      .selectFrom('webhook_delivery')
      .innerJoin('event', 'event.id', 'webhook_delivery.event_id')
      .where('webhook_id', '=', webhookId)
      .where('state', '=', 'pending')
      .where('event.kind', '=', kind),
  )
}
