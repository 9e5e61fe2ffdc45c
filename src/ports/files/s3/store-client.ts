// Sends the requests of the S3 adapter with time limits and retries, and tracks whether the store is available.
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import type { ApiError } from '#lib/errors.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { filesUnavailable } from '../files.ts'

export type S3Location = {
  bucket: string
  /** URL of a store other than Amazon S3, without a trailing slash. */
  endpoint: string | undefined
  region: string
  /** Whether the bucket is the first part of the path instead of the host. */
  pathStyle: boolean
  /** Prefix of every key; empty, or ends with `/`. */
  prefix: string
}

export type StoreHealth = ReturnType<typeof createStoreHealth>

/** Called with the name of each call, its duration in seconds and whether it failed. */
export type OnCall = (operation: string, seconds: number, failed: boolean) => void

const TIMEOUT_MS = 5_000
const TRIES = 3
const PAUSE_MS = 150
/** Time during which no request is sent to an unavailable store. */
const REST_MS = 1_000
const RETRY_AFTER_SECONDS = 5

/** S3 error codes of temporary failures. The SDK corrects the clock after `RequestTimeTooSkewed`. */
const TEMPORARY =
  /^(SlowDown|RequestTimeout|RequestTimeTooSkewed|Throttling|ThrottlingException|TooManyRequests|InternalError)$/

/** Error codes of local files, host names and certificates. */
const PERMANENT = /^(ENOENT|EIO|EBADF|EISDIR|ENOTFOUND|ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_SSL|EPROTO)/

export function createStoreHealth(onCall: OnCall = () => {}) {
  let respondedAt = Number.NEGATIVE_INFINITY
  let outage: { error: unknown; restUntil: number } | undefined

  async function attemptOnce<T>(
    operation: string,
    attempt: (signal: AbortSignal) => Promise<T>,
    timeoutMs: number,
  ): Promise<T> {
    const start = performance.now()
    const stop = new AbortController()
    const timer = setTimeout(() => stop.abort(new Error(`no response within ${timeoutMs} ms`)), timeoutMs)
    let failed = true
    try {
      const result = await attempt(stop.signal)
      failed = false
      return result
    } catch (error) {
      // A rejected request is not a failure of the store.
      failed = statusOf(error) === undefined || isTemporary(error)
      const reason = stop.signal.aborted ? stop.signal.reason : error
      // Cancels a request that is still in flight.
      stop.abort()
      throw reason
    } finally {
      clearTimeout(timer)
      onCall(operation, (performance.now() - start) / 1000, failed)
    }
  }

  function noteResponse(): void {
    respondedAt = performance.now()
    outage = undefined
  }

  function failure(error: unknown): ApiError {
    if (isUnavailable(error)) outage = { error, restUntil: performance.now() + REST_MS }
    return filesUnavailable(error, RETRY_AFTER_SECONDS)
  }

  /**
   * Runs `attempt`, and repeats it after a temporary failure. While the store is unavailable, calls fail immediately,
   * except one per second. `timeoutMs` limits one attempt.
   */
  async function request<T>(
    operation: string,
    attempt: (signal: AbortSignal) => Promise<T>,
    { timeoutMs = TIMEOUT_MS, tries = TRIES } = {},
  ): Promise<T> {
    const start = performance.now()
    if (outage !== undefined) {
      if (start < outage.restUntil) throw filesUnavailable(outage.error, RETRY_AFTER_SECONDS)
      // Other calls fail immediately during this attempt.
      outage.restUntil = start + Math.min(timeoutMs, TIMEOUT_MS)
    }
    const triesMax = outage === undefined ? tries : 1
    for (let count = 1; ; count += 1) {
      try {
        const result = await attemptOnce(operation, attempt, timeoutMs)
        noteResponse()
        return result
      } catch (error) {
        if (!isTemporary(error)) {
          if (statusOf(error) !== undefined) noteResponse()
          throw error
        }
        const late = performance.now() - start >= timeoutMs
        if (count >= triesMax || late) throw failure(error)
        await pause(PAUSE_MS * 4 ** (count - 1) * (0.5 + Math.random()))
      }
    }
  }

  /** Whether the store has responded within the last `ms` milliseconds, and nothing has failed since. */
  const isFresh = (ms: number): boolean => outage === undefined && performance.now() - respondedAt < ms

  return { request, isFresh }
}

/** Returns the HTTP status of the response; undefined if the store did not respond. */
export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('$metadata' in error)) return undefined
  return (error.$metadata as { httpStatusCode?: number }).httpStatusCode
}

/** Whether another attempt could succeed. */
export function isTemporary(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof OperatorError) return false
  const status = statusOf(error)
  if (status !== undefined) return status >= 500 ? status !== 501 : status === 429 || TEMPORARY.test(error.name)
  return error.name !== 'CredentialsProviderError' && !('code' in error && PERMANENT.test(String(error.code)))
}

/** Whether the store did not respond, or a proxy responded that it is unavailable. */
function isUnavailable(error: unknown): boolean {
  const status = statusOf(error)
  return status === undefined || (status >= 502 && status <= 504)
}
