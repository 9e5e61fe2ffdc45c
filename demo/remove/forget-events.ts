// Deletes the events of removed demo projects. A removed project stays in `demo_item` until then, so that the next run
// completes an interrupted run.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { StoreInUseError } from '#ports/analytics-store/analytics-store.ts'
import type { Deps } from '#ports/deps.ts'

type ForgetDeps = Pick<Deps, 'db' | 'analytics'>

const CONCURRENCY = 1000

/** Only one process can open the embedded store: while a server runs, only the server can. */
export async function isStoreHeld({ analytics }: Pick<Deps, 'analytics'>): Promise<boolean> {
  try {
    await analytics.identity()
    return false
  } catch (error) {
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
      if (cause instanceof StoreInUseError) return true
    }
    throw error
  }
}

const GONE = sql`kind = 'project' and not exists (select 1 from project where project.id = demo_item.id)`

export async function hasEventsToForget(db: Db): Promise<boolean> {
  return (await sql`select 1 from demo_item where ${GONE} limit 1`.execute(db)).rows.length > 0
}

/** Deletes the events of removed projects until none is left. Idempotent. */
export async function forgetEvents({ db, analytics }: ForgetDeps): Promise<void> {
  for (;;) {
    const { rows } = await sql<{
      id: string
    }>`select id from demo_item where ${GONE} order by id limit ${CONCURRENCY}`.execute(db)
    if (rows.length === 0) break
    const ids = rows.map(({ id }) => id)
    await analytics.forgetProjects(ids)
    await sql`delete from demo_item where ${GONE} and id = any(${ids}::text[])`.execute(db)
  }
  // The next demo has another latest date and another mark.
  await sql`delete from demo_catalogue where not exists (select 1 from demo_item)`.execute(db)
}
