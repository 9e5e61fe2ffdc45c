// Response schemas of revenue, balances and payouts. Amounts are decimal strings.
import type { Selectable } from 'kysely'
import Type, { type Static } from 'typebox'
import { toAmount } from '#lib/decimal.ts'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import type { Payout } from '#platform/db/schema.ts'
import { PayoutStatus } from './requests.ts'

export type PayoutRow = Selectable<Payout>

const Amount = Type.String({ description: 'Amount as a decimal string' })

export const RevenueView = NamedObject('Revenue', {
  external_id: Type.String(),
  day: Type.String(),
  amount: Amount,
  distributed: Type.String({ description: 'Amount credited to accounts; the operator keeps the rest' }),
  projects: Type.Integer({ description: 'Number of projects that received a share' }),
})
export type RevenueView = Static<typeof RevenueView>

const withdrawal = {
  id: Type.String(),
  status: PayoutStatus,
  created: Timestamp,
  amount: Amount,
  fee: Amount,
  method_type: Type.Literal('manual'),
  method_id: Type.Null(),
  method_address: Nullable(Type.String({ description: 'Payout handle of the recipient at the time of the payout' })),
}

export const PayoutView = NamedObject('Payout', {
  external_id: Type.String(),
  user_id: Nullable(Type.String()),
  ...withdrawal,
})
export type PayoutView = Static<typeof PayoutView>

const NoTaxForm = Type.Null({ description: 'Depot has no tax forms; existing clients require the key' })

export const BalanceView = NamedObject('Balance', {
  available: Amount,
  pending: Type.String({ description: 'Earnings that are not yet available' }),
  withdrawn_lifetime: Amount,
  withdrawn_ytd: Type.String({ description: 'Amount withdrawn since 1 January, UTC' }),
  dates: Type.Record(Type.String(), Amount, { description: 'Amount that becomes available on each date' }),
  requested_form_type: NoTaxForm,
  form_completion_status: NoTaxForm,
  tax_compliance: NoTaxForm,
})
export type BalanceView = Static<typeof BalanceView>

const Withdrawal = NamedObject('Withdrawal', { type: Type.Literal('withdrawal'), ...withdrawal })
const PayoutAvailable = NamedObject('PayoutAvailable', {
  type: Type.Literal('payout_available'),
  created: Timestamp,
  payout_source: Type.Enum(['creator_rewards', 'affiliates']),
  amount: Amount,
})

export const HistoryView = Type.Array(Type.Union([Withdrawal, PayoutAvailable]))
export type HistoryView = Static<typeof HistoryView>

const MANUAL = { method_type: 'manual', method_id: null } as const

/** Maps a payout for the history of its account. */
export function toWithdrawal(row: PayoutRow) {
  const { id, status, address: method_address } = row
  const money = { amount: toAmount(row.amount), fee: toAmount(row.fee) }
  return { id, status, created: row.created.toISOString(), ...money, ...MANUAL, method_address }
}

export function toPayoutView(row: PayoutRow): PayoutView {
  return { external_id: row.external_id, user_id: row.account_id, ...toWithdrawal(row) }
}
