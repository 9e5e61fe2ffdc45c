// Receives changes on a separate connection: by notices, and by reading the change log at every heartbeat for changes
// without a notice. The cache is disabled while this does not work.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Pool } from 'pg'
import type { BaseLogger } from 'pino'
import { OperatorError } from '#lib/operator-error.ts'
import { sendNotices } from './announcer.ts'
import { LOG_RETENTION_MS, type LogNews, type News, readLog, trimLog } from './change-log.ts'
import type { ChangedIds } from './changes.ts'
import type { EntityCache } from './entity-cache.ts'
import { CHANNEL, decodeNotice, encodeProof } from './invalidations.ts'

/**
 * Receives every change of one kind. Receives `'all'` each time the listener starts, because changes might have been missed.
 * Errors of `handle` are logged.
 */
export interface InvalidationSubscriber {
  kind: string
  handle: (ids: ChangedIds) => void
}

export interface ListenOptions {
  /**
   * Opens a separate connection, directly to PostgreSQL or through a pooler in session mode. A pooler in transaction mode
   * does not deliver notices.
   */
  connect: () => Promise<Client>
  /** Other connections to the database, for the test message and for deleting old rows of the log. */
  pool: Pick<Pool, 'query'>
  cache: EntityCache
  log: Pick<BaseLogger, 'info' | 'warn' | 'error'>
  subscribers?: readonly InvalidationSubscriber[]
  /** Pause between two reads of the log, which also check the connection. Default: 1000. */
  heartbeatMs?: number
  /** Maximum time for a response and for a connection. Default: 2000. */
  timeoutMs?: number
  /** Maximum time until the test message arrives. Default: 10000. */
  proofMs?: number
  /** First pause before a new connection. Doubles up to 50 times its value. Default: 100. */
  retryMs?: number
}

export interface InvalidationListener {
  /**
   * Resolves when the listener works for the first time. Rejects with an OperatorError if the first connection receives no
   * notices, as behind a pooler in transaction mode.
   */
  ready: Promise<void>
  isListening(): boolean
  /** Disables the cache, closes the connection and ends all timers. */
  stop(): Promise<void>
}

/**
 * Listens until stopped. The cache is disabled while there is no connection: immediately if it breaks, and after one
 * heartbeat and one timeout if it is silent. A failed connection is logged once and retried.
 */
