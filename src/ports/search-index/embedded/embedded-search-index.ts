// The embedded adapter: an index in memory, in a worker thread, so that a search never blocks the event loop.
import { setImmediate as nextTurn } from 'node:timers'
import { Worker } from 'node:worker_threads'
import { withinTime } from '#lib/concurrency/within-time.ts'
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
import { prepareChange } from './prepare.ts'
import type { Command, Reply, Request, WorkerData } from './protocol.ts'

export type EmbeddedOptions = {
  /** File in which `checkpoint` saves the index. Default: the index is not saved. */
  readonly snapshotFile?: string
  /** Called with problems to log. */
  readonly onError?: (problem: { readonly message: string; readonly cause?: unknown }) => void
  /** Called when a new thread has replaced a dead one. Changes after `status.sequence` must then be applied again. */
  readonly onRestart?: (status: SearchIndexStatus) => void
  /** Tests replace it. */
  readonly startWorker?: (data: WorkerData) => Worker
}

/** Maximum number of searches and commands that wait for the thread. */
const MAX_WAITING = 10_000
/** Heap limit of the thread. The heap does not include typed arrays. */
const MAX_HEAP_MB = 1024
/** Messages are short-lived. A larger young generation would only use more memory. */
const MAX_YOUNG_HEAP_MB = 24
/** Delay before the restart of a dead thread, by number of consecutive failures. */
const RESTART_PAUSES_MS = [0, 100, 1000, 5000, 30_000]

const MAX_CLOSE_MS = 10_000
/** Number of documents per message of a rebuild: a few milliseconds of indexing. */
const REBUILD_SLICE = 50

type Waiting = { readonly resolve: (value: never) => void; readonly reject: (error: Error) => void }

type Host = {
  readonly options: EmbeddedOptions
  worker: Worker | undefined
  status: SearchIndexStatus
  readonly waiting: Map<number, Waiting>
  /** Searches of this turn of the event loop, sent in one message at its end. */
  unsent: { ids: number[]; queries: string[]; filters: string[] }
  nextId: number
  /** Number of consecutive threads that died before they were ready. */
  failures: number
  isRebuilding: boolean
  isClosed: boolean
  closing: Promise<void> | undefined
  restartTimer: NodeJS.Timeout | undefined
}

const EMPTY = { documents: 0, sequence: 0, rebuilding: false, memoryBytes: 0, identity: '' }
const NOT_READY: SearchIndexStatus = { ready: false, ...EMPTY }

