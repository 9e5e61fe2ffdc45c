// Stores batches on the local disk until a remote store has them. `append` resolves when the batch is on disk; the file
// is deleted when the store has the batch. A batch may be sent twice, because a store ignores an ID that it knows. The
// files are therefore the only state that survives a crash or that several processes share.
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { requireKnownFormat } from '#lib/format-version.ts'
import { OperatorError } from '#lib/operator-error.ts'
import type { Batch } from './analytics-store.ts'
import type { BufferLog, EventSink, Wait } from './buffer.ts'
import { EVENT_KINDS, type EventKind } from './events.ts'

const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 30_000
/** Maximum time that `close` waits for batches in flight. */
const CLOSE_MS = 5_000
/** Maximum number of batches in flight. A response takes milliseconds unless the store is unavailable. */
const IN_FLIGHT_MAX = 4
/** A batch that failed this often, while the store accepted others, is set aside until the next start. */
const ATTEMPTS = 5
/** Number of events serialised before the event loop can serve requests. */
const EVENTS_PER_TURN = 500
/** Age after which an incomplete file belongs to a process that has died. */
const ABANDONED_MS = 600_000

/** Increase it with every change of the content. Files without a format have format 1. */
const FORMAT = 1

const READY = /^\d+-([a-z_]+)-([0-9A-Za-z-]{1,64})\.json$/
const REFUSED = '.refused'
const BROKEN = '.broken'
const PART = '.part'

export type SpoolOptions = {
  /** A dedicated folder; created if missing. */
  dir: string
  /** Maximum size of all files together; `append` rejects what exceeds it. */
  maxBytes: number
  next: EventSink
  log: BufferLog
  /** Tests replace it. */
  wait?: Wait
}

export type SpoolStats = { batches: number; bytes: number; refused: number }

export type Spool = {
  sink: EventSink
  /** Sends the batches of earlier processes. Rejects if the folder cannot be used. */
  start(): Promise<void>
  stats(): SpoolStats
  /** Waits up to 5 seconds for batches in flight and leaves the others on disk. Idempotent. */
  close(): Promise<void>
}

/** `batch` stays in memory until the first attempt to send it. */
type Entry = { name: string; bytes: number; attempts: number; sentBefore: number; batch: Batch | undefined }

type State = {
  readonly options: Required<SpoolOptions>
  readonly queue: Entry[]
  folder: Promise<unknown> | undefined
  /** Sends the queue; undefined while the queue is empty. */
  loop: Promise<void> | undefined
  /** Ends the wait between two attempts; undefined unless the loop waits. */
  pause: AbortController | undefined
  /** Resolves when the loop next waits. */
  paused: PromiseWithResolvers<void>
  readonly closed: PromiseWithResolvers<void>
  isClosed: boolean
  consecutiveFailures: number
  inFlight: number
  bytes: number
  refused: number
  sent: number
}

export function createSpool(options: SpoolOptions): Spool {
  const state: State = {
    options: { wait: waitUnref, ...options },
    queue: [],
    ...{ folder: undefined, loop: undefined, pause: undefined, isClosed: false },
    ...{ paused: Promise.withResolvers(), closed: Promise.withResolvers() },
    ...{ consecutiveFailures: 0, inFlight: 0, bytes: 0, refused: 0, sent: 0 },
  }
  return {
    sink: { append: (kind, batch) => append(state, kind, batch), settled: () => settled(state) },
    start: () => start(state),
    stats: () => ({ batches: state.queue.length + state.inFlight, bytes: state.bytes, refused: state.refused }),
    close: () => close(state),
  }
}

async function append(state: State, kind: EventKind, batch: Batch): Promise<void> {
  const { dir, maxBytes } = state.options
  state.folder ??= mkdir(dir, { recursive: true })
  await state.folder
  const name = `${Math.floor(batch.madeAt)}-${kind}-${batch.id}.json`
  const bytes = await writeBatch(join(dir, name), batch, maxBytes - state.bytes)
  // A retry of a batch whose previous attempt failed after the file was complete.
  if (state.queue.some((entry) => entry.name === name)) return
  enqueue(state, { name, bytes, batch: state.pause === undefined ? batch : undefined })
}

function enqueue(state: State, entry: Pick<Entry, 'name' | 'bytes' | 'batch'>): void {
  state.queue.push({ ...entry, attempts: 0, sentBefore: 0 })
  state.bytes += entry.bytes
  state.loop ??= sendQueue(state).finally(() => {
    state.loop = undefined
  })
}

/** Sends until the queue is empty, or until the spool is closed and the store unavailable. Never rejects. */
async function sendQueue(state: State): Promise<void> {
  // Lets `append` resolve first, and collects batches that arrive together.
  await setImmediate()
  while (state.queue.length > 0) {
    const failures = state.consecutiveFailures
    const entries = state.queue.splice(0, failures > 0 ? 1 : IN_FLIGHT_MAX)
    await Promise.all(entries.map((entry) => send(state, entry)))
    if (state.consecutiveFailures <= failures) continue
    state.paused.resolve()
    state.paused = Promise.withResolvers()
    if (state.isClosed) return
    state.pause = new AbortController()
    const ms = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (state.consecutiveFailures - 1))
    await state.options.wait(ms, state.pause.signal)
    state.pause = undefined
  }
}

async function send(state: State, entry: Entry): Promise<void> {
  const { dir, next } = state.options
  state.inFlight += 1
  try {
    const { kind, batch } = await readEntry(dir, entry)
    entry.batch = undefined
    await next.append(kind, batch)
    await rm(join(dir, entry.name), { force: true })
    state.bytes -= entry.bytes
    state.sent += 1
    state.consecutiveFailures = 0
  } catch (err) {
    await handleFailure(state, entry, err)
  } finally {
    state.inFlight -= 1
  }
}

