// The records of the demo in the database: the table `demo_item` lists every account, organization, project, collection
// and report of the demo, and `demo_catalogue` has its latest date. The removal uses both.
import { sql } from 'kysely'
import { insertRows } from '#demo/seed/insert-rows.ts'
import { newId } from '#lib/ids.ts'
import { HOUR_MS } from '#lib/time.ts'
import type { Db, Tx } from '#platform/db/db.ts'

type DemoItemKind = 'account' | 'organization' | 'project' | 'collection' | 'report'

/** Records created items in the transaction that creates them. */
export async function markItems(tx: Tx, kind: DemoItemKind, items: readonly { id: string }[]): Promise<void> {
  const rows = items.map(({ id }) => ({ kind, id }))
  // A deleted item can be created again.
  await sql`delete from demo_item where kind = ${kind} and id = any(${rows.map(({ id }) => id)}::text[])`.execute(tx)
  await insertRows(tx, 'demo_item', rows)
}

type DemoFacts = {
  /** Latest date of the demo: the hour of the first run, also for later runs. */
  until: Date
  /** Part of every key in the file store, so that a new demo shares no key with a removed demo. */
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

/** Returns the demo, or undefined if there is none. */
export async function findDemo(db: Db): Promise<DemoFacts | undefined> {
  return db.selectFrom('demo_catalogue').select(['until', 'mark']).executeTakeFirst()
}

export type Written = { added: number; present: number }

const BATCH = 500

/** Calls `write` with the missing items, some hundred at a time. */
export async function addMissing<Item extends { id: string }>(
  db: Db,
  table: DemoItemKind,
  items: readonly Item[],
  write: (missing: Item[]) => Promise<void>,
): Promise<Written> {
  const written = { added: 0, present: 0 }
  for (let start = 0; start < items.length; start += BATCH) {
    const batch = items.slice(start, start + BATCH)
    const ids = batch.map(({ id }) => id)
    const rows = await db.selectFrom(table).select('id').where('id', 'in', ids).execute()
    const present = new Set(rows.map(({ id }) => id))
    const missing = batch.filter(({ id }) => !present.has(id))
    if (missing.length > 0) await write(missing)
    written.added += missing.length
    written.present += present.size
  }
  return written
}
