// The record of a user: projects, decisions, reports, versions in quarantine and suspensions.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'

/** Maximum number of entries in each list of a record, newest first. */
export const LIST_MAX = 100

export type OwnerKey = { kind: 'user' | 'organization'; id: string }
/** Decisions on the projects of an owner, and reports about the owner and their projects. */
type OwnerCounts = { approved: number; rejected: number; reports: number }
/** `created`: when the account or the organization was created. `downloads`: of all projects of the owner. */
export type OwnerRecord = OwnerCounts & {
  created: string
  downloads: number
  suspended: boolean
  language: string | null
}

/** The projects that each row of `owner` (kind, id) owns. */
const OWNED = sql`
  select owner.kind, owner.id, project.id as project_id from owner
    join team_member on team_member.account_id = owner.id and team_member.is_owner
    join project on project.team_id = team_member.team_id where owner.kind = 'user'
  union all
  select owner.kind, owner.id, project.id from owner
    join project on project.organization_id = owner.id where owner.kind = 'organization'`

/** The reports about each row of `owner`, about its projects and about their versions. */
const ABOUT = sql`
  select owned.kind, owned.id, report.id as report_id from owned join report on report.project_id = owned.project_id
  union all
  select owned.kind, owned.id, report.id from owned join version on version.project_id = owned.project_id
    join report on report.version_id = version.id
  union all
  select owner.kind, owner.id, report.id from owner join report on report.account_id = owner.id
    where owner.kind = 'user' and report.item_type = 'user'`

/** SQL condition: whether `message` is a status change by a moderator. Members change a status under their own name. */
const IS_DECISION = sql<boolean>`message.body ->> 'type' = 'status_change' and message.hide_identity`

/** SQL condition: whether an accepted appeal has overturned the decision `message`. */
const IS_OVERTURNED = sql<boolean>`exists (select from project_appeal
  where project_appeal.decision_id = message.id and project_appeal.outcome = 'accepted')`

/** SQL conditions on a row of `decided`: a decision that accepts an appeal is an approval, instead of the rejection before. */
const IS_APPROVAL = sql<boolean>`(old = 'processing' or accepts_appeal)
  and new not in ('rejected', 'withheld', 'draft', 'processing')`
const IS_REJECTION = sql<boolean>`new in ('rejected', 'withheld') and not is_overturned`

const DECISION = sql`message.body ->> 'old_status' as old, message.body ->> 'new_status' as new,
  coalesce(message.body ->> 'appeal' = 'accepted', false) as accepts_appeal, ${IS_OVERTURNED} as is_overturned`

/** Returns the records of the owners that exist by `kind:id`, with one statement. */
export async function listOwnerRecords(db: Db, owners: readonly OwnerKey[]): Promise<Map<string, OwnerRecord>> {
  if (owners.length === 0) return new Map()
  const { rows } = await sql<OwnerKey & Omit<OwnerRecord, 'created'> & { created: Date }>`
    with owner as (
      select distinct kind, id from unnest(${owners.map(({ kind }) => kind)}::text[], ${owners.map(({ id }) => id)}::text[])
        as owner (kind, id)),
    owned as (${OWNED}),
    about as (${ABOUT}),
    decided as (
      select owned.kind, owned.id, ${DECISION}
      from owned join thread on thread.project_id = owned.project_id
        join thread_message message on message.thread_id = thread.id
      where ${IS_DECISION})
    select owner.kind, owner.id,
      (select count(*)::int from decided where (decided.kind, decided.id) = (owner.kind, owner.id)
        and ${IS_APPROVAL}) as approved,
      (select count(*)::int from decided where (decided.kind, decided.id) = (owner.kind, owner.id)
        and ${IS_REJECTION}) as rejected,
      (select count(*)::int from about where (about.kind, about.id) = (owner.kind, owner.id)) as reports,
      (select coalesce(sum(project.downloads), 0)::float8 from owned join project on project.id = owned.project_id
        where (owned.kind, owned.id) = (owner.kind, owner.id)) as downloads,
      coalesce(account.created, organization.created) as created,
      account.suspended_at is not null and (account.suspended_until is null or account.suspended_until > now())
        as suspended,
      coalesce(account.language, (select member.language from team_member join account member on member.id = account_id
        where team_member.team_id = organization.team_id and is_owner limit 1)) as language
    from owner left join account on owner.kind = 'user' and account.id = owner.id
      left join organization on owner.kind = 'organization' and organization.id = owner.id
    where account.id is not null or organization.id is not null`.execute(db)
  return new Map(
    rows.map(({ kind, id, created, ...record }) => [`${kind}:${id}`, { ...record, created: created.toISOString() }]),
  )
}

type ProjectName = { project_id: string; project_slug: string; project_name: string }
export type RecordedProject = ProjectName & { status: string; published: Date }
export type RecordedReview = ProjectName & {
  old_status: string
  new_status: string
  at: Date
  moderator: string | null
}
export type RecordedReport = {
  id: string
  direction: 'by' | 'about'
  report_type: string
  item_type: string
  item_id: string
  reporter: string
  created: Date
  closed: boolean
  outcome: string | null
}
export type RecordedVersion = ProjectName & {
  version_id: string
  version_number: string
  reason: string | null
  requested: Date
  released: boolean
}
export type RecordedSuspension = {
  at: Date
  action: string
  moderator: string | null
  reason: string | null
  until: string | null
}

