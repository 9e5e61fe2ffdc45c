// The only writer of a file. Each kind of event has its own queue and connection, so that a kind never waits for another
// one. A transaction stores the waiting batches of a kind with their IDs, so that no batch is stored twice. DuckDB commits
// and syncs outside of the event loop.
import { type DuckDBConnection, type DuckDBInstance, LIST, listValue, UINTEGER, VARCHAR } from '@duckdb/node-api'
import { LRUCache } from 'lru-cache'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { APPEND_EVENTS_MAX, PROJECT_KINDS } from '../analytics-store.ts'
import { columnsOf, EVENT_KINDS, type EventKind, type EventRow, TABLES } from '../events.ts'
import type { LineBatch } from '../lines.ts'
import { appendBatch, appendRows } from './append-rows.ts'
import { distinctTexts, insertLines, parseLines } from './lines.ts'
import { findLastTermKey, findTermKeys, TERM_COLUMNS, termTable } from './terms.ts'

/** Time for which the IDs of batches are retained. */
const BATCHES_RETAINED_MS = 3 * DAY_MS
/** Number of batches between removals of expired IDs. */
const BATCHES_BETWEEN_CLEANING = 10_000
/** Maximum lead of the clock that created the ID of a batch. */
const CLOCK_SKEW_MS = HOUR_MS

type WrittenBatch = { id: string; madeAt: number; events: readonly EventRow[] }

/** Number of cached terms per column, of about 100 bytes each. */
const CACHED_TERMS = 100_000

type ColumnTerms = { cache: LRUCache<string, number>; lastKey: number }

type Queue = { connection: DuckDBConnection; run<T>(work: () => T | Promise<T>): Promise<T>; close(): Promise<void> }
type Lane = Queue & { kind: EventKind; waiting: Waiting[] }
type Waiting = { batch: WrittenBatch; done: PromiseWithResolvers<void> }

type State = {
  /** Stores terms, which all kinds share, in their own transactions. */
  termQueue: Queue
  terms: Map<string, ColumnTerms>
  lastSequence: number
  /** The newest returned instant in milliseconds since 1970. Each instant is returned once. */
  lastInstant: number
  batchesUntilCleaning: number
}

/** Texts with their keys, by column. */
type Terms = Map<string, Map<string, number>>

/** An instance must have only one writer, which caches the last sequence and the terms. */
export async function openWriter(instance: DuckDBInstance) {
  const termQueue = await openQueue(instance)
  const { connection } = termQueue
  const newest = await connection.run(
    `SELECT (SELECT coalesce(max(sequence), 0)::DOUBLE FROM downloads),
      (SELECT coalesce(max(stored_at), 0)::DOUBLE FROM batches)`,
  )
  const [lastSequence, lastInstant] = ((await newest.getRows())[0] ?? []) as number[]
  const state: State = {
    termQueue,
    terms: new Map(),
    lastSequence: lastSequence ?? 0,
    lastInstant: lastInstant ?? 0,
    batchesUntilCleaning: BATCHES_BETWEEN_CLEANING,
  }
  for (const column of TERM_COLUMNS) {
    const cache = new LRUCache<string, number>({ maxSize: CACHED_TERMS, sizeCalculation: () => 1 })
    state.terms.set(column, { cache, lastKey: await findLastTermKey(connection, column) })
  }
  const lanes = new Map<EventKind, Lane>()
  for (const kind of EVENT_KINDS) lanes.set(kind, { ...(await openQueue(instance)), kind, waiting: [] })
  const laneOf = (kind: EventKind): Lane => lanes.get(kind) as Lane
  return {
    /** Stores a batch atomically; ignores a batch that is stored already. */
    async append(kind: EventKind, batch: WrittenBatch): Promise<void> {
      const lane = laneOf(kind)
      const done = Promise.withResolvers<void>()
      lane.waiting.push({ batch, done })
      await Promise.all([done.promise, lane.run(() => storeWaiting(state, lane))])
    },
    /** Does the same with lines. */
    async appendLines(kind: EventKind, batch: LineBatch): Promise<void> {
      const lane = laneOf(kind)
      await lane.run(() => storeLines(state, lane, batch))
    },
    /** Removes all events of these projects. */
    async forgetProjects(ids: readonly string[]): Promise<void> {
      const keys = [...(await termQueue.run(() => findTermKeys(connection, 'project_id', ids))).values()]
      if (keys.length === 0) return
      // Removes no terms, because their numbers must not be reused.
      await Promise.all(
        PROJECT_KINDS.map((kind) => {
          const statement = `DELETE FROM ${TABLES[kind]} WHERE project_id IN (SELECT unnest($1))`
          const lane = laneOf(kind)
          return lane.run(() => lane.connection.run(statement, [listValue(keys)], [LIST(UINTEGER)]))
        }),
      )
    },
    /** Returns an instant after every stored batch of downloads and before every later one. */
    settledAt: () => laneOf('download').run(() => nextInstant(state)),
    async close(): Promise<void> {
      await Promise.all([...lanes.values()].map((lane) => lane.close()))
      await termQueue.close()
    },
  }
}

