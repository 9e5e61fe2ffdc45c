// Queries of earnings, balances and payouts.

import { sql } from 'kysely'
import { compare } from '#lib/compare.ts'
import { parseUnits, toAmount } from '#lib/decimal.ts'
import { invalidInput } from '#lib/errors.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { type BalanceView, type HistoryView, type PayoutRow, toWithdrawal } from './views.ts'

declare module '#platform/cache/changes.ts' {
  interface ChangeKinds {
    balance: true
  }
}

/** Maximum number of payouts, and of days with earnings, in a history. It contains the newest. */
const HISTORY_MAX = 5_000
/** Maximum number of days on which pending amounts become available. */
const DATES_MAX = 400
/** Maximum number of months in the revenue of a project. */
const MONTHS_MAX = 240

/** Earnings of an account, from projects and from affiliate codes. */
const earnings = (accountId: string) => sql`
  (select available, amount, 'creator_rewards' as source from revenue_share where account_id = ${accountId}
   union all
   select available, revenue, 'affiliates' from affiliate_conversion where account_id = ${accountId} and revenue > 0)`

/** Payouts that reduce the balance: those that succeeded or are in transit. */
const withdrawn = (accountId: string) => sql`
  (select amount, fee, created from payout where account_id = ${accountId} and status in ('success', 'in-transit'))`

/** Returns the balance of an account at `now`. Days are in UTC. */
export async function getBalance(db: Db, accountId: string, now: number): Promise<BalanceView> {
  const at = new Date(now)
  const newYear = new Date(Date.UTC(at.getUTCFullYear(), 0, 1))
  const { rows } = await sql<Record<'available' | 'pending' | 'withdrawn_lifetime' | 'withdrawn_ytd', string>>`
    select (matured - lifetime - fees)::text as available, pending::text, lifetime::text as withdrawn_lifetime,
      ytd::text as withdrawn_ytd
    from (select coalesce(sum(amount) filter (where available <= ${at}), 0) as matured,
            coalesce(sum(amount) filter (where available > ${at}), 0) as pending
          from ${earnings(accountId)} earned) totals,
      (select coalesce(sum(amount), 0) as lifetime, coalesce(sum(fee), 0) as fees,
            coalesce(sum(amount) filter (where created >= ${newYear}), 0) as ytd
          from ${withdrawn(accountId)} paid) payouts`.execute(db)
  const { rows: dates } = await sql<{ available: Date; amount: string }>`
    select date_trunc('day', available, 'UTC') as available, sum(amount)::text as amount
    from ${earnings(accountId)} earned
    where available > ${at} group by 1 order by 1 limit ${DATES_MAX}`.execute(db)
  const totals = rows[0]
  return {
    available: toAmount(totals?.available ?? '0'),
    pending: toAmount(totals?.pending ?? '0'),
    withdrawn_lifetime: toAmount(totals?.withdrawn_lifetime ?? '0'),
    withdrawn_ytd: toAmount(totals?.withdrawn_ytd ?? '0'),
    dates: Object.fromEntries(dates.map(({ available, amount }) => [available.toISOString(), toAmount(amount)])),
    requested_form_type: null,
    form_completion_status: null,
    tax_compliance: null,
  }
}

/** Returns the available balance of an account at `now`, and when it will change by itself, in milliseconds. */
export async function getAvailable(db: Db, accountId: string, now: number): Promise<Available> {
  const at = new Date(now)
  const { rows } = await sql<{ amount: string; next: Date | null }>`
    select (coalesce(sum(amount) filter (where available <= ${at}), 0)
        - (select coalesce(sum(amount + fee), 0) from ${withdrawn(accountId)} paid))::text as amount,
      min(available) filter (where available > ${at}) as next
    from ${earnings(accountId)} earned`.execute(db)
  const { amount = '0', next = null } = rows[0] ?? {}
  return { accountId, amount: toAmount(amount), untilMs: next?.getTime() ?? Number.POSITIVE_INFINITY }
}

/** The available balance of an account, as a decimal string, and when an amount will become available. */
export type Available = { accountId: string; amount: string; untilMs: number }

const BALANCE = defineCache({
  name: 'balance',
  contains: 'Available balance of an account',
  idOf: ({ accountId }: Available) => accountId,
  sizeOf: () => 100,
})

/** Returns the available balance of an account if it is cached and no amount has become available since. */
export function peekAvailable({ cache, now }: Pick<Deps, 'cache' | 'now'>, accountId: string): string | undefined {
  const known = cache.kind(BALANCE).peek(accountId)
  return known !== undefined && now() < known.untilMs ? known.amount : undefined
}

/** Returns the available balance of an account, cached. A change of earnings or payouts names the account as `balance`. */
export async function getCachedAvailable(
  { db, cache, now }: Pick<Deps, 'db' | 'cache' | 'now'>,
  accountId: string,
): Promise<string> {
  const load = () => getAvailable(db, accountId, now())
  const known = await cache.kind(BALANCE).get(accountId, async () => [await load()])
  if (known !== undefined && now() < known.untilMs) return known.amount
  cache.invalidate(new Map([['balance', new Set([accountId])]]))
  return (await load()).amount
}

/** Returns the payouts of an account and the amounts that became available on each day, oldest first. */
export async function getHistory(db: Db, accountId: string, now: number): Promise<HistoryView> {
  const payouts = await db
    .selectFrom('payout')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created', 'desc')
    .orderBy('id')
    .limit(HISTORY_MAX)
    .execute()
  const { rows } = await sql<{ created: Date; payout_source: 'creator_rewards' | 'affiliates'; amount: string }>`
    select date_trunc('day', available, 'UTC') as created, source as payout_source, sum(amount)::text as amount
    from ${earnings(accountId)} earned
    where available <= ${new Date(now)} group by 1, 2 order by 1 desc, 2 limit ${HISTORY_MAX}`.execute(db)
  const entries: HistoryView = [
    ...rows.map(({ created, payout_source, amount }) => ({
      type: 'payout_available' as const,
      created: created.toISOString(),
      payout_source,
      amount: toAmount(amount),
    })),
    ...payouts.map((row) => ({ type: 'withdrawal' as const, ...toWithdrawal(row) })),
  ]
  return entries.sort((a, b) => compare(a.created, b.created))
}

/** Returns the revenue of a project by month (UTC), newest first, over the shares of all members. */
export async function listProjectRevenue(db: Db, projectId: string): Promise<{ month: Date; amount: string }[]> {
  const { rows } = await sql<{ month: Date; amount: string }>`
    select date_trunc('month', day, 'UTC') as month, sum(amount)::text as amount
    from revenue_share where project_id = ${projectId} group by 1 order by 1 desc limit ${MONTHS_MAX}`.execute(db)
  return rows
}

/** Returns the newest payouts of all accounts, with the current name of each. */
export function listPayouts(db: Db, limit: number): Promise<(PayoutRow & { username: string | null })[]> {
  return db
    .selectFrom('payout')
    .leftJoin('account', 'account.id', 'payout.account_id')
    .selectAll('payout')
    .select('account.username')
    .orderBy('payout.created', 'desc')
    .orderBy('payout.id')
    .limit(limit)
    .execute()
}

/** Requires that the locked account has an amount available. @throws ApiError `invalid_input`. */
export async function assertAvailable(
  tx: Tx,
  { accountId, units, now }: { accountId: string; units: bigint; now: number },
): Promise<void> {
  const { amount } = await getAvailable(tx, accountId, now)
  if (units > parseUnits(amount)) throw invalidInput(`Only ${amount} is available`, 'amount')
}
