// How the S3 adapter asks its store: time limits, repeated tries, and what is known of its health.
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import type { ApiError } from '#lib/errors.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { filesUnavailable, hostingError } from '../files.ts'

export type Ask = <T>(
  operation: string,
  attempt: (signal: AbortSignal) => Promise<T>,
  options?: AskOptions,
) => Promise<T>

export type AskOptions = {
  /** How long one try may take until the store has answered. */
  timeoutMs?: number
  /** How often it is tried before it counts as failed; 3 unless given. */
  tries?: number
}

export type StoreHealth = {
  /** Repeats what fails for a moment. Fails at once while the store is known to be away, but for one call a second. */
  ask: Ask
  /** Whether the store has answered within the last `ms` milliseconds, and nothing has failed since. */
  isFresh(ms: number): boolean
}

/** Called with each call's name, its time in seconds and whether it failed. */
export type OnCall = (operation: string, seconds: number, failed: boolean) => void

const TIMEOUT_MS = 5_000
const TRIES = 3
const PAUSE_MS = 150
/** How long the store is left alone after it was found away. */
const REST_MS = 1_000
const RETRY_AFTER_SECONDS = 5

/** Words of S3 for what passes by itself; the clock is set right by the failure. */
const PASSING =
  /^(SlowDown|RequestTimeout|RequestTimeTooSkewed|Throttling|ThrottlingException|TooManyRequests|InternalError)$/

/** Errors of a local file, of a name, and of a certificate. */
const LASTING = /^(ENOENT|EIO|EBADF|EISDIR|ENOTFOUND|ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_SSL|EPROTO)/

export function createStoreHealth(onCall: OnCall = () => {}): StoreHealth {
  let answeredAt = Number.NEGATIVE_INFINITY
  let away: { error: unknown; restUntil: number } | undefined

  async function attemptOnce<T>(
    operation: string,
    attempt: (signal: AbortSignal) => Promise<T>,
    timeoutMs: number,
  ): Promise<T> {
    const start = performance.now()
    const stop = new AbortController()
    const timer = setTimeout(() => stop.abort(new Error(`No answer within ${timeoutMs} ms`)), timeoutMs)
    let failed = true
    try {
      const result = await attempt(stop.signal)
      failed = false
      return result
    } catch (error) {
      // A refusal is an answer, and no error of the store.
      failed = statusOf(error) === undefined || isPassing(error)
      const reason = stop.signal.aborted ? stop.signal.reason : error
      // What is still under way has lost its reader.
      stop.abort()
      throw reason
    } finally {
      clearTimeout(timer)
      onCall(operation, (performance.now() - start) / 1000, failed)
    }
  }

  function answered(): void {
    answeredAt = performance.now()
    away = undefined
  }

  function failure(error: unknown): ApiError {
    if (!isPassing(error)) return hostingError(error)
    if (isAway(error)) away = { error, restUntil: performance.now() + REST_MS }
    return filesUnavailable(error, RETRY_AFTER_SECONDS)
  }

  return {
    isFresh: (ms) => away === undefined && performance.now() - answeredAt < ms,
    async ask(operation, attempt, { timeoutMs = TIMEOUT_MS, tries = TRIES } = {}) {
      const start = performance.now()
      if (away !== undefined) {
        if (start < away.restUntil) throw filesUnavailable(away.error, RETRY_AFTER_SECONDS)
        // The others go on failing at once while this call tries.
        away.restUntil = start + Math.min(timeoutMs, TIMEOUT_MS)
      }
      const triesMax = away === undefined ? tries : 1
      for (let tried = 1; ; tried += 1) {
        try {
          const result = await attemptOnce(operation, attempt, timeoutMs)
          answered()
          return result
        } catch (error) {
          if (!isPassing(error)) {
            if (statusOf(error) !== undefined) answered()
            throw error
          }
          const late = performance.now() - start >= timeoutMs
          if (tried >= triesMax || late) throw failure(error)
          await pause(PAUSE_MS * 4 ** (tried - 1) * (0.5 + Math.random()))
        }
      }
    },
  }
}

/** The HTTP status of the store's answer; undefined when there was none. */
export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('$metadata' in error)) return undefined
  return (error.$metadata as { httpStatusCode?: number }).httpStatusCode
}

/** Whether the same may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof OperatorError) return false
  const status = statusOf(error)
  if (status !== undefined) return status >= 500 ? status !== 501 : status === 429 || PASSING.test(error.name)
  return error.name !== 'CredentialsProviderError' && !('code' in error && LASTING.test(String(error.code)))
}

/** Nobody answered, or what answers has no store behind it. */
function isAway(error: unknown): boolean {
  const status = statusOf(error)
  return status === undefined || (status >= 502 && status <= 504)
}
