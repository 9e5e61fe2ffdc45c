// Routes to the deliveries of a webhook.

import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { IdParams } from '#platform/http/query-values.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { getWebhook } from '../owner.ts'
import { findDelivery, listAttempts, listDeliveries } from './queries.ts'
import { pingWebhook, redeliver } from './redeliver.ts'
import { DeliveriesQuery, DeliveryParams, readCursor } from './requests.ts'
import { DeliveriesView, DeliveryWithAttempts, SentAgain, toDeliveryView, toDeliveryWithAttempts } from './views.ts'

const PATH = '/v3/webhook/:id'
const READ = { auth: { scope: ['WEBHOOK_READ'] }, limitedTokens: 'resource', cache: 'private' } as const
const WRITE = { auth: { scope: ['WEBHOOK_WRITE'] }, limitedTokens: 'resource' } as const

export function deliveryRoutes(app: App, deps: Deps): void {
  app.get(`${PATH}/deliveries`, {
    config: READ,
    schema: {
      operationId: 'listWebhookDeliveries',
      summary: 'List the deliveries of a webhook, newest first',
      description: 'Depot keeps the deliveries of 14 days, at most 500 finished ones per webhook.',
      params: IdParams,
      querystring: DeliveriesQuery,
      response: { 200: DeliveriesView },
    },
    handler: async (req) => {
      const { state, cursor, limit = 50 } = req.query
      const { id } = await getWebhook(deps, requireViewer(req), parseId(req.params.id, 'id'))
      const rows = await listDeliveries(deps.db, id, { state, before: readCursor(cursor), limit: limit + 1 })
      const page = rows.slice(0, limit)
      const next = rows.length > limit ? String(page.at(-1)?.sequence) : null
      return { deliveries: page.map(toDeliveryView), next }
    },
  })
  app.get(`${PATH}/deliveries/:delivery`, {
    config: { ...READ, errors: ['400 decoding_error'] },
    schema: {
      operationId: 'getWebhookDelivery',
      summary: 'Get a delivery with the requests and responses of its attempts',
      params: DeliveryParams,
      response: { 200: DeliveryWithAttempts },
    },
    handler: async (req) => {
      const { id } = await getWebhook(deps, requireViewer(req), parseId(req.params.id, 'id'))
      const row = await findDelivery(deps.db, id, parseId(req.params.delivery, 'delivery'))
      if (row === undefined) throw notFound('delivery')
      return toDeliveryWithAttempts(row, await listAttempts(deps.db, row.id))
    },
  })
  sendRoutes(app, deps)
}

function sendRoutes(app: App, deps: Deps): void {
  app.post(`${PATH}/ping`, {
    config: { ...WRITE, errors: ['400 LimitReached'] },
    schema: {
      operationId: 'pingWebhook',
      summary: 'Send the event webhook.ping to a webhook',
      params: IdParams,
      response: { 202: SentAgain },
    },
    handler: async (req, reply) => {
      const delivery_id = await pingWebhook(deps, requireViewer(req), parseId(req.params.id, 'id'))
      return reply.status(202).send({ delivery_id })
    },
  })
  app.post(`${PATH}/deliveries/:delivery/redeliver`, {
    config: { ...WRITE, errors: ['400 LimitReached', '400 decoding_error'] },
    schema: {
      operationId: 'redeliverWebhookDelivery',
      summary: 'Send the event of a finished delivery again',
      description: 'Creates another delivery with the same `webhook-id`, by which receivers recognise it.',
      params: DeliveryParams,
      response: { 202: SentAgain },
    },
    handler: async (req, reply) => {
      const delivery_id = await redeliver(deps, requireViewer(req), {
        webhookId: parseId(req.params.id, 'id'),
        deliveryId: parseId(req.params.delivery, 'delivery'),
      })
      return reply.status(202).send({ delivery_id })
    },
  })
}
