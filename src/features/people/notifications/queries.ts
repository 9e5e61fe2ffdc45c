// Queries that insert, read, mark and delete notifications.
import { type Selectable, sql } from 'kysely'
import { PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { notFound } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { follows, type Position, positionOfTime } from '#platform/db/list-position.ts'
import type { Notification } from '#platform/db/schema.ts'
import { enqueueEach } from '#platform/jobs/queue.ts'
import { emailKindOf, isEmailed } from './emails/email-kinds.ts'
import { type InvitationAnswer, type NotificationBody, SITE_TYPES } from './notification-types.ts'
import { canReadNotificationsOf } from './policy.ts'

export type NotificationRow = Pick<Selectable<Notification>, 'id' | 'account_id' | 'read' | 'created'> & {
  body: { type: string } & Record<string, unknown>
}

/** Maximum number of notifications in a user's list, which contains the newest. */
export const LISTED_MAX = 10_000

/**
 * Notifies each of these accounts once, in the transaction of the event. Emails are sent after the commit. Use it for
 * up to tens of accounts; followers, of whom there can be 100,000, have a separate job.
 */
export async function insertNotifications(
  tx: Tx,
  changed: ChangeSet,
  accountIds: readonly string[],
  body: NotificationBody,
): Promise<void> {
  if (accountIds.length === 0) return
  const kind = emailKindOf(body)
  // Omits accounts that were deleted, and locks the others until the rows are inserted.
  const accounts = await tx
    .selectFrom('account')
    .leftJoin('email_setting', (join) =>
      join.onRef('email_setting.account_id', '=', 'account.id').on('email_setting.kind', '=', kind ?? ''),
    )
    .select(['account.id', 'email_setting.is_emailed'])
    .where('account.id', 'in', accountIds)
    // No one reads notifications of the placeholder account.
    .where('account.id', '<>', PLACEHOLDER_ID)
    .orderBy('account.id')
    .forKeyShare('account')
    .execute()
  if (accounts.length === 0) return
  changed.addEach('unread', accountIds)
  const rows = accounts.map((account) => ({ ...account, notification: newId() }))
  await tx
    .insertInto('notification')
    .values(rows.map(({ id, notification }) => ({ id: notification, account_id: id, body: JSON.stringify(body) })))
    .execute()
  if (kind === undefined) return
  const emailed = rows.filter(({ is_emailed }) => isEmailed(kind, is_emailed))
  await enqueueEach(
    tx,
    'notifications.send-mail',
    emailed.map(({ notification }) => ({ notification_id: notification })),
  )
}

/** The columns of a team member that identify an invitation. */
export type InvitationRow = { account_id: string; team_id: string; accepted: boolean }

/**
 * Marks the invitations of these rows as read, after they were answered or withdrawn. `answer`: the answer of the invited
 * user, which their notification shows.
 */
export async function markInvitationsRead(
  tx: Tx,
  changed: ChangeSet,
  rows: readonly InvitationRow[],
  answer?: InvitationAnswer,
): Promise<void> {
  const pending = rows.filter(({ accepted }) => !accepted)
  if (pending.length === 0) return
  changed.addEach(
    'unread',
    pending.map(({ account_id }) => account_id),
  )
  const isChanged = answer === undefined ? sql`not read` : sql`body -> 'answer' is null`
  await sql`update notification set read = true, body = body || ${JSON.stringify({ answer })}::jsonb
    from unnest(${pending.map(({ account_id }) => account_id)}::text[], ${pending.map(({ team_id }) => team_id)}::text[])
      as answered (account_id, team_id)
    where notification.account_id = answered.account_id and body ->> 'team_id' = answered.team_id
      and body ->> 'type' in ('team_invite', 'organization_invite') and ${isChanged}`.execute(tx)
}

/** Starts a query for notifications with the columns of `NotificationRow`. */
export function readNotifications(db: Db) {
  return db
    .selectFrom('notification')
    .select(['id', 'account_id', 'read', 'created'])
    .select((eb) => eb.ref('body').$castTo<NotificationRow['body']>().as('body'))
}

export function findNotification(db: Db, id: string): Promise<NotificationRow | undefined> {
  return readNotifications(db).where('id', '=', id).executeTakeFirst()
}

/** Returns a part of an account's list, newest first, with the position of each row. */
export function listNotificationsOf(
  db: Db,
  accountId: string,
  { limit, after }: { limit: number; after: Position | undefined },
): Promise<(NotificationRow & { position: number })[]> {
  const created = sql.ref('created')
  return readNotifications(db)
    .select(positionOfTime(created).as('position'))
    .where('account_id', '=', accountId)
    .where(sql<string>`body ->> 'type'`, 'in', [...SITE_TYPES])
    .where(after === undefined ? sql<boolean>`true` : follows('time', created, sql`id`, after))
    .orderBy('created', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Maximum of `countUnread`: a page shows more as `99+`. */
const UNREAD_MAX = 100

/** Counts the unread notifications in an account's list, at most 100. */
export async function countUnread(db: Db, accountId: string): Promise<number> {
  const { rows } = await sql<{ unread: number }>`
    select count(*)::int as unread from (
      select from notification where account_id = ${accountId} and not read and body ->> 'type' = any(${[...SITE_TYPES]})
      limit ${UNREAD_MAX}) as shown`.execute(db)
  return rows[0]?.unread ?? 0
}

/** Returns all notifications of an account for the data export, newest first, including those sent only by email. */
export function listAllNotificationsOf(db: Db, accountId: string): Promise<NotificationRow[]> {
  return readNotifications(db).where('account_id', '=', accountId).orderBy('created', 'desc').orderBy('id').execute()
}

/** Returns the notifications with these IDs that the viewer can read, of all types, newest first. */
export async function listReadableNotifications(
  db: Db,
  viewer: Viewer,
  ids: readonly string[],
): Promise<NotificationRow[]> {
  if (ids.length === 0) return []
  const rows = await readNotifications(db).where('id', 'in', ids).orderBy('created', 'desc').orderBy('id').execute()
  return rows.filter(({ account_id }) => canReadNotificationsOf(viewer, account_id))
}

/** @throws ApiError 404 also if the viewer cannot read the notification. */
export async function getReadableNotification(db: Db, viewer: Viewer, id: string): Promise<NotificationRow> {
  const row = await findNotification(db, id)
  if (row === undefined || !canReadNotificationsOf(viewer, row.account_id)) throw notFound('notification')
  return row
}

/** Deletes the notifications of all accounts about versions or projects that are deleted. */
export async function deleteNotificationsAbout(
  tx: Tx,
  changed: ChangeSet,
  key: 'version_id' | 'project_id',
  ids: readonly string[],
): Promise<void> {
  const named = sql`body ->> ${sql.lit(key)}`
  const { rows } = await sql<{ account_id: string }>`delete from notification
    where ${named} is not null and ${named} = any(${[...ids]}::text[]) returning account_id`.execute(tx)
  changed.addEach(
    'unread',
    rows.map(({ account_id }) => account_id),
  )
}

/** A request of a moderator to the operators about a user. */
export type OperatorRequest = { user_id: string; message: string; created: Date }

/** Returns the newest requests that an operator has not marked as read. */
export async function listOperatorRequests(db: Db, accountId: string, limit: number): Promise<OperatorRequest[]> {
  const { rows } = await sql<OperatorRequest>`
    select body ->> 'user_id' as user_id, body ->> 'message' as message, created from notification
    where account_id = ${accountId} and not read and body ->> 'type' = 'operator_question'
    order by created desc, id desc limit ${limit}`.execute(db)
  return rows
}
