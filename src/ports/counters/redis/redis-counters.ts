// Counters in Redis or Valkey, which several servers share. `scripts.ts` describes the stored values.
import { randomUUID } from 'node:crypto'
import { createClient, ErrorReply } from '@redis/client'
import { withinTime } from '#lib/concurrency/within-time.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { type Counters, checkAllowance, checkWindow, rateDecision, rateIntervals } from '../counters.ts'
import { SCRIPTS } from './scripts.ts'

type Options = {
  /** `redis://[user:password@]host[:port][/database]`, or `rediss://` for TLS. */
  url: string
  /** Prefix of every key. */
  prefix: string
  /** Called with each call's name, its time in seconds and whether it failed. */
  onCall?: (operation: string, seconds: number, failed: boolean) => void
  /** Called if Redis is unreachable at the start. The counters reject until it responds. */
  onUnreachable?: (error: Error) => void
  /** Called with a recommended change of the Redis settings. */
  onAdvice?: (sentence: string) => void
  /** Milliseconds since 1970, for tests. Default: the time of the Redis server. */
  now?: () => number
}

const VERSION_MIN = [6, 2] as const
const CONNECT_TIMEOUT_MS = 2_000
/** Shorter than the wait of the fallback, so that this module replaces a hanging connection. */
const CALL_TIMEOUT_MS = 400
const RECONNECT_MS_MAX = 1_000

/**
 * Connects to Redis and tries every operation. If Redis is unreachable, the counters reject and reconnect automatically.
 * @throws OperatorError if the URL, the password, a permission or the version is wrong.
 */
export async function openRedisCounters(options: Options): Promise<Counters> {
  const { prefix, now } = options
  const { call, close } = await openConnection(options)
  const time = () => (now === undefined ? '' : Math.round(now() * 1000))
  const rateKey = (key: string) => `${prefix}rate:${key}`
  const windowKey = (key: string) => `${prefix}window:${key}`
  const allowanceKey = (key: string) => `${prefix}allowance:${key}`

  return {
    async take(key, rate, cost = 1) {
      const intervals = rateIntervals(rate, cost)
      const { intervalUs, burstUs } = intervals
      const spareUs = await call('take', (redis) => redis.takeRate(rateKey(key), time(), intervalUs, burstUs, cost))
      return rateDecision(rate, intervals, spareUs)
    },
    async giveBack(key, rate, cost = 1) {
      const { intervalUs, burstUs } = rateIntervals(rate, cost)
      await call('giveBack', (redis) => redis.giveBackRate(rateKey(key), time(), intervalUs, burstUs, cost))
    },
    async hit(key, window) {
      checkWindow(window)
      const { max, windowMs } = window
      return call('hit', (redis) => redis.hitWindow(windowKey(key), time(), max, windowMs * 1000))
    },
    async giveBackHit(key, window) {
      checkWindow(window)
      const { max, windowMs } = window
      await call('giveBackHit', (redis) => redis.giveBackHit(windowKey(key), time(), max, windowMs * 1000))
    },
    async peek(key, window) {
      checkWindow(window)
      const { max, windowMs } = window
      return call('peek', (redis) => redis.peekWindow(windowKey(key), time(), max, windowMs * 1000))
    },
    async spend(key, amount, allowance) {
      checkAllowance(amount, allowance)
      const { max, spanMs } = allowance
      return call('spend', (redis) => redis.spendAllowance(allowanceKey(key), time(), amount, max, spanMs * 1000))
    },
    async reset(key) {
      await call('reset', (redis) => redis.unlink(windowKey(key)))
    },
    async check() {
      await call('check', (redis) => redis.ping())
    },
    close: async () => close(),
  }
}

/** Connects, or starts to if Redis is unreachable. @throws OperatorError */
async function openConnection(options: Options) {
  const { onCall = () => {} } = options
  let client = newClient(options.url)
  try {
    await connect(client)
    await verify(client, options)
  } catch (error) {
    if (!isUnreachable(error)) {
      end(client)
      throw operatorError(error)
    }
    options.onUnreachable?.(error as Error)
  }
  let closed = false

  /** Replaces a hanging connection. The calls of the old connection reject. */
  function reconnect(hanging: Client): void {
    if (client !== hanging || closed) return
    client = newClient(options.url)
    connect(client).catch(() => undefined)
    end(hanging)
  }

  async function call<T>(operation: string, send: (redis: Client) => Promise<T>): Promise<T> {
    const used = client
    const start = performance.now()
    let failed = true
    const giveUp = () => {
      reconnect(used)
      return new Error(`No response from Redis within ${CALL_TIMEOUT_MS} ms`)
    }
    try {
      const result = await withinTime(send(used), CALL_TIMEOUT_MS, giveUp)
      failed = false
      return result
    } finally {
      onCall(operation, (performance.now() - start) / 1000, failed)
    }
  }

  function close(): void {
    closed = true
    end(client)
  }

  return { call, close }
}

