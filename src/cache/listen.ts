// The dedicated connection on which a process hears of changes. While it is not known to work, the cache is off.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { BaseLogger } from 'pino'
import type { ChangedIds } from './changes.ts'
import type { EntityCache } from './entity-cache.ts'
import { CHANNEL, decodeInvalidation } from './invalidations.ts'

/**
 * Hears of every change of one kind. `'all'` also comes each time listening begins, for what was missed until then:
 * a consumer that builds something from the database starts at its first `'all'`. What it throws is logged.
 */
export interface InvalidationSubscriber {
  kind: string
  handle: (ids: ChangedIds) => void
}

export interface ListenOptions {
  /**
   * Opens a connected client of its own, straight to PostgreSQL or through a pooler in session mode: a pooler in
   * transaction mode swallows invalidation messages.
   */
  connect: () => Promise<Client>
  cache: EntityCache
  log: Pick<BaseLogger, 'info' | 'warn' | 'error'>
  subscribers?: readonly InvalidationSubscriber[]
  /** Pause between two questions whether the connection is alive. Default 2000. */
  heartbeatMs?: number
  /** How long to wait for the answer, and for a connection. Default 2000. */
  timeoutMs?: number
  /** First pause before a new connection; it doubles up to fifty times as much. Default 100. */
  retryMs?: number
}

export interface InvalidationListener {
  /** Resolves when listening has begun for the first time. */
  ready: Promise<void>
  isListening(): boolean
  /** Switches the cache off, closes the connection and ends all timers. */
  stop(): Promise<void>
}

/**
 * Keeps listening until stopped. On a loss, noticed at once when the connection breaks and after one heartbeat and
 * one timeout when it falls silent, the cache is off until a new connection listens. Never rejects: a connection that
 * cannot be had is logged once and tried again.
 */
export function listenForInvalidations(options: ListenOptions): InvalidationListener {
  const { retryMs = 100, log } = options
  const stopping = new AbortController()
  const ready = Promise.withResolvers<void>()
  let current: AbortSignal | undefined
  let failures = 0

  const onListening = (broken: AbortSignal): void => {
    current = broken
    failures = 0
    log.info('Listening for changes')
    ready.resolve()
  }
  const keepListening = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await listenOnce(options, { stopped: stopping.signal, onListening })
      } catch (error) {
        if (stopping.signal.aborted) return
        if (failures === 0) log.warn({ err: error }, 'Not listening for changes; every read goes to the database')
      }
      await sleep(retryMs * Math.min(2 ** failures++, 50), undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  const finished = keepListening()
  return {
    ready: ready.promise,
    isListening: () => current?.aborted === false,
    stop: async () => {
      stopping.abort(new Error('The listener was stopped'))
      await finished
    },
  }
}

/** One connection from its opening to its end. Rejects with the reason of the loss, or because of the stop. */
async function listenOnce(
  options: ListenOptions,
  { stopped, onListening }: { stopped: AbortSignal; onListening: (broken: AbortSignal) => void },
): Promise<never> {
  const { cache, heartbeatMs = 2_000, timeoutMs = 2_000 } = options
  const broken = new AbortController()
  const over = AbortSignal.any([stopped, broken.signal])
  const client = await connectWithin(options.connect, { timeoutMs, signal: stopped })
  const onBreak = (error: Error): void => {
    cache.disable()
    broken.abort(error)
  }
  client.on('error', onBreak)
  client.on('end', () => onBreak(new Error('The connection that announces changes was closed')))
  client.on('notification', (invalidation) => deliver(options, invalidation.payload ?? ''))
  try {
    await within(client.query(`listen ${CHANNEL}`), { timeoutMs, signal: over })
    over.throwIfAborted()
    // From here on every commit is announced. What was cached or built before may have missed one.
    cache.enable()
    for (const subscriber of options.subscribers ?? []) hand(options, subscriber, 'all')
    onListening(broken.signal)
    for (;;) {
      await sleep(heartbeatMs, undefined, { signal: over })
      await within(client.query('select 1'), { timeoutMs, signal: over })
    }
  } catch (error) {
    broken.abort(error)
    throw broken.signal.reason
  } finally {
    cache.disable()
    // With an unanswered question outstanding this destroys the socket, so that a silent peer cannot hold it.
    await within(client.end(), { timeoutMs }).catch(() => {})
  }
}

/** Passes on one message. An unreadable one says only that something changed, so everything may have. */
function deliver(options: ListenOptions, payload: string): void {
  const invalidation = decodeInvalidation(payload)
  if (invalidation === undefined) {
    options.log.warn({ invalidation: { payload_bytes: Buffer.byteLength(payload) } }, 'Unreadable invalidation message')
    options.cache.clear()
  } else {
    options.cache.invalidate(new Map([[invalidation.kind, invalidation.ids]]))
  }
  for (const subscriber of options.subscribers ?? []) {
    if (invalidation === undefined) hand(options, subscriber, 'all')
    else if (invalidation.kind === subscriber.kind) hand(options, subscriber, invalidation.ids)
  }
}

function hand({ log }: ListenOptions, subscriber: InvalidationSubscriber, ids: ChangedIds): void {
  try {
    subscriber.handle(ids)
  } catch (error) {
    log.error(
      { err: error, invalidation: { kind: subscriber.kind } },
      `A consumer of ${subscriber.kind} changes failed`,
    )
  }
}

async function connectWithin(
  connect: () => Promise<Client>,
  limits: { timeoutMs: number; signal: AbortSignal },
): Promise<Client> {
  const connecting = connect()
  try {
    return await within(connecting, limits)
  } catch (error) {
    // It may still come; then nobody wants it.
    connecting
      .then((client) => {
        client.on('error', () => {})
        return client.end()
      })
      .catch(() => {})
    throw error
  }
}

/** Waits for a promise for so long, or until the signal. */
async function within<T>(
  promise: Promise<T>,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
): Promise<T> {
  const { promise: limit, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal?.reason)
  const timer = setTimeout(() => {
    // One more turn of the event loop: when the process itself was busy, the answer may be waiting to be read.
    setImmediate(() => reject(new Error(`The database did not answer within ${timeoutMs} ms`)))
  }, timeoutMs)
  signal?.addEventListener('abort', onAbort, { once: true })
  if (signal?.aborted) onAbort()
  try {
    return await Promise.race([promise, limit])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}
