// Reads and writes the events of a backup: gzipped parts of JSON lines, with one array of column values per event. Only
// one process can open the embedded store, so a running server exports its events to a folder next to the store.
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { newId } from '#lib/ids.ts'
import { OperatorError } from '#lib/operator-error.ts'
import type { InvalidationSubscriber } from '#platform/cache/listen.ts'
import type { AnalyticsStore } from '#ports/analytics-store/analytics-store.ts'
import { columnsOf, EVENT_KINDS, type EventKind } from '#ports/analytics-store/events.ts'
import type { Deps } from '#ports/deps.ts'
import { EVENTS_KIND, requestEventExport } from './request-event-export.ts'

export type EventPart = { kind: EventKind; count: number; bytes: Buffer }

/** Yields all events of the instance by kind. */
export type EventSource = () => AsyncIterable<EventPart>

/** Columns of each kind of event, in the order of the values in a line. */
export const EVENT_COLUMNS: Record<string, string[]> = Object.fromEntries(
  EVENT_KINDS.map((kind) => [kind, columnsOf(kind).map(([name]) => name)]),
)

/** Maximum number of events per part: the size of the largest batch that a store accepts. */
const PART_EVENTS = 10_000

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/** Reads the events of a store that this process has open. */
export const eventsOfStore = (store: Pick<AnalyticsStore, 'readEvents'>): EventSource =>
  async function* () {
    for (const kind of EVENT_KINDS) yield* partsOf(store, kind)
  }

/** Turns the callback of `readEvents` into a generator: compresses one part while the consumer uses the previous one. */
async function* partsOf(store: Pick<AnalyticsStore, 'readEvents'>, kind: EventKind): AsyncGenerator<EventPart> {
  const ready: EventPart[] = []
  let partReady = Promise.withResolvers<void>()
  let partConsumed = Promise.withResolvers<void>()
  let lines: string[] = []
  const stopped = new AbortController()
  const addPart = async (): Promise<void> => {
    const count = lines.length
    const text = `${lines.join('\n')}\n`
    lines = []
    ready.push({ kind, count, bytes: await compress(text, { level: 1 }) })
    partReady.resolve()
    await partConsumed.promise
    stopped.signal.throwIfAborted()
    partConsumed = Promise.withResolvers()
  }
  const reading = store
    .readEvents(kind, async (batch) => {
      for (const line of batch) {
        lines.push(line)
        if (lines.length === PART_EVENTS) await addPart()
      }
    })
    .then(async () => {
      if (lines.length > 0) await addPart()
    })
    .finally(() => partReady.resolve())
  reading.catch(() => undefined)
  try {
    for (;;) {
      await partReady.promise
      const part = ready.shift()
      if (part === undefined) break
      partReady = Promise.withResolvers()
      yield part
      partConsumed.resolve()
    }
    await reading
  } finally {
    stopped.abort(new Error('The consumer stopped reading events'))
    partConsumed.resolve()
    await reading.catch(() => undefined)
  }
}

/** Returns the lines of a part. */
export async function linesOf(bytes: Buffer): Promise<string[]> {
  const text = (await decompress(bytes)).toString('utf8')
  return text.trimEnd().split('\n')
}

const FOLDER = 'export'
/** Created by the first export into a folder. */
const BEGUN = 'begun'
const DONE = 'done'
const FAILED = 'failed'
const POLL_MS = 100
/** Time within which a server must write the first part. */
const BEGIN_MS = 30_000

/** Requests the events of the embedded store from the running server, and reads the parts that it writes. */
export const eventsOfServer = (
  deps: Pick<Deps, 'db' | 'cache'>,
  storeFolder: string,
  { beginMs = BEGIN_MS }: { beginMs?: number } = {},
): EventSource =>
  async function* () {
    const id = newId()
    const folder = join(storeFolder, FOLDER, id)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    try {
      await requestEventExport(deps, id)
      const until = performance.now() + beginMs
      for (let next = 1; ; ) {
        const names = (await readdir(folder)).filter((name) => name !== BEGUN)
        if (names.includes(FAILED)) throw new OperatorError(await readFile(join(folder, FAILED), 'utf8'))
        const isDone = names.includes(DONE)
        const part = names.find((name) => name.startsWith(`${next}-`) && name.endsWith('.gz'))
        if (part !== undefined) {
          const [, kind, count] = part.split(/[-.]/)
          yield { kind: kind as EventKind, count: Number(count), bytes: await readFile(join(folder, part)) }
          // The server waits for this before it writes more parts.
          await rm(join(folder, part))
          next += 1
        } else if (isDone) return
        else if (names.length === 0 && performance.now() > until && next === 1) {
          throw new OperatorError('The running server does not export its analytics events. Check its log.')
        } else await sleep(POLL_MS)
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

/** Maximum number of parts on disk that the backup has not read. */
const UNREAD_PARTS_MAX = 8

/** Exports the events of this server when a backup requests them. */
export function eventsSubscriber(deps: Pick<Deps, 'config' | 'analytics' | 'events' | 'log'>): InvalidationSubscriber {
  const { store } = deps.config.analytics
  return {
    kind: EVENTS_KIND,
    handle(ids) {
      if (ids === 'all' || store.kind !== 'embedded') return
      for (const id of ids) {
        if (!/^[0-9A-Za-z]{8}$/.test(id)) continue
        exportEvents(deps, join(store.folder, FOLDER, id)).catch((err: unknown) =>
          deps.log.error({ err }, 'Could not export events for a backup'),
        )
      }
    },
  }
}

/** Stops if the folder is missing, because the backup deletes the folder when it ends. */
async function exportEvents({ analytics, events, log }: Pick<Deps, 'analytics' | 'events' | 'log'>, folder: string) {
  let number = 0
  try {
    // A notification can arrive twice. A second export would write parts that no one reads, and both would wait forever.
    await writeFile(join(folder, BEGUN), '', { flag: 'wx', mode: 0o600 })
    await events.flush()
    for await (const { kind, count, bytes } of eventsOfStore(analytics)()) {
      number += 1
      await writeWhole(folder, `${number}-${kind}-${count}.gz`, bytes)
      while ((await readdir(folder)).length > UNREAD_PARTS_MAX) await sleep(POLL_MS)
    }
    await writeWhole(folder, DONE, Buffer.alloc(0))
  } catch (err) {
    if (err instanceof Error && 'code' in err && (err.code === 'ENOENT' || err.code === 'EEXIST')) return
    log.warn({ err }, 'Could not export events for a backup')
    await writeWhole(
      folder,
      FAILED,
      Buffer.from('The running server could not read its analytics events. Check its log.'),
    )
  }
}

/** Writes a file under a temporary name and renames it, so that a reader never sees an incomplete file. */
async function writeWhole(folder: string, name: string, bytes: Buffer): Promise<void> {
  const temporary = join(folder, `.${name}`)
  await writeFile(temporary, bytes, { mode: 0o600 })
  await rename(temporary, join(folder, name))
}
