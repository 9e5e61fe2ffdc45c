import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { OperatorError } from '#lib/operator-error.ts'
import { silentLog } from '#platform/telemetry/log.ts'
import { testDatabase } from '#test/support/app/database.ts'
import { createAnnouncer } from './announcer.ts'
import { logChanges, trimLog } from './change-log.ts'
import { type ChangedIds, ChangeSet } from './changes.ts'
import { createEntityCache } from './entity-cache.ts'
import { type ListenOptions, listenForInvalidations } from './listen.ts'
import { transaction } from './transaction.ts'

const database = await testDatabase()
const { db } = database
await sql`create table thing (id text primary key, value integer not null)`.execute(db)
await sql`insert into thing values ('a', 1)`.execute(db)

const announcer = createAnnouncer({ pool: database.pool, log: silentLog() })
const announcing = createEntityCache({ maxBytes: 1, announce: announcer.announce })
/** A process that died after the commit, before it sent the notice. */
const silent = createEntityCache({ maxBytes: 1 })
after(async () => {
  await announcer.close()
  await database.close()
})

interface Thing {
  id: string
  value: number
}

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.connectionString })
  await client.connect()
  return client
}

const load = async (ids: string[]): Promise<Thing[]> =>
  (await sql<Thing>`select id, value from thing where id = any(${ids})`.execute(db)).rows

/** A process with its cache and listener; `heard` resolves at the next invalidation message for the kind `feed`. */
function startProcess(t: { after: (end: () => Promise<void>) => void }, options: Partial<ListenOptions> = {}) {
  const cache = createEntityCache({ maxBytes: 1_000_000 })
  const things = cache.kind<Thing>({ name: 'project', contains: 'Things', idOf: (row) => row.id, sizeOf: () => 100 })
  const logged: string[] = []
  const record = (_fields: unknown, message?: string): void => void logged.push(message ?? String(_fields))
  let next = Promise.withResolvers<ChangedIds>()
  const listener = listenForInvalidations({
    connect,
    pool: database.pool,
    cache,
    log: { info: record, warn: record, error: record },
    retryMs: 5,
    subscribers: [
      {
        kind: 'search',
        handle: (ids) => {
          const current = next
          next = Promise.withResolvers()
          current.resolve(ids)
        },
      },
    ],
    ...options,
  })
  t.after(() => listener.stop())
  return { cache, things, listener, logged, heard: () => next.promise }
}

/** Changes the thing through a process that only writes, and says so on `feed` as well. */
const change = (value: number, cache = announcing): Promise<void> =>
  transaction({ db, cache }, async (tx, changed) => {
    await sql`update thing set value = ${value} where id = 'a'`.execute(tx)
    changed.add('project', 'a')
    changed.add('search', 'a', 'b')
  })

test('a change in one process removes the entry in another and notifies its subscribers of the IDs', async (t) => {
  const { things, listener, heard } = startProcess(t)
  await listener.ready
  await things.get('a', load)
  const invalidation = heard()
  await change(2)
  assert.deepEqual(await invalidation, new Set(['a', 'b']))
  assert.equal(things.peek('a'), undefined)
  assert.equal((await things.get('a', load))?.value, 2)
})

test('a rolled back transaction announces nothing', async (t) => {
  const { things, listener, heard } = startProcess(t)
  await listener.ready
  await things.get('a', load)
  const invalidation = heard()
  const failed = transaction({ db, cache: createEntityCache({ maxBytes: 1 }) }, async (_tx, changed) => {
    changed.add('search', 'lost')
    throw new Error('refused')
  })
  await assert.rejects(failed)
  await change(3)
  assert.deepEqual(await invalidation, new Set(['a', 'b']))
})

test('caches nothing before it listens, and first notifies a subscriber of "all"', async (t) => {
  const { things, listener, heard, cache } = startProcess(t)
  const first = heard()
  await things.get('a', load)
  assert.equal(things.peek('a'), undefined)
  await listener.ready
  assert.equal(await first, 'all')
  assert.equal(listener.isListening(), true)
  assert.equal(cache.stats().enabled, true)
})

