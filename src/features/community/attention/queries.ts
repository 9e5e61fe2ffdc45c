// Rows of the attention list. One statement reads the items of every kind, for any number of projects.
import { type RawBuilder, sql } from 'kysely'
import { LIST_ORDER } from '#features/basics/access/version-status.ts'
import { BROKEN } from '#features/catalogue/breakage/broken-dependencies.ts'
import { DAY_MS } from '#lib/time.ts'
import type { Db } from '#platform/db/db.ts'
import { PUBLIC_STATUSES } from '#taxonomy/project-status.ts'
import type { AttentionKind } from './kinds.ts'

/** Items of each kind, so that a list of hundreds of projects stays readable. */
const ITEMS_MAX = 50
const SOON_MS = 3 * DAY_MS

export type AttentionRow = {
  kind: AttentionKind
  project_id: string | null
  version_id: string | null
  version_number: string | null
  organization_id: string | null
  team_id: string | null
  report_id: string | null
  at: Date
  quote: string | null
}

type Columns = Partial<Record<Exclude<keyof AttentionRow, 'kind'>, RawBuilder<unknown>>>

/** The columns of a kind, in the same order for each. */
function columns(kind: AttentionKind, of: Columns): RawBuilder<unknown> {
  const nothing = sql`null::text`
  return sql`${kind}::text as kind, ${of.project_id ?? nothing} as project_id, ${of.version_id ?? nothing} as version_id,
    ${of.version_number ?? nothing} as version_number, ${of.organization_id ?? nothing} as organization_id,
    ${of.team_id ?? nothing} as team_id, ${of.report_id ?? nothing} as report_id, ${of.at ?? sql`now()`} as at,
    ${of.quote ?? nothing} as quote`
}

const project = sql`mine.id`
const ofVersion = { project_id: project, version_id: sql`version.id`, version_number: sql`version.version_number` }
/** The last message of a thread that its members can read. */
const lastMessage = sql`lateral (select message.body, message.hide_identity, message.created from thread_message message
  where message.thread_id = thread.id and message.body ->> 'type' in ('text', 'status_change')
    and not coalesce((message.body ->> 'private')::boolean, false)
  order by message.created desc, message.id desc limit 1) last`
const text = sql`last.body ->> 'body'`
/** The newest listed version of each project that is not withdrawn, read once for two parts. */
const newest = sql`newest as materialized (
    select mine.id as project_id, version.id, version.version_number, version.loaders, version.fields from mine, lateral (
      select id, version_number, loaders, fields from version
      where project_id = mine.id and is_listed(status) and withdrawn_at is null
      order by ${LIST_ORDER} limit 1) version)`

