// Batches on the local disk, on their way to a store that is elsewhere. A batch is on disk before anybody hears that it
// is stored, and leaves the disk once the store has it; while the store is away, they gather here. Sending one twice is
// harmless, because a store takes each batch once: so a process that was killed, or several that share a folder, need
// nothing but the files.
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Batch } from './analytics-store.ts'
import type { EventSink } from './buffer.ts'
import { EVENT_KINDS, type EventKind } from './events.ts'

const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 30_000
/** How long closing waits for what is being sent. */
const CLOSE_MS = 5_000
/** Sent at once. Their answers take milliseconds, or the store is away. */
const SENT_AT_ONCE = 4
/** Failed attempts, between which the store took other batches, after which a batch is set aside until the next start. */
const ATTEMPTS = 5
/** Events turned into text before requests are answered in between. */
const EVENTS_AT_ONCE = 500
/** A file that was begun so long ago is not being written any more. */
const ABANDONED_MS = 600_000

const READY = /^\d+-([a-z_]+)-([0-9A-Za-z-]{1,64})\.json$/
const REFUSED = '.refused'
const BROKEN = '.broken'
const PART = '.part'

export type SpoolOptions = {
  /** A folder of its own, made when absent. */
  dir: string
  /** What the files may take together; beyond that, batches are refused. */
  maxBytes: number
  next: EventSink
  log: { warn(fields: object, message: string): void; error(fields: object, message: string): void }
  /** The clock of waiting: resolves after that many milliseconds, or when the signal aborts. */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>
}

export type SpoolStats = { batches: number; bytes: number; refused: number }

export type Spool = {
  sink: EventSink
  /** Sends what an earlier process left. Rejects when the folder cannot be used. */
  start(): Promise<void>
  stats(): SpoolStats
  /** Finishes what is being sent, for some seconds, and leaves the rest on disk. Idempotent. */
  close(): Promise<void>
}

/** `batch` is kept in memory until the first attempt to send it. */
type Entry = { name: string; bytes: number; attempts: number; sentBefore: number; batch: Batch | undefined }

