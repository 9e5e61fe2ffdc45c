// Distributes the revenue of a day to the members of projects, in proportion to views and downloads.

import { type Selectable, sql } from 'kysely'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { formatUnits, parseUnits, splitUnits, toAmount } from '#lib/decimal.ts'
import { ApiError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { RevenuePart } from '#platform/db/schema.ts'
import type { Deps } from '#ports/deps.ts'
import { isPublicStatus } from '#taxonomy/project-status.ts'
import { listProjectWeights } from './project-weights.ts'
import { differentContent, type NewRevenue } from './requests.ts'
import type { RevenueView } from './views.ts'

/** Days from the first of the next month until a share is available, because advertisers pay late. */
const HELD_BACK_DAYS = 59
/** Maximum wait for the newest events to be stored. Without it, a failing store would block the call for minutes. */
const FLUSH_MS = 15_000
/** Maximum number of rows in an insert. */
const INSERT_ROWS = 5_000

type Share = { project_id: string; account_id: string; amount: bigint }
type DistributeDeps = Pick<Deps, 'db' | 'cache' | 'analytics' | 'events' | 'now'>

/**
 * Distributes an amount once, by the day's events that are stored now. The external ID is unique, so that of several
 * concurrent calls one distributes and the others return its result. The operator keeps the shares of projects that
 * are not monetized or not public.
 * @throws ApiError `conflict` if the external ID has different content, `analytics_database_error`.
 */
export async function distributeRevenue(
  deps: DistributeDeps,
  actor: Actor,
  revenue: NewRevenue,
): Promise<{ revenue: RevenueView; isNew: boolean }> {
  const existing = await findPart(deps.db, revenue.externalId)
  if (existing !== undefined) return { revenue: await toView(deps.db, assertSame(existing, revenue)), isNew: false }
  await storePendingEvents(deps)
  const shares = await computeShares(deps, revenue)
  const isNew = await transaction(deps, async (tx, changed) => {
    if (!(await insertPart(tx, { ...revenue, shares, now: deps.now() }))) return false
    changed.add('balance', ...shares.map((share) => share.account_id))
    const details = { day: new Date(revenue.day).toISOString().slice(0, 10), amount: formatUnits(revenue.units) }
    const subject = { kind: 'revenue', id: revenue.externalId } as const
    await recordAudit(tx, { action: 'revenue.distributed', actor, subject, details })
    return true
  })
  const part = await findPart(deps.db, revenue.externalId)
  if (part === undefined) throw new ApiError('database_error', 'The revenue could not be recorded')
  return { revenue: await toView(deps.db, isNew ? part : assertSame(part, revenue)), isNew }
}

/** Stores the events that are still in memory, so that they count. @throws ApiError `analytics_database_error` */
async function storePendingEvents({ events }: DistributeDeps): Promise<void> {
  await events.flush(AbortSignal.timeout(FLUSH_MS)).catch((cause: unknown) => {
    const problem = 'The newest events are not stored yet. Nothing was distributed; try again.'
    throw new ApiError('analytics_database_error', problem, { cause })
  })
}

async function computeShares({ db, analytics }: DistributeDeps, { day, units }: NewRevenue): Promise<Share[]> {
  const projects = await listProjectWeights({ db, analytics }, day)
  // All weights divide the amount. The shares of projects that cannot earn are not distributed.
  const weights = projects.map(({ weight }) => BigInt(weight))
  const pots = splitUnits(units, weights)
  const earning = projects.flatMap(({ id, status, monetization_status }, i) =>
    monetization_status === 'monetized' && isPublicStatus(status) ? [{ id, pot: pots[i] ?? 0n }] : [],
  )
  const earningIds = earning.map(({ id }) => id)
  const members = await listMemberSplits(db, earningIds)
  return earning.flatMap(({ id, pot }) => splitPot(id, pot, members.get(id) ?? []))
}

type MemberSplit = { account_id: string; payouts_split: string }

/** Divides a project's amount in proportion to `payouts_split`, or equally if all splits are 0. */
function splitPot(projectId: string, pot: bigint, members: readonly MemberSplit[]): Share[] {
  const splits = members.map(({ payouts_split }) => parseUnits(payouts_split))
  const weights = splits.every((split) => split === 0n) ? splits.map(() => 1n) : splits
  const parts = splitUnits(pot, weights)
  return members.flatMap(({ account_id }, i) => {
    const amount = parts[i] ?? 0n
    return amount === 0n ? [] : [{ project_id: projectId, account_id, amount }]
  })
}

/** Returns the accepted members of each project's team and of its organization, each once and in a fixed order. */
async function listMemberSplits(db: Db, projectIds: readonly string[]): Promise<Map<string, MemberSplit[]>> {
  const { rows } = await sql<MemberSplit & { project_id: string }>`
    with earning as (select id, team_id, organization_id from project where id = any(${projectIds}::text[]))
    select earning.id as project_id, member.account_id, member.payouts_split
      from earning join team_member member on member.team_id = earning.team_id and member.accepted
    union all
    select earning.id, member.account_id, member.payouts_split
      from earning join organization on organization.id = earning.organization_id
        join team_member member on member.team_id = organization.team_id and member.accepted
      where not exists (select from team_member own where own.team_id = earning.team_id and own.accepted
        and own.account_id = member.account_id)
    order by 1, 2`.execute(db)
  return Map.groupBy(rows, ({ project_id }) => project_id)
}

/** Inserts the revenue with its shares. Returns false and inserts nothing if the external ID exists. */
async function insertPart(tx: Tx, part: NewRevenue & { shares: readonly Share[]; now: number }): Promise<boolean> {
  const day = new Date(part.day)
  const row = await tx
    .insertInto('revenue_part')
    .values({ external_id: part.externalId, day, amount: formatUnits(part.units), created: new Date(part.now) })
    .onConflict((conflict) => conflict.column('external_id').doNothing())
    .returning('id')
    .executeTakeFirst()
  if (row === undefined) return false
  const available = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 1 + HELD_BACK_DAYS))
  for (let from = 0; from < part.shares.length; from += INSERT_ROWS) {
    const shares = part.shares.slice(from, from + INSERT_ROWS)
    // If the account of a member was deleted during the computation, its share is stored without an account.
    await sql`insert into revenue_share (part_id, project_id, account_id, day, amount, available)
      select ${row.id}, share.project_id, account.id, ${day}, share.amount, ${available}
      from unnest(${shares.map((share) => share.project_id)}::text[], ${shares.map((share) => share.account_id)}::text[],
        ${shares.map((share) => formatUnits(share.amount))}::numeric[]) as share (project_id, account_id, amount)
      left join account on account.id = share.account_id`.execute(tx)
  }
  return true
}

type PartRow = Selectable<RevenuePart>

function findPart(db: Db, externalId: string): Promise<PartRow | undefined> {
  return db.selectFrom('revenue_part').selectAll().where('external_id', '=', externalId).executeTakeFirst()
}

function assertSame(row: PartRow, { day, units }: NewRevenue): PartRow {
  if (row.day.getTime() === day && parseUnits(row.amount) === units) return row
  throw differentContent()
}

async function toView(db: Db, row: PartRow): Promise<RevenueView> {
  const { distributed, projects } = await db
    .selectFrom('revenue_share')
    .select((eb) => [
      eb.fn.coalesce(eb.fn.sum<string>('amount'), sql<string>`0`).as('distributed'),
      eb.fn.count<number>('project_id').distinct().as('projects'),
    ])
    .where('part_id', '=', row.id)
    .executeTakeFirstOrThrow()
  return {
    external_id: row.external_id,
    day: row.day.toISOString().slice(0, 10),
    amount: toAmount(row.amount),
    distributed: toAmount(distributed),
    projects,
  }
}
