// The moderation queue: the projects with the status `processing` and those with an open appeal, in the order of their
// submission and their appeal.

import { type RawBuilder, sql } from 'kysely'
import { APPEALED } from '#features/catalogue/reviews/appeals.ts'
import type { ClaimRow } from '#features/catalogue/reviews/claim-view.ts'
import { SEEN } from '#features/catalogue/reviews/seen.ts'
import { ALL_PASSED, type QueuedScan, SCANS_OF_PROJECT } from '#features/catalogue/scans/queries.ts'
import { countRows, type Db } from '#platform/db/db.ts'
import type { QueueRow } from './views.ts'

export type QueueFilter = {
  /** Part of the name or slug, in any case; empty to match all. */
  text: string
  /** Loaders of which a listed version must have one, or none; undefined to match all. */
  loaders: { oneOf: readonly string[] } | { noneOf: readonly string[] } | undefined
  claim?: (typeof CLAIM_FILTERS)[number] | undefined
  scan?: (typeof SCAN_FILTERS)[number] | undefined
  review?: (typeof REVIEW_FILTERS)[number] | undefined
}

export const CLAIM_FILTERS = ['unassigned', 'mine', 'others'] as const
export const SCAN_FILTERS = ['none', 'pending', 'warn', 'quarantine'] as const
export const REVIEW_FILTERS = ['first', 'repeat', 'appeal'] as const

export const QUEUE_ORDERS = ['oldest', 'newest'] as const
export type QueueOrder = (typeof QUEUE_ORDERS)[number]
export type QueuePage = QueueFilter & { sort: QueueOrder; count: number; offset: number }

/** SQL condition: whether `project` is in the queue. */
export const IN_QUEUE = sql<boolean>`(project.status = 'processing' or project.id = any(${APPEALED}))`

/** Time of submission, or of the appeal. */
export const since = sql<Date>`case project.status when 'processing' then coalesce(project.queued, project.published)
  else (select open.created from project_appeal open where open.project_id = project.id and open.outcome is null) end`
const shownVersions = sql`version.project_id = project.id and is_listed(version.status)`

/** SQL expression: the organization or the user that owns `project`, as JSON. */
const OWNER = sql<QueueRow['owner']>`case when project.organization_id is not null
  then (select jsonb_build_object('kind', 'organization', 'id', organization.id, 'name', organization.name,
      'icon_url', organization.icon_url) from organization where organization.id = project.organization_id)
  else (select jsonb_build_object('kind', 'user', 'id', account.id, 'name', account.username, 'icon_url', account.avatar_url)
    from team_member inner join account on account.id = team_member.account_id
    where team_member.team_id = project.team_id and team_member.is_owner) end`

/** Returns the owner of a project, or undefined if it has no owner. */
export async function findOwner(db: Db, projectId: string): Promise<NonNullable<QueueRow['owner']> | undefined> {
  const row = await db.selectFrom('project').select(OWNER.as('owner')).where('id', '=', projectId).executeTakeFirst()
  return row?.owner ?? undefined
}

/** @param viewerId moderator to whom the filter `claim` refers */
export function countQueue(db: Db, filter: QueueFilter, viewerId: string): Promise<number> {
  return countRows(db.selectFrom('project').where(IN_QUEUE).where(matchesQueue(filter, viewerId)))
}

/**
 * Returns one page of the queue. The innermost query numbers all rows and also returns their columns, because joining the
 * numbers with the table costs several times as much in a long queue. The outer query reads the rest for the page only.
 * @param page filter and place in the queue; with `ids` only these projects
 * @param viewerId moderator to whom the filter `claim` refers
 */
