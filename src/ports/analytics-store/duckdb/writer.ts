// The only writer of a file. Each commit waits for the disk, so a transaction stores the waiting batches of all kinds,
// downloads first, with their new terms and their IDs, so that no batch is stored twice. DuckDB commits and syncs outside
// of the event loop.
import { setImmediate } from 'node:timers/promises'
import { type DuckDBConnection, type DuckDBInstance, LIST, listValue, UINTEGER, VARCHAR } from '@duckdb/node-api'
import { LRUCache } from 'lru-cache'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { APPEND_EVENTS_MAX, PROJECT_KINDS } from '../analytics-store.ts'
import { columnsOf, type EventKind, type EventRow, TABLES } from '../events.ts'
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

type Waiting = { kind: EventKind; batch: WrittenBatch; done: PromiseWithResolvers<void> }

type State = {
  connection: DuckDBConnection
  waiting: Waiting[]
  terms: Map<string, ColumnTerms>
  lastSequence: number
  /** The newest returned instant in milliseconds since 1970. Each instant is returned once. */
  lastInstant: number
  batchesUntilCleaning: number
}

/** Texts with their keys, by column. */
type Terms = Map<string, Map<string, number>>
type TextsOf = (column: string) => ReadonlySet<string>

/** An instance must have only one writer, which caches the last sequence and the terms. */
export async function openWriter(instance: Pick<DuckDBInstance, 'connect'>) {
  const connection = await instance.connect()
  const run = createQueue()
  const state = await readState(connection)
  return {
    /** Stores a batch atomically; ignores a batch that is stored already. */
    append(kind: EventKind, batch: WrittenBatch): Promise<void> {
      const done = Promise.withResolvers<void>()
      state.waiting.push({ kind, batch, done })
      run(() => storeWaiting(state)).catch(done.reject)
      return done.promise
    },
    /** Does the same with lines. */
    appendLines: (kind: EventKind, batch: LineBatch): Promise<void> => run(() => storeLines(state, kind, batch)),
    /** Removes all events of these projects. */
    async forgetProjects(ids: readonly string[]): Promise<void> {
      const keys = [...(await run(() => findTermKeys(connection, 'project_id', ids))).values()]
      if (keys.length === 0) return
      // Removes no terms, because their numbers must not be reused. Events are stored between the statements.
      for (const kind of PROJECT_KINDS) {
        const statement = `DELETE FROM ${TABLES[kind]} WHERE project_id IN (SELECT unnest($1))`
        await run(() => connection.run(statement, [listValue(keys)], [LIST(UINTEGER)]))
      }
    },
    /** Returns an instant after every stored batch of downloads and before every later one. */
    settledAt: () => run(() => nextInstant(state)),
    async close(): Promise<void> {
      await run(() => connection.closeSync())
    },
  }
}

async function readState(connection: DuckDBConnection): Promise<State> {
  const newest = await connection.run(
    `SELECT (SELECT coalesce(max(sequence), 0)::DOUBLE FROM downloads),
      (SELECT coalesce(max(stored_at), 0)::DOUBLE FROM batches)`,
  )
  const [lastSequence = 0, lastInstant = 0] = ((await newest.getRows())[0] ?? []) as number[]
  const terms = new Map<string, ColumnTerms>()
  for (const column of TERM_COLUMNS) {
    const cache = new LRUCache<string, number>({ maxSize: CACHED_TERMS, sizeCalculation: () => 1 })
    terms.set(column, { cache, lastKey: await findLastTermKey(connection, column) })
  }
  return { connection, waiting: [], terms, lastSequence, lastInstant, batchesUntilCleaning: BATCHES_BETWEEN_CLEANING }
}