/** Opens a connection that does one thing after another. */
async function openQueue(instance: DuckDBInstance): Promise<Queue> {
  const connection = await instance.connect()
  let tail: Promise<unknown> = Promise.resolve()
  return {
    connection,
    run(work) {
      const done = tail.then(work)
      tail = done.catch(() => undefined)
      return done
    },
    async close() {
      await tail
      connection.closeSync()
    },
  }
}

function nextInstant(state: State): number {
  state.lastInstant = Math.max(Date.now(), state.lastInstant + 1)
  return state.lastInstant
}

async function isStored(
  connection: DuckDBConnection,
  { id, madeAt }: Pick<WrittenBatch, 'id' | 'madeAt'>,
): Promise<boolean> {
  // The time limit makes DuckDB read only the newest rows.
  const result = await connection.run('SELECT 1 FROM batches WHERE id = $1 AND stored_at >= $2', [
    id,
    BigInt(Math.floor(madeAt) - CLOCK_SKEW_MS),
  ])
  return (await result.getRows()).length > 0
}

/** Stores the batches that arrived during the previous commit together, because each commit waits for the disk. */
async function storeWaiting(state: State, lane: Lane): Promise<void> {
  const group: Waiting[] = []
  let events = 0
  for (const waiting of lane.waiting) {
    events += waiting.batch.events.length
    if (group.length > 0 && events > APPEND_EVENTS_MAX) break
    group.push(waiting)
  }
  lane.waiting.splice(0, group.length)
  if (group.length === 0) return
  const store = (part: Waiting[]) => {
    const batches = part.map(({ batch }) => batch)
    return storeBatches(state, lane, batches)
  }
  try {
    await store(group)
    for (const { done } of group) done.resolve()
  } catch {
    // A batch must not fail because of another one.
    for (const waiting of group) await store([waiting]).then(waiting.done.resolve, waiting.done.reject)
  }
}

async function storeBatches(state: State, { kind, connection }: Lane, batches: WrittenBatch[]): Promise<void> {
  const rows = batches.flatMap(({ events }) => events)
  const textsOf = (column: string): Set<string> => new Set(rows.map((row) => String(row[column])))
  const terms = await state.termQueue.run(() => storeTerms(state, kind, textsOf))
  await storeNumbered(state, { kind, connection, batches }, (batch, sequence) =>
    appendBatch(connection, { kind, batch, terms, sequence }),
  )
}

/** Stores lines. DuckDB parses them, which takes a fraction of the time of a conversion of each value. */
async function storeLines(state: State, { kind, connection }: Lane, batch: LineBatch): Promise<void> {
  await parseLines(connection, kind, batch)
  const texts = new Map<string, Set<string>>()
  for (const [column, type] of columnsOf(kind)) {
    if (type === 'term') texts.set(column, await distinctTexts(connection, column))
  }
  const terms = await state.termQueue.run(() => storeTerms(state, kind, (column) => texts.get(column) ?? new Set()))
  await storeNumbered(state, { kind, connection, batches: [batch] }, (_, sequence) =>
    insertLines(connection, { kind, terms, sequence }),
  )
}

