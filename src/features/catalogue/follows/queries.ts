// Rows of followed projects. A project's follower count changes only in the transaction that inserts or deletes a row.
import { sql } from 'kysely'
import { LIST_ORDER } from '#features/basics/access/version-status.ts'
import { accountDeleted, notFound } from '#lib/errors.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { isForeignKeyViolation } from '#platform/db/pg-errors.ts'

/** Returns whether the row is new. @throws ApiError 404 if the project was deleted, 401 if the account was. */
export async function insertFollow(tx: Tx, accountId: string, projectId: string): Promise<boolean> {
  try {
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('follow')
      .values({ account_id: accountId, project_id: projectId })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow()
    return numInsertedOrUpdatedRows === 1n
  } catch (error) {
    if (isForeignKeyViolation(error, 'follow_project_id_fkey')) throw notFound('project')
    if (isForeignKeyViolation(error)) throw accountDeleted()
    throw error
  }
}

/** Returns whether a row existed. */
export async function deleteFollow(tx: Tx, accountId: string, projectId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('follow')
    .where('account_id', '=', accountId)
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** Adds 1 to a project's follower count or subtracts 1, in the transaction that inserts or deletes the row. */
export async function addToFollowers(tx: Tx, projectId: string, by: 1 | -1): Promise<void> {
  await tx
    .updateTable('project')
    .set((eb) => ({ followers: eb('followers', '+', by) }))
    .where('id', '=', projectId)
    .execute()
}

/** Returns the IDs of the projects that an account follows, most recently followed first. */
export async function listFollowedIds(db: Db, accountId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('follow')
    .select('project_id')
    .where('account_id', '=', accountId)
    .orderBy('created', 'desc')
    .orderBy('project_id')
    .execute()
  return rows.map(({ project_id }) => project_id)
}

/** `afterId`: the last account of the batch before. */
export type FollowerBatch = { projectId: string; versionId: string; afterId: string; limit: number }

/**
 * Notifies the next `limit` followers, ordered by account ID, once per account and version, and enqueues emails to those
 * who want them. Returns the ID of the last follower, or undefined at the end of the list.
 */
export async function notifyFollowers(
  tx: Tx,
  changed: ChangeSet,
  { projectId, versionId, afterId, limit }: FollowerBatch,
): Promise<string | undefined> {
  const body = JSON.stringify({ type: 'project_update', project_id: projectId, version_id: versionId })
  const { rows } = await sql<{ last: string | null; seen: number; notified: string[] }>`
    with followers as materialized (
      select account_id from follow where project_id = ${projectId} and account_id > ${afterId}
      order by account_id limit ${limit}
    ), notified as (
      insert into notification (id, account_id, body, cause)
      select random_id(), account_id, ${body}::jsonb, ${`version:${versionId}`} from followers
      on conflict (account_id, cause) where cause is not null do nothing
      returning id, account_id
    ), emailed as (
      select graphile_worker.add_job('notifications.send-mail', json_build_object('notification_id', notified.id),
        max_attempts => 12)
      from notified join email_setting on email_setting.account_id = notified.account_id
        and email_setting.kind = 'project_update' and email_setting.is_emailed
    )
    select max(account_id) as last, count(*) as seen, (select count(*) from emailed) as emailed,
      (select coalesce(array_agg(account_id), '{}') from notified) as notified from followers`.execute(tx)
  const { last, seen, notified } = rows[0] ?? { last: null, seen: 0, notified: [] }
  changed.addEach('unread', notified)
  return last === null || seen < limit ? undefined : last
}

export type LatestVersion = {
  id: string
  project_id: string
  version_number: string
  version_type: 'release' | 'beta' | 'alpha'
  date_published: Date
}

/** A project, with the game version and the loader that its version must fit; empty for any. */
export type WantedProject = { id: string; gameVersion: string; loader: string }

/** Returns the latest listed version of each project that is not withdrawn. The loader of a modpack is a field of its versions. */
export async function listLatestVersions(db: Db, wanted: readonly WantedProject[]): Promise<LatestVersion[]> {
  if (wanted.length === 0) return []
  const column = (name: keyof WantedProject) => wanted.map((project) => project[name])
  const { rows } = await sql<LatestVersion>`
    select latest.id, project.id as project_id, latest.version_number, latest.version_type, latest.date_published
    from unnest(${column('id')}::text[], ${column('gameVersion')}::text[], ${column('loader')}::text[])
      project (id, game_version, loader)
    cross join lateral (
      select version.id, version.version_number, version.version_type, version.date_published from version
      where version.project_id = project.id and is_listed(version.status) and version.withdrawn_at is null
        and (project.loader = '' or version.loaders @> array[project.loader]
          or version.fields @> jsonb_build_object('mrpack_loaders', jsonb_build_array(project.loader)))
        and (project.game_version = ''
          or version.fields @> jsonb_build_object('game_versions', jsonb_build_array(project.game_version)))
      order by ${LIST_ORDER} limit 1) latest`.execute(db)
  return rows
}