export function listQueue(
  db: Db,
  { sort, count, offset, ids, ...filter }: QueuePage & { ids?: readonly string[] | undefined },
  viewerId: string,
): Promise<QueueRow[]> {
  const direction = sort === 'oldest' ? 'asc' : 'desc'
  const columns = [
    ...([
      'project.id',
      'project.slug',
      'project.name',
      'project.summary',
      'project.icon_url',
      'project.status',
    ] as const),
    ...(['project.requested_status', 'project.queued', 'project.published', 'project.updated'] as const),
  ]
  return db
    .selectFrom((page) =>
      page
        .selectFrom((eb) =>
          eb
            .selectFrom('project')
            .select(columns)
            .select(['project.team_id', 'project.organization_id', 'project.revision', since.as('since')])
            .select(sql<number>`row_number() over (order by ${since}, project.id)`.as('position'))
            .where(IN_QUEUE)
            .as('project'),
        )
        .selectAll('project')
        .where(matchesQueue(filter, viewerId))
        .$if(ids !== undefined, (query) => query.where('project.id', 'in', ids ?? []))
        .orderBy('project.since', direction)
        .orderBy('project.id', direction)
        .limit(count)
        .offset(offset)
        .as('project'),
    )
    .select(columns)
    .select('project.position')
    .select((eb) => [
      eb.selectFrom('thread').select('thread.id').whereRef('thread.project_id', '=', 'project.id').as('thread_id'),
      sql<string[] | null>`(select array_agg(distinct loader) from version, unnest(version.loaders) loader
        where ${shownVersions})`.as('loaders'),
      SCANS_OF_PROJECT.as('scans'),
      ALL_PASSED.as('scan_passed'),
      SEEN.as('seen'),
      sql<boolean>`coalesce((select message.body ->> 'type' = 'text' and message.hide_identity from thread
        join thread_message message on message.thread_id = thread.id
        where thread.project_id = project.id and message.body ->> 'type' in ('text', 'status_change')
          and (message.body ->> 'private') is distinct from 'true'
        order by message.created desc, message.id desc limit 1), false)`.as('waits_for_reply'),
      sql<QueueRow['claim']>`(select jsonb_build_object('id', account.id, 'username', account.username,
          'claimed_until', claim.until)
        from moderation_claim claim join account on account.id = claim.account_id
        where claim.project_id = project.id and claim.until > now())`.as('claim'),
      sql<QueueRow['appeal']>`(select jsonb_build_object('created', open.created,
          'text', coalesce(left(message.body ->> 'body', 400), ''),
          'decided_by', case when account.id is null then null
            else jsonb_build_object('id', account.id, 'username', account.username) end)
        from project_appeal open join thread_message message on message.id = open.message_id
          join thread_message decision on decision.id = open.decision_id
          left join account on account.id = decision.author_id
        where open.project_id = project.id and open.outcome is null)`.as('appeal'),
      OWNER.as('owner'),
    ])
    .orderBy('project.since', direction)
    .orderBy('project.id', direction)
    .execute()
}

/** SQL condition: whether `project` matches the filter. `viewerId` is the moderator to whom `claim` refers. */
export function matchesQueue({ text, loaders, claim, scan, review }: QueueFilter, viewerId: string) {
  const conditions: RawBuilder<boolean>[] = [sql<boolean>`true`]
  if (text !== '') {
    const pattern = `%${text.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`
    conditions.push(sql`(project.name ilike ${pattern} or project.slug ilike ${pattern})`)
  }
  if (loaders !== undefined) {
    const names = 'oneOf' in loaders ? loaders.oneOf : loaders.noneOf
    const has = sql<boolean>`exists (select 1 from version where ${shownVersions}
      and version.loaders && ${[...names]}::text[])`
    conditions.push('oneOf' in loaders ? has : sql`not ${has}`)
  }
  if (claim !== undefined) {
    const holds = sql`moderation_claim.account_id ${sql.raw(claim === 'others' ? '<>' : '=')} ${viewerId} and`
    const isClaimed = sql<boolean>`exists (select 1 from moderation_claim where ${claim === 'unassigned' ? sql`` : holds}
      moderation_claim.project_id = project.id and moderation_claim.until > now())`
    conditions.push(claim === 'unassigned' ? sql`not ${isClaimed}` : isClaimed)
  }
  if (scan !== undefined) {
    const state = scan === 'none' ? sql`version_scan.state <> 'pass'` : sql`version_scan.state = ${scan}`
    const has = sql<boolean>`exists (select 1 from version_scan join version on version.id = version_scan.version_id
      where version.project_id = project.id and ${state})`
    conditions.push(scan === 'none' ? sql`not ${has}` : has)
  }
  if (review !== undefined) {
    const wasDecided = sql<boolean>`exists (select 1 from thread
      join thread_message message on message.thread_id = thread.id
      where thread.project_id = project.id and message.body ->> 'type' = 'status_change'
        and message.body ->> 'old_status' = 'processing' and message.body ->> 'new_status' <> 'draft')`
    if (review === 'appeal') conditions.push(sql`project.status <> 'processing'`)
    else conditions.push(sql`project.status = 'processing'`, review === 'repeat' ? wasDecided : sql`not ${wasDecided}`)
  }
  return sql<boolean>`(${sql.join(conditions, sql` and `)})`
}

