// Claims of projects under review, so that two moderators do not review the same project.
import { sql } from 'kysely'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { appealedFrom, findOpenAppeal } from '#features/catalogue/reviews/appeals.ts'
import type { ClaimRow } from '#features/catalogue/reviews/claim-view.ts'
import { hasOtherModerators, requireJudge } from '#features/catalogue/reviews/policy.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { findClaim, IN_QUEUE, matchesQueue, type QueueFilter, type QueueOrder, since } from './queries.ts'

type ClaimDeps = Pick<Deps, 'db' | 'cache'>

/** Duration of a claim after it is made or extended. */
const CLAIM_MINUTES = 30
/** Name of the advisory lock that makes claims of the next project wait for each other. */
const NEXT_CLAIM_LOCK = 'moderation.next'

/**
 * Claims a project of the queue, or extends the viewer's own claim.
 * @throws ApiError `not_found`, `conflict` if the project is not in the queue or another moderator has claimed it, 403 for an
 * appeal against the viewer's own decision
 */
export function claimProject(deps: ClaimDeps, viewer: Viewer, projectId: string): Promise<ClaimRow> {
  return transaction(deps, async (tx) => {
    const project = await tx
      .selectFrom('project')
      .select('status')
      .where('id', '=', projectId)
      .forKeyShare()
      .executeTakeFirst()
    if (project === undefined) throw notFound('project')
    const appeal = project.status === 'processing' ? undefined : await findOpenAppeal(tx, projectId)
    if (project.status !== 'processing' && appeal === undefined)
      throw new ApiError('conflict', 'This project is not under review')
    if (appeal !== undefined) await requireJudge(tx, viewer, appeal.moderator_id)
    const before = await findClaim(tx, projectId)
    await insertClaim(tx, viewer, projectId)
    const claim = await findClaim(tx, projectId)
    if (claim?.id !== viewer.id) throw claimedBy(claim)
    if (before === undefined) await recordClaim(tx, viewer, projectId)
    return claim
  })
}

/**
 * Claims the first unclaimed project of the queue that matches. Returns its ID, or undefined if no project matches. Leaves
 * appeals against the viewer's decisions to other moderators, if other moderators exist.
 */
export function claimNext(
  deps: ClaimDeps,
  viewer: Viewer,
  filter: QueueFilter,
  sort: QueueOrder,
): Promise<string | undefined> {
  const direction = sql.raw(sort === 'oldest' ? 'asc' : 'desc')
  return transaction(deps, async (tx) => {
    // Without the lock, two moderators would select the same project, and one of them would get none.
    await sql`select pg_advisory_xact_lock(hashtext(${NEXT_CLAIM_LOCK}))`.execute(tx)
    const leavesOwn = await hasOtherModerators(tx, viewer.id)
    const own = leavesOwn ? sql`and not project.id = any(${appealedFrom(viewer.id)})` : sql``
    const { rows } = await sql<{ id: string }>`select project.id from project
      where ${IN_QUEUE} ${own} and ${matchesQueue({ ...filter, claim: 'unassigned' }, viewer.id)}
      order by ${since} ${direction}, project.id ${direction} limit 1 for key share of project`.execute(tx)
    const id = rows[0]?.id
    if (id === undefined) return undefined
    await insertClaim(tx, viewer, id)
    await recordClaim(tx, viewer, id)
    return id
  })
}

/**
 * Ends the viewer's claim. Does nothing if the project is not claimed.
 * @throws ApiError `conflict` if another moderator has claimed the project
 */
export async function releaseClaim({ db }: Pick<Deps, 'db'>, viewer: Viewer, projectId: string): Promise<void> {
  await db
    .deleteFrom('moderation_claim')
    .where('project_id', '=', projectId)
    .where('account_id', '=', viewer.id)
    .execute()
  const claim = await findClaim(db, projectId)
  if (claim !== undefined) throw claimedBy(claim)
}

/** Writes the claim unless another moderator has one. The primary key resolves races. */
async function insertClaim(tx: Tx, viewer: Viewer, projectId: string): Promise<void> {
  await sql`insert into moderation_claim as claim (project_id, account_id, until)
    values (${projectId}, ${viewer.id}, now() + make_interval(mins => ${CLAIM_MINUTES}))
    on conflict (project_id) do update set account_id = excluded.account_id, until = excluded.until
      where claim.account_id = excluded.account_id or claim.until <= now()`.execute(tx)
}

function recordClaim(tx: Tx, viewer: Viewer, projectId: string): Promise<void> {
  const subject = { kind: 'project', id: projectId } as const
  return recordAudit(tx, { action: 'project.claimed', actor: actorOf(viewer), subject })
}

function claimedBy(claim: ClaimRow | undefined): ApiError {
  const holder = claim === undefined ? null : { id: claim.id, username: claim.username }
  return new ApiError('conflict', `${holder?.username ?? 'Another moderator'} is reviewing this project`, {
    details: { claimed_by: holder, claimed_until: claim?.claimed_until.toISOString() ?? null },
  })
}
