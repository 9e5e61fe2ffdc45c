// Deletes the events of removed demo projects. A removed project stays in `demo_item` until then, so that the next run
// completes an interrupted run.
import { sql } from 'kysely'
import { transaction } from '#platform/cache/transaction.ts'
import { enqueue } from '#platform/jobs/queue.ts'
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

/**
 * Deletes the events of removed projects, or has a running server delete them that owns the store. Returns whether the
 * server must delete them.
 */
export async function forgetOrLeave(deps: ForgetDeps & Pick<Deps, 'cache'>): Promise<boolean> {
  const { rows } = await sql`select 1 from demo_item where ${GONE} limit 1`.execute(deps.db)
  const isLeft = rows.length > 0 && (await isStoreHeld(deps))
  if (isLeft) await transaction(deps, (tx) => enqueue(tx, 'seed.forget-events', {}, { jobKey: 'seed.forget-events' }))
  else await forgetEvents(deps)
  return isLeft
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
