// Responses of deliveries.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import type { AttemptRow, DeliveryRow } from './queries.ts'
import { DELIVERY_STATES, type DeliveryState } from './requests.ts'

const Headers = Type.Record(Type.String(), Type.String())

const fields = {
  id: Type.String(),
  webhook_id: Type.String(),
  event: Type.Object({ id: Type.String(), type: Type.String() }),
  state: Type.Enum([...DELIVERY_STATES], {
    description:
      '`failed`: all attempts failed. `discarded`: not sent, because the webhook was switched off or may not see the subject',
  }),
  attempt: Type.Integer({ minimum: 0, description: 'Attempts so far' }),
  next_attempt: Nullable(Timestamp),
  created: Timestamp,
}

export const DeliveryView = NamedObject('WebhookDelivery', fields)
export type DeliveryView = Static<typeof DeliveryView>

export const DeliveriesView = NamedObject('WebhookDeliveries', {
  deliveries: Type.Array(DeliveryView, { description: 'Newest first' }),
  next: Nullable(Type.String({ description: '`cursor` of the next page; null on the last one' })),
})

const AttemptView = Type.Object({
  at: Timestamp,
  ms: Type.Integer({ minimum: 0, description: 'Milliseconds from the start of the attempt to its end' }),
  error: Nullable(
    Type.String({
      description:
        '`refused_address`, `dns`, `timeout`, `tls`, `connection`, `too_large`, `off`, or `status` for a status that is not 2xx',
    }),
  ),
  request: Type.Object({ headers: Headers, body: Type.String() }),
  response: Nullable(
    Type.Object({ status: Type.Integer(), headers: Headers, body: Type.String({ description: 'The first 4 KiB' }) }),
  ),
})

export const DeliveryWithAttempts = NamedObject('WebhookDeliveryWithAttempts', {
  ...fields,
  attempts: Type.Array(AttemptView, { description: 'Oldest first' }),
})

export const SentAgain = NamedObject('QueuedWebhookDelivery', { delivery_id: Type.String() })

export function toDeliveryView(row: DeliveryRow): DeliveryView {
  return {
    id: row.id,
    webhook_id: row.webhook_id,
    event: { id: row.event_key, type: row.event_kind },
    state: row.state as DeliveryState,
    attempt: row.attempt,
    next_attempt: row.next_attempt?.toISOString() ?? null,
    created: row.created.toISOString(),
  }
}

export function toDeliveryWithAttempts(row: DeliveryRow, attempts: readonly AttemptRow[]) {
  return { ...toDeliveryView(row), attempts: attempts.map(toAttemptView) }
}

export function toAttemptView(row: AttemptRow): Static<typeof AttemptView> {
  const response =
    row.response_status === null
      ? null
      : {
          status: row.response_status,
          headers: row.response_headers as Record<string, string>,
          body: row.response_body ?? '',
        }
  return {
    at: row.at.toISOString(),
    ms: row.ms,
    error: row.error,
    request: { headers: row.request_headers as Record<string, string>, body: row.request_body },
    response,
  }
}
