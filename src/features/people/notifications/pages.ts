// Pages of a user's notifications, with filters and counts.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { type NotificationType, SITE_TYPES } from './notification-types.ts'
import { LISTED_MAX, type NotificationRow, readNotifications } from './queries.ts'

export const NOTIFICATION_FILTERS = ['all', 'unread', 'invitations', 'moderators', 'followed'] as const
export type NotificationFilter = (typeof NOTIFICATION_FILTERS)[number]

/** Types that a filter selects. The other filters select all types. */
const TYPES: Partial<Record<NotificationFilter, readonly NotificationType[]>> = {
  invitations: ['team_invite', 'organization_invite'],
  moderators: ['status_change', 'moderator_message', 'version_quarantined', 'content_taken_down', 'operator_question'],
  followed: ['project_update'],
}

/** Returns the notifications of one page of the filtered list, newest first. */
export function listNotificationPage(
  db: Db,
  accountId: string,
  { filter, limit, offset }: { filter: NotificationFilter; limit: number; offset: number },
): Promise<NotificationRow[]> {
  const types = TYPES[filter] ?? SITE_TYPES
  return readNotifications(db)
    .where('account_id', '=', accountId)
    .where(sql<string>`body ->> 'type'`, 'in', [...types])
    .$if(filter === 'unread', (query) => query.where('read', '=', false))
    .orderBy('created', 'desc')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute()
}

/** Counts the notifications of each filter among the newest 10,000 of the user. */
export async function countNotifications(db: Db, accountId: string): Promise<Record<NotificationFilter, number>> {
  const newest = db
    .selectFrom('notification')
    .select(['read', sql<string>`body ->> 'type'`.as('type')])
    .where('account_id', '=', accountId)
    .where(sql<string>`body ->> 'type'`, 'in', [...SITE_TYPES])
    .orderBy('created', 'desc')
    .limit(LISTED_MAX)
    .as('newest')
  const rows = await db
    .selectFrom(newest)
    .select(['type', 'read'])
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .groupBy(['type', 'read'])
    .execute()
  const countOf = (filter: NotificationFilter): number =>
    rows
      .filter(({ type, read }) =>
        filter === 'unread' ? !read : (TYPES[filter]?.some((name) => name === type) ?? true),
      )
      .reduce((sum, { count }) => sum + count, 0)
  return {
    all: countOf('all'),
    unread: countOf('unread'),
    invitations: countOf('invitations'),
    moderators: countOf('moderators'),
    followed: countOf('followed'),
  }
}
