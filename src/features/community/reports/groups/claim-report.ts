// Claims of reported items, so that two moderators do not handle the same reports.
import { sql } from 'kysely'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { ApiError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { getVisibleReport } from '../queries.ts'
import type { ReportFilter } from '../requests.ts'
import { findNextReport, findReportClaim, type ReportClaim, type ReportedItemKey } from './queries.ts'

/** Duration of a claim after it is made or extended. */
const CLAIM_MINUTES = 30
/** Name of the advisory lock that makes claims of the next item wait for each other. */
const NEXT_CLAIM_LOCK = 'moderation.next-report'

/**
 * Claims the item of a report, or extends the viewer's own claim.
 * @throws ApiError 404, `conflict` if all reports about the item are closed or another moderator has claimed it
 */
export function claimReport(deps: Pick<Deps, 'db' | 'cache'>, viewer: Viewer, reportId: string): Promise<ReportClaim> {
  return transaction(deps, async (tx) => {
    const report = await getVisibleReport(tx, viewer, reportId)
    // The lock keeps a moderator from closing the last report between the check and the claim.
    const open = await tx
      .selectFrom('report')
      .select('id')
      .where('item_type', '=', report.item_type)
      .where('item_id', '=', report.item_id)
      .where('closed', '=', false)
      .limit(1)
      .forShare()
      .executeTakeFirst()
    if (open === undefined) throw new ApiError('conflict', 'All reports about this item are closed')
    const before = await findReportClaim(tx, report)
    await insertClaim(tx, viewer, report)
    const claim = await findReportClaim(tx, report)
    if (claim?.id !== viewer.id) throw claimedBy(claim)
    if (before === undefined) await recordClaim(tx, viewer, reportId)
    return claim
  })
}

/** Claims the unclaimed item with the oldest open report that matches. Returns the ID of this report, or undefined. */
export function claimNextReport(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  filter: Pick<ReportFilter, 'itemType' | 'reportType'>,
): Promise<string | undefined> {
  return transaction(deps, async (tx) => {
    // Without the lock, two moderators would select the same item, and one of them would get none.
    await sql`select pg_advisory_xact_lock(hashtext(${NEXT_CLAIM_LOCK}))`.execute(tx)
    const next = await findNextReport(tx, filter)
    if (next === undefined) return undefined
    await insertClaim(tx, viewer, next)
    await recordClaim(tx, viewer, next.id)
    return next.id
  })
}

/** Ends the viewer's claim. Does nothing if nobody has one. @throws ApiError 404, `conflict` for a claim of another moderator */
export async function releaseReport({ db }: Pick<Deps, 'db'>, viewer: Viewer, reportId: string): Promise<void> {
  const item = await getVisibleReport(db, viewer, reportId)
  await db
    .deleteFrom('report_claim')
    .where('item_type', '=', item.item_type)
    .where('item_id', '=', item.item_id)
    .where('account_id', '=', viewer.id)
    .execute()
  const claim = await findReportClaim(db, item)
  if (claim !== undefined) throw claimedBy(claim)
}

/** Writes the claim unless another moderator has one. The primary key resolves races. */
async function insertClaim(tx: Tx, viewer: Viewer, { item_type, item_id }: ReportedItemKey): Promise<void> {
  await sql`insert into report_claim as claim (item_type, item_id, account_id, until)
    values (${item_type}, ${item_id}, ${viewer.id}, now() + make_interval(mins => ${CLAIM_MINUTES}))
    on conflict (item_type, item_id) do update set account_id = excluded.account_id, until = excluded.until
      where claim.account_id = excluded.account_id or claim.until <= now()`.execute(tx)
}

function recordClaim(tx: Tx, viewer: Viewer, id: string): Promise<void> {
  return recordAudit(tx, { action: 'report.claimed', actor: actorOf(viewer), subject: { kind: 'report', id } })
}

function claimedBy(claim: ReportClaim | undefined): ApiError {
  const holder = claim === undefined ? null : { id: claim.id, username: claim.username }
  return new ApiError('conflict', `${holder?.username ?? 'Another moderator'} is handling these reports`, {
    details: { claimed_by: holder, claimed_until: claim?.claimed_until.toISOString() ?? null },
  })
}
