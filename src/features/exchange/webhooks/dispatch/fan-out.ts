// Numbers events after their commit, and creates the deliveries of the webhooks that want them.
import { sql } from 'kysely'
import { kindsFor, PING } from '#features/basics/events/event-kinds.ts'
import type { Db } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { ALL_EVENTS } from '../requests.ts'

/** Maximum number of events in a transaction. */
const BATCH = 200

/** Numbers all committed events. Several processes can call it: one does the work. */
export async function fanOut({ db, now }: Pick<Deps, 'db' | 'now'>): Promise<void> {
  while ((await fanOutBatch(db, new Date(now()))) === BATCH);
}

/**
 * Events of one subject are recorded in the order of its changes, because their transactions lock it. So their IDs, among
 * those that are committed, are in the right order.
 */
async function fanOutBatch(db: Db, at: Date): Promise<number> {
  const unnumbered = await db.selectFrom('event').select('id').where('number', 'is', null).limit(1).executeTakeFirst()
  if (unnumbered === undefined) return 0
  return db.transaction().execute(async (tx) => {
    const head = await sql<{ last: string }>`select last::text from event_head for update skip locked`.execute(tx)
    const last = head.rows[0]?.last
    if (last === undefined) return 0
    const forOwners = [...kindsFor('all', 'members')]
    const forAll = [...kindsFor('all')]
    const forInstance = [...kindsFor('instance')]
    const { rows } = await sql<{ count: number }>`
      with taken as (
        select id, row_number() over (order by id) as place from (
          select id from event where number is null order by id limit ${BATCH}) unnumbered
      ), numbered as (
        update event set number = ${last}::bigint + taken.place from taken where event.id = taken.id returning event.*
      ), head as (
        update event_head set last = last + (select count(*) from numbered)
      ), made as (
        insert into webhook_delivery (webhook_id, event_id, subject, next_attempt, created)
        select hook.id, event.id, event.subject_kind || ' ' || event.subject_id, ${at}, ${at}
        from numbered event cross join lateral (
          select * from webhook where webhook.project_id = event.project_id and event.kind = any(${forOwners}::text[])
          union all
          select * from webhook where webhook.organization_id = any(event.organization_ids)
            and event.kind = any(${forOwners}::text[])
          union all
          select * from webhook where webhook.account_id = any(event.account_ids) and event.kind = any(${forOwners}::text[])
          union all
          select * from webhook where webhook.owner_kind = 'instance'
            and (event.kind = any(${forInstance}::text[]) or event.is_public and event.kind = any(${forAll}::text[]))
        ) hook
        where hook.active and event.id > hook.after_event and event.kind <> ${PING} and hook.events && array[${ALL_EVENTS}, event.kind]
          and (event.version_type is null or (
            (hook.loaders = '{}' or hook.loaders && event.loaders)
            and (hook.game_versions = '{}' or hook.game_versions && event.game_versions)
            and (hook.version_types = '{}' or event.version_type = any(hook.version_types))))
        order by event.number, hook.created, hook.id
      )
      select count(*)::int as count from numbered`.execute(tx)
    return rows[0]?.count ?? 0
  })
}
