// The dedicated connection on which a process hears of changes: at once by notices, and at every heartbeat by reading
// from the log of changes what no notice has said. While it is not known to work, the cache is off.

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
  /** Any other connections to the database: for the proof that notices arrive, and for deleting old rows of the log. */
  pool: Pick<Pool, 'query'>
  cache: EntityCache
  log: Pick<BaseLogger, 'info' | 'warn' | 'error'>
  subscribers?: readonly InvalidationSubscriber[]
  /** Pause between two readings of the log, which also show that the connection is alive. Default 1000. */
  heartbeatMs?: number
  /** How long to wait for the answer, and for a connection. Default 2000. */
  timeoutMs?: number
  /** How long the proof at the beginning may take that notices arrive. Default 10000. */
  proofMs?: number
  /** First pause before a new connection; it doubles up to fifty times as much. Default 100. */
  retryMs?: number
}

export interface InvalidationListener {
  /**
   * Resolves when listening has begun for the first time; rejects with an OperatorError when the first connection gets
   * no notices, as behind a pooler in transaction mode.
   */
  ready: Promise<void>
  isListening(): boolean
  /** Switches the cache off, closes the connection and ends all timers. */
  stop(): Promise<void>
}

/**
 * Keeps listening until stopped. On a loss, noticed at once when the connection breaks and after one heartbeat and
 * one timeout when it falls silent, the cache is off until a new connection listens. A connection that cannot be had is
 * logged once and tried again.
 */
export function listenForInvalidations(options: ListenOptions): InvalidationListener {
  const { retryMs = 100, log } = options
  const stopping = new AbortController()
  const ready = Promise.withResolvers<void>()
  // It also rejects for callers who wait for it later, or never.
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
    // What is not in this snapshot of the log is heard of from here on.
    follower.begin(await within(readLog(client), { timeoutMs, signal: over }))
    over.throwIfAborted()
    // What was cached or built before may have missed something.
    cache.enable()
    for (const subscriber of options.subscribers ?? []) hand(options, subscriber, 'all')
    onListening(broken.signal)
    return await follow(options, { client, follower, over })
  } catch (error) {
    broken.abort(error)
    throw broken.signal.reason
  } finally {
    cache.disable()
    // With an unanswered question outstanding this destroys the socket, so that a silent peer cannot hold it.
    await within(client.end(), { timeoutMs }).catch(() => {})
  }
}

/** A pooler in transaction mode accepts LISTEN and delivers nothing: a notice from another connection must arrive. */
async function proveListening(options: ListenOptions, follower: Follower, over: AbortSignal): Promise<void> {
  const { pool, timeoutMs = 2_000, proofMs = 10_000 } = options
  const word = randomUUID()
  const heard = follower.expect(word)
  await within(sendNotices(pool, [encodeProof(word)]), { timeoutMs: Math.max(timeoutMs, proofMs), signal: over })
  const silence = new OperatorError(
    `The database delivers no notices of changes: none came in ${proofMs} ms. Does a pooler in transaction mode stand ` +
      'before it? Then set DATABASE_DIRECT_URL to the address of the database itself',
  )
  await within(heard, { timeoutMs: proofMs, signal: over, late: silence })
}

/** Reads the log at every heartbeat, and at once when a notice says that it holds more. */
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

/** What one connection has heard of, by notices and from the log. */
type Follower = ReturnType<typeof createFollower>

/** Transactions remembered as heard of; beyond this the log says them once more, which does no harm. */
const HEARD_MAX = 20_000

function createFollower(options: ListenOptions) {
  const heard = new Set<string>()
  const proofs = new Map<string, () => void>()
  let since = ''
  let takenAt = 0
  /** From a minute ago or so: what it saw, every follower has read. */
  let old = { snapshot: '', at: 0 }
  let ask = Promise.withResolvers<void>()

  return {
    /** Resolves when the proof with this word is heard. */
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
    /** Resolves when the log is to be read at once. */
    asked: (): Promise<void> => ask.promise,
    question: (): { since: string; heard: string[] } => {
      ask = Promise.withResolvers()
      const question = { since, heard: [...heard] }
      // What is heard while the log is read may be read as well: saying it twice does no harm, leaving it out would.
      heard.clear()
      return question
    },
    begin: ({ snapshot, at }: LogNews): void => {
      since = snapshot
      takenAt = at
      old = { snapshot, at }
    },
    take: ({ snapshot, at, news }: LogNews): void => {
      // By the clock of the database: a process, or its machine, may have slept, and rows may be gone meanwhile.
      if (at - takenAt > LOG_RETENTION_MS / 2) throw new Error('The log of changes was not read for too long')
      for (const one of news) deliver(options, one)
      since = snapshot
      takenAt = at
      if (at - old.at < LOG_RETENTION_MS) return
      trimLog(options.pool, old.snapshot).catch((error: unknown) => {
        options.log.warn({ err: error }, 'Old rows of the log of changes were not deleted')
      })
      old = { snapshot, at }
    },
  }
}

/** Passes on what has changed; undefined when that cannot be read: then everything may have. */
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

/** Waits for a promise for so long, or until the signal; then throws `late`, or the signal's reason. */
async function within<T>(
  promise: Promise<T>,
  { timeoutMs, signal, late }: { timeoutMs: number; signal?: AbortSignal; late?: Error },
): Promise<T> {
  const { promise: limit, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal?.reason)
  const timer = setTimeout(() => {
    // One more turn of the event loop: when the process itself was busy, the answer may be waiting to be read.
    setImmediate(() => reject(late ?? new Error(`The database did not answer within ${timeoutMs} ms`)))
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