/** Returns the claim of a project that has not expired, or undefined. */
export function findClaim(db: Db, projectId: string): Promise<ClaimRow | undefined> {
  return db
    .selectFrom('moderation_claim')
    .innerJoin('account', 'account.id', 'moderation_claim.account_id')
    .select(['account.id', 'account.username', 'moderation_claim.until as claimed_until'])
    .where('moderation_claim.project_id', '=', projectId)
    .where('moderation_claim.until', '>', sql<Date>`now()`)
    .executeTakeFirst()
}

/** Whether the moderator's claim of a project has expired, and no one has claimed the project since. */
export async function hasLostClaim(db: Db, projectId: string, accountId: string): Promise<boolean> {
  const row = await db
    .selectFrom('moderation_claim')
    .select('project_id')
    .where('project_id', '=', projectId)
    .where('account_id', '=', accountId)
    .where('until', '<=', sql<Date>`now()`)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns a project's position, starting at 1, and the length of the queue. The position is null outside the queue. */
export async function getQueuePlace(db: Db, projectId: string): Promise<{ position: number | null; total: number }> {
  const { rows } = await sql<{ position: number | null; total: number }>`
    with mine as (
      select ${since} as since, project.id from project where project.id = ${projectId} and ${IN_QUEUE}
    )
    select
      (select count(*) from project, mine
        where ${IN_QUEUE} and (${since}, project.id) <= (mine.since, mine.id)
        having exists (select 1 from mine)) as position,
      (select count(*) from project where ${IN_QUEUE}) as total`.execute(db)
  return rows[0] ?? { position: null, total: 0 }
}

/** Returns the positions of those of these projects that are in the queue, by ID, and the length of the queue. */
export async function listQueuePlaces(
  db: Db,
  ids: readonly string[],
): Promise<{ positions: ReadonlyMap<string, number>; total: number }> {
  if (ids.length === 0) return { positions: new Map(), total: 0 }
  const { rows } = await sql<{ id: string; position: number; total: number }>`
    select id, position, total from (
      select project.id, (row_number() over (order by ${since}, project.id))::int as position,
        (count(*) over ())::int as total
      from project where ${IN_QUEUE}) queue
    where id = any(${[...ids]}::text[])`.execute(db)
  return { positions: new Map(rows.map(({ id, position }) => [id, position])), total: rows[0]?.total ?? 0 }
}

export type ModerationCounts = {
  queue: number
  mine: number
  /** Number of items with open reports, as the list of reports shows them. */
  reports: number
  threads: number
  quarantined: number
  advisories: number
  /** Accounts that wait for approval. */
  accounts: number
}

/** Returns how much work waits for moderators, and how many claims the viewer has. */
export async function readModerationCounts(db: Db, viewerId: string): Promise<ModerationCounts> {
  const { rows } = await sql<ModerationCounts>`select
      (select count(*) from project where ${IN_QUEUE}) as queue,
      (select count(*) from moderation_claim claim join project on project.id = claim.project_id
        where claim.account_id = ${viewerId} and claim.until > now() and ${IN_QUEUE}) as mine,
      (select count(*) from (select from report where not closed group by item_type, item_id) item) as reports,
      (select count(*) from thread where unanswered_since is not null
        and (project_id is not null or report_id is not null)) as threads,
      (select count(*) from version_scan where state = 'quarantine') as quarantined,
      (select count(*) from advisory where status = 'review') as advisories,
      (select count(*) from account where awaits_approval) as accounts`.execute(db)
  return rows[0] ?? { queue: 0, mine: 0, reports: 0, threads: 0, quarantined: 0, advisories: 0, accounts: 0 }
}

/** Returns the versions of a project that have not passed the scan. */
export async function listProjectScans(db: Db, projectId: string): Promise<QueuedScan[]> {
  const row = await db
    .selectFrom('project')
    .select(SCANS_OF_PROJECT.as('scans'))
    .where('id', '=', projectId)
    .executeTakeFirst()
  return row?.scans ?? []
}
