// Pages of a user's notifications, with filters and counts.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { type NotificationType, SITE_TYPES } from './notification-types.ts'
import { LISTED_MAX, type NotificationRow, readNotifications } from './queries.ts'

export const NOTIFICATION_FILTERS = ['all', 'unread', 'invitations', 'moderators', 'followed'] as const
export type NotificationFilter = (typeof NOTIFICATION_FILTERS)[number]

/** Types that a filter selects. The other filters select all types. Of invitations, a filter has those to be answered. */
const TYPES: Partial<Record<NotificationFilter, readonly NotificationType[]>> = {
  invitations: ['team_invite', 'organization_invite'],
  moderators: ['status_change', 'moderator_message', 'version_quarantined', 'content_taken_down', 'operator_question'],
  followed: ['project_update'],
}

const IS_PENDING = sql<boolean>`(body -> 'answer' is null and exists (select from team_member
  where team_member.team_id = body ->> 'team_id' and team_member.account_id = notification.account_id and not accepted))`

/** Returns the newest invitation of the account to a team. */
export function findInvitation(db: Db, accountId: string, teamId: string): Promise<NotificationRow | undefined> {
  return readNotifications(db)
    .where('account_id', '=', accountId)
    .where(sql<string>`body ->> 'type'`, 'in', [...(TYPES.invitations ?? [])])
    .where(sql<string>`body ->> 'team_id'`, '=', teamId)
    .orderBy('created', 'desc')
    .limit(1)
    .executeTakeFirst()
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
    .$if(filter === 'invitations', (query) => query.where(IS_PENDING))
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
    .select(['read', sql<string>`body ->> 'type'`.as('type'), IS_PENDING.as('pending')])
    .where('account_id', '=', accountId)
    .where(sql<string>`body ->> 'type'`, 'in', [...SITE_TYPES])
    .orderBy('created', 'desc')
    .limit(LISTED_MAX)
    .as('newest')
  const rows = await db
    .selectFrom(newest)
    .select(['type', 'read', 'pending'])
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .groupBy(['type', 'read', 'pending'])
    .execute()
  const countOf = (filter: NotificationFilter): number =>
    rows
      .filter(({ type, read, pending }) => {
        if (filter === 'unread') return !read
        return filter === 'invitations' ? pending : (TYPES[filter]?.some((name) => name === type) ?? true)
      })
      .reduce((sum, { count }) => sum + count, 0)
  return {
    all: countOf('all'),
    unread: countOf('unread'),
    invitations: countOf('invitations'),
    moderators: countOf('moderators'),
    followed: countOf('followed'),
  }
}
