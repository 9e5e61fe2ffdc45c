// What the demo catalogue consists of, as the database knows it: the table `demo_item` names every account, organization,
// project, collection and report that was made here, and `demo_catalogue` how recent the demo is. Whoever takes the demo
// away again finds it by these two.
import { sql } from 'kysely'
import { insertRows } from '#demo/seed/insert-rows.ts'
import { newId } from '#lib/ids.ts'
import { HOUR_MS } from '#lib/time.ts'
import type { Db, Tx } from '#platform/db/db.ts'

/** The catalogue is the same on every machine: a run finds again what another has made. */
export const DEMO_SEED = 1

export type DemoItemKind = 'account' | 'organization' | 'project' | 'collection' | 'report'

/** Notes what was made, in the transaction that makes it. */
export async function markItems(tx: Tx, kind: DemoItemKind, ids: readonly string[]): Promise<void> {
  // A thing that was deleted may be made again.
  if (ids.length > 0)
    await sql`delete from demo_item where kind = ${kind} and id = any(${[...ids]}::text[])`.execute(tx)
  await insertRows(
    tx,
    'demo_item',
    ids.map((id) => ({ kind, id })),
  )
}

type DemoFacts = {
  /** The end of all dates of the demo: the hour of the first run, which later runs keep. */
  until: Date
  /** Part of every address in the file store, so that a demo that is written again shares none with one that is removed. */
  mark: string
}

export async function beginDemo(db: Db, now: number): Promise<DemoFacts> {
  const hour = new Date(now - (now % HOUR_MS))
  await db
    .insertInto('demo_catalogue')
    .values({ until: hour, mark: newId() })
    .onConflict((oc) => oc.doNothing())
    .execute()
  return db.selectFrom('demo_catalogue').select(['until', 'mark']).executeTakeFirstOrThrow()
}

/** Undefined where there is no demo. */
export async function findDemo(db: Db): Promise<DemoFacts | undefined> {
  return db.selectFrom('demo_catalogue').select(['until', 'mark']).executeTakeFirst()
}

/** Which of these rows exist. */
export async function listPresent(db: Db, table: DemoItemKind, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await db.selectFrom(table).select('id').where('id', 'in', ids).execute()
  return new Set(rows.map(({ id }) => id))
}
