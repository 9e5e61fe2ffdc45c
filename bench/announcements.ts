// Cost of notifying other processes of a change: writes by 1, 8 and 32 concurrent connections without notification, with NOTIFY
// in the writing transaction, and as Depot does it. Runs them in turn on a PostgreSQL with fsync, with listeners that
// receive everything.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import pg from 'pg'
import { createAnnouncer } from '#platform/cache/announcer.ts'
import { createEntityCache } from '#platform/cache/entity-cache.ts'
import { listenForInvalidations } from '#platform/cache/listen.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { type Connection, createDb, createPool, type Db } from '#platform/db/db.ts'
import { migrate } from '#platform/db/migrate.ts'
import { startEmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'
import { silentLog } from '#platform/telemetry/log.ts'
import { makeDataDir } from '#test/support/processes/running-depot.ts'
import { figure, type Row, row } from './kit/table.ts'

const WRITERS = [1, 8, 32]
const ROUNDS = 5
const SECONDS = 3
const LISTENERS = 4

type Write = (id: string) => Promise<void>

type Ways = Readonly<Record<'silent' | 'notify' | 'log', number>>

type Announcing = {
  /** Commits a second, the median of the rounds. */
  perSecond: Ways
  /** Announced commits as a share of the silent ones of the same round, in order. */
  shares: readonly number[]
  /** Processor time of a commit in milliseconds, of the database and of this process with its listeners. */
  cpuMs: Ways
  /** Milliseconds from the last known commit of a thing until others heard, in order. */
  lags: readonly number[]
}

export async function benchAnnouncements(): Promise<Row[]> {
  const rows: Row[] = []
  for (const writers of WRITERS) rows.push(...rowsOf(writers, await measureAnnouncing(writers)))
  return rows
}

function rowsOf(writers: number, { perSecond, shares, cpuMs, lags }: Announcing): Row[] {
  const at = (share: number): string => `${(lags[Math.floor(lags.length * share)] ?? 0).toFixed(1)} ms`
  const by = writers === 1 ? '1 writer' : `${writers} writers`
  const spread = `${shares[0]?.toFixed(2)} to ${shares.at(-1)?.toFixed(2)}`
  return [
    row(`${by}: announced commits, of silent ones`, shares[shares.length >> 1] ?? 0, { atLeast: 0.9 }, '', spread),
    figure(
      `${by}: commits per second: silent, NOTIFY in the transaction, log of changes`,
      [perSecond.silent, perSecond.notify, perSecond.log].map(Math.round).join(', '),
    ),
    figure(
      `${by}: processor time of a commit, in the same order`,
      [cpuMs.silent, cpuMs.notify, cpuMs.log].map((ms) => `${ms.toFixed(2)} ms`).join(', '),
    ),
    figure(
      `${by}: time until ${LISTENERS} other listeners have the notice`,
      `p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(0.9999)}`,
    ),
  ]
}

async function measureAnnouncing(writers: number): Promise<Announcing> {
  const { dataDir, remove } = makeDataDir()
  const embedded = await startEmbeddedPostgres({ dataDir, holder: 'command', log: silentLog() })
  // The migration needs two connections.
  const pool = createPool(embedded.connection, { max: Math.max(2, writers), applicationName: 'depot-bench' })
  const notices = createPool(embedded.connection, { max: 1, applicationName: 'depot-bench' })
  const announcer = createAnnouncer({ pool: notices, log: silentLog() })
  try {
    await migrate(pool)
    const db = createDb(pool)
    await sql`create table written (id text primary key, value bigint not null)`.execute(db)
    await sql`insert into written select 'w' || i, 0 from generate_series(1, ${writers}::integer) i`.execute(db)
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
    const rounds: Record<string, Measured[]> = { silent: [], notify: [], log: [] }
    const cpu = () => cpuMs(embedded.folder ?? '')
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, write] of Object.entries(ways))
        rounds[name]?.push(await measure(write, { writers, sent: lags.sent, cpu }))
    }
    await lags.stop()
    const median = (name: string, what: keyof Measured): number =>
      (rounds[name] ?? []).map((measured) => measured[what]).sort((a, b) => a - b)[ROUNDS >> 1] ?? 0
    const all = (what: keyof Measured): Ways => ({
      silent: median('silent', what),
      notify: median('notify', what),
      log: median('log', what),
    })
    return {
      perSecond: all('perSecond'),
      shares: Array.from(
        { length: ROUNDS },
        (_, n) => (rounds['log']?.[n]?.perSecond ?? 0) / (rounds['silent']?.[n]?.perSecond ?? 1),
      ).sort((a, b) => a - b),
      cpuMs: all('cpuMs'),
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

/** Returns the processor time so far of this process and of the database in `folder`. */
function cpuMs(folder: string): number {
  const postmaster = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim().split(' ')
  const ticks = children.map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return Number(fields[11]) + Number(fields[12])
  })
  const { user, system } = process.cpuUsage()
  return ticks.reduce((sum, each) => sum + each * 10, 0) + (user + system) / 1000
}

type Measured = { perSecond: number; cpuMs: number }

/** Commits of all writers together. `sent` notes when each commit was known. */
async function measure(
  write: Write,
  { writers: count, sent, cpu }: { writers: number; sent: Map<string, number>; cpu: () => number },
): Promise<Measured> {
  let stopped = false
  let commits = 0
  const writers = Array.from({ length: count }, async (_, index) => {
    const id = `w${index + 1}`
    while (!stopped) {
      await write(id)
      sent.set(id, performance.now())
      commits += 1
    }
  })
  const [began, cpuBefore] = [performance.now(), cpu()]
  await sleep(SECONDS * 1000)
  stopped = true
  await Promise.all(writers)
  return { perSecond: (commits / (performance.now() - began)) * 1000, cpuMs: (cpu() - cpuBefore) / commits }
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
