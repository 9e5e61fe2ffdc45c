// Reads the outgoing email: the responses of the mail server, and the jobs that send.
import { sql } from 'kysely'
import { DAY_MS } from '#lib/time.ts'
import type { Db } from '#platform/db/db.ts'
import type { JobName } from '#platform/jobs/queue.ts'
import { listJobs } from '#platform/jobs/queue-state.ts'
import type { Deps } from '#ports/deps.ts'
import { loadTaskCounts } from '../background-jobs/queries.ts'
import { toJobView } from '../background-jobs/views.ts'
import { type DeliveryRow, FILE_NAME, type MailView, toDeliveryView } from './views.ts'

/** The jobs that send email. */
export const MAIL_TASKS: readonly JobName[] = ['accounts.send-mail', 'notifications.send-mail']
/** Number of jobs in the response. The list of jobs has all of them. */
const JOBS_SHOWN = 50

/** Retention of responses, in days, and the maximum number of them. */
export const DELIVERIES_RETAINED_MS = 7 * DAY_MS
export const DELIVERIES_MAX = 10_000

export type DeliveryFilter = {
  isSent?: boolean | undefined
  isWritten?: boolean | undefined
  before?: number | undefined
  limit: number
}

/** Returns the responses of the mail server, newest first; `before` is the last ID of the previous page. */
export async function listDeliveries(
  db: Db,
  { isSent, isWritten, before, limit }: DeliveryFilter,
): Promise<DeliveryRow[]> {
  return db
    .selectFrom('mail_delivery')
    .leftJoin('account', 'account.id', 'mail_delivery.account_id')
    .select(['mail_delivery.id', 'at', 'kind', 'account_id', 'username', 'is_sent', 'response'])
    .$if(isSent !== undefined, (query) => query.where('is_sent', '=', isSent ?? true))
    .$if(isWritten !== undefined, (query) =>
      query.where(sql<boolean>`(is_sent and response ~ ${FILE_NAME.source}) = ${isWritten ?? true}`),
    )
    .$if(before !== undefined, (query) => query.where('mail_delivery.id', '<', before ?? 0))
    .orderBy('mail_delivery.id', 'desc')
    .limit(limit)
    .execute()
}

export async function findDelivery(db: Db, id: number): Promise<Omit<DeliveryRow, 'username'> | undefined> {
  const columns = ['id', 'at', 'kind', 'account_id', 'is_sent', 'response'] as const
  return db.selectFrom('mail_delivery').select(columns).where('id', '=', id).executeTakeFirst()
}

export async function loadMail(
  { db, config, now }: Pick<Deps, 'db' | 'config' | 'now'>,
  filter: DeliveryFilter,
): Promise<MailView> {
  const counts = (await loadTaskCounts(db)).filter(({ task }) => MAIL_TASKS.some((name) => name === task))
  const sum = (of: (count: (typeof counts)[number]) => number) => counts.reduce((total, count) => total + of(count), 0)
  const day = await countDay(db, new Date(now() - DAY_MS))
  const { limit } = filter
  const rows = await listDeliveries(db, { ...filter, limit: limit + 1 })
  const jobs = await listJobs(db, { tasks: MAIL_TASKS }, { limit: JOBS_SHOWN, offset: 0 })
  const { mail } = config
  return {
    transport: { kind: mail.kind, from: mail.from, server: mail.kind === 'smtp' ? serverOf(mail.url.reveal()) : null },
    queued: sum(({ due, scheduled, running }) => due + scheduled + running),
    retrying: sum(({ retrying }) => retrying),
    failed: sum(({ failed }) => failed),
    last_24_hours: day,
    jobs: jobs.map(toJobView),
    deliveries: rows.slice(0, limit).map(toDeliveryView),
    next: rows.length > limit ? (rows[limit - 1]?.id ?? null) : null,
  }
}

function serverOf(url: string): string {
  const { protocol, host } = new URL(url)
  return `${protocol}//${host}`
}

/** The figures do not distinguish emails in files from sent emails; the responses of the deliveries do. */
async function countDay(db: Db, since: Date): Promise<MailView['last_24_hours']> {
  const { rows } = await sql<MailView['last_24_hours']>`
    select coalesce(sum(mails_sent), 0)::int as sent, coalesce(sum(mails_rejected), 0)::int as rejected,
      (select count(*)::int from mail_delivery where at >= ${since} and is_sent and response ~ ${FILE_NAME.source}) as written
    from instance_figure where span = 'minute' and at >= ${since}`.execute(db)
  return rows[0] ?? { sent: 0, written: 0, rejected: 0 }
}

/** Deletes responses that are older than `before`, and the oldest of more than `DELIVERIES_MAX`. */
export async function deleteOldDeliveries(db: Db, before: Date): Promise<void> {
  await sql`delete from mail_delivery where at < ${before}
    or id <= (select id from mail_delivery order by id desc offset ${DELIVERIES_MAX} limit 1)`.execute(db)
}
