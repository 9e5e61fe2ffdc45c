// Chooses deliveries that are due, and leases them to one process.
import { sql } from 'kysely'
import { suspendedAt } from '#features/people/users/queries.ts'
import type { Db } from '#platform/db/db.ts'
import type { EventFacts } from '../messages/payload.ts'
import type { WebhookRow } from '../queries.ts'

/** A process that is killed leaves its deliveries to others after this time, longer than any attempt. */
const LEASE_SECONDS = 60
const CANDIDATES_MAX = 256
const PER_WEBHOOK = 2

export type Candidate = { id: string; host: string; is_failing: boolean; next_attempt: Date }

export type Claimed = {
  id: string
  webhook: WebhookRow
  event: EventFacts
  subject: string
  /** Attempts so far. */
  attempt: number
}

/** Returns whether events have no deliveries yet, and whether deliveries wait: a cheap statement for idle instances. */
export async function findWork(db: Db): Promise<{ hasEvents: boolean; hasDeliveries: boolean } | undefined> {
  const { rows } = await sql<{ hasEvents: boolean; hasDeliveries: boolean }>`
    select exists (select from event where number is null) as "hasEvents",
      exists (select from webhook_delivery where state = 'pending') as "hasDeliveries"`.execute(db)
  return rows[0]
}

/** Deliveries wait while the account that created the webhook is suspended. */
const creatorIsSuspended = (now: Date) => sql<boolean>`exists (select from account
  where account.id = webhook.created_by and ${suspendedAt(now)})`

/**
 * Returns due deliveries, longest due first: of each subject of a webhook only the earliest that is queued, because
 * deliveries about the same subject keep their order.
 * @param fullHosts hosts that get no more requests now.
 * @param skipsFailing whether to omit webhooks whose last attempt failed.
 */
export async function listDue(
  db: Db,
  { now, fullHosts, skipsFailing }: { now: Date; fullHosts: readonly string[]; skipsFailing: boolean },
): Promise<Candidate[]> {
  const { rows } = await sql<Candidate>`
    with recursive waiting as (
      (select webhook_id from webhook_delivery where state = 'pending' order by webhook_id limit 1)
      union all
      select (select webhook_id from webhook_delivery where state = 'pending' and webhook_id > waiting.webhook_id
        order by webhook_id limit 1)
      from waiting where waiting.webhook_id is not null
    )
    select due.id, webhook.host, webhook.failing_since is not null as is_failing, due.next_attempt
    from waiting join webhook on webhook.id = waiting.webhook_id
    cross join lateral (
      select delivery.id, delivery.next_attempt, delivery.sequence from webhook_delivery delivery
      where delivery.webhook_id = webhook.id and delivery.state = 'pending' and delivery.next_attempt <= ${now}
        and (delivery.leased_until is null or delivery.leased_until <= now())
        and not exists (
          select from webhook_delivery earlier
          where earlier.webhook_id = delivery.webhook_id and earlier.subject = delivery.subject
            and earlier.state = 'pending' and earlier.sequence < delivery.sequence)
      order by delivery.next_attempt, delivery.sequence limit ${PER_WEBHOOK}) due
    where webhook.active and not ${creatorIsSuspended(now)} and not webhook.host = any(${[...fullHosts]}::text[])
      and not (${skipsFailing} and webhook.failing_since is not null)
    order by due.next_attempt, due.sequence limit ${CANDIDATES_MAX}`.execute(db)
  return rows
}

/** Leases these deliveries, except those that another process has taken in the meantime. */
export async function claim(db: Db, ids: readonly string[]): Promise<Claimed[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<{ id: string; webhook_id: string; event_id: number; subject: string; attempt: number }>`
    update webhook_delivery set leased_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where id in (
      select id from webhook_delivery where id = any(${[...ids]}::text[]) and state = 'pending'
        and (leased_until is null or leased_until <= now()) for update skip locked)
    returning id, webhook_id, event_id, subject, attempt`.execute(db)
  if (rows.length === 0) return []
  const webhookIds = [...new Set(rows.map(({ webhook_id }) => webhook_id))]
  const eventIds = [...new Set(rows.map(({ event_id }) => event_id))]
  const webhooks = await db.selectFrom('webhook').selectAll().where('id', 'in', webhookIds).execute()
  const events = await db.selectFrom('event').selectAll().where('id', 'in', eventIds).execute()
  const webhookById = new Map(webhooks.map((webhook) => [webhook.id, webhook]))
  const eventById = new Map(events.map((event) => [event.id, event]))
  return rows.flatMap(({ id, webhook_id, event_id, subject, attempt }) => {
    const webhook = webhookById.get(webhook_id)
    const event = eventById.get(event_id)
    // Deleted in the meantime.
    if (webhook === undefined || event === undefined) return []
    return [{ id, webhook, event: { ...event, data: event.data as EventFacts['data'] }, subject, attempt }]
  })
}

/** Returns deliveries that were not attempted to the queue. */
export async function release(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await db.updateTable('webhook_delivery').set({ leased_until: null }).where('id', 'in', ids).execute()
}
