// Counters that processes share, in Redis or Valkey. See `scripts.ts` for what is kept there.
import { randomUUID } from 'node:crypto'
import { createClient, ErrorReply } from '@redis/client'
import { OperatorError } from '#lib/operator-error.ts'
import { type Counters, checkAllowance, checkWindow, rateIntervals } from '../counters.ts'
import { SCRIPTS } from './scripts.ts'

type Options = {
  /** `redis://[user:password@]host[:port][/database]`, or `rediss://` for TLS. */
  url: string
  /** What every key begins with. */
  prefix: string
  /** Called with each call's name, its time in seconds and whether it failed. */
  onCall?: (operation: string, seconds: number, failed: boolean) => void
  /** Called when Redis cannot be reached at the start. The counters then reject until it can. */
  onUnreachable?: (error: Error) => void
  /** What an operator should change though everything works. */
  onAdvice?: (sentence: string) => void
  /** Milliseconds since 1970, for tests. Without it the server's own time counts. */
  now?: () => number
}

const VERSION_MIN = [6, 2] as const
const CONNECT_TIMEOUT_MS = 2_000
/** Below what the fallback waits, so that a connection that hangs is given up by the one who can open another. */
const CALL_TIMEOUT_MS = 400
const RECONNECT_MS_MAX = 1_000

/**
 * Connects to Redis and tries everything that the counters need. A Redis that cannot be reached at the moment is no
 * reason not to start: the counters reject, and connect again by themselves.
 * @throws OperatorError when Redis answers that the address, the password, a right or its version is wrong.
 */
export async function openRedisCounters(options: Options): Promise<Counters> {
  const { prefix, onCall = () => {}, now } = options
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

  /** Opens another connection in place of one that hangs. Everything that waits on the old one is rejected. */
  function reconnect(hanging: Client): void {
    if (client !== hanging || closed) return
    client = newClient(options.url)
    connect(client).catch(() => undefined)
    end(hanging)
  }

  async function call<T>(operation: string, send: (asked: Client) => Promise<T>): Promise<T> {
    const asked = client
    const start = performance.now()
    let settled = false
    let failed = true
    const { promise: late, reject } = Promise.withResolvers<never>()
    const giveUp = () => {
      reject(new Error(`Redis has not answered within ${CALL_TIMEOUT_MS} ms`))
      reconnect(asked)
    }
    // Answers that came while this process was busy are read first.
    const timer = setTimeout(() => setImmediate(() => settled || giveUp()), CALL_TIMEOUT_MS)
    try {
      const answer = await Promise.race([send(asked), late])
      failed = false
      return answer
    } finally {
      settled = true
      clearTimeout(timer)
      onCall(operation, (performance.now() - start) / 1000, failed)
    }
  }

  const time = () => (now === undefined ? '' : Math.round(now() * 1000))
  const rateKey = (key: string) => `${prefix}rate:${key}`
  const windowKey = (key: string) => `${prefix}window:${key}`
  const allowanceKey = (key: string) => `${prefix}allowance:${key}`

  return {
    async take(key, rate, cost = 1) {
      const { intervalUs, burstUs } = rateIntervals(rate, cost)
      const spareUs = await call('take', (redis) => redis.takeRate(rateKey(key), time(), intervalUs, burstUs, cost))
      const { limit } = rate
      if (spareUs < 0) {
        const retryAfterMs = Math.ceil(-spareUs / 1000)
        return { allowed: false, limit, remaining: 0, resetSeconds: Math.ceil(-spareUs / 1e6), retryAfterMs }
      }
      const remaining = Math.floor(spareUs / intervalUs)
      return { allowed: true, limit, remaining, resetSeconds: Math.ceil((burstUs - spareUs) / 1e6), retryAfterMs: 0 }
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
    async close() {
      closed = true
      end(client)
    },
  }
}

type Client = ReturnType<typeof newClient>

function newClient(url: string) {
  const client = createClient({
    url,
    name: 'depot',
    scripts: SCRIPTS,
    // A call that would wait for the connection is better counted elsewhere.
    disableOfflineQueue: true,
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      reconnectStrategy: (tries) => Math.min(50 * 2 ** tries, RECONNECT_MS_MAX) * (0.5 + Math.random() / 2),
    },
  })
  // Each call fails by itself while there is no connection; unheard, the event would end the process.
  client.on('error', () => undefined)
  return client
}

/** Resolves when the connection can be used; rejects with the first failure, after which it goes on trying. */
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

/** Ends the connection at once, if there is one. */
function end(client: Client): void {
  if (client.isOpen) client.destroy()
}

/** Everything that the counters send, once, on a key of its own. */
async function verify(client: Client, { prefix, onAdvice }: Options): Promise<void> {
  const info = await client.info()
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1]
  const version = field('redis_version') ?? '0'
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < VERSION_MIN[0] || (major === VERSION_MIN[0] && minor < VERSION_MIN[1])) {
    throw new OperatorError(`it is version ${version}; Depot needs Redis ${VERSION_MIN.join('.')} or later, or Valkey`)
  }
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
      `Redis forgets any key when its memory is full (maxmemory-policy ${policy}); noeviction keeps the counts`,
    )
  }
}

/** Away at the moment, or loading its data: not wrong. */
function isUnreachable(error: unknown): boolean {
  if (error instanceof OperatorError) return false
  if (error instanceof ErrorReply)
    return /^(LOADING|CLUSTERDOWN|TRYAGAIN|BUSY|MASTERDOWN|ERR max number of clients)/.test(error.message)
  // A name that does not exist and a certificate that does not fit are settings to mend.
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return !/^(ENOTFOUND|ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_SSL|HOSTNAME_MISMATCH|EPROTO)/.test(code)
}

/** What is wrong, as Redis says it. The password is not in it. */
function operatorError(error: unknown): OperatorError {
  const said = error instanceof Error ? error.message : String(error)
  const options = { cause: error, dependency: 'counters' }
  return new OperatorError(`Depot cannot count in the Redis of REDIS_URL: ${said}${hintFor(said)}`, options)
}

function hintFor(said: string): string {
  if (/^(WRONGPASS|NOAUTH|ERR AUTH|ERR invalid password)/.test(said))
    return '. Check the user and the password in REDIS_URL'
  if (said.startsWith('NOPERM')) return '. docs/engines/redis.md lists the rights that the user needs'
  if (said.startsWith('READONLY')) return '. It is a replica; REDIS_URL must name the primary'
  if (/DB index|SELECT is not allowed/.test(said)) return '. Check the number of the database at the end of REDIS_URL'
  if (/ENOTFOUND/.test(said)) return '. Check the host in REDIS_URL'
  if (/SSL|TLS|certificate|wrong version number/i.test(said))
    return '. Check whether REDIS_URL must begin with redis:// or rediss://'
  return ''
}
