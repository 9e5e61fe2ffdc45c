// The embedded adapter: an index in memory, in a thread of its own, so that a search never holds up the event loop.
import { setImmediate as nextTurn } from 'node:timers'
import { Worker } from 'node:worker_threads'
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
import type { Command, Reply, Request, WorkerData } from './protocol.ts'

export type EmbeddedOptions = {
  /** Where `checkpoint` leaves the index; without it nothing is kept. */
  readonly snapshotFile?: string
  /** Called with what is worth a line in the log. */
  readonly onError?: (problem: { readonly message: string; readonly cause?: unknown }) => void
  /** Called when a replaced thread answers again: changes after `status.sequence` must be applied again. */
  readonly onRestart?: (status: SearchIndexStatus) => void
  /** How the thread is made; the default is the one that ships. */
  readonly startWorker?: (data: WorkerData) => Worker
}

/** Searches and commands waiting for the thread; more are refused at once. */
const MAX_WAITING = 10_000
/** Of the memory that the thread's JavaScript objects may take; arrays are not among them. */
const MAX_HEAP_MB = 1024
/** What is read from messages dies young; more room for it would only be more memory. */
const MAX_YOUNG_HEAP_MB = 24
/** A thread that dies again and again is started after a growing pause. */
const RESTART_PAUSES_MS = [0, 100, 1000, 5000, 30_000]

const MAX_CLOSE_MS = 10_000
/** Documents in one message of a rebuild: a few milliseconds of indexing. */
const REBUILD_SLICE = 50

type Waiting = { readonly resolve: (value: never) => void; readonly reject: (error: Error) => void }

type Host = {
  readonly options: EmbeddedOptions
  worker: Worker | undefined
  status: SearchIndexStatus
  readonly waiting: Map<number, Waiting>
  /** Searches of this turn of the event loop, sent together at its end. */
  ids: number[]
  queries: string[]
  filters: string[]
  nextId: number
  /** Threads that died in a row without becoming ready. */
  failures: number
  isRebuilding: boolean
  isClosed: boolean
  closing: Promise<void> | undefined
  restartTimer: NodeJS.Timeout | undefined
}

const NOT_READY: SearchIndexStatus = {
  ready: false,
  documents: 0,
  sequence: 0,
  rebuilding: false,
  memoryBytes: 0,
  identity: '',
}

/** Starts the thread and waits until it answers, from the snapshot when there is a good one, else empty. */
export async function openEmbeddedSearchIndex(options: EmbeddedOptions = {}): Promise<SearchIndex> {
  const host: Host = {
    options,
    worker: undefined,
    status: NOT_READY,
    waiting: new Map(),
    ids: [],
    queries: [],
    filters: [],
    nextId: 1,
    failures: 0,
    isRebuilding: false,
    isClosed: false,
    closing: undefined,
    restartTimer: undefined,
  }
  await new Promise<void>((resolve, reject) => start(host, { resolve, reject }))
  return {
    search: (query) => search(host, query),
    count: (query) => count(host, query),
    apply: (changes) => apply(host, changes),
    rebuild: (open) => rebuild(host, open),
    checkpoint: async () => void (await command(host, { kind: 'checkpoint' })),
    status: () => status(host),
    close: () => {
      host.closing ??= close(host)
      return host.closing
    },
  }
}

function search(host: Host, { filter, ...rest }: SearchQuery): Promise<SearchAnswer> {
  return ask(host, JSON.stringify(rest), JSON.stringify(filter))
}

async function count(host: Host, { text, filters }: CountQuery): Promise<readonly number[]> {
  if (filters.length > MAX_COUNTED) throw failure(`More than ${MAX_COUNTED} filters to count`)
  const { body } = await ask(host, JSON.stringify({ text }), JSON.stringify(filters))
  return JSON.parse(Buffer.from(body).toString())
}

function ask(host: Host, query: string, filter: string): Promise<SearchAnswer> {
  return new Promise((resolve, reject) => {
    const id = wait(host, { resolve, reject })
    if (id === undefined) return
    host.queries.push(query)
    host.filters.push(filter)
    if (host.ids.push(id) === 1) nextTurn(() => flush(host))
  })
}

function flush(host: Host): void {
  const { ids, queries, filters } = host
  clearUnsent(host)
  if (ids.length > 0) post(host, { kind: 'search', ids, queries, filters })
}

function clearUnsent(host: Host): void {
  host.ids = []
  host.queries = []
  host.filters = []
}

async function apply(host: Host, changes: readonly SearchChange[]): Promise<void> {
  if (changes.length > MAX_CHANGES) throw failure(`More than ${MAX_CHANGES} changes at once`)
  if (changes.length > 0) await command(host, { kind: 'apply', changes })
}

async function rebuild(host: Host, open: () => Promise<Catalogue>): Promise<void> {
  if (host.isRebuilding) throw failure('The index is being rebuilt already')
  host.isRebuilding = true
  // A thread that was replaced half-way has forgotten the new index: its remains must not be taken for the whole.
  const { worker } = host
  const step = async (message: Command) => {
    if (host.worker !== worker) throw failure('The search thread was replaced during the rebuild')
    return command(host, message)
  }
  try {
    await step({ kind: 'rebuild-begin' })
    const { sequence, batches } = await open()
    // One slice is indexed while the next is made; searches wait for a slice at most.
    let indexed: Promise<unknown> = Promise.resolve()
    let sent = indexed
    for await (const batch of batches) {
      for (let i = 0; i < batch.length; i += REBUILD_SLICE) {
        await indexed
        indexed = sent
        sent = step({ kind: 'rebuild-add', sequence, documents: batch.slice(i, i + REBUILD_SLICE) })
        // It is awaited above or below, unless the reading fails first.
        sent.catch(() => undefined)
      }
    }
    await indexed
    await sent
    await step({ kind: 'rebuild-end', sequence })
  } catch (error) {
    if (host.worker === worker) await command(host, { kind: 'rebuild-abort' }).catch(() => undefined)
    throw error
  } finally {
    host.isRebuilding = false
  }
}

