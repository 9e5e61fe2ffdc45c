// Rows of reports.
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { notFound } from '#lib/errors.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Report } from '#platform/db/schema.ts'
import { reportVisibleTo } from './policy.ts'
import type { ItemType, ReportFilter } from './requests.ts'

export type ReportRow = Selectable<Report> & { thread_id: string }

/** Every report has a thread, which is created with it. */
function readReports(db: Db) {
  return db
    .selectFrom('report')
    .innerJoin('thread', 'thread.report_id', 'report.id')
    .selectAll('report')
    .select('thread.id as thread_id')
}

/** @throws ApiError 404 if the report is absent or hidden. */
export async function getVisibleReport(db: Db, viewer: Viewer, id: string): Promise<ReportRow> {
  const [report] = await listVisibleReports(db, viewer, [id])
  if (report === undefined) throw notFound('report')
  return report
}

/** Returns the report, locked until the transaction ends. @throws ApiError 404 if it is absent or hidden. */
export async function lockVisibleReport(tx: Tx, viewer: Viewer, id: string): Promise<ReportRow> {
  const report = await readReports(tx)
    .where('report.id', '=', id)
    .where(reportVisibleTo(viewer))
    .forUpdate('report')
    .executeTakeFirst()
  if (report === undefined) throw notFound('report')
  return report
}

/** Returns the reports with these IDs that the viewer can see, in this order. */
export async function listVisibleReports(db: Db, viewer: Viewer, ids: readonly string[]): Promise<ReportRow[]> {
  if (ids.length === 0) return []
  const rows = await readReports(db).where('report.id', 'in', ids).where(reportVisibleTo(viewer)).execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** Returns one page of reports, oldest first: of one reporter, or of all if `reporterId` is undefined. */
export function listReportPage(
  db: Db,
  {
    reporterId,
    count,
    offset,
    ...filter
  }: ReportFilter & { reporterId: string | undefined; count: number; offset: number },
): Promise<ReportRow[]> {
  return readReports(db)
    .where(matchesReports(filter))
    .$if(reporterId !== undefined, (query) => query.where('report.reporter_id', '=', reporterId ?? ''))
    .orderBy('report.created')
    .orderBy('report.id')
    .limit(count)
    .offset(offset)
    .execute()
}

/** SQL condition: whether `report` matches the filter. */
export function matchesReports({ state, itemType, itemId, reportType, claim }: ReportFilter): RawBuilder<boolean> {
  const conditions: RawBuilder<boolean>[] = [sql<boolean>`true`]
  if (state !== 'all') conditions.push(state === 'open' ? sql`not report.closed` : sql`report.closed`)
  if (itemType !== undefined) conditions.push(sql`report.item_type = ${itemType}`)
  if (itemId !== undefined) conditions.push(sql`report.item_id = ${itemId}`)
  if (reportType !== undefined) conditions.push(sql`report.report_type = ${reportType}`)
  if (claim !== undefined) {
    const own = sql`report_claim.account_id = ${claim.viewerId} and`
    const others = sql`report_claim.account_id <> ${claim.viewerId} and`
    const holder = { unassigned: sql``, mine: own, others }[claim.by]
    const isClaimed = sql<boolean>`exists (select 1 from report_claim where ${holder}
      report_claim.item_type = report.item_type and report_claim.item_id = report.item_id and report_claim.until > now())`
    conditions.push(claim.by === 'unassigned' ? sql`not ${isClaimed}` : isClaimed)
  }
  return sql<boolean>`(${sql.join(conditions, sql` and `)})`
}

/** Returns the reports with these IDs, locked until the transaction ends. The order prevents deadlocks. */
export function lockReports(tx: Tx, ids: readonly string[]): Promise<ReportRow[]> {
  if (ids.length === 0) return Promise.resolve([])
  return readReports(tx).where('report.id', 'in', ids).orderBy('report.id').forUpdate('report').execute()
}

/** Returns an account's open reports about an item, newest first. */
export function listOwnOpenReports(
  db: Db,
  reporterId: string,
  { type, id }: { type: ItemType; id: string },
): Promise<{ id: string; created: Date }[]> {
  return db
    .selectFrom('report')
    .select(['id', 'created'])
    .where('reporter_id', '=', reporterId)
    .where('closed', '=', false)
    .where('item_type', '=', type)
    .where('item_id', '=', id)
    .orderBy('created', 'desc')
    .orderBy('id')
    .limit(10)
    .execute()
}