type Client = ReturnType<typeof newClient>

function newClient(url: string) {
  const client = createClient({
    url,
    name: 'depot',
    scripts: SCRIPTS,
    // Without a connection, a call should fail immediately, so that the fallback counts it.
    disableOfflineQueue: true,
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      reconnectStrategy: (tries) => Math.min(50 * 2 ** tries, RECONNECT_MS_MAX) * (0.5 + Math.random() / 2),
    },
  })
  // Each call fails on its own. An error event without a listener would end the process.
  client.on('error', () => undefined)
  return client
}

/** Resolves when the connection is usable. Rejects with the first failure, but continues to try. */
async function connect(client: Client): Promise<void> {
  const { promise: failed, reject } = Promise.withResolvers<never>()
  client.once('error', reject)
  try {
    const connected = client.connect()
    connected.catch(() => undefined)
    await Promise.race([connected, failed])
  } finally {
    client.off('error', reject)
  }
}

/** Closes the connection immediately, if there is one. */
function end(client: Client): void {
  if (client.isOpen) client.destroy()
}

/** Runs every operation of the counters once, on a separate key. */
async function verify(client: Client, { prefix, onAdvice }: Options): Promise<void> {
  const info = await client.info()
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1]
  const version = field('redis_version') ?? '0'
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < VERSION_MIN[0] || (major === VERSION_MIN[0] && minor < VERSION_MIN[1]))
    throw new OperatorError(`it is version ${version}; Depot needs Redis ${VERSION_MIN.join('.')} or later, or Valkey`)
  const key = `${prefix}start:${randomUUID()}`
  await client.takeRate(key, '', 1_000_000, 1_000_000, 1)
  await client.giveBackRate(key, '', 1_000_000, 1_000_000, 1)
  await client.hitWindow(key, '', 1, 1_000_000)
  await client.peekWindow(key, '', 1, 1_000_000)
  await client.giveBackHit(key, '', 1, 1_000_000)
  await client.spendAllowance(key, '', 0, 1, 1_000_000)
  await client.unlink(key)
  const policy = field('maxmemory_policy')
  if (policy !== undefined && policy !== 'noeviction' && !policy.startsWith('volatile-')) {
    onAdvice?.(
      `Redis deletes any key when its memory is full (maxmemory-policy ${policy}). Set noeviction to keep the counts`,
    )
  }
}

/** Returns whether Redis is temporarily unavailable, as opposed to wrongly configured. */
function isUnreachable(error: unknown): boolean {
  if (error instanceof OperatorError) return false
  if (error instanceof ErrorReply)
    return /^(LOADING|CLUSTERDOWN|TRYAGAIN|BUSY|MASTERDOWN|ERR max number of clients)/.test(error.message)
  // An unknown host name or a certificate that does not match is an error in the settings.
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return !/^(ENOTFOUND|ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_SSL|HOSTNAME_MISMATCH|EPROTO)/.test(code)
}

/** Returns an error with the message of Redis, which does not contain the password. */
function operatorError(error: unknown): OperatorError {
  const reason = error instanceof Error ? error.message : String(error)
  const options = { cause: error, dependency: 'counters' }
  return new OperatorError(`Depot cannot count in the Redis of REDIS_URL: ${reason}${hintFor(reason)}`, options)
}

function hintFor(reason: string): string {
  if (/^(WRONGPASS|NOAUTH|ERR AUTH|ERR invalid password)/.test(reason))
    return '. Check the user and the password in REDIS_URL'
  if (reason.startsWith('NOPERM')) return '. docs/operators/engines/redis.md lists the permissions that the user needs'
  if (reason.startsWith('READONLY')) return '. It is a replica; REDIS_URL must name the primary'
  if (/DB index|SELECT is not allowed/.test(reason)) return '. Check the number of the database at the end of REDIS_URL'
  if (/ENOTFOUND/.test(reason)) return '. Check the host in REDIS_URL'
  if (/SSL|TLS|certificate|wrong version number/i.test(reason))
    return '. Check whether REDIS_URL must begin with redis:// or rediss://'
  return ''
}