function command(host: Host, message: Command): Promise<SearchIndexStatus> {
  return new Promise((resolve, reject) => {
    const id = wait(host, { resolve, reject })
    if (id !== undefined) post(host, { kind: 'command', id, command: JSON.stringify(message) })
  })
}

/** Never fails: a thread that dies instead of answering is one that is not ready. */
async function status(host: Host): Promise<SearchIndexStatus> {
  if (!host.status.ready) return host.status
  return command(host, { kind: 'status' }).catch(() => host.status)
}

async function close(host: Host): Promise<void> {
  clearTimeout(host.restartTimer)
  flush(host)
  const { worker } = host
  const isAsked = host.status.ready && worker !== undefined
  const exited = worker === undefined ? undefined : new Promise((resolve) => worker.once('exit', resolve))
  // What refuses to be asked, because too many wait for it, is ended as what does not answer yet.
  const end = () => worker?.terminate()
  const closing = isAsked ? command(host, { kind: 'close' }).catch(end) : end()
  host.isClosed = true
  if (worker === undefined) return
  // The thread ends by itself, and what waits fails when it does; should it not, it is not waited for.
  let patience: NodeJS.Timeout | undefined
  const enough = new Promise<void>((resolve) => {
    patience = setTimeout(() => {
      void worker.terminate()
      worker.unref()
      failWaiting(host, undefined)
      resolve()
    }, MAX_CLOSE_MS)
  })
  await Promise.race([Promise.allSettled([closing, exited]), enough])
  clearTimeout(patience)
}

function start(host: Host, opening?: { resolve: () => void; reject: (error: Error) => void }): void {
  const data: WorkerData = { snapshotFile: host.options.snapshotFile }
  const worker = (host.options.startWorker ?? startWorker)(data)
  host.worker = worker
  let cause: unknown
  worker.on('message', (reply: Reply) => {
    receive(host, reply)
    if (reply.kind !== 'ready') return
    if (opening === undefined) host.options.onRestart?.(reply.status)
    else opening.resolve()
  })
  worker.on('error', (error) => {
    cause = error
  })
  worker.on('exit', () => {
    const neverReady = opening !== undefined && !host.status.ready
    lose(host, cause, neverReady)
    if (neverReady) opening.reject(failure('The search thread does not start', cause))
  })
}

function startWorker(data: WorkerData): Worker {
  return new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: MAX_YOUNG_HEAP_MB },
  })
}

/** The thread is gone: what waits fails, and a new one is started unless this is the end. */
function lose(host: Host, cause: unknown, isFinal: boolean): void {
  host.worker = undefined
  host.failures = host.status.ready ? 0 : host.failures + 1
  host.status = NOT_READY
  failWaiting(host, cause)
  if (host.isClosed || isFinal) return
  host.options.onError?.({ message: 'The search thread died and is replaced', cause })
  const pause = RESTART_PAUSES_MS[Math.min(host.failures, RESTART_PAUSES_MS.length - 1)]
  // It keeps the process alive as a thread does: who opened the index closes it.
  host.restartTimer = setTimeout(() => restart(host), pause)
}

function restart(host: Host): void {
  try {
    start(host)
  } catch (error) {
    // There is no room for a thread at the moment, for instance.
    lose(host, error, false)
  }
}

function failWaiting(host: Host, cause: unknown): void {
  clearUnsent(host)
  for (const [id, { reject }] of host.waiting) {
    host.waiting.delete(id)
    reject(failure('The search index is being restarted', cause))
  }
}

function receive(host: Host, reply: Reply): void {
  switch (reply.kind) {
    case 'ready':
      host.status = reply.status
      if (reply.snapshotError !== undefined) {
        host.options.onError?.({ message: `The search snapshot cannot be used: ${reply.snapshotError}` })
      }
      return
    case 'found':
      receiveAnswers(host, reply)
      return
    case 'done':
      take(host, reply.id)?.resolve(reply.status as never)
      return
    case 'failed':
      take(host, reply.id)?.reject(failure(reply.reason))
  }
}

function receiveAnswers(host: Host, { ids, ends, totals, bytes }: Extract<Reply, { kind: 'found' }>): void {
  let start = 0
  for (const [i, id] of ids.entries()) {
    const end = ends[i] ?? start
    const totalHits = totals[i] ?? -1
    const waiting = take(host, id)
    if (totalHits < 0) waiting?.reject(failure('The search index failed on this query'))
    else waiting?.resolve({ body: bytes.subarray(start, end), totalHits } as never)
    start = end
  }
}

/** An ID under which the answer is waited for; without a thread, or with too many waiting, refused at once. */
function wait(host: Host, waiting: Waiting): number | undefined {
  const isRefused = !host.status.ready || host.isClosed || host.waiting.size >= MAX_WAITING
  if (isRefused) {
    waiting.reject(
      failure(
        host.status.ready && !host.isClosed ? 'The search index is overloaded' : 'The search index is not available',
      ),
    )
    return undefined
  }
  const id = host.nextId
  host.nextId += 1
  host.waiting.set(id, waiting)
  return id
}

function take(host: Host, id: number): Waiting | undefined {
  const waiting = host.waiting.get(id)
  host.waiting.delete(id)
  return waiting
}

function post(host: Host, request: Request): void {
  host.worker?.postMessage(request)
}

function failure(message: string, cause?: unknown): ApiError {
  return new ApiError('search_error', message, cause === undefined ? {} : { cause })
}
