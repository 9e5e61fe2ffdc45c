// What it costs to tell other processes of a change: writes by 16 connections at once, silent, with NOTIFY in the writing
// transaction, and as Depot does it. In turn, in one run, on a PostgreSQL with fsync; listeners hear everything.
//
//   node bench/announcements.ts
import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import pg from 'pg'
import { createAnnouncer } from '#cache/announcer.ts'
import { createEntityCache } from '#cache/entity-cache.ts'
import { listenForInvalidations } from '#cache/listen.ts'
import { transaction } from '#cache/transaction.ts'
import { type Connection, createDb, createPool, type Db } from '#db/db.ts'
import { migrate } from '#db/migrate.ts'
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts'
import { silentLog } from '#telemetry/log.ts'
import { makeDataDir } from '#test/support/running-depot.ts'
import { figure, printTable, type Row, row } from './table.ts'

const WRITERS = 16
const ROUNDS = 3
const SECONDS = 3
const LISTENERS = 4

type Write = (id: string) => Promise<void>

type Announcing = {
  /** Commits a second, the median of the rounds. */
  perSecond: Readonly<Record<'silent' | 'notify' | 'log', number>>
  /** Milliseconds from the last known commit of a thing until others heard, in order. */
  lags: readonly number[]
}

export async function benchAnnouncements(): Promise<Row[]> {
  const { perSecond, lags } = await measureAnnouncing()
  const at = (share: number): string => `${(lags[Math.floor(lags.length * share)] ?? 0).toFixed(1)} ms`
  return [
    row(
      'announced commits, against NOTIFY in the transaction',
      perSecond.log / perSecond.notify,
      { atLeast: 2.5 },
      ' times',
    ),
    row('the same against silent commits', perSecond.log / perSecond.silent, { atLeast: 0.75 }, ' times'),
    figure('commits a second, nothing announced', String(Math.round(perSecond.silent))),
    figure('commits a second, NOTIFY in the transaction', String(Math.round(perSecond.notify))),
    figure('commits a second, log of changes', String(Math.round(perSecond.log))),
    figure(
      `until ${LISTENERS} other listeners heard, at that rate`,
      `p50 ${at(0.5)}, p99 ${at(0.99)}, worst ${at(0.9999)}`,
    ),
  ]
}

export async function measureAnnouncing(): Promise<Announcing> {
  const { dataDir, remove } = makeDataDir()
  const embedded = await startEmbeddedPostgres({ dataDir, holder: 'command', log: silentLog() })
  const pool = createPool(embedded.connection, { max: WRITERS, applicationName: 'depot-bench' })
  const notices = createPool(embedded.connection, { max: 1, applicationName: 'depot-bench' })
  const announcer = createAnnouncer({ pool: notices, log: silentLog() })
  try {
    await migrate(pool)
    const db = createDb(pool)
    await sql`create table written (id text primary key, value bigint not null)`.execute(db)
    await sql`insert into written select 'w' || i, 0 from generate_series(1, ${WRITERS}::integer) i`.execute(db)
    const cache = createEntityCache({ maxBytes: 1_000_000, announce: announcer.announce })
    const ways: Record<string, Write> = {
      silent: (id) => writeSilently(db, id),
      notify: (id) => writeNotifying(db, id),
      log: (id) =>
        transaction({ db, cache }, async (tx, changed) => {
          await update(tx, id)
          changed.add('project', id)
        }),
    }
    const lags = await startListeners(embedded.connection, pool)
    const rates: Record<string, number[]> = { silent: [], notify: [], log: [] }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, write] of Object.entries(ways)) rates[name]?.push(await measure(write, lags.sent))
    }
    await lags.stop()
    const median = (name: string): number => rates[name]?.toSorted((a, b) => a - b)[1] ?? 0
    return {
      perSecond: { silent: median('silent'), notify: median('notify'), log: median('log') },
      lags: lags.msByLog.toSorted((a, b) => a - b),
    }
  } finally {
    await announcer.close()
    await notices.end()
    await pool.end()
    await embedded.stop()
    remove()
  }
}

const update = async (db: Kysely<never> | Db, id: string): Promise<void> => {
  await sql`update written set value = value + 1 where id = ${id}`.execute(db)
}

const writeSilently = (db: Db, id: string): Promise<void> => db.transaction().execute((tx) => update(tx, id))

const writeNotifying = (db: Db, id: string): Promise<void> =>
  db.transaction().execute(async (tx) => {
    await update(tx, id)
    await sql`select pg_notify('depot_changes', ${JSON.stringify(['user', id])})`.execute(tx)
  })

/** Commits a second of all writers together. `sent` notes when each commit was known. */
async function measure(write: Write, sent: Map<string, number>): Promise<number> {
  let stopped = false
  let commits = 0
  const writers = Array.from({ length: WRITERS }, async (_, index) => {
    const id = `w${index + 1}`
    while (!stopped) {
      await write(id)
      sent.set(id, performance.now())
      commits += 1
    }
  })
  const began = performance.now()
  await sleep(SECONDS * 1000)
  stopped = true
  await Promise.all(writers)
  return (commits / (performance.now() - began)) * 1000
}

/** Listeners as processes have them. The lag is from the last known commit of a thing until its change is heard. */
async function startListeners(connection: Connection, pool: pg.Pool) {
  const sent = new Map<string, number>()
  const msByLog: number[] = []
  const listeners = Array.from({ length: LISTENERS }, () =>
    listenForInvalidations({
      connect: async () => {
        const client = new pg.Client({ ...connection })
        await client.connect()
        return client
      },
      pool,
      cache: createEntityCache({ maxBytes: 1_000 }),
      log: silentLog(),
      subscribers: [
        {
          kind: 'project',
          handle: (ids) => {
            const now = performance.now()
            if (ids !== 'all') for (const id of ids) msByLog.push(Math.max(0, now - (sent.get(id) ?? now)))
          },
        },
      ],
    }),
  )
  await Promise.all(listeners.map(({ ready }) => ready))
  return { sent, msByLog, stop: () => Promise.all(listeners.map((listener) => listener.stop())) }
}

if (import.meta.main) printTable('Announcing changes', await benchAnnouncements())
