// What the caller has earned and was paid.
import { ErrorAnswers } from '#http/answers.ts'
import { requireViewer } from '#http/auth.ts'
import type { App } from '#http/server.ts'
import type { Deps } from '../../deps.ts'
import { getBalance, getHistory } from './queries.ts'
import { BalanceView, HistoryView } from './views.ts'

const tags = ['payouts']
const config = { auth: { scope: ['PAYOUTS_READ'] }, cache: 'private' } as const

export function payoutRoutes(app: App, { db, now }: Pick<Deps, 'db' | 'now'>): void {
  app.get(
    '/v3/payout/balance',
    {
      config,
      schema: {
        operationId: 'getBalance',
        summary: "The caller's balance",
        tags,
        response: { 200: BalanceView, ...ErrorAnswers },
      },
    },
    (req) => getBalance(db, requireViewer(req).id, now()),
  )
  app.get(
    '/v3/payout/history',
    {
      config,
      schema: {
        operationId: 'getPayoutHistory',
        summary: 'What became available to the caller and what was paid out, oldest first',
        tags,
        response: { 200: HistoryView, ...ErrorAnswers },
      },
    },
    (req) => getHistory(db, requireViewer(req).id, now()),
  )
}