test('a broken connection disables the cache immediately, and a new connection enables it with no entries', async (t) => {
  const clients: pg.Client[] = []
  const reopen = Promise.withResolvers<void>()
  const { cache, things, listener, heard, logged } = startProcess(t, {
    connect: async () => {
      if (clients.length > 0) await reopen.promise
      const client = await connect()
      clients.push(client)
      return client
    },
  })
  await listener.ready
  await things.get('a', load)
  const client = clients[0]
  assert.ok(client)
  const ended = new Promise<void>((resolve) => client.on('end', resolve))
  const back = heard()
  await sql`select pg_terminate_backend(${(client as pg.Client & { processID: number }).processID})`.execute(db)
  await ended
  assert.equal(cache.stats().enabled, false)
  assert.equal(listener.isListening(), false)
  assert.equal(things.peek('a'), undefined)
  await change(4)
  assert.equal((await things.get('a', load))?.value, 4)
  reopen.resolve()
  assert.equal(await back, 'all')
  assert.equal(cache.stats().enabled, true)
  assert.equal(things.peek('a'), undefined)
  assert.equal(logged.filter((message) => message.startsWith('Cannot listen')).length, 1)
})

test('a connection that falls silent is given up after a heartbeat', async (t) => {
  const sockets: Socket[] = []
  let silent = false
  const { hostname, port, pathname, username, password, searchParams } = new URL(database.connectionString)
  const folder = searchParams.get('host')
  const server = createServer((inner) => {
    const outer = folder?.startsWith('/')
      ? connectSocket(`${folder}/.s.PGSQL.${searchParams.get('port') ?? (port || 5432)}`)
      : connectSocket(Number(port || 5432), hostname)
    sockets.push(inner, outer)
    for (const [from, to] of [[inner, outer] as const, [outer, inner] as const]) {
      from.on('data', (data) => silent || to.write(data))
      from.on('error', () => {})
      from.on('close', () => to.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { cache, listener, heard } = startProcess(t, {
    heartbeatMs: 10,
    timeoutMs: 500,
    connect: async () => {
      const client = new pg.Client({
        host: '127.0.0.1',
        port: (server.address() as AddressInfo).port,
        user: decodeURIComponent(username) || 'postgres',
        password: decodeURIComponent(password),
        database: pathname.slice(1),
      })
      await client.connect()
      return client
    },
  })
  await listener.ready
  silent = true
  while (cache.stats().enabled) await new Promise(setImmediate)
  assert.equal(listener.isListening(), false)
  const back = heard()
  silent = false
  assert.equal(await back, 'all')
  assert.equal(cache.stats().enabled, true)
})

test('an unreadable invalidation message empties the cache and notifies every subscriber of "all"', async (t) => {
  const { things, listener, heard, logged } = startProcess(t)
  await listener.ready
  await things.get('a', load)
  const invalidation = heard()
  await sql`select pg_notify('depot_changes', 'from another program')`.execute(db)
  assert.equal(await invalidation, 'all')
  assert.equal(things.peek('a'), undefined)
  assert.ok(logged.includes('Unreadable invalidation message'))
})

test('reads from the log what no notice contained: a lost notice, or too many IDs for a notice', async (t) => {
  const { things, listener, heard } = startProcess(t, { heartbeatMs: 5 })
  await listener.ready
  await things.get('a', load)
  const lost = heard()
  await change(11, silent)
  assert.deepEqual(await lost, new Set(['a', 'b']))
  assert.equal((await things.get('a', load))?.value, 11)
  const long = heard()
  const ids = Array.from({ length: 3_000 }, (_, index) => `id-${index}`)
  await transaction({ db, cache: announcing }, async (_tx, changed) => changed.addEach('search', ids))
  assert.deepEqual(await long, new Set(ids))
})

test('a long notice triggers an immediate read of the log, before the heartbeat', async (t) => {
  const { listener, heard } = startProcess(t, { heartbeatMs: 3_600_000 })
  await listener.ready
  const long = heard()
  const ids = Array.from({ length: 3_000 }, (_, index) => `id-${index}`)
  await transaction({ db, cache: announcing }, async (_tx, changed) => changed.addEach('search', ids))
  assert.deepEqual(await long, new Set(ids))
})

test('finds a late commit in the log even after a later transaction', async (t) => {
  const { listener, heard } = startProcess(t, { heartbeatMs: 5 })
  await listener.ready
  const goOn = Promise.withResolvers<void>()
  const hasLogged = Promise.withResolvers<void>()
  const early = heard()
  const slow = db.transaction().execute(async (tx) => {
    const changed = new ChangeSet()
    changed.add('search', 'late')
    await logChanges(tx, changed)
    hasLogged.resolve()
    await goOn.promise
  })
  await hasLogged.promise
  await change(12, silent)
  assert.deepEqual(await early, new Set(['a', 'b']))
  const late = heard()
  goOn.resolve()
  await slow
  assert.deepEqual(await late, new Set(['late']))
})

test('deletes rows after every follower has read them, and rows of another database immediately', async () => {
  const count = async (): Promise<number> =>
    (await sql<{ n: number }>`select count(*) as n from change_log`.execute(db)).rows[0]?.n ?? 0
  const snapshot = async (): Promise<string> =>
    (await sql<{ text: string }>`select pg_current_snapshot()::text as text`.execute(db)).rows[0]?.text ?? ''
  // Rows stay while a transaction is open that began before them, in whichever database of the server.
  const trimAll = async (): Promise<void> => {
    do await trimLog(database.pool, await snapshot())
    while ((await count()) > 0)
  }
  await trimAll()
  const before = await snapshot()
  await change(13, silent)
  await sql`insert into change_log values ('9000000000000000000', 'x', '{}')`.execute(db)
  await trimLog(database.pool, before)
  assert.equal(await count(), 1)
  await trimAll()
})

test('rejects a connection without notices, names the setting to use, and leaves the cache off', async (t) => {
  const { listener, cache } = startProcess(t, {
    proofMs: 50,
    connect: async () => {
      const client = await connect()
      // A pooler in transaction mode returns the tag "listen", but no connection listens.
      const query = client.query.bind(client)
      const swallow = (text: string, ...rest: unknown[]) =>
        Reflect.apply(query, client, [text.replace(/^listen .*/, ''), ...rest])
      return Object.assign(client, { query: swallow })
    },
  })
  await assert.rejects(
    listener.ready,
    (error) => error instanceof OperatorError && /DATABASE_DIRECT_URL/.test(error.message),
  )
  assert.equal(cache.stats().enabled, false)
})

test('a subscriber that throws is logged and harms neither the cache nor the connection', async (t) => {
  const logged: string[] = []
  const record = (_fields: unknown, message?: string): void => void logged.push(message ?? String(_fields))
  const seen = Promise.withResolvers<void>()
  const { listener } = startProcess(t, {
    log: { info: record, warn: record, error: record },
    subscribers: [
      {
        kind: 'search',
        handle: (ids) => {
          if (ids !== 'all') seen.resolve()
          throw new Error('consumer')
        },
      },
    ],
  })
  await listener.ready
  await change(5)
  await seen.promise
  assert.equal(listener.isListening(), true)
  assert.ok(logged.includes('A consumer of search changes failed'))
})

test('retries while the database is unavailable, logs it once, and can be stopped at any time', async (t) => {
  let attempts = 0
  const enough = Promise.withResolvers<void>()
  const { listener, logged } = startProcess(t, {
    retryMs: 1,
    connect: async () => {
      if (++attempts === 4) enough.resolve()
      throw new Error('no database')
    },
  })
  await enough.promise
  await listener.stop()
  assert.deepEqual(logged, ['Cannot listen for changes; every read goes to the database'])
})

test('stopping switches the cache off and closes the connection, also one that is still being opened', async (t) => {
  const first = startProcess(t)
  await first.listener.ready
  await first.listener.stop()
  assert.equal(first.cache.stats().enabled, false)
  assert.equal(first.listener.isListening(), false)
  const opening = Promise.withResolvers<void>()
  const late = Promise.withResolvers<pg.Client>()
  const second = startProcess(t, {
    connect: () => {
      opening.resolve()
      return late.promise
    },
  })
  await opening.promise
  await second.listener.stop()
  const client = await connect()
  const ended = once(client, 'end')
  late.resolve(client)
  await ended
})
