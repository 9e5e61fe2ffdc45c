// Pings a webhook, and sends an event again.

import type { Viewer } from '#features/basics/access/viewer.ts'
import { PING } from '#features/basics/events/event-kinds.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { getWebhook } from '../owner.ts'
import { lockWebhook } from '../queries.ts'
import { countPending, type DeliveryRow, findDelivery, insertAgain, insertPing } from './queries.ts'

/** Maximum number of pings, and of deliveries of one event type, that wait for a webhook when one more is requested. */
const WAITING_MAX = 100

/** Queues a ping. @throws ApiError 404, `conflict` for a webhook that is switched off, `limit_reached`. */
export async function pingWebhook(deps: Deps, viewer: Viewer, id: string): Promise<string> {
  await getWebhook(deps, viewer, id)
  return transaction(deps, async (tx) => {
    await requireReady(tx, id, PING)
    return insertPing(tx, id, new Date(deps.now()))
  })
}

/**
 * Queues another delivery of an event, with the same `webhook-id`.
 * @throws ApiError 404, `conflict` for a webhook that is switched off and for a delivery that is still queued,
 * `limit_reached`.
 */
export async function redeliver(
  deps: Deps,
  viewer: Viewer,
  { webhookId, deliveryId }: { webhookId: string; deliveryId: string },
): Promise<string> {
  await getWebhook(deps, viewer, webhookId)
  return transaction(deps, async (tx) => {
    const delivery = await findDelivery(tx, webhookId, deliveryId)
    if (delivery === undefined) throw notFound('delivery')
    await requireReady(tx, webhookId, delivery.event_kind)
    if (delivery.state === 'pending') throw new ApiError('conflict', 'This delivery is still queued')
    return insertAgain(tx, delivery, new Date(deps.now()))
  })
}

async function requireReady(tx: Tx, webhookId: string, kind: DeliveryRow['event_kind']): Promise<void> {
  const webhook = await lockWebhook(tx, webhookId)
  if (webhook === undefined) throw notFound('webhook')
  if (!webhook.active) throw new ApiError('conflict', 'This webhook is switched off. Switch it on first.')
  if ((await countPending(tx, webhookId, kind)) >= WAITING_MAX)
    throw new ApiError('limit_reached', `${WAITING_MAX} deliveries of ${kind} are waiting for this webhook already`)
}