/** Returns a function that does one thing after another. */
function createQueue() {
  let tail: Promise<unknown> = Promise.resolve()
  return <T>(work: () => T | Promise<T>): Promise<T> => {
    const done = tail.then(work)
    tail = done.catch(() => undefined)
    return done
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

/** Stores the batches that arrived during the previous commit together. */
async function storeWaiting(state: State): Promise<void> {
  if (state.waiting.length === 0) return
  // The buffer hands over the batches of all kinds in one turn.
  await setImmediate()
  const group = takeGroup(state)
  try {
    await storeBatches(state, group)
    for (const { done } of group) done.resolve()
  } catch {
    // A batch must not fail because of another one.
    for (const waiting of group) await storeBatches(state, [waiting]).then(waiting.done.resolve, waiting.done.reject)
  }
}

/** Takes waiting batches, downloads first, up to the number of events that one batch can have. */
function takeGroup(state: State): Waiting[] {
  const downloads = state.waiting.filter(({ kind }) => kind === 'download')
  const others = state.waiting.filter(({ kind }) => kind !== 'download')
  const group: Waiting[] = []
  let events = 0
  for (const waiting of [...downloads, ...others]) {
    events += waiting.batch.events.length
    if (group.length > 0 && events > APPEND_EVENTS_MAX) break
    group.push(waiting)
  }
  state.waiting = state.waiting.filter((waiting) => !group.includes(waiting))
  return group
}

async function storeBatches(state: State, group: readonly Waiting[]): Promise<void> {
  const kinds = new Set(group.map(({ kind }) => kind))
  const textsOf = (column: string): Set<string> => {
    const having = group.filter(({ kind }) => columnsOf(kind).some(([name]) => name === column))
    return new Set(having.flatMap(({ batch }) => batch.events.map((row) => String(row[column]))))
  }
  await storeNumbered(
    state,
    { kinds, textsOf, batches: group.map(({ kind, batch }) => ({ ...batch, kind })) },
    { store: (batch, terms, sequence) => appendBatch(state.connection, { kind: batch.kind, batch, terms, sequence }) },
  )
}

/** Stores lines. DuckDB parses them, which takes a fraction of the time of a conversion of each value. */
async function storeLines(state: State, kind: EventKind, batch: LineBatch): Promise<void> {
  const { connection } = state
  await parseLines(connection, kind, batch)
  const texts = new Map<string, Set<string>>()
  for (const [column, type] of columnsOf(kind)) {
    if (type === 'term') texts.set(column, await distinctTexts(connection, column))
  }
  const textsOf = (column: string) => texts.get(column) ?? new Set<string>()
  await storeNumbered(
    state,
    { kinds: new Set([kind]), textsOf, batches: [{ ...batch, kind }] },
    { store: (_, terms, sequence) => insertLines(connection, { kind, terms, sequence }) },
  )
}

type Numbered<B> = { kinds: ReadonlySet<EventKind>; textsOf: TextsOf; batches: readonly B[] }

/** Stores batches with their terms and IDs in one transaction. Numbers batches of downloads. */
async function storeNumbered<B extends { id: string; madeAt: number; kind: EventKind }>(
  state: State,
  { kinds, textsOf, batches }: Numbered<B>,
  { store }: { store: (batch: B, terms: Terms, sequence: number) => Promise<void> },
): Promise<void> {
  const { connection } = state
  let sequence = state.lastSequence
  const removesExpired = state.batchesUntilCleaning <= 0
  if (removesExpired) state.batchesUntilCleaning = BATCHES_BETWEEN_CLEANING
  state.batchesUntilCleaning -= batches.length
  const added = await inTransaction(connection, async () => {
    const { terms, added } = await storeTerms(state, kinds, textsOf)
    for (const batch of batches) {
      if (await isStored(connection, batch)) continue
      if (batch.kind === 'download') sequence += 1
      const number = batch.kind === 'download' ? sequence : 0
      await store(batch, terms, number)
      const row = [batch.id, batch.kind, BigInt(number), BigInt(nextInstant(state))]
      await connection.run('INSERT INTO batches VALUES ($1, $2, $3, $4)', row)
    }
    if (!removesExpired) return added
    const expired = BigInt(nextInstant(state) - BATCHES_RETAINED_MS)
    await connection.run('DELETE FROM batches WHERE stored_at < $1', [expired])
    return added
  })
  state.lastSequence = sequence
  // The keys of a failed transaction are assigned again.
  for (const { column, entries } of added) {
    const stored = columnTerms(state, column)
    for (const [text, key] of entries) stored.cache.set(text, key)
    stored.lastKey += entries.length
  }
}

async function inTransaction<T>(connection: DuckDBConnection, work: () => Promise<T>): Promise<T> {
  await connection.run('BEGIN')
  try {
    const result = await work()
    await connection.run('COMMIT')
    return result
  } catch (error) {
    // Fails if a failed commit has already ended the transaction.
    await connection.run('ROLLBACK').catch(() => undefined)
    throw error
  }
}

type AddedTerms = { column: string; entries: [text: string, key: number][] }

/** Returns the keys of all texts, after it has stored the new terms. */
async function storeTerms(
  state: State,
  kinds: ReadonlySet<EventKind>,
  textsOf: TextsOf,
): Promise<{ terms: Terms; added: AddedTerms[] }> {
  const terms: Terms = new Map()
  const added: AddedTerms[] = []
  const columns = [...kinds].flatMap((kind) =>
    columnsOf(kind).flatMap(([name, type]) => (type === 'term' ? [name] : [])),
  )
  for (const column of new Set(columns)) {
    const { keys, unknown } = await findTerms(state, column, textsOf(column))
    const { lastKey } = columnTerms(state, column)
    const entries = [...unknown].map((text, i): [string, number] => [text, lastKey + 1 + i])
    if (entries.length > 0) added.push({ column, entries })
    terms.set(column, new Map([...keys, ...entries]))
  }
  for (const { column, entries } of added) {
    await appendRows(state.connection, termTable(column), [UINTEGER, VARCHAR], entries, (part) => [
      part.map(([, key]) => key),
      part.map(([text]) => text),
    ])
  }
  return { terms, added }
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
  for (const [text, key] of await findTermKeys(state.connection, column, unknown)) {
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
