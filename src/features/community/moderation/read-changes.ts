// Reads what has changed in a project since moderators last saw it, and in an item since it was reported.
import { sql } from 'kysely'
import type { Static } from 'typebox'
import { listSharedFiles } from '#features/catalogue/contents/content-owners.ts'
import { findDecision } from '#features/catalogue/reviews/decisions.ts'
import { findReportedStates } from '#features/catalogue/reviews/report-snapshots.ts'
import { SEEN } from '#features/catalogue/reviews/seen.ts'
import { findSnapshot, findState } from '#features/catalogue/reviews/snapshots.ts'
import { notFound } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { hostOf, type ProjectChangesView, type ReportChangesView, toChangeView } from './changes-views.ts'
import { compareItems, compareProjects, type LinkChange } from './compare-states.ts'

type ReadDeps = Pick<Deps, 'db' | 'config'>

/** Returns what has changed in a project. @throws ApiError 404 if it was deleted in the meantime. */
export async function readProjectChanges(
  { db, config }: ReadDeps,
  id: string,
): Promise<Static<typeof ProjectChangesView>> {
  const [review, snapshot, now, decision, shared] = await Promise.all([
    findReview(db, id),
    findSnapshot(db, id),
    findState(db, id),
    findDecision(db, id),
    listSharedFiles(db, id),
  ])
  if (review === undefined || now === undefined) throw notFound('project')
  const before = snapshot?.state ?? null
  const isFirst = review.approved === null
  // Nobody has reviewed any part of a project that was never approved, so all of it is new.
  const change = compareProjects(isFirst ? null : before, now)
  const hosts = await countHosts(db, id, change.links)
  const recent = isFirst && before !== null ? compareProjects(before, now) : null
  return {
    seen: review.seen,
    review: isFirst ? 'first' : 'repeat',
    since: snapshot === undefined ? null : { reason: snapshot.reason, at: snapshot.created.toISOString() },
    decision:
      decision === undefined
        ? null
        : {
            by: review.decider,
            from: decision.from_status,
            to: decision.to_status,
            at: decision.decided.toISOString(),
            undo_until: decision.final_at.toISOString(),
          },
    shared_files: shared,
    ...toChangeView(config, change, { hosts, states: { before, after: now } }),
    recent: recent && toChangeView(config, recent, { states: { before, after: now } }),
  }
}

type Review = { seen: string; approved: Date | null; decider: { id: string; username: string } | null }

function findReview(db: Db, id: string): Promise<Review | undefined> {
  return db
    .selectFrom('project')
    .select(['approved', SEEN.as('seen')])
    .select(
      sql<Review['decider']>`(select jsonb_build_object('id', account.id, 'username', account.username)
        from project_decision join account on account.id = project_decision.account_id
        where project_decision.project_id = project.id)`.as('decider'),
    )
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Returns how many other projects have a link to each of the hosts of these links. */
async function countHosts(db: Db, id: string, links: readonly LinkChange[]): Promise<ReadonlyMap<string, number>> {
  const hosts = [...new Set(links.flatMap(({ after }) => hostOf(after) ?? []))]
  if (hosts.length === 0) return new Map()
  const { rows } = await sql<{ host: string; count: number }>`select host, (
      select count(*) from project where link_hosts(link_urls) @> array[host] and project.id <> ${id}) as count
    from unnest(${hosts}::text[]) host`.execute(db)
  return new Map(rows.map(({ host, count }) => [host, count]))
}

/** Returns how a reported item has changed since the report. @throws ApiError 404 if the report was deleted. */
export async function readReportChanges(
  { db, config }: ReadDeps,
  report: { id: string; item_type: string },
): Promise<Static<typeof ReportChangesView>> {
  const states = await findReportedStates(db, report.id)
  if (states === undefined) throw notFound('report')
  const { before, now } = states
  return {
    item_type: report.item_type,
    known: before !== null,
    deleted: now === null,
    ...toChangeView(config, compareItems(report.item_type, before, now)),
  }
}

/** A decision on a project that a moderator can still undo. */
export type UndoableDecision = { id: string; name: string; from: string; to: string; seen: string; finalAt: Date }

/** Returns the decision on a project if it can still be undone. */
export async function findUndoable(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  id: string,
): Promise<UndoableDecision | undefined> {
  const row = await db
    .selectFrom('project')
    .innerJoin('project_decision as decision', 'decision.project_id', 'project.id')
    .select(['project.id', 'project.name', 'decision.from_status', 'decision.to_status'])
    .select(['decision.final_at', SEEN.as('seen')])
    .where('project.id', '=', id)
    .where('decision.final_at', '>', new Date(now()))
    .where(sql<boolean>`not exists (select from project_appeal where decision_id = decision.thread_message_id)`)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { name, from_status: from, to_status: to, seen, final_at: finalAt } = row
  return { id, name, from, to, seen, finalAt }
}
