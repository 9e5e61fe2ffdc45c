// Sales, payouts and revenue: each is there once, and the balance of the account is their sum.
import type { Instance } from './instance.ts'
import { call, conversionOf, type Ledger, operate, PAYOUT, payoutOf, revenueOf } from './writers.ts'

/** Earnings from a sale of 10.00. */
const EARNED = 1
/** Share of the known sales that each round reports again. */
const REPEATED = 0.1

export async function checkMoney(instance: Instance, ledger: Ledger): Promise<string[]> {
  const problems: string[] = []
  const again = async (what: string, id: string, isKnown: boolean, path: string, body: object): Promise<void> => {
    if (isKnown && Math.random() > REPEATED) return
    const answer = await operate(instance, `/_internal/admin/${path}`, body)
    // An acknowledged sale is a repetition; an unknown one might be a repetition.
    if (answer?.status !== 200 && (isKnown || answer?.status !== 201))
      problems.push(`${what} ${id} (known: ${isKnown}) is ${answer?.status} ${JSON.stringify(answer?.json)}`)
  }
  for (const [id, fate] of ledger.conversions) {
    await again('sale', id, fate === 'acknowledged', 'affiliate-conversion', conversionOf(ledger, id))
    ledger.conversions.set(id, 'acknowledged')
  }
  for (const [id, fate] of ledger.payouts) {
    await again('payout', id, fate === 'acknowledged', 'payout', payoutOf(ledger, id))
    ledger.payouts.set(id, 'acknowledged')
  }
  for (const [id, fate] of ledger.revenue) {
    await again('revenue', id, fate === 'acknowledged', 'revenue', revenueOf(id, ledger.days.get(id) ?? ''))
    ledger.revenue.set(id, 'acknowledged')
  }
  return [...problems, ...(await checkSums(instance, ledger))]
}

async function checkSums(instance: Instance, ledger: Ledger): Promise<string[]> {
  const { conversions, payouts, revenue } = ledger
  const { rows } = await instance.query(`select
    (select count(*)::int from affiliate_conversion) as sales, (select count(*)::int from payout) as payouts,
    (select count(*)::int from revenue_part) as parts,
    (select count(*)::int from revenue_part part where amount < (select coalesce(sum(share.amount), 0) from revenue_share share
      where share.part_id = part.id)) as overspent,
    (select coalesce(sum(amount), 0)::float from revenue_share where account_id = '${ledger.authorId}') as shared`)
  const found = rows[0] as { sales: number; payouts: number; parts: number; overspent: number; shared: number }
  const balance = (await call(instance, '/v3/payout/balance', { token: ledger.author }))?.json ?? {}
  const withdrawn = payouts.size * Number(PAYOUT)
  const sums: [string, number, number][] = [
    ['sales', found.sales, conversions.size],
    ['payouts', found.payouts, payouts.size],
    ['reports of revenue', found.parts, revenue.size],
    ['days that gave away more than they had', found.overspent, 0],
    ['of the balance available', Number(balance['available']), conversions.size * EARNED - withdrawn],
    ['of the balance paid out', Number(balance['withdrawn_lifetime']), withdrawn],
    ['of the balance pending', Number(balance['pending']), found.shared],
  ]
  return sums.flatMap(([what, is, wanted]) =>
    Math.abs(is - wanted) < 0.001 ? [] : [`${is} ${what}, and ${wanted} should be`],
  )
}
