// Events on their way into an archive and out of it: parts of JSON lines, gzipped, one array of columns for each event.
// The embedded store is open in one process only, so a running server hands its events over in a folder beside it.
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { newId } from '#lib/ids.ts'
import { OperatorError } from '#lib/operator-error.ts'
import type { InvalidationSubscriber } from '#platform/cache/listen.ts'
import type { AnalyticsStore } from '#ports/analytics-store/analytics-store.ts'
import {
  type ColumnType,
  columnsOf,
  EVENT_KINDS,
  type EventKind,
  type EventRow,
} from '#ports/analytics-store/events.ts'
import type { Deps } from '#ports/deps.ts'
import { EVENTS_KIND, requestEventExport } from './request-events.ts'

export type EventPart = { kind: EventKind; count: number; bytes: Buffer }

/** All events of the instance, kind by kind. */
export type EventSource = () => AsyncIterable<EventPart>

/** The columns of each kind, as the lines have them. */
export const EVENT_COLUMNS: Record<string, string[]> = Object.fromEntries(
  EVENT_KINDS.map((kind) => [kind, columnsOf(kind).map(([name]) => name)]),
)

/** Events in one part. The largest batch that a store takes is as large. */
const PART_EVENTS = 10_000

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/** Events of a store that this process has open. */
export const eventsOfStore = (store: Pick<AnalyticsStore, 'readEvents'>): EventSource =>
  async function* () {
    for (const kind of EVENT_KINDS) yield* partsOf(store, kind)
  }

/** A store hands events over when it has them; a part is read when it is wanted. One is made while one is taken. */
async function* partsOf(store: Pick<AnalyticsStore, 'readEvents'>, kind: EventKind): AsyncGenerator<EventPart> {
  const ready: EventPart[] = []
  let wake = Promise.withResolvers<void>()
  let taken = Promise.withResolvers<void>()
  let lines: string[] = []
  const stopped = new AbortController()
  const give = async (): Promise<void> => {
    const count = lines.length
    const text = `${lines.join('\n')}\n`
    lines = []
    ready.push({ kind, count, bytes: await compress(text, { level: 1 }) })
    wake.resolve()
    await taken.promise
    stopped.signal.throwIfAborted()
    taken = Promise.withResolvers()
  }
  const reading = store
    .readEvents(kind, async (some) => {
      for (const line of some) {
        lines.push(line)
        if (lines.length === PART_EVENTS) await give()
      }
    })
    .then(async () => {
      if (lines.length > 0) await give()
    })
    .finally(() => wake.resolve())
  reading.catch(() => undefined)
  try {
    for (;;) {
      await wake.promise
      const part = ready.shift()
      if (part === undefined) break
      wake = Promise.withResolvers()
      yield part
      taken.resolve()
    }
    await reading
  } finally {
    stopped.abort(new Error('The events are wanted no more'))
    taken.resolve()
    await reading.catch(() => undefined)
  }
}

/**
 * Events of a part that has the columns `columns`, at most `size` at once: what a kind has no more is left out, what is new
 * has no value.
 */
export async function* readPart(
  kind: EventKind,
  columns: readonly string[],
  { bytes, size }: { bytes: Buffer; size: number },
): AsyncGenerator<EventRow[]> {
  const text = (await decompress(bytes)).toString('utf8')
  const known = columnsOf(kind).map(([name, type]) => ({ name, type, at: columns.indexOf(name) }))
  let events: EventRow[] = []
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start)
    const values = JSON.parse(text.slice(start, end === -1 ? text.length : end))
    events.push(Object.fromEntries(known.map(({ name, type, at }) => [name, at === -1 ? NOTHING[type] : values[at]])))
    start = end === -1 ? text.length : end + 1
    if (events.length < size && start < text.length) continue
    yield events
    events = []
  }
}

const NOTHING = { time: 0, term: '', text: '', flag: false, number: 0 } as const satisfies Record<ColumnType, unknown>

const FOLDER = 'export'
const DONE = 'done'
const FAILED = 'failed'
const POLL_MS = 100
/** A server has begun by then, or there is none that has the events. */
const BEGIN_MS = 30_000

/** Events of the embedded store of a running server. */
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
        const names = await readdir(folder)
        if (names.includes(FAILED)) throw new OperatorError(await readFile(join(folder, FAILED), 'utf8'))
        const isDone = names.includes(DONE)
        const part = names.find((name) => name.startsWith(`${next}-`) && name.endsWith('.gz'))
        if (part !== undefined) {
          const [, kind, count] = part.split(/[-.]/)
          yield { kind: kind as EventKind, count: Number(count), bytes: await readFile(join(folder, part)) }
          // The server makes the next one when this one is gone.
          await rm(join(folder, part))
          next += 1
        } else if (isDone) return
        else if (names.length === 0 && performance.now() > until && next === 1) {
          throw new OperatorError('The running server does not hand its events over; look into its log')
        } else await sleep(POLL_MS)
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

/** Parts that wait to be taken: little disk, and memory for one. */
const PARTS_WAITING_MAX = 8

/** What a server does when a backup asks for its events. */
export function eventsSubscriber(deps: Pick<Deps, 'config' | 'analytics' | 'events' | 'log'>): InvalidationSubscriber {
  const { store } = deps.config.analytics
  return {
    kind: EVENTS_KIND,
    handle(ids) {
      if (ids === 'all' || store.kind !== 'embedded') return
      for (const id of ids) {
        if (!/^[0-9A-Za-z]{8}$/.test(id)) continue
        handOver(deps, join(store.folder, FOLDER, id)).catch((err: unknown) =>
          deps.log.error({ err }, 'Events could not be handed over to a backup'),
        )
      }
    },
  }
}

/** Ends by itself when the folder is gone, and with it who asked. */
async function handOver({ analytics, events, log }: Pick<Deps, 'analytics' | 'events' | 'log'>, folder: string) {
  let number = 0
  try {
    await events.flush()
    for await (const { kind, count, bytes } of eventsOfStore(analytics)()) {
      number += 1
      await place(folder, `${number}-${kind}-${count}.gz`, bytes)
      while ((await readdir(folder)).length > PARTS_WAITING_MAX) await sleep(POLL_MS)
    }
    await place(folder, DONE, Buffer.alloc(0))
  } catch (err) {
    if (err instanceof Error && 'code' in err && err.code === 'ENOENT') return
    log.warn({ err }, 'Events could not be handed over to a backup')
    await place(folder, FAILED, Buffer.from('The running server could not read its events; look into its log'))
  }
}

/** A reader sees a part as a whole. */
async function place(folder: string, name: string, bytes: Buffer): Promise<void> {
  const temporary = join(folder, `.${name}`)
  await writeFile(temporary, bytes, { mode: 0o600 })
  await rename(temporary, join(folder, name))
}
