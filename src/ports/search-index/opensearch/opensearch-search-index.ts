// The OpenSearch adapter: one index for all processes, which any of them asks and one of them feeds.
import { ApiError } from '#lib/errors.ts'
import {
  type Catalogue,
  type CountQuery,
  MAX_CHANGES,
  MAX_COUNTED,
  type SearchAnswer,
  type SearchChange,
  type SearchIndex,
  type SearchIndexStatus,
  type SearchQuery,
} from '../search-index.ts'
import { type Connection, type ConnectionOptions, EngineError, openConnection, unavailable } from './connection.ts'
import { toIndexed, tombstone } from './documents.ts'
import { filterQuery, tooManyClauses } from './filter-query.ts'
import {
  createIndex,
  dropIndex,
  dropLeftovers,
  findIndex,
  measureIndex,
  newIndexName,
  refresh,
  swapIndex,
} from './indices.ts'
import { countBody, countsBody, existsBody, type Found, pageBody, toAnswer } from './page.ts'
import { type Query, textQueries } from './text-query.ts'

export type OpenSearchOptions = ConnectionOptions & {
  /** Name of the alias, and beginning of the names of the indexes. */
  readonly prefix: string
}

/** From this offset on the hits are counted first: memory for a page grows with its offset. */
const DEEP_OFFSET = 10_000
/** Of one bulk request, about. */
const MAX_BULK_CHARACTERS = 8_000_000
/** A document that is older than what is there. */
const CONFLICT = 409

type Host = {
  readonly connection: Connection
  readonly prefix: string
  /** The index that a rebuild of this process fills. */
  building: string | undefined
  isRebuilding: boolean
  isClosed: boolean
  closing: Promise<void> | undefined
  /** Calls under way. */
  readonly running: Set<Promise<unknown>>
}

/** Connects with the first call. Without an index, which the first `rebuild` makes, searches are refused. */
export function openOpenSearchIndex(options: OpenSearchOptions): SearchIndex {
  const host: Host = {
    connection: openConnection(options),
    prefix: options.prefix,
    building: undefined,
    isRebuilding: false,
    isClosed: false,
    closing: undefined,
    running: new Set(),
  }
  return {
    search: (query) => during(host, () => search(host, query)),
    count: (query) => during(host, () => count(host, query)),
    apply: (changes) => during(host, () => apply(host, changes)),
    rebuild: (open) => during(host, () => rebuild(host, open)),
    // What was applied is on disk already.
    checkpoint: () => during(host, async () => undefined),
    status: () => status(host),
    close: () => {
      host.closing ??= close(host)
      return host.closing
    },
  }
}

async function during<T>(host: Host, call: () => Promise<T>): Promise<T> {
  if (host.isClosed) throw failure('The search index is closed')
  const running = call()
  host.running.add(running)
  try {
    return await running
  } finally {
    host.running.delete(running)
  }
}

async function close(host: Host): Promise<void> {
  host.isClosed = true
  await Promise.allSettled(host.running)
  await host.connection.close()
}

async function search(host: Host, query: SearchQuery): Promise<SearchAnswer> {
  const text = textQueries(query.text)
  const filter = filterQuery(query.filter)
  const isFiltered = query.filter.kind !== 'and' || query.filter.children.length > 0
  const page = async (asked: Query | undefined): Promise<Found> => {
    if (query.offset < DEEP_OFFSET) return ask(host, pageBody(asked, filter, query))
    const all = await ask(host, countBody(asked, filter))
    return query.offset < all.hits.total.value ? ask(host, pageBody(asked, filter, query)) : all
  }
  const found = await page(text?.exact)
  if (found.hits.total.value > 0 || text?.typos === undefined) return toAnswer(found, filter, query)
  // Typos count only when nothing in the whole catalogue is exact: a filter only ever narrows a result.
  const isExact = isFiltered && (await ask(host, existsBody(text.exact))).hits.total.value > 0
  return toAnswer(isExact ? found : await page(text.typos), filter, query)
}

async function count(host: Host, { text, filters }: CountQuery): Promise<readonly number[]> {
  if (filters.length > MAX_COUNTED) throw failure(`More than ${MAX_COUNTED} filters to count`)
  if (filters.length === 0) return []
  const words = textQueries(text)
  const asked = filters.map(filterQuery)
  const counts = async (query: Query | undefined): Promise<Found> => ask(host, countsBody(query, asked))
  const exact = await counts(words?.exact)
  const found = exact.hits.total.value > 0 || words?.typos === undefined ? exact : await counts(words.typos)
  return (found.aggregations?.counts.buckets ?? []).map(({ doc_count }) => doc_count)
}

async function ask(host: Host, body: object): Promise<Found> {
  const call = () =>
    host.connection.request<Found>({
      kind: 'search',
      method: 'POST',
      path: `/${host.prefix}/_search`,
      query: { allow_partial_search_results: false, timeout: '5s' },
      body,
    })
  try {
    const answer = await call().catch((error: unknown) => {
      // The index was swapped between its look-up and the search.
      if (isSwap(error)) return call()
      throw error
    })
    if (answer.body.timed_out) throw unavailable('The search took too long')
    return answer.body
  } catch (error) {
    throw searchFailure(error)
  }
}

