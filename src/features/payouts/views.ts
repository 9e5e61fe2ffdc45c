// The wire shapes of money: what operators report, and what people see of theirs. Amounts are decimal texts.
import Type, { type Static } from 'typebox'
import { AMOUNT_PATTERN } from '#lib/decimal.ts'
import { Nullable, Timestamp } from '#lib/schema-parts.ts'

const AmountInput = Type.String({ pattern: AMOUNT_PATTERN, maxLength: 21, description: 'Decimal' })
const Amount = Type.String({ description: 'Decimal' })
const ExternalId = Type.String({ minLength: 1, maxLength: 255, description: 'The same one is recorded once' })

export const NewRevenue = Type.Object(
  {
    external_id: ExternalId,
    day: Type.String({ maxLength: 10, description: 'YYYY-MM-DD, in UTC; today at the latest' }),
    amount: AmountInput,
  },
  { title: 'NewRevenue' },
)
export type NewRevenue = Static<typeof NewRevenue>

export const RevenueView = Type.Object(
  {
    external_id: Type.String(),
    day: Type.String(),
    amount: Amount,
    distributed: Type.String({ description: 'What went to people; the rest stays with the operator' }),
    projects: Type.Integer({ description: 'Projects that got something' }),
  },
  { title: 'Revenue' },
)
export type RevenueView = Static<typeof RevenueView>

const PAYOUT_STATUSES = ['in-transit', 'success', 'cancelled', 'failed'] as const
const PayoutStatus = Type.Enum([...PAYOUT_STATUSES])

export const NewPayout = Type.Object(
  {
    external_id: ExternalId,
    user_id: Type.String({ maxLength: 64 }),
    amount: AmountInput,
    fee: Type.Optional(AmountInput),
    status: Type.Optional(Type.Enum(['in-transit', 'success'], { description: 'Default success' })),
  },
  { title: 'NewPayout' },
)
export type NewPayout = Static<typeof NewPayout>

export const PayoutPatch = Type.Object({ status: PayoutStatus }, { title: 'PayoutPatch' })

const withdrawal = {
  id: Type.String(),
  status: PayoutStatus,
  created: Timestamp,
  amount: Amount,
  fee: Amount,
  method_type: Type.Literal('manual'),
  method_id: Type.Null(),
  method_address: Nullable(Type.String({ description: 'The payout handle of that time' })),
}

export const PayoutView = Type.Object(
  { external_id: Type.String(), user_id: Nullable(Type.String()), ...withdrawal },
  { title: 'Payout' },
)
export type PayoutView = Static<typeof PayoutView>

export const BalanceView = Type.Object(
  {
    available: Amount,
    pending: Type.String({ description: 'Earned, and not available yet' }),
    withdrawn_lifetime: Amount,
    withdrawn_ytd: Type.String({ description: 'Since the first of January, UTC' }),
    dates: Type.Record(Type.String(), Amount, { description: 'When pending amounts become available' }),
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