export function createSpool({ dir, maxBytes, next, log, wait = waitFor }: SpoolOptions): Spool {
  const queue: Entry[] = []
  const counts = { bytes: 0, refused: 0, sent: 0 }
  let sending = 0
  let failuresInARow = 0
  let isPausing = false
  let wake = new AbortController()
  let loop: Promise<void> | undefined
  let isClosed = false
  let ready: Promise<unknown> | undefined
  const closing = Promise.withResolvers<void>()
  const onPause = new Set<() => void>()

  async function append<K extends EventKind>(kind: K, batch: Batch<K>): Promise<void> {
    ready ??= mkdir(dir, { recursive: true })
    await ready
    const name = `${Math.floor(batch.madeAt)}-${kind}-${batch.id}.json`
    const bytes = await writeBatch(join(dir, name), batch, maxBytes - counts.bytes)
    // The same batch again, because the attempt before failed after the file was there.
    if (queue.some((entry) => entry.name === name)) return
    add({ name, bytes, attempts: 0, sentBefore: 0, batch: isPausing ? undefined : batch })
  }

  function add(entry: Entry): void {
    queue.push(entry)
    counts.bytes += entry.bytes
    loop ??= sendAll().finally(() => {
      loop = undefined
    })
  }

  /** Until nothing is left, or the spool closes while the store is away. Never rejects. */
  async function sendAll(): Promise<void> {
    // What comes together is sent together, and only after whoever brought it has heard that it is safe.
    await setImmediate()
    while (queue.length > 0) {
      const failed = failuresInARow
      await Promise.all(queue.splice(0, failed > 0 ? 1 : SENT_AT_ONCE).map(send))
      if (failuresInARow <= failed) continue
      for (const resume of onPause) resume()
      if (isClosed) return
      isPausing = true
      await wait(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failuresInARow - 1)), wake.signal)
      isPausing = false
    }
  }

  async function send(entry: Entry): Promise<void> {
    sending += 1
    try {
      const { kind, batch } = await readEntry(dir, entry)
      entry.batch = undefined
      await next.append(kind, batch)
      await rm(join(dir, entry.name), { force: true })
      counts.bytes -= entry.bytes
      counts.sent += 1
      failuresInARow = 0
    } catch (err) {
      await onFailure(entry, err)
    } finally {
      sending -= 1
    }
  }

  async function onFailure(entry: Entry, err: unknown): Promise<void> {
    if (err instanceof BrokenFileError) {
      await setAside(entry, BROKEN, err)
      return
    }
    // Another process that shares the folder has sent it.
    if (isMissing(err)) {
      counts.bytes -= entry.bytes
      return
    }
    if (entry.attempts === 0 || counts.sent > entry.sentBefore) entry.attempts += 1
    entry.sentBefore = counts.sent
    if (entry.attempts >= ATTEMPTS) {
      await setAside(entry, REFUSED, err)
      return
    }
    failuresInARow += 1
    queue.push(entry)
    log.warn({ err, batch: entry.name, waiting: queue.length }, 'Could not send a batch of analytics events; it waits')
  }

  async function setAside(entry: Entry, ending: string, err: unknown): Promise<void> {
    counts.refused += 1
    log.error({ err, file: join(dir, entry.name + ending) }, 'A batch of analytics events was set aside')
    await rename(join(dir, entry.name), join(dir, entry.name + ending)).catch(() => undefined)
  }

  async function start(): Promise<void> {
    await mkdir(dir, { recursive: true })
    for (const found of (await readdir(dir)).sort()) {
      const path = join(dir, found)
      const about = await stat(path).catch(() => undefined)
      if (about === undefined) continue
      if (found.endsWith(PART) && about.mtimeMs < Date.now() - ABANDONED_MS) await rm(path, { force: true })
      const name = found.endsWith(REFUSED) ? found.slice(0, -REFUSED.length) : found
      if (!READY.test(name) || queue.some((entry) => entry.name === name)) continue
      if (name !== found) await rename(path, join(dir, name))
      add({ name, bytes: about.size, attempts: 0, sentBefore: 0, batch: undefined })
    }
  }

  /** A round of attempts for all that waits: until nothing is left, one fails, or the spool is closed. */
  async function settled(): Promise<void> {
    if (loop !== undefined) {
      const paused = new Promise<void>((resolve) => onPause.add(resolve))
      interruptWait()
      await Promise.race([loop, paused, closing.promise])
      onPause.clear()
    }
    // What follows the store has nothing to wait for while the store is away.
    if (failuresInARow === 0 && !isClosed) await next.settled()
  }

  function interruptWait(): void {
    const before = wake
    wake = new AbortController()
    before.abort()
  }

  return {
    sink: { append, settled },
    start,
    stats: () => ({ batches: queue.length + sending, bytes: counts.bytes, refused: counts.refused }),
    async close() {
      isClosed = true
      closing.resolve()
      interruptWait()
      const limit = new AbortController()
      await Promise.race([loop, waitFor(CLOSE_MS, limit.signal)])
      limit.abort()
    },
  }
}

class BrokenFileError extends Error {
  override name = 'BrokenFileError'
}

async function readEntry(dir: string, { name, batch }: Entry): Promise<{ kind: EventKind; batch: Batch }> {
  const [, kind] = READY.exec(name) ?? []
  if (!EVENT_KINDS.includes(kind as EventKind)) throw new BrokenFileError(`${name} is of no kind of event`)
  if (batch !== undefined) return { kind: kind as EventKind, batch }
  const text = await readFile(join(dir, name), 'utf8')
  try {
    return { kind: kind as EventKind, batch: JSON.parse(text) as Batch }
  } catch (cause) {
    throw new BrokenFileError(`${name} cannot be read`, { cause })
  }
}

/** Writes the file and forces it to disk; it has its name only when it is whole. Returns its size. */
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
    if (bytes > bytesLeft) throw new Error('The events that wait on disk take as much as they may')
    await file.appendFile(data)
  }
  await write(`{"id":${JSON.stringify(id)},"madeAt":${madeAt},"events":[`)
  for (let from = 0; from < events.length; from += EVENTS_AT_ONCE) {
    const list = JSON.stringify(events.slice(from, from + EVENTS_AT_ONCE))
    await write(`${from === 0 ? '' : ','}${list.slice(1, -1)}`)
    await setImmediate()
  }
  await write(']}')
  return bytes
}

/** So that the file's name outlives a loss of power, too. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
}

const isMissing = (err: unknown): boolean => err instanceof Error && 'code' in err && err.code === 'ENOENT'

/** Keeps no process alive: what waits is on disk. */
async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal, ref: false }).catch(() => undefined)
}
