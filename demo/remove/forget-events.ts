// Takes the events of demo projects that are gone out of the store. A project that was removed stays named in `demo_item`
// until then, so that a run that was cut off is taken up by the next.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { StoreInUseError } from '#ports/analytics-store/analytics-store.ts'
import type { Deps } from '#ports/deps.ts'

type ForgetDeps = Pick<Deps, 'db' | 'analytics'>

const CONCURRENCY = 1000

/** The embedded store is open in one process: beside a server, it is the server's. */
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

/** Safe to run again; ends when there is nothing left to forget. */
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
  // The next demo has an end and a mark of its own.
  await sql`delete from demo_catalogue where not exists (select 1 from demo_item)`.execute(db)
}