function isSwap(error: unknown): boolean {
  const refusal = error instanceof ApiError ? error.cause : error
  return refusal instanceof EngineError && [404, 503].includes(refusal.status)
}

function searchFailure(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error
  if (error.type.startsWith('too_many')) return tooManyClauses(error)
  if (error.status === 404) return unavailable('The search index is being built', error)
  return failure('The search engine refused the search', error)
}

async function apply(host: Host, changes: readonly SearchChange[]): Promise<void> {
  if (changes.length > MAX_CHANGES) throw failure(`More than ${MAX_CHANGES} changes at once`)
  if (changes.length === 0) return
  const writes = changes.map(toWrite)
  const { building } = host
  const running = await bulk(host, host.prefix, writes)
  if (building !== undefined) await bulk(host, building, writes)
  else if (!running) throw unavailable('There is no search index to apply changes to')
  await refresh(host.connection, host.prefix).catch((error: unknown) => {
    if (running || !(error instanceof EngineError)) throw error
  })
}

type Write = { readonly id: string; readonly sequence: number; readonly body: string }

function toWrite(change: SearchChange): Write {
  const { sequence } = change
  return change.kind === 'delete'
    ? { id: change.id, sequence, body: JSON.stringify(tombstone(sequence)) }
    : documentWrite(change.document, sequence)
}

function documentWrite(document: Parameters<typeof toIndexed>[0], sequence: number): Write {
  return { id: document.id, sequence, body: JSON.stringify(toIndexed(document, sequence)) }
}

/**
 * Writes what is newer than what is there.
 * @returns false when there is no such index or alias.
 */
async function bulk(host: Host, target: string, writes: readonly Write[]): Promise<boolean> {
  type Item = { status: number; error?: { type: string; reason: string } }
  for (const part of parts(writes)) {
    const lines = part.flatMap(({ id, sequence, body }) => [
      JSON.stringify({ index: { _id: id, version: sequence, version_type: 'external' } }),
      body,
    ])
    const { body, status } = await host.connection.request<{ items?: { index: Item }[] }>({
      kind: 'write',
      method: 'POST',
      path: `/${target}/_bulk`,
      query: {
        require_alias: target === host.prefix,
        filter_path: 'items.index.status,items.index.error.type,items.index.error.reason',
      },
      lines,
      accept: [404],
    })
    const refused = (body.items ?? [])
      .map(({ index }) => index)
      .find((item) => item.status >= 400 && item.status !== CONFLICT)
    if (status === 404 || refused?.status === 404) return false
    if (refused === undefined) continue
    const cause = new EngineError(refused.status, refused.error?.type ?? 'error', refused.error?.reason ?? '')
    throw refused.status === 400
      ? failure('OpenSearch refuses a document', cause)
      : unavailable('The search engine is overloaded', cause)
  }
  return true
}

function* parts(writes: readonly Write[]): Generator<readonly Write[]> {
  let part: Write[] = []
  let characters = 0
  for (const write of writes) {
    if (characters > 0 && characters + write.body.length > MAX_BULK_CHARACTERS) {
      yield part
      part = []
      characters = 0
    }
    part.push(write)
    characters += write.body.length
  }
  if (part.length > 0) yield part
}

async function rebuild(host: Host, open: () => Promise<Catalogue>): Promise<void> {
  if (host.isRebuilding) throw failure('The index is being rebuilt already')
  host.isRebuilding = true
  const { connection, prefix } = host
  const name = newIndexName(prefix)
  try {
    await dropLeftovers(connection, prefix)
    await createIndex(connection, name)
    host.building = name
    const { sequence, batches } = await open()
    for await (const batch of batches) {
      const writes = batch.map((document) => documentWrite(document, sequence))
      if (!(await bulk(host, name, writes))) throw failure('The index that is being built was removed')
    }
    await swapIndex(connection, { prefix, name, sequence })
  } catch (error) {
    await dropIndex(connection, name).catch(() => undefined)
    throw error
  } finally {
    host.building = undefined
    host.isRebuilding = false
  }
}

/** Never fails: an engine that does not answer is not ready. */
async function status(host: Host): Promise<SearchIndexStatus> {
  const { isRebuilding: rebuilding, connection, prefix } = host
  const none = { documents: 0, sequence: 0, rebuilding, memoryBytes: 0, identity: '' }
  if (host.isClosed) return { ...none, ready: false }
  try {
    const index = await findIndex(connection, prefix)
    if (index === undefined) return { ...none, ready: true }
    const { documents, sequence } = await measureIndex(connection, prefix)
    return { ...none, ready: true, documents, sequence: Math.max(sequence, index.sequence), identity: index.uuid }
  } catch {
    return { ...none, ready: false }
  }
}

function failure(message: string, cause?: unknown): ApiError {
  return new ApiError('search_error', message, cause === undefined ? {} : { cause })
}
