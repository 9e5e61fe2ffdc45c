// The wire shapes of money. Amounts are decimal texts.
import Type, { type Static } from 'typebox'
import { toAmount } from '#lib/decimal.ts'
import { Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import type { PayoutRow } from './queries.ts'
import { PayoutStatus } from './requests.ts'

const Amount = Type.String({ description: 'Decimal' })

export const RevenueView = Type.Object(
  {
    external_id: Type.String(),
    day: Type.String(),
    amount: Amount,
    distributed: Type.String({ description: 'Amount credited to accounts; the rest stays with the operator' }),
    projects: Type.Integer({ description: 'Number of projects that received a share' }),
  },
  { title: 'Revenue' },
)
export type RevenueView = Static<typeof RevenueView>

const withdrawal = {
  id: Type.String(),
  status: PayoutStatus,
  created: Timestamp,
  amount: Amount,
  fee: Amount,
  method_type: Type.Literal('manual'),
  method_id: Type.Null(),
  method_address: Nullable(Type.String({ description: "The recipient's payout handle when the payout was recorded" })),
}

export const PayoutView = Type.Object(
  { external_id: Type.String(), user_id: Nullable(Type.String()), ...withdrawal },
  { title: 'Payout' },
)
export type PayoutView = Static<typeof PayoutView>

export const BalanceView = Type.Object(
  {
    available: Amount,
    pending: Type.String({ description: 'Earned, but not yet available' }),
    withdrawn_lifetime: Amount,
    withdrawn_ytd: Type.String({ description: 'Since 1 January, UTC' }),
    dates: Type.Record(Type.String(), Amount, { description: 'Date → amount that becomes available on it' }),
  },
  { title: 'Balance' },
)
export type BalanceView = Static<typeof BalanceView>

const Withdrawal = Type.Object({ type: Type.Literal('withdrawal'), ...withdrawal }, { title: 'Withdrawal' })
const PayoutAvailable = Type.Object(
  {
    type: Type.Literal('payout_available'),
    created: Timestamp,
    payout_source: Type.Enum(['creator_rewards', 'affiliates']),
    amount: Amount,
  },
  { title: 'PayoutAvailable' },
)

/** Oldest first. */
export const HistoryView = Type.Array(Type.Union([Withdrawal, PayoutAvailable]))
export type HistoryView = Static<typeof HistoryView>

/** A payout in the history of its account. */
export function toWithdrawal(row: PayoutRow) {
  return {
    id: row.id,
    status: row.status,
    created: row.created.toISOString(),
    amount: toAmount(row.amount),
    fee: toAmount(row.fee),
    method_type: 'manual' as const,
    method_id: null,
    method_address: row.address,
  }
}

export function toPayoutView(row: PayoutRow): PayoutView {
  return { external_id: row.external_id, user_id: row.account_id, ...toWithdrawal(row) }
}