/** The parts of the list, one for each kind. */
function parts(accountId: string, now: Date, gameVersions: readonly string[]): RawBuilder<unknown>[] {
  const soon = new Date(now.getTime() + SOON_MS)
  return [
    sql`select ${columns('moderator_message', { project_id: project, at: sql`last.created`, quote: sql`case last.body ->> 'type' when 'text' then ${text} else mine.moderation_message end` })}
      from mine join thread on thread.project_id = mine.id join ${lastMessage} on true
      where last.hide_identity and (last.body ->> 'type' = 'text' or mine.status in ('rejected', 'withheld'))`,
    sql`select ${columns('quarantined_version', { ...ofVersion, at: sql`coalesce(scan.finished, scan.requested)`, quote: sql`scan.reason` })}
      from mine join version on version.project_id = mine.id join version_scan scan on scan.version_id = version.id
      where scan.state = 'quarantine'`,
    sql`select ${columns('failed_scan', { ...ofVersion, at: sql`scan.requested` })}
      from mine join version on version.project_id = mine.id join version_scan scan on scan.version_id = version.id
      where scan.state = 'pending' and scan.last_error is not null`,
    sql`select ${columns('invitation', { project_id: sql`invited.id`, organization_id: sql`organization.id`, team_id: sql`member.team_id`, at: sql`member.created`, quote: sql`member.role` })}
      from team_member member left join project invited on invited.team_id = member.team_id
        left join organization on organization.team_id = member.team_id
      where member.account_id = ${accountId} and not member.accepted`,
    sql`select ${columns('paused_upload', { ...ofVersion, at: sql`version.draft_expires` })}
      from mine join version on version.project_id = mine.id
      where version.draft_expires is not null and version.author_id = ${accountId}`,
    sql`select ${columns('incomplete_draft', { project_id: project, at: sql`mine.updated` })} from mine
      where mine.status = 'draft'`,
    sql`select ${columns('scheduled', { project_id: project, at: sql`mine.scheduled_at` })} from mine
      where mine.status = 'scheduled' and mine.scheduled_at <= ${soon}`,
    sql`select ${columns('scheduled', { ...ofVersion, at: sql`version.scheduled_at` })}
      from mine join version on version.project_id = mine.id
      where version.status = 'scheduled' and version.scheduled_at <= ${soon}`,
    sql`select ${columns('report_reply', { report_id: sql`report.id`, at: sql`last.created`, quote: text })}
      from report join thread on thread.report_id = report.id join ${lastMessage} on true
      where report.reporter_id = ${accountId} and not report.closed and last.hide_identity
        and last.body ->> 'type' = 'text'`,
    sql`select ${columns('withdrawn_dependency', { ...ofVersion, at: sql`max(broken.at)` })}
      from mine join newest version on version.project_id = mine.id cross join lateral ${BROKEN} broken
      where mine.status = any(${[...PUBLIC_STATUSES]}::text[])
      group by mine.id, version.id, version.version_number`,
    sql`select ${columns('unsupported_game_version', { ...ofVersion, at: sql`mine.updated` })}
      from mine join newest version on version.project_id = mine.id
      where ${gameVersions.length > 0}::boolean and mine.status in ('approved', 'unlisted')
        and exists (select 1 from version other where other.project_id = mine.id and is_listed(other.status)
          and other.fields ? 'game_versions')
        and not exists (select 1 from version other where other.project_id = mine.id and is_listed(other.status)
          and other.fields -> 'game_versions' ?| ${[...gameVersions]}::text[])`,
  ]
}

/**
 * Returns the items of an account, without the dismissed ones, newest first within a kind.
 * @param gameVersions releases of which a project should support at least one
 */
export async function listAttentionRows(
  db: Db,
  accountId: string,
  { now, gameVersions }: { now: Date; gameVersions: readonly string[] },
): Promise<AttentionRow[]> {
  const limited = parts(accountId, now, gameVersions).map(
    (part) => sql`(select * from (${part}) item where not exists (select 1 from attention_dismissal dismissal
      where dismissal.account_id = ${accountId} and dismissal.kind = item.kind
        and dismissal.project_id = item.project_id and dismissal.until > ${now})
      order by at desc, project_id, version_id limit ${ITEMS_MAX})`,
  )
  // Each half of `mine` uses an index. A single query with `or` would read every project.
  const { rows } = await sql<AttentionRow>`
    with own as (select team_id from team_member where account_id = ${accountId} and accepted),
    mine as materialized (
      select id, status, updated, scheduled_at, moderation_message from project where team_id in (select team_id from own)
      union
      select id, status, updated, scheduled_at, moderation_message from project
        where organization_id in (select organization.id from organization where organization.team_id in (select team_id from own))
    ), ${newest} ${sql.join(limited, sql` union all `)}`.execute(db)
  return rows
}

/** Hides an item from the account until a time. */
export async function upsertDismissal(
  db: Db,
  of: { accountId: string; kind: string; projectId: string; until: Date },
): Promise<void> {
  await db
    .insertInto('attention_dismissal')
    .values({ account_id: of.accountId, kind: of.kind, project_id: of.projectId, until: of.until })
    .onConflict((conflict) => conflict.columns(['account_id', 'kind', 'project_id']).doUpdateSet({ until: of.until }))
    .execute()
}

export async function deleteDismissal(db: Db, accountId: string, kind: string, projectId: string): Promise<void> {
  await db
    .deleteFrom('attention_dismissal')
    .where('account_id', '=', accountId)
    .where('kind', '=', kind)
    .where('project_id', '=', projectId)
    .execute()
}
