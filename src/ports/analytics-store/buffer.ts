// A bounded buffer in front of the analytics store. Requests only push events into memory. An event is stored within a
// second plus the time of one append: an append begins when the oldest waiting event is a second old, even if another one
// has not ended. The embedded store has one commit at a time; if a commit takes longer than a second, an event is stored
// within the time of two appends. Batches of all kinds begin together, so that the store needs one commit for them. Each
// kind of event has its own lane, so that a failure of one kind does not affect the others.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { APPEND_EVENTS_MAX, type Batch } from './analytics-store.ts'
import { boundEvent, EVENT_KINDS, type EventKind, type Events } from './events.ts'

/** Maximum number of events of one kind in memory: 20 seconds of an unavailable store at 5,000 events per second. */
const CAPACITY = 100_000
/** The maximum of the store, because each batch costs turns of the event loop. */
const BATCH_EVENTS = APPEND_EVENTS_MAX
/** Maximum age of an event when its append begins. */
const INTERVAL_MS = 1_000
/** Maximum number of unfinished batches of a kind. A store that needs longer for a batch than this many seconds is stuck. */
const IN_FLIGHT_MAX = 16
/** After about 8 minutes of retries a batch is discarded, so that it cannot wait forever. */
const ATTEMPTS = 500
/** The log has the first attempt that fails, and then about two per minute. */
const ATTEMPTS_PER_WARNING = 30
/** Maximum while the process stops. A batch that has failed more often gets one more attempt. */
const ATTEMPTS_WHEN_CLOSING = 3
const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 1_000

/** Destination of batches: the store, with the steps before and after it. */
export type EventSink = {
  /**
   * Resolves when the batch is on disk. Batches of one turn of the event loop should not wait for each other. After a
   * rejection the same batch can be appended again.
   */
  append<K extends EventKind>(kind: K, batch: Batch<K>): Promise<void>
  /** Resolves when the batches of earlier calls have taken effect or failed for now. Never rejects. */
  settled(): Promise<void>
}

export type LaneStats = {
  pending: number
  stored: number
  /** Rejected because the lane was full or closed. */
  dropped: number
  /** Accepted, and discarded after the last attempt. */
  lost: number
  failedAttempts: number
}

export type EventBuffer = {
  /** Adds the event with its texts cut to their maximum length. Returns false if the lane is full or closed. */
  add<K extends EventKind>(kind: K, event: Events[K]): boolean
  /**
   * Resolves when everything accepted before the call has been stored (or discarded, minutes later) and has taken
   * effect. If the signal aborts first, it rejects with the signal's reason; the events are still stored.
   */
  flush(signal?: AbortSignal): Promise<void>
  /** Accepts no more events and resolves when the others are stored and have taken effect. Idempotent. */
  close(): Promise<void>
  stats(): Record<EventKind, LaneStats>
}

export type BufferLog = { warn(fields: object, message: string): void; error(fields: object, message: string): void }
/** Waits for `ms` milliseconds or until the signal aborts. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>

export type BufferOptions = {
  sink: EventSink
  log: BufferLog
  capacity?: number
  batchEvents?: number
  /** Tests replace the clock. */
  now?: () => number
  wait?: Wait
}

type Lane = {
  readonly kind: EventKind
  readonly pending: Events[EventKind][]
  /** Time at which the oldest pending event was added, or earlier. */
  pendingSince: number
  readonly counts: Omit<LaneStats, 'pending'>
  inFlight: number
  hasTimer: boolean
  /** Each resolves when a batch is stored or discarded. */
  readonly running: Set<Promise<void>>
}

type Buffer = {
  readonly options: Required<BufferOptions>
  readonly closing: AbortController
  readonly lanes: Record<EventKind, Lane>
}

/** Starts no timer before the first event. Close the buffer before the store. */
export function createEventBuffer(options: BufferOptions): EventBuffer {
  const closing = new AbortController()
  const buffer: Buffer = {
    options: {
      capacity: CAPACITY,
      batchEvents: BATCH_EVENTS,
      now: performance.now.bind(performance),
      wait: waitFor,
      ...options,
    },
    closing,
    lanes: perKind(emptyLane),
  }
  const { lanes } = buffer
  let closed: Promise<void> | undefined

  async function flushAll(): Promise<void> {
    await Promise.all(Object.values(lanes).map((lane) => flushLane(buffer, lane)))
    await options.sink.settled()
  }

  return {
    add: (kind, event) => add(buffer, lanes[kind], event),
    flush: (signal) => (signal === undefined ? flushAll() : unlessAborted(flushAll(), signal)),
    close() {
      closing.abort()
      closed ??= flushAll()
      return closed
    },
    stats: () =>
      perKind((kind) => ({ pending: lanes[kind].pending.length + lanes[kind].inFlight, ...lanes[kind].counts })),
  }
}