/** Starts the thread and resolves when it is ready, with the saved index or, if that is missing or damaged, an empty one. */
export async function openEmbeddedSearchIndex(options: EmbeddedOptions = {}): Promise<SearchIndex> {
  const host: Host = {
    options,
    worker: undefined,
    status: NOT_READY,
    waiting: new Map(),
    unsent: { ids: [], queries: [], filters: [] },
    nextId: 1,
    ...{ failures: 0, isRebuilding: false, isClosed: false, closing: undefined, restartTimer: undefined },
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
  return send(host, JSON.stringify(rest), JSON.stringify(filter))
}

async function count(host: Host, { text, filters }: CountQuery): Promise<readonly number[]> {
  if (filters.length > MAX_COUNTED) throw failure(`More than ${MAX_COUNTED} filters in one count`)
  const { body } = await send(host, JSON.stringify({ text }), JSON.stringify(filters))
  return JSON.parse(Buffer.from(body).toString())
}

function send(host: Host, query: string, filter: string): Promise<SearchAnswer> {
  return new Promise((resolve, reject) => {
    const id = wait(host, { resolve, reject })
    if (id === undefined) return
    host.unsent.queries.push(query)
    host.unsent.filters.push(filter)
    if (host.unsent.ids.push(id) === 1) nextTurn(() => flush(host))
  })
}

function flush(host: Host): void {
  const { unsent } = host
  host.unsent = { ids: [], queries: [], filters: [] }
  if (unsent.ids.length > 0) post(host, { kind: 'search', ...unsent })
}

async function apply(host: Host, changes: readonly SearchChange[]): Promise<void> {
  if (changes.length > MAX_CHANGES) throw failure(`More than ${MAX_CHANGES} changes in one call`)
  if (changes.length > 0) await command(host, { kind: 'apply', changes: changes.map(prepareChange) })
}

async function rebuild(host: Host, open: () => Promise<Catalogue>): Promise<void> {
  if (host.isRebuilding) throw failure('The index is already being rebuilt')
  host.isRebuilding = true
  // If the thread is replaced, the half-built index is lost, and the rest must not become a complete one.
  const { worker } = host
  const step = async (message: Command) => {
    if (host.worker !== worker) throw failure('The search thread was replaced during the rebuild')
    return command(host, message)
  }
  try {
    await step({ kind: 'rebuild-begin' })
    const { sequence, batches } = await open()
    // The thread indexes one slice while the next one is read. A search waits for at most one slice.
    let indexed: Promise<unknown> = Promise.resolve()
    let sent = indexed
    for await (const batch of batches) {
      for (let i = 0; i < batch.length; i += REBUILD_SLICE) {
        await indexed
        indexed = sent
        const slice = batch.slice(i, i + REBUILD_SLICE)
        const changes = slice.map((document) => prepareChange({ kind: 'upsert', sequence, document }))
        sent = step({ kind: 'rebuild-add', changes })
        // Awaited above or below, unless reading fails first.
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
    if (id !== undefined) post(host, { kind: 'command', id, command: message })
  })
}

/** Never rejects. If the thread dies, the status is not ready. */
async function status(host: Host): Promise<SearchIndexStatus> {
  if (!host.status.ready) return host.status
  const current = await command(host, { kind: 'status' }).catch(() => host.status)
  return { ...current, memoryBytes: current.ready ? process.memoryUsage.rss() : 0 }
}

async function close(host: Host): Promise<void> {
  clearTimeout(host.restartTimer)
  flush(host)
  const { worker } = host
  const canClose = host.status.ready && worker !== undefined
  const exited = worker === undefined ? undefined : new Promise((resolve) => worker.once('exit', resolve))
  // Terminates the thread if the command is rejected because too many others wait.
  const end = () => worker?.terminate()
  const closing = canClose ? command(host, { kind: 'close' }).catch(end) : end()
  host.isClosed = true
  if (worker === undefined) return
  // The exit of the thread rejects waiting calls. A thread that hangs is terminated after a time limit.
  const giveUp = () => {
    void worker.terminate()
    worker.unref()
    failWaiting(host, undefined)
    return failure('The search thread did not end')
  }
  await withinTime(Promise.allSettled([closing, exited]), MAX_CLOSE_MS, giveUp).catch(() => undefined)
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
    handleExit(host, cause, neverReady)
    if (neverReady) opening.reject(failure('The search thread did not start', cause))
  })
}

function startWorker(data: WorkerData): Worker {
  return new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: MAX_YOUNG_HEAP_MB },
  })
}

/** Rejects waiting calls after the exit of the thread and starts a new thread, unless the index is closed. */
function handleExit(host: Host, cause: unknown, isFinal: boolean): void {
  host.worker = undefined
  host.failures = host.status.ready ? 0 : host.failures + 1
  host.status = NOT_READY
  failWaiting(host, cause)
  if (host.isClosed || isFinal) return
  host.options.onError?.({ message: 'The search thread died and will be restarted', cause })
  const pause = RESTART_PAUSES_MS[Math.min(host.failures, RESTART_PAUSES_MS.length - 1)]
  // Keeps the process alive, as a thread does, until the index is closed.
  host.restartTimer = setTimeout(() => restart(host), pause)
}

function restart(host: Host): void {
  try {
    start(host)
  } catch (error) {
    // For example, there is not enough memory for a thread.
    handleExit(host, error, false)
  }
}

function failWaiting(host: Host, cause: unknown): void {
  host.unsent = { ids: [], queries: [], filters: [] }
  for (const [id, { reject }] of host.waiting) {
    host.waiting.delete(id)
    reject(failure('The search index is being restarted', cause))
  }
}

function receive(host: Host, reply: Reply): void {
  switch (reply.kind) {
    case 'ready':
      host.status = reply.status
      if (reply.snapshotError !== undefined)
        host.options.onError?.({ message: `Could not read the saved search index: ${reply.snapshotError}` })
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

/** Registers a call and returns its ID. Rejects it and returns undefined without a thread or with too many calls. */
function wait(host: Host, waiting: Waiting): number | undefined {
  const isAvailable = host.status.ready && !host.isClosed
  if (!isAvailable || host.waiting.size >= MAX_WAITING) {
    waiting.reject(failure(isAvailable ? 'The search index is overloaded' : 'The search index is not available'))
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
  return new ApiError('search_error', message, { cause })
}
