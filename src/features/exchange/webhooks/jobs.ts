// Deletes old deliveries, and webhooks whose project does not exist any more.

import { sql } from 'kysely'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { job } from '#platform/jobs/job.ts'
import type { Deps } from '#ports/deps.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'webhooks.expire': NoPayload
  }
}

const KEPT_DAYS = 14
/** Maximum number of finished deliveries per webhook. */
const KEPT_MAX = 500
/** Time for the webhooks of a deleted project to receive that it was removed. */
const LAST_WORDS_MS = 48 * HOUR_MS

export const webhookJobs = ({ db, now }: Pick<Deps, 'db' | 'now'>) => ({
  // Idempotent: a second run finds nothing.
  'webhooks.expire': job({ hourly: 42 }, async () => {
    const before = new Date(now() - KEPT_DAYS * DAY_MS)
    await db.deleteFrom('webhook_delivery').where('created', '<', before).execute()
    await sql`delete from webhook_delivery using (
        select webhook.id as webhook_id, (
          select sequence from webhook_delivery delivery
          where delivery.webhook_id = webhook.id and delivery.state <> 'pending'
          order by sequence desc offset ${KEPT_MAX} limit 1) as last
        from webhook) surplus
      where webhook_delivery.webhook_id = surplus.webhook_id and webhook_delivery.sequence <= surplus.last
        and webhook_delivery.state <> 'pending'`.execute(db)
    await sql`delete from webhook where owner_kind = 'project'
      and not exists (select from project where project.id = webhook.project_id)
      and not exists (select from webhook_delivery delivery where delivery.webhook_id = webhook.id
        and delivery.state = 'pending' and delivery.created > ${new Date(now() - LAST_WORDS_MS)})
      and not exists (select from event where event.project_id = webhook.project_id and event.number is null)`.execute(
      db,
    )
  }),
})