async function handleFailure(state: State, entry: Entry, err: unknown): Promise<void> {
  if (err instanceof BrokenFileError) {
    await setAside(state, entry, { suffix: BROKEN, err })
    return
  }
  // A later start tries again, which can be of the newer release.
  if (err instanceof OperatorError) {
    await setAside(state, entry, { suffix: REFUSED, err })
    return
  }
  // Another process that shares the folder has sent the batch.
  if (isMissing(err)) {
    state.bytes -= entry.bytes
    return
  }
  if (entry.attempts === 0 || state.sent > entry.sentBefore) entry.attempts += 1
  entry.sentBefore = state.sent
  if (entry.attempts >= ATTEMPTS) {
    await setAside(state, entry, { suffix: REFUSED, err })
    return
  }
  state.consecutiveFailures += 1
  state.queue.push(entry)
  const fields = { err, batch: entry.name, waiting: state.queue.length }
  state.options.log.warn(fields, 'Could not send a batch of analytics events; it stays on disk')
}

async function setAside(
  state: State,
  { name }: Entry,
  { suffix, err }: { suffix: string; err: unknown },
): Promise<void> {
  const path = join(state.options.dir, name)
  state.refused += 1
  state.options.log.error({ err, file: path + suffix }, 'A batch of analytics events was set aside')
  await rename(path, path + suffix).catch(() => undefined)
}

async function start(state: State): Promise<void> {
  const { dir } = state.options
  await mkdir(dir, { recursive: true })
  for (const file of (await readdir(dir)).sort()) {
    const path = join(dir, file)
    const stats = await stat(path).catch(() => undefined)
    if (stats === undefined) continue
    if (file.endsWith(PART) && stats.mtimeMs < Date.now() - ABANDONED_MS) await rm(path, { force: true })
    const name = file.endsWith(REFUSED) ? file.slice(0, -REFUSED.length) : file
    if (!READY.test(name) || state.queue.some((entry) => entry.name === name)) continue
    if (name !== file) await rename(path, join(dir, name))
    enqueue(state, { name, bytes: stats.size, batch: undefined })
  }
}

/** Makes an immediate attempt to send the queue; resolves when the queue is empty, an attempt fails or `close` is called. */
async function settled(state: State): Promise<void> {
  if (state.loop !== undefined) {
    const paused = state.paused.promise
    state.pause?.abort()
    await Promise.race([state.loop, paused, state.closed.promise])
  }
  // While the store is unavailable, the next sink has nothing to wait for.
  if (state.consecutiveFailures === 0 && !state.isClosed) await state.options.next.settled()
}

async function close(state: State): Promise<void> {
  state.isClosed = true
  state.closed.resolve()
  state.pause?.abort()
  const limit = new AbortController()
  await Promise.race([state.loop, waitUnref(CLOSE_MS, limit.signal)])
  limit.abort()
}

class BrokenFileError extends Error {
  override name = 'BrokenFileError'
}

async function readEntry(dir: string, { name, batch }: Entry): Promise<{ kind: EventKind; batch: Batch }> {
  const [, kind] = READY.exec(name) ?? []
  if (!EVENT_KINDS.includes(kind as EventKind)) throw new BrokenFileError(`${name} does not name a kind of event`)
  if (batch !== undefined) return { kind: kind as EventKind, batch }
  const { format = 1, ...stored } = parse(name, await readFile(join(dir, name), 'utf8'))
  requireKnownFormat(`The batch of events ${join(dir, name)}`, format, FORMAT)
  return { kind: kind as EventKind, batch: stored }
}

function parse(name: string, text: string): Batch & { format?: number } {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new BrokenFileError(`${name} cannot be read`, { cause })
  }
}

/** Writes the file durably under a temporary name, then renames it. Returns its size in bytes. */
async function writeBatch(path: string, batch: Batch, bytesLeft: number): Promise<number> {
  const part = path + PART
  const file = await open(part, 'w', 0o600)
  try {
    const bytes = await writeParts(file, batch, bytesLeft)
    await file.sync()
    await file.close()
    await rename(part, path)
    await syncFolder(join(path, '..'))
    return bytes
  } catch (error) {
    await file.close().catch(() => undefined)
    await rm(part, { force: true })
    throw error
  }
}

async function writeParts(file: FileHandle, { id, madeAt, events }: Batch, bytesLeft: number): Promise<number> {
  let bytes = 0
  const write = async (text: string): Promise<void> => {
    const data = Buffer.from(text)
    bytes += data.length
    if (bytes > bytesLeft) throw new Error('The events that wait on disk have reached their maximum size')
    await file.appendFile(data)
  }
  await write(`{"format":${FORMAT},"id":${JSON.stringify(id)},"madeAt":${madeAt},"events":[`)
  for (let from = 0; from < events.length; from += EVENTS_PER_TURN) {
    const list = JSON.stringify(events.slice(from, from + EVENTS_PER_TURN))
    await write(`${from === 0 ? '' : ','}${list.slice(1, -1)}`)
    await setImmediate()
  }
  await write(']}')
  return bytes
}

/** Makes the rename durable. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
}

const isMissing = (err: unknown): boolean => err instanceof Error && 'code' in err && err.code === 'ENOENT'

/** Does not keep the process alive, because the events are on disk. */
async function waitUnref(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal, ref: false }).catch(() => undefined)
}
