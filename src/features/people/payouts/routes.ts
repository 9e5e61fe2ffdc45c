// The caller's balance and payouts.

import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { writeJsonArray } from '#lib/text/json-pieces.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { getBalance, getHistory } from './queries.ts'
import { BalanceView, HistoryView } from './views.ts'

const config = { auth: { scope: ['PAYOUTS_READ'] }, cache: 'private' } as const

export function payoutRoutes(app: App, { db, now }: Pick<Deps, 'db' | 'now'>): void {
  app.get('/v3/payout/balance', {
    config,
    schema: { operationId: 'getBalance', summary: "Get the caller's balance", response: { 200: BalanceView } },
    handler: (req) => getBalance(db, requireViewer(req).id, now()),
  })
  app.get('/v3/payout/history', {
    config,
    schema: {
      operationId: 'getPayoutHistory',
      summary: "List the caller's available earnings and payouts, oldest first",
      response: { 200: HistoryView },
    },
    handler: async (req, reply) => {
      const history = await getHistory(db, requireViewer(req).id, now())
      return sendBytes(reply, await writeJsonArray(history, (entry) => entry))
    },
  })
}
