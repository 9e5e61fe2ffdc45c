// The bounded buffer in front of the store. Requests only push an event into memory; batches are stored within a
// second. Each kind has a lane of its own, so that trouble with one loses nothing of another.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { APPEND_EVENTS_MAX, type Batch } from './analytics-store.ts'
import { boundEvent, EVENT_KINDS, type EventKind, type Events } from './events.ts'

/** Events of one kind held in memory; at 5,000 a second, 20 seconds of a store that does not answer. */
const CAPACITY = 100_000
/** As many as the store takes: a batch costs turns of the event loop, which are long when there is most to store. */
const BATCH_EVENTS = APPEND_EVENTS_MAX
const INTERVAL_MS = 1_000
/** About eight minutes with the waits below; then the batch is given up, so that a poisoned one blocks nothing for ever. */
const ATTEMPTS = 20
/** Once the process is stopping there is no time for more; a batch that has failed more often gets one more. */
const ATTEMPTS_WHEN_CLOSING = 3
const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 30_000

/** Where batches go: the store, with what has to happen before and after. */
export type EventSink = {
  /** Resolves once the batch is on disk; the same batch may come again when it rejects. */
  append<K extends EventKind>(kind: K, batch: Batch<K>): Promise<void>
  /** Resolves when what was appended before the call has taken effect everywhere, or failed to for now. Never rejects. */
  settled(): Promise<void>
}

export type LaneStats = {
  pending: number
  stored: number
  /** Refused because the lane was full or closed. */
  dropped: number
  /** Accepted, and given up after the last attempt. */
  lost: number
  failedAttempts: number
}

export type EventBuffer = {
  /** Takes the event unless its lane is full or closed; false = dropped. Texts are cut to their longest length. */
  add<K extends EventKind>(kind: K, event: Events[K]): boolean
  /**
   * Resolves when everything accepted before the call is stored (or given up, minutes later) and has taken effect. A
   * signal ends the waiting, and nothing else: then it rejects with the signal's reason.
   */
  flush(signal?: AbortSignal): Promise<void>
  /** Takes nothing more, stores the rest, and resolves when it has taken effect. Idempotent. */
  close(): Promise<void>
  stats(): Record<EventKind, LaneStats>
}

type Log = { warn(fields: object, message: string): void; error(fields: object, message: string): void }

export type BufferOptions = {
  sink: EventSink
  log: Log
  capacity?: number
  batchEvents?: number
  /** The clock of waiting: resolves after that many milliseconds, or when the signal aborts. */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>
}

type Lane<K extends EventKind = EventKind> = {
  kind: K
  pending: Events[K][]
  inFlight: number
  isTimed: boolean
  running: Promise<void> | undefined
  counts: Omit<LaneStats, 'pending'>
}

/** Starts no timer before the first event; close it before the store. */
export function createEventBuffer(options: BufferOptions): EventBuffer {
  const { capacity = CAPACITY, batchEvents = BATCH_EVENTS, wait = waitFor } = options
  const closing = new AbortController()
  const lanes = Object.fromEntries(EVENT_KINDS.map((kind) => [kind, emptyLane(kind)])) as Record<EventKind, Lane>
  let closed: Promise<void> | undefined

  function add<K extends EventKind>(kind: K, event: Events[K]): boolean {
    const lane = lanes[kind]
    if (closing.signal.aborted || lane.pending.length + lane.inFlight >= capacity) {
      lane.counts.dropped += 1
      return false
    }
    lane.pending.push(boundEvent(event))
    if (lane.pending.length >= batchEvents) start(lane)
    else startLater(lane)
    return true
  }

  function startLater(lane: Lane): void {
    if (lane.isTimed || lane.running !== undefined) return
    lane.isTimed = true
    void wait(INTERVAL_MS, closing.signal).then(() => {
      lane.isTimed = false
      start(lane)
    })
  }

  function start(lane: Lane): void {
    if (lane.running !== undefined || lane.pending.length === 0) return
    lane.running = storePending(lane).finally(() => {
      lane.running = undefined
      if (lane.pending.length >= batchEvents) start(lane)
      else if (lane.pending.length > 0) startLater(lane)
    })
  }

  /** Stores what is pending now; what arrives meanwhile waits for its own second, so that batches stay large. */
  async function storePending(lane: Lane): Promise<void> {
    let left = lane.pending.length
    while (left > 0) {
      const batch = lane.pending.splice(0, Math.min(left, batchEvents))
      left -= batch.length
      lane.inFlight = batch.length
      await storeBatch(lane, { id: randomUUID(), madeAt: Date.now(), events: batch })
      lane.inFlight = 0
    }
  }

  async function storeBatch(lane: Lane, batch: Batch): Promise<void> {
    const { length } = batch.events
    for (let attempt = 1; ; attempt += 1) {
      try {
        await options.sink.append(lane.kind, batch)
        lane.counts.stored += length
        return
      } catch (err) {
        lane.counts.failedAttempts += 1
        const fields = { err, kind: lane.kind, batch: batch.id, events: length, attempt }
        if (attempt >= (closing.signal.aborted ? ATTEMPTS_WHEN_CLOSING : ATTEMPTS)) {
          lane.counts.lost += length
          options.log.error(fields, 'Gave up storing a batch of analytics events')
          return
        }
        options.log.warn(fields, 'Could not store a batch of analytics events; trying again')
        await waitForAttempt(attempt)
      }
    }
  }

  /** Closing cuts a wait short that is going on; the few attempts after it have short waits of their own. */
  function waitForAttempt(attempt: number): Promise<void> {
    if (closing.signal.aborted) return wait(FIRST_WAIT_MS, new AbortController().signal)
    return wait(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1)), closing.signal)
  }

  async function flushLane(lane: Lane): Promise<void> {
    // What runs may have begun before the newest events came; the second round takes those.
    await lane.running
    start(lane)
    await lane.running
  }

  async function flushAll(): Promise<void> {
    await Promise.all(Object.values(lanes).map(flushLane))
    await options.sink.settled()
  }

  return {
    add,
    flush: (signal) => (signal === undefined ? flushAll() : unlessAborted(flushAll(), signal)),
    close() {
      closing.abort()
      closed ??= flushAll()
      return closed
    },
    stats: () =>
      Object.fromEntries(
        Object.values(lanes).map((lane) => [
          lane.kind,
          { pending: lane.pending.length + lane.inFlight, ...lane.counts },
        ]),
      ) as Record<EventKind, LaneStats>,
  }
}

function emptyLane<K extends EventKind>(kind: K): Lane<K> {
  const counts = { stored: 0, dropped: 0, lost: 0, failedAttempts: 0 }
  return { kind, pending: [], inFlight: 0, isTimed: false, running: undefined, counts }
}

/** The work, or until the signal: then it rejects with the signal's reason, and the work goes on. */
export function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** Keeps the process alive: there are accepted events to store. */
async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined)
}