export type UserRecord = {
  counts: OwnerCounts & {
    projects: number
    reports_by: number
    reports_by_closed: number
    reports_by_action: number
    reports_action: number
  }
  projects: RecordedProject[]
  reviews: RecordedReview[]
  reports: RecordedReport[]
  versions: RecordedVersion[]
  suspensions: RecordedSuspension[]
}

/** Returns the record of a user with one statement. Each list has at most `LIST_MAX` entries, newest first. */
export async function getUserRecord(db: Db, accountId: string): Promise<UserRecord> {
  const names = sql`project.id as project_id, project.slug as project_slug, project.name as project_name`
  const list = (rows: ReturnType<typeof sql>) =>
    sql`(select coalesce(jsonb_agg(to_jsonb(listed)), '[]') from (${rows} limit ${LIST_MAX}) listed)`
  const { rows } = await sql<{ record: UserRecord }>`
    with owner as (select 'user' as kind, ${accountId}::text collate "C" as id),
    owned as (${OWNED}),
    about as (${ABOUT}),
    decided as (
      select message.*, ${names}, ${DECISION} from owned join project on project.id = owned.project_id
        join thread on thread.project_id = owned.project_id
        join thread_message message on message.thread_id = thread.id
      where ${IS_DECISION})
    select jsonb_build_object(
      'counts', jsonb_build_object(
        'projects', (select count(*) from owned),
        'approved', (select count(*) from decided where ${IS_APPROVAL}),
        'rejected', (select count(*) from decided where ${IS_REJECTION}),
        'reports', (select count(*) from about),
        'reports_action', (select count(*) from about join report on report.id = report_id where outcome = 'action'),
        'reports_by', (select count(*) from report where reporter_id = ${accountId}),
        'reports_by_closed', (select count(*) from report where reporter_id = ${accountId} and closed),
        'reports_by_action', (select count(*) from report where reporter_id = ${accountId} and outcome = 'action')),
      'projects', ${list(sql`select ${names}, project.status, project.published
        from owned join project on project.id = owned.project_id order by project.published desc, project.id`)},
      'reviews', ${list(sql`select project_id, project_slug, project_name, old as old_status,
        new as new_status, decided.created as at, account.username as moderator
        from decided left join account on account.id = decided.author_id order by decided.created desc, decided.id`)},
      'reports', ${list(sql`select report.id, direction, report_type, item_type, item_id, account.username as reporter,
          report.created, report.closed, report.outcome
        from (select report_id, 'about' as direction from about
          union all select id, 'by' from report where reporter_id = ${accountId}) found
        join report on report.id = found.report_id join account on account.id = report.reporter_id
        order by report.created desc, report.id, direction`)},
      'versions', ${list(sql`select version.id as version_id, version.version_number, ${names}, scan.reason, scan.requested,
          scan.released_by is not null as released
        from owned join project on project.id = owned.project_id join version on version.project_id = project.id
        join version_scan scan on scan.version_id = version.id
        where scan.state = 'quarantine' or scan.released_by is not null order by scan.requested desc, version.id`)},
      'suspensions', ${list(sql`select entry.at, entry.action, account.username as moderator,
          entry.details ->> 'reason' as reason, entry.details ->> 'until' as until
        from audit_entry entry left join account on account.id = entry.actor_id
        where entry.subject_kind = 'user' and entry.subject_id = ${accountId}
          and entry.action in ('account.suspended', 'account.unsuspended') order by entry.id desc`)}
    ) as record`.execute(db)
  const record = rows[0]?.record
  if (record === undefined) throw new Error('The record of a user has one row')
  return withDates(record)
}

/** JSON has times as strings. */
function withDates(record: UserRecord): UserRecord {
  const at = <Field extends string, Row extends { [Key in Field]: Date }>(rows: Row[], field: Field): Row[] =>
    rows.map((row) => ({ ...row, [field]: new Date(row[field]) }))
  return {
    counts: record.counts,
    projects: at(record.projects, 'published'),
    reviews: at(record.reviews, 'at'),
    reports: at(record.reports, 'created'),
    versions: at(record.versions, 'requested'),
    suspensions: at(record.suspensions, 'at'),
  }
}

export type NoteRow = { body: string; revision: number; author: string | null; updated: Date | null }

/** Returns the moderators' note about a user; an empty one with the revision 0 if nobody has written one. */
export async function getNote(db: Db, accountId: string): Promise<NoteRow> {
  const row = await db
    .selectFrom('user_note')
    .leftJoin('account', 'account.id', 'user_note.author_id')
    .select(['user_note.body', 'user_note.revision', 'user_note.updated', 'account.username as author'])
    .where('user_note.account_id', '=', accountId)
    .executeTakeFirst()
  return row ?? { body: '', revision: 0, author: null, updated: null }
}