type Numbered<B> = { kind: EventKind; connection: DuckDBConnection; batches: readonly B[] }

/** Stores batches with their IDs in one transaction. Numbers batches of downloads. */
async function storeNumbered<B extends { id: string; madeAt: number }>(
  state: State,
  { kind, connection, batches }: Numbered<B>,
  store: (batch: B, sequence: number) => Promise<void>,
): Promise<void> {
  let sequence = kind === 'download' ? state.lastSequence : 0
  const removesExpired = state.batchesUntilCleaning <= 0
  if (removesExpired) state.batchesUntilCleaning = BATCHES_BETWEEN_CLEANING
  state.batchesUntilCleaning -= batches.length
  await inTransaction(connection, async () => {
    for (const batch of batches) {
      if (await isStored(connection, batch)) continue
      if (kind === 'download') sequence += 1
      await store(batch, sequence)
      const row = [batch.id, kind, BigInt(sequence), BigInt(nextInstant(state))]
      await connection.run('INSERT INTO batches VALUES ($1, $2, $3, $4)', row)
    }
    if (!removesExpired) return
    const expired = BigInt(nextInstant(state) - BATCHES_RETAINED_MS)
    await connection.run('DELETE FROM batches WHERE stored_at < $1', [expired])
  })
  if (kind === 'download') state.lastSequence = sequence
}

async function inTransaction(connection: DuckDBConnection, work: () => Promise<void>): Promise<void> {
  await connection.run('BEGIN')
  try {
    await work()
    await connection.run('COMMIT')
  } catch (error) {
    // Fails if a failed commit has already ended the transaction.
    await connection.run('ROLLBACK').catch(() => undefined)
    throw error
  }
}

/** Returns the keys of all texts. New terms are stored first, in one transaction. */
async function storeTerms(
  state: State,
  kind: EventKind,
  textsOf: (column: string) => ReadonlySet<string>,
): Promise<Terms> {
  const { connection } = state.termQueue
  const terms: Terms = new Map()
  const added: { column: string; entries: [text: string, key: number][] }[] = []
  for (const [column, type] of columnsOf(kind)) {
    if (type !== 'term') continue
    const { keys, unknown } = await findTerms(state, column, textsOf(column))
    const { lastKey } = columnTerms(state, column)
    const entries = [...unknown].map((text, i): [string, number] => [text, lastKey + 1 + i])
    if (entries.length > 0) added.push({ column, entries })
    terms.set(column, new Map([...keys, ...entries]))
  }
  if (added.length === 0) return terms
  await inTransaction(connection, async () => {
    for (const { column, entries } of added) {
      await appendRows(connection, termTable(column), [UINTEGER, VARCHAR], entries, (part) => [
        part.map(([, key]) => key),
        part.map(([text]) => text),
      ])
    }
  })
  // The keys of a failed transaction are assigned again.
  for (const { column, entries } of added) {
    const stored = columnTerms(state, column)
    for (const [text, key] of entries) stored.cache.set(text, key)
    stored.lastKey += entries.length
  }
  return terms
}

async function findTerms(state: State, column: string, texts: ReadonlySet<string>) {
  const { cache } = columnTerms(state, column)
  const keys = new Map<string, number>()
  const unknown = new Set<string>()
  for (const text of texts) {
    const key = cache.get(text)
    if (key === undefined) unknown.add(text)
    else keys.set(text, key)
  }
  for (const [text, key] of await findTermKeys(state.termQueue.connection, column, unknown)) {
    cache.set(text, key)
    keys.set(text, key)
    unknown.delete(text)
  }
  return { keys, unknown }
}

function columnTerms(state: State, column: string): ColumnTerms {
  const terms = state.terms.get(column)
  if (terms === undefined) throw new Error(`${column} is not stored as terms`)
  return terms
}
