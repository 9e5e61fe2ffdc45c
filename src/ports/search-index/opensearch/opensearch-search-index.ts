// The OpenSearch adapter: all processes search one index, and one process feeds it.
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
import { toIndexed } from './documents.ts'
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
import { countBody, countsBody, existsBody, pageBody, type SearchResponse, toSearchAnswer } from './page.ts'
import { type Query, textQueries } from './text-query.ts'

export type OpenSearchOptions = ConnectionOptions & {
  /** Name of the alias, and prefix of the names of the indexes. */
  readonly prefix: string
}

/** From this offset, the hits are counted first, because the memory for a page grows with its offset. */
const DEEP_OFFSET = 10_000
/** Approximate size of a bulk request. */
const MAX_BULK_CHARACTERS = 8_000_000
/** Status of a document that is older than the stored one. */
const CONFLICT = 409

type Host = {
  readonly connection: Connection
  readonly prefix: string
  /** The index that a rebuild of this process fills. */
  building: string | undefined
  isRebuilding: boolean
  isClosed: boolean
  closing: Promise<void> | undefined
  /** Calls in progress. */
  readonly running: Set<Promise<unknown>>
}

/** Connects with the first call. Searches are rejected until the first `rebuild` has created an index. */
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
    // `apply` has stored the changes on disk.
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
  const page = async (textQuery: Query | undefined): Promise<SearchResponse> => {
    if (query.offset < DEEP_OFFSET) return send(host, pageBody(textQuery, filter, query))
    const all = await send(host, countBody(textQuery, filter))
    return query.offset < all.hits.total.value ? send(host, pageBody(textQuery, filter, query)) : all
  }
  const exact = await page(text?.exact)
  if (exact.hits.total.value > 0 || text?.typos === undefined) return toSearchAnswer(exact, filter, query)
  // Typos are allowed only if nothing in the whole catalogue matches exactly. A filter must not add results.
  const hasExact = isFiltered && (await send(host, existsBody(text.exact))).hits.total.value > 0
  return toSearchAnswer(hasExact ? exact : await page(text.typos), filter, query)
}

async function count(host: Host, { text, filters }: CountQuery): Promise<readonly number[]> {
  if (filters.length > MAX_COUNTED) throw failure(`More than ${MAX_COUNTED} filters in one count`)
  if (filters.length === 0) return []
  const words = textQueries(text)
  const queries = filters.map(filterQuery)
  const counts = async (query: Query | undefined): Promise<SearchResponse> => send(host, countsBody(query, queries))
  const exact = await counts(words?.exact)
  const response = exact.hits.total.value > 0 || words?.typos === undefined ? exact : await counts(words.typos)
  return (response.aggregations?.counts.buckets ?? []).map(({ doc_count }) => doc_count)
}

async function send(host: Host, body: object): Promise<SearchResponse> {
  const call = () =>
    host.connection.request<SearchResponse>({
      kind: 'search',
      method: 'POST',
      path: `/${host.prefix}/_search`,
      query: { allow_partial_search_results: false, timeout: '5s' },
      body,
    })
  try {
    const response = await call().catch((error: unknown) => {
      // The alias changed to a new index during the search.
      if (isSwap(error)) return call()
      throw error
    })
    if (response.body.timed_out) throw unavailable('The search took too long')
    return response.body
  } catch (error) {
    throw searchFailure(error)
  }
}

function isSwap(error: unknown): boolean {
  const rejection = error instanceof ApiError ? error.cause : error
  return rejection instanceof EngineError && [404, 503].includes(rejection.status)
}

function searchFailure(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error
  if (error.type.startsWith('too_many')) return tooManyClauses(error)
  if (error.status === 404) return unavailable('The search index is being built', error)
  return failure('The search engine rejected the search', error)
}

async function apply(host: Host, changes: readonly SearchChange[]): Promise<void> {
  if (changes.length > MAX_CHANGES) throw failure(`More than ${MAX_CHANGES} changes in one call`)
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

/** A deleted project keeps its sequence, so that an older change cannot restore it. */
function toWrite(change: SearchChange): Write {
  const { sequence } = change
  if (change.kind === 'delete') return { id: change.id, sequence, body: JSON.stringify({ sequence }) }
  return { id: change.document.id, sequence, body: JSON.stringify(toIndexed(change.document, sequence)) }
}

/** Writes the documents that are newer than the stored ones. Returns false if the index or alias does not exist. */
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
    const rejected = (body.items ?? [])
      .map(({ index }) => index)
      .find((item) => item.status >= 400 && item.status !== CONFLICT)
    if (status === 404 || rejected?.status === 404) return false
    if (rejected === undefined) continue
    const cause = new EngineError(rejected.status, rejected.error?.type ?? 'error', rejected.error?.reason ?? '')
    throw rejected.status === 400
      ? failure('OpenSearch rejected a document', cause)
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
  if (host.isRebuilding) throw failure('The index is already being rebuilt')
  host.isRebuilding = true
  const { connection, prefix } = host
  const name = newIndexName(prefix)
  try {
    await dropLeftovers(connection, prefix)
    await createIndex(connection, name)
    host.building = name
    const { sequence, batches } = await open()
    for await (const batch of batches) {
      const writes = batch.map((document) => toWrite({ kind: 'upsert', sequence, document }))
      if (!(await bulk(host, name, writes))) throw failure('The new index was deleted during the build')
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

/** Never rejects: an engine that does not respond is not ready. */
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
  return new ApiError('search_error', message, { cause })
}