function perKind<T>(create: (kind: EventKind) => T): Record<EventKind, T> {
  return Object.fromEntries(EVENT_KINDS.map((kind) => [kind, create(kind)])) as Record<EventKind, T>
}

function emptyLane(kind: EventKind): Lane {
  const counts = { stored: 0, dropped: 0, lost: 0, failedAttempts: 0 }
  return { kind, pending: [], pendingSince: 0, counts, inFlight: 0, hasTimer: false, running: new Set() }
}

function add(buffer: Buffer, lane: Lane, event: Events[EventKind]): boolean {
  const { capacity, now } = buffer.options
  if (buffer.closing.signal.aborted || lane.pending.length + lane.inFlight >= capacity) {
    lane.counts.dropped += 1
    return false
  }
  if (lane.pending.length === 0) lane.pendingSince = now()
  lane.pending.push(boundEvent(event))
  startIfDue(buffer, lane)
  return true
}

/** Starts if a batch is full or the oldest event has waited for a second; otherwise sets a timer for that second. */
function startIfDue(buffer: Buffer, lane: Lane): void {
  const { batchEvents, now, wait } = buffer.options
  const { signal } = buffer.closing
  if (lane.pending.length === 0 || lane.running.size >= IN_FLIGHT_MAX) return
  const waitMs = lane.pendingSince + INTERVAL_MS - now()
  if (signal.aborted || lane.pending.length >= batchEvents) start(buffer, lane)
  else if (waitMs <= 0) startAll(buffer)
  else if (!lane.hasTimer) {
    lane.hasTimer = true
    void wait(waitMs, signal).then(() => {
      lane.hasTimer = false
      startIfDue(buffer, lane)
    })
  }
}

function startAll(buffer: Buffer): void {
  for (const lane of Object.values(buffer.lanes)) start(buffer, lane)
}

/** Starts to store the pending events, except those that exceed the number of batches in flight. */
function start(buffer: Buffer, lane: Lane): void {
  while (lane.pending.length > 0 && lane.running.size < IN_FLIGHT_MAX) {
    const events = lane.pending.splice(0, buffer.options.batchEvents)
    lane.inFlight += events.length
    const startedAt = buffer.options.now()
    const running = storeBatch(buffer, lane, { id: randomUUID(), madeAt: Date.now(), events }).finally(() => {
      lane.inFlight -= events.length
      lane.running.delete(running)
      // The next commit of a slow store begins now; what arrived in the meantime must not wait for the commit after it.
      if (buffer.options.now() - startedAt >= INTERVAL_MS) startAll(buffer)
      else startIfDue(buffer, lane)
    })
    lane.running.add(running)
  }
}

async function storeBatch(buffer: Buffer, { kind, counts }: Lane, batch: Batch): Promise<void> {
  const { sink, log } = buffer.options
  const { length } = batch.events
  for (let attempt = 1; ; attempt += 1) {
    try {
      await sink.append(kind, batch)
      counts.stored += length
      return
    } catch (err) {
      counts.failedAttempts += 1
      const fields = { err, kind, batch: batch.id, events: length, attempt }
      if (attempt >= (buffer.closing.signal.aborted ? ATTEMPTS_WHEN_CLOSING : ATTEMPTS)) {
        counts.lost += length
        log.error(fields, 'Discarded a batch of analytics events after the last attempt')
        return
      }
      if (attempt % ATTEMPTS_PER_WARNING === 1)
        log.warn(fields, 'Could not store a batch of analytics events; trying again')
      await waitForAttempt(buffer, attempt)
    }
  }
}

/** Closing ends the current wait. The few attempts after it have short waits. */
function waitForAttempt({ options, closing }: Buffer, attempt: number): Promise<void> {
  if (closing.signal.aborted) return options.wait(FIRST_WAIT_MS, new AbortController().signal)
  return options.wait(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1)), closing.signal)
}

async function flushLane(buffer: Buffer, lane: Lane): Promise<void> {
  start(buffer, lane)
  while (lane.pending.length > 0) {
    await Promise.race(lane.running)
    start(buffer, lane)
  }
  await Promise.all(lane.running)
}

/** Resolves with the work. If the signal aborts first, it rejects with the signal's reason and the work continues. */
function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** Keeps the process alive while accepted events are not stored. */
async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined)
}
