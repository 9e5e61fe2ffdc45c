// Operator routes for revenue and for payouts that the operator makes.
import { operatorOf } from '#features/basics/audit/actor.ts'
import { parseId } from '#lib/ids.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import { IdParams } from '#platform/http/query-values.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { distributeRevenue } from './distribute-revenue.ts'
import { recordPayout } from './record-payout.ts'
import { NewPayout, NewRevenue, PayoutPatch, parsePayout, parseRevenue } from './requests.ts'
import { updatePayout } from './update-payout.ts'
import { PayoutView, RevenueView, toPayoutView } from './views.ts'

type OperatorDeps = Pick<Deps, 'db' | 'cache' | 'analytics' | 'events' | 'now'>

const config = { auth: 'operator' } as const
const IDEMPOTENT =
  'Idempotent by `external_id`: 201 for a new record, 200 for a repetition, 409 if the content differs.'

export function payoutOperatorRoutes(app: App, deps: OperatorDeps): void {
  mountInternal(app, (scope) => {
    revenueRoute(scope, deps)
    ledgerRoutes(scope, deps)
  })
}

function revenueRoute(app: App, deps: OperatorDeps): void {
  app.post('/admin/revenue', {
    config: { ...config, errors: ['409 conflict'] },
    schema: {
      operationId: 'distributeRevenue',
      summary: "Distribute revenue by a day's monetized views and signed-in downloads",
      description: `${IDEMPOTENT} Several amounts for the same day add up.`,
      body: NewRevenue,
      response: { 200: RevenueView, 201: RevenueView },
    },
    handler: async (req, reply) => {
      const { revenue, isNew } = await distributeRevenue(deps, operatorOf(req), parseRevenue(req.body, deps.now()))
      return reply.status(isNew ? 201 : 200).send(revenue)
    },
  })
}

function ledgerRoutes(app: App, deps: OperatorDeps): void {
  app.post('/admin/payout', {
    config: { ...config, errors: ['409 conflict'] },
    schema: {
      operationId: 'recordPayout',
      summary: 'Record a payout that the operator has made',
      description: IDEMPOTENT,
      body: NewPayout,
      response: { 200: PayoutView, 201: PayoutView },
    },
    handler: async (req, reply) => {
      const { payout, isNew } = await recordPayout(deps, operatorOf(req), parsePayout(req.body))
      return reply.status(isNew ? 201 : 200).send(toPayoutView(payout))
    },
  })
  app.patch('/admin/payout/:id', {
    config,
    schema: {
      operationId: 'updatePayout',
      summary: 'Change the status of a payout',
      params: IdParams,
      body: PayoutPatch,
    },
    handler: (req): Promise<void> =>
      updatePayout(deps, operatorOf(req), { id: parseId(req.params.id, 'id'), status: req.body.status }),
  })
}
