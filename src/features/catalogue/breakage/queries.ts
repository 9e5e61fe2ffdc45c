// Statements of the jobs that find broken dependencies and notify the members of their projects.
import { sql } from 'kysely'
import { LIST_ORDER, PUBLIC_VERSION_STATUSES } from '#features/basics/access/version-status.ts'
import { EMAIL_DEFAULTS } from '#features/people/notifications/emails/email-kinds.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Jobs } from '#platform/jobs/queue.ts'
import { PUBLIC_STATUSES } from '#taxonomy/project-status.ts'

export type BreakRow = { project_id: string; version_id: string }

/** Returns the next dependents of a project by ID, at most `limit`. */
export async function listDependentIds(
  db: Db,
  projectId: string,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct version.project_id as id from dependency join version on version.id = dependency.dependent_id
    where dependency.project_id = ${projectId} and dependency.dependency_type = 'required' and is_listed(version.status)
      and version.project_id > ${after} and version.project_id <> ${projectId}
    order by 1 limit ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}

/**
 * Records the required dependencies of the newest versions of these projects that have broken, once per project and cause.
 * Returns the new rows.
 */
export async function insertBreaks(
  tx: Tx,
  dependentIds: readonly string[],
  { cause, lost }: { cause: string; lost: Jobs['dependencies.find-broken'] },
): Promise<BreakRow[]> {
  const { project_id, version_id, loaders, game_versions, reason } = lost
  const fields = JSON.stringify(game_versions === null ? {} : { game_versions })
  const { rows } = await sql<BreakRow>`
    insert into dependency_break (project_id, version_id, cause, reason, lost_project_id, lost_version_id)
    select distinct newest.project_id, newest.id, ${cause}, ${reason}, ${project_id}, ${version_id}::text
    from unnest(${[...dependentIds]}::text[]) wanted (id)
    join project on project.id = wanted.id and project.status = any(${[...PUBLIC_STATUSES]}::text[])
    cross join lateral (
      select version.id, version.project_id, version.loaders, version.fields from version
      where version.project_id = wanted.id and is_listed(version.status) and version.withdrawn_at is null
      order by ${LIST_ORDER} limit 1) newest
    cross join lateral (
      -- With offset 0, PostgreSQL does not find all newest versions again for each dependency if it expects few.
      select dependency.version_id from dependency where dependency.dependent_id = newest.id
        and dependency.project_id = ${project_id} and dependency.dependency_type = 'required' offset 0) dependency
    join project needed on needed.id = ${project_id}
    left join version exact on exact.id = dependency.version_id
    where case
      when ${version_id}::text is null then needed.status <> all(${[...PUBLIC_STATUSES]}::text[])
      when dependency.version_id is not null then dependency.version_id = ${version_id}
        and (exact.withdrawn_at is not null or exact.status <> all(${[...PUBLIC_VERSION_STATUSES]}::text[]))
      else not exists (select from version lost where lost.id = ${version_id} and is_listed(lost.status)
          and lost.withdrawn_at is null)
        and lacks_version(${project_id}, ${version_id}, ${loaders}::text[], ${fields}::jsonb, newest.loaders, newest.fields)
      end
    on conflict do nothing returning project_id, version_id`.execute(tx)
  return rows
}

/** A project is notified at most once in this time. */
const INTERVAL = sql`interval '24 hours'`

/**
 * Notifies the members of up to `limit` projects with new breaks, each of the oldest, and enqueues emails. Returns the number
 * of projects.
 */
export async function notifyMembers(
  tx: Tx,
  changed: ChangeSet,
  { now, limit }: { now: Date; limit: number },
): Promise<number> {
  const { rows } = await sql<{ projects: number; accounts: string[] }>`
    with due as materialized (
      select distinct on (pending.project_id) pending.* from dependency_break pending
      where pending.notified is null and not exists (
        select from dependency_break earlier where earlier.project_id = pending.project_id
          and earlier.notified > ${now}::timestamptz - ${INTERVAL})
      order by pending.project_id, pending.id limit ${limit}
    ), marked as (
      update dependency_break set notified = ${now} where notified is null and project_id in (select project_id from due)
    ), member as (
      select distinct due.id, team_member.account_id from due join project on project.id = due.project_id
      left join organization on organization.id = project.organization_id
      join team_member on team_member.team_id in (project.team_id, organization.team_id) and team_member.accepted
    ), notified as (
      insert into notification (id, account_id, body, cause)
      select random_id(), member.account_id, jsonb_build_object('type', 'dependency_broken', 'project_id', due.project_id,
        'version_id', due.version_id, 'dependency', jsonb_build_object('project_id', due.lost_project_id,
        'version_id', due.lost_version_id), 'reason', due.reason), 'dependency:' || due.id
      from member join due using (id)
      on conflict (account_id, cause) where cause is not null do nothing
      returning id, account_id
    ), emailed as (
      select graphile_worker.add_job('notifications.send-mail', json_build_object('notification_id', notified.id),
        max_attempts => 12)
      from notified left join email_setting on email_setting.account_id = notified.account_id
        and email_setting.kind = 'withdrawal'
      where coalesce(email_setting.is_emailed, ${EMAIL_DEFAULTS.withdrawal})
    )
    select count(*)::int as projects, (select count(*) from emailed) as emailed,
      (select coalesce(array_agg(account_id), '{}') from notified) as accounts from due`.execute(tx)
  const { projects, accounts } = rows[0] ?? { projects: 0, accounts: [] }
  changed.addEach('unread', accounts)
  return projects
}

/** Forgets breaks of which nobody was notified yet, after the version or the project can be chosen again. */
export async function deletePendingBreaks(
  tx: Tx,
  { projectId, versionId }: { projectId: string; versionId: string | null },
): Promise<void> {
  await sql`delete from dependency_break where lost_project_id = ${projectId}
    and lost_version_id is not distinct from ${versionId} and notified is null`.execute(tx)
}

/** Deletes breaks that are older than a year, in batches. */
export async function deleteOldBreaks(db: Db, before: Date): Promise<void> {
  await sql`delete from dependency_break where id in (
    select id from dependency_break where created < ${before} order by created limit 10000)`.execute(db)
}
