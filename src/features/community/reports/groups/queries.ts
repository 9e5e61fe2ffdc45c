// Reports grouped by the reported item, for moderators.
import { sql } from 'kysely'
import type { Db, Tx } from '#platform/db/db.ts'
import { matchesReports } from '../queries.ts'
import type { ItemType, ReportFilter } from '../requests.ts'

/** Maximum number of reports whose IDs a group contains. */
const IDS_MAX = 100
/** Maximum number of reporters that a group names: those with the most reports about the item. */
const REPORTERS_MAX = 5

export type ReportedItemKey = { item_type: string; item_id: string }
export type ReportClaim = { id: string; username: string; claimed_until: Date }
export type Reporter = { id: string; username: string; reports: number; closed: number; action: number }
export type ReportedItem = { name: string; status: string | null; project_id: string | null; slug: string | null }
export type ReportGroup = {
  item_type: ItemType
  item_id: string
  /** Null if the item was deleted. */
  item: ReportedItem | null
  reports: number
  open: number
  first: Date
  latest: Date
  open_since: Date | null
  reporter_count: number
  reporters: Reporter[]
  types: { type: string; count: number }[]
  report_ids: string[]
  claim: (Omit<ReportClaim, 'claimed_until'> & { claimed_until: string }) | null
}

export async function countReportGroups(
  db: Db,
  filter: ReportFilter,
): Promise<{ total: number; open: number; closed: number }> {
  const { rows } = await sql<{ total: number; open: number; closed: number }>`select
    (select count(*) from (select from report where ${matchesReports(filter)} group by item_type, item_id) item) as total,
    count(*) filter (where not closed) as open, count(*) filter (where closed) as closed from report`.execute(db)
  return rows[0] ?? { total: 0, open: 0, closed: 0 }
}

/** Returns a page of the reported items, those with the oldest matching report first, with one statement. */
export async function listReportGroups(
  db: Db,
  { count, offset, ...filter }: ReportFilter & { count: number; offset: number },
): Promise<ReportGroup[]> {
  const matching = matchesReports(filter)
  const ofItem = sql`report.item_type = item.item_type and report.item_id = item.item_id and ${matching}`
  const { rows } = await sql<ReportGroup>`
    with item as (
      select item_type, item_id, count(*) as reports, count(*) filter (where not closed) as open, min(created) as first,
        max(created) as latest, min(created) filter (where not closed) as open_since,
        count(distinct reporter_id) as reporter_count,
        (array_agg(id order by created, id))[1:${IDS_MAX}] as report_ids
      from report where ${matching} group by item_type, item_id
      order by min(created), item_type, item_id limit ${count} offset ${offset})
    select item.*, ${itemOf()} as item,
      (select jsonb_build_object('id', account.id, 'username', account.username, 'claimed_until', claim.until)
        from report_claim claim join account on account.id = claim.account_id
        where claim.item_type = item.item_type and claim.item_id = item.item_id and claim.until > now()) as claim,
      (select jsonb_agg(jsonb_build_object('type', report_type, 'count', reports) order by reports desc, report_type)
        from (select report_type, count(*) as reports from report where ${ofItem} group by report_type) type) as types,
      (select jsonb_agg(jsonb_build_object('id', account.id, 'username', account.username,
          'reports', (select count(*) from report made where made.reporter_id = account.id),
          'closed', (select count(*) from report made where made.reporter_id = account.id and made.closed),
          'action', (select count(*) from report made where made.reporter_id = account.id and made.outcome = 'action'))
          order by found.reports desc, account.username)
        from (select reporter_id, count(*) as reports from report where ${ofItem} group by reporter_id
          order by count(*) desc, reporter_id limit ${REPORTERS_MAX}) found
        join account on account.id = found.reporter_id) as reporters
    from item order by item.first, item.item_type, item.item_id`.execute(db)
  return rows
}

/** Returns the claim of an item that has not expired, or undefined. */
export function findReportClaim(db: Db, { item_type, item_id }: ReportedItemKey): Promise<ReportClaim | undefined> {
  return db
    .selectFrom('report_claim')
    .innerJoin('account', 'account.id', 'report_claim.account_id')
    .select(['account.id', 'account.username', 'report_claim.until as claimed_until'])
    .where('item_type', '=', item_type)
    .where('item_id', '=', item_id)
    .where('until', '>', sql<Date>`now()`)
    .executeTakeFirst()
}

/** Returns the oldest open report that matches, of an item that nobody has claimed, locked until the transaction ends. */
export async function findNextReport(
  tx: Tx,
  filter: Pick<ReportFilter, 'itemType' | 'reportType'>,
): Promise<(ReportedItemKey & { id: string }) | undefined> {
  const { rows } = await sql<ReportedItemKey & { id: string }>`select id, item_type, item_id from report
    where ${matchesReports({ ...filter, state: 'open', claim: { by: 'unassigned', viewerId: '' } })}
    order by created, id limit 1 for share of report`.execute(tx)
  return rows[0]
}

/** Ends the claim of an item without open reports. */
export async function dropReportClaim(tx: Tx, { item_type, item_id }: ReportedItemKey): Promise<void> {
  await sql`delete from report_claim where item_type = ${item_type} and item_id = ${item_id} and not exists (
    select 1 from report where item_type = ${item_type} and item_id = ${item_id} and not closed)`.execute(tx)
}

/** SQL expression: the item of `item` (item_type, item_id) as it is now, as JSON; null if it was deleted. */
function itemOf() {
  return sql`case item.item_type
    when 'project' then (select jsonb_build_object('name', project.name, 'status', project.status,
        'project_id', project.id, 'slug', project.slug)
      from project where project.id = item.item_id)
    when 'version' then (select jsonb_build_object('name', project.name || ' ' || version.version_number,
        'status', version.status, 'project_id', project.id, 'slug', project.slug)
      from version join project on project.id = version.project_id where version.id = item.item_id)
    else (select jsonb_build_object('name', account.username, 'status', null, 'project_id', null, 'slug', null)
      from account where account.id = item.item_id) end`
}