export function listenForInvalidations(options: ListenOptions): InvalidationListener {
  const { retryMs = 100, log } = options
  const stopping = new AbortController()
  const ready = Promise.withResolvers<void>()
  // Callers might wait for it later, or never.
  ready.promise.catch(() => {})
  let current: AbortSignal | undefined
  let failures = 0
  let hasListened = false

  const onListening = (broken: AbortSignal): void => {
    current = broken
    failures = 0
    hasListened = true
    log.info('Listening for changes')
    ready.resolve()
  }
  const keepListening = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await listenOnce(options, { stopped: stopping.signal, onListening })
      } catch (error) {
        if (stopping.signal.aborted) return
        if (!hasListened && error instanceof OperatorError) return ready.reject(error)
        if (failures === 0) log.warn({ err: error }, 'Cannot listen for changes; every read goes to the database')
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

/** Uses one connection until it is lost or the listener is stopped. Rejects with the reason. */
async function listenOnce(
  options: ListenOptions,
  { stopped, onListening }: { stopped: AbortSignal; onListening: (broken: AbortSignal) => void },
): Promise<never> {
  const { cache, timeoutMs = 2_000 } = options
  const broken = new AbortController()
  const over = AbortSignal.any([stopped, broken.signal])
  const client = await connectWithin(options.connect, { timeoutMs, signal: stopped })
  const follower = createFollower(options)
  const onBreak = (error: Error): void => {
    cache.disable()
    broken.abort(error)
  }
  client.on('error', onBreak)
  client.on('end', () => onBreak(new Error('The connection that announces changes was closed')))
  client.on('notification', ({ payload = '' }) => follower.hear(payload))
  try {
    await within(client.query(`listen ${CHANNEL}`), { timeoutMs, signal: over })
    await proveListening(options, follower, over)
    // This connection receives every change that is not in this snapshot of the log.
    follower.begin(await within(readLog(client), { timeoutMs, signal: over }))
    over.throwIfAborted()
    // Earlier cached values might have missed changes.
    cache.enable()
    for (const subscriber of options.subscribers ?? []) hand(options, subscriber, 'all')
    onListening(broken.signal)
    return await follow(options, { client, follower, over })
  } catch (error) {
    broken.abort(error)
    throw broken.signal.reason
  } finally {
    cache.disable()
    // Destroys the socket if a query has no response yet, so that a silent peer cannot keep it open.
    await within(client.end(), { timeoutMs }).catch(() => {})
  }
}

/** Checks that a notice from another connection arrives: a pooler in transaction mode accepts LISTEN but delivers nothing. */
async function proveListening(options: ListenOptions, follower: Follower, over: AbortSignal): Promise<void> {
  const { pool, timeoutMs = 2_000, proofMs = 10_000 } = options
  const word = randomUUID()
  const heard = follower.expect(word)
  await within(sendNotices(pool, [encodeProof(word)]), { timeoutMs: Math.max(timeoutMs, proofMs), signal: over })
  const silence = new OperatorError(
    `The database delivered no notice of a change within ${proofMs} ms. If DATABASE_URL is a pooler in transaction mode, ` +
      'set DATABASE_DIRECT_URL to the URL of the database itself.',
  )
  await within(heard, { timeoutMs: proofMs, signal: over, late: silence })
}

/** Reads the log at every heartbeat, and immediately after a notice that refers to it. */
async function follow(
  { heartbeatMs = 1_000, timeoutMs = 2_000 }: ListenOptions,
  { client, follower, over }: { client: Client; follower: Follower; over: AbortSignal },
): Promise<never> {
  for (;;) {
    await within(follower.asked(), { timeoutMs: heartbeatMs, signal: over }).catch(() => over.throwIfAborted())
    const { since, heard } = follower.question()
    follower.take(await within(readLog(client, since, heard), { timeoutMs, signal: over }))
  }
}

/** The changes that one connection has received, by notices and from the log. */
type Follower = ReturnType<typeof createFollower>

/** Maximum number of remembered transactions. Others are read from the log again, which is harmless. */
const HEARD_MAX = 20_000

function createFollower(options: ListenOptions) {
  const heard = new Set<string>()
  const proofs = new Map<string, () => void>()
  let since = ''
  let takenAt = 0
  /** A snapshot from about a minute ago. Every follower has read the changes in it. */
  let old = { snapshot: '', at: 0 }
  let ask = Promise.withResolvers<void>()

  return {
    /** Resolves when the test message with this word arrives. */
    expect: (word: string): Promise<void> => new Promise((resolve) => proofs.set(word, resolve)),
    hear: (payload: string): void => {
      const notice = decodeNotice(payload)
      if (notice?.is === 'proof') return proofs.get(notice.word)?.()
      if (notice?.is === 'in the log') return ask.resolve()
      if (notice === undefined) {
        const size = Buffer.byteLength(payload)
        options.log.warn({ invalidation: { payload_bytes: size } }, 'Unreadable invalidation message')
        return deliver(options, undefined)
      }
      for (const news of notice.news) {
        deliver(options, news)
        if (news.id !== undefined && heard.size < HEARD_MAX) heard.add(news.id)
      }
    },
    /** Resolves when the log must be read immediately. */
    asked: (): Promise<void> => ask.promise,
    question: (): { since: string; heard: string[] } => {
      ask = Promise.withResolvers()
      const question = { since, heard: [...heard] }
      // Changes that arrive during the read can be delivered twice, which is harmless. They must not be skipped.
      heard.clear()
      return question
    },
    begin: ({ snapshot, at }: LogNews): void => {
      since = snapshot
      takenAt = at
      old = { snapshot, at }
    },
    take: ({ snapshot, at, news }: LogNews): void => {
      // By the clock of the database: the machine might have slept, and rows might have been deleted in the meantime.
      if (at - takenAt > LOG_RETENTION_MS / 2) throw new Error('The change log was not read for too long')
      for (const one of news) deliver(options, one)
      since = snapshot
      takenAt = at
      if (at - old.at < LOG_RETENTION_MS) return
      trimLog(options.pool, old.snapshot).catch((error: unknown) => {
        options.log.warn({ err: error }, 'Could not delete old rows of the change log')
      })
      old = { snapshot, at }
    },
  }
}

/** Passes on the changes; undefined means that everything might have changed. */
function deliver(options: ListenOptions, news: News): void {
  if (news === undefined) options.cache.clear()
  else {
    options.cache.invalidate(news.changes)
    options.cache.recount(news.counts)
  }
  for (const subscriber of options.subscribers ?? []) {
    const ids = news === undefined ? 'all' : news.changes.get(subscriber.kind)
    if (ids !== undefined) hand(options, subscriber, ids)
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
    // Closes the connection if it is established later.
    connecting
      .then((client) => {
        client.on('error', () => {})
        return client.end()
      })
      .catch(() => {})
    throw error
  }
}

/** Waits for a promise. Throws `late` after `timeoutMs`, or the signal's reason. */
async function within<T>(
  promise: Promise<T>,
  { timeoutMs, signal, late }: { timeoutMs: number; signal?: AbortSignal; late?: Error },
): Promise<T> {
  const { promise: limit, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal?.reason)
  const timer = setTimeout(() => {
    // One more turn of the event loop: if the process was busy, the response might be waiting.
    setImmediate(() => reject(late ?? new Error(`The database did not respond within ${timeoutMs} ms`)))
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
