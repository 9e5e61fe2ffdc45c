// The records of the demo in the database: the table `demo_item` lists every account, organization, project, collection
// and report of the demo, and `demo_catalogue` has its latest date. The removal uses both.
import { sql } from 'kysely'
import { insertRows } from '#demo/seed/insert-rows.ts'
import { newId } from '#lib/ids.ts'
import { HOUR_MS } from '#lib/time.ts'
import type { Db, Tx } from '#platform/db/db.ts'

/** Seed of the catalogue, the same on every machine, so that a run finds the items of another run. */
export const DEMO_SEED = 1

export type DemoItemKind = 'account' | 'organization' | 'project' | 'collection' | 'report'

/** Records created items in the transaction that creates them. */
export async function markItems(tx: Tx, kind: DemoItemKind, ids: readonly string[]): Promise<void> {
  // A deleted item can be created again.
  if (ids.length > 0)
    await sql`delete from demo_item where kind = ${kind} and id = any(${[...ids]}::text[])`.execute(tx)
  await insertRows(
    tx,
    'demo_item',
    ids.map((id) => ({ kind, id })),
  )
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

/** Returns the IDs of the rows that exist. */
export async function listPresent(db: Db, table: DemoItemKind, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await db.selectFrom(table).select('id').where('id', 'in', ids).execute()
  return new Set(rows.map(({ id }) => id))
}
