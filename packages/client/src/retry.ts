// Repeats requests that failed for reasons that pass.
import { retryAfterSeconds } from './errors.ts'
import { READS_BY_POST } from './generated/tables.ts'

export type RetryOptions = {
  /** Maximum number of attempts. Default: 4 */
  attempts?: number
  /** Longest pause that the client accepts, in seconds. If the server requests a longer one, the error is thrown. Default: 60 */
  maxPauseSeconds?: number
  /** Called before each pause. */
  onRetry?: (retry: { attempt: number; seconds: number; reason: string }) => void
}

export type Send = (url: string, init: RequestInit) => Promise<Response>

const REPEATABLE = ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']
const READS = READS_BY_POST.map((path) => new RegExp(`${path.replace(/\{\w+\}/g, '[^/]+')}$`))

/**
 * Sends a request until it succeeds, fails for good, or the attempts are used up. `makeInit` is called for each attempt,
 * because the body of an attempt cannot be sent again.
 */
export async function sendWithRetries(
  send: Send,
  url: string,
  makeInit: () => RequestInit | Promise<RequestInit>,
  { attempts = 4, maxPauseSeconds = 60, onRetry }: RetryOptions = {},
): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const init = await makeInit()
    const outcome = await send(url, init).catch((error: unknown) => asError(error))
    const pause = pauseFor(outcome, url, init.method ?? 'GET', attempt)
    const signal = init.signal ?? undefined
    if (pause === undefined || attempt >= attempts || pause > maxPauseSeconds || signal?.aborted === true) {
      if (outcome instanceof Error) throw outcome
      return outcome
    }
    const reason = outcome instanceof Error ? messageOf(outcome) : `HTTP ${outcome.status}`
    if (!(outcome instanceof Error)) await outcome.body?.cancel()
    onRetry?.({ attempt, seconds: pause, reason })
    await sleep(pause * 1000, signal)
  }
}

/** Returns the seconds to wait before the next attempt; undefined if another attempt is useless or dangerous. */
function pauseFor(outcome: Response | Error, url: string, method: string, attempt: number): number | undefined {
  if (outcome instanceof Error && (outcome.name === 'AbortError' || isFinal(outcome))) return undefined
  const isRepeatable =
    REPEATABLE.includes(method.toUpperCase()) || READS.some((pattern) => pattern.test(new URL(url).pathname))
  if (outcome instanceof Error) return isRepeatable ? backoff(attempt) : undefined
  const after = retryAfterSeconds(outcome)
  // `Retry-After` invites the client to send the same request again.
  if (outcome.status === 429 || (outcome.status === 503 && after !== undefined)) return after ?? backoff(attempt)
  return isRepeatable && [502, 503, 504].includes(outcome.status) ? backoff(attempt) : undefined
}

/** Half a second, doubled with each attempt, with jitter so that many clients do not return together. */
export const backoff = (attempt: number): number => 0.5 * 2 ** (attempt - 1) * (0.5 + Math.random())

const final = new WeakSet<Error>()

/** Marks an error that no repetition avoids, such as one of the function that returns the token. */
export function asFinal(error: unknown): Error {
  const marked = asError(error)
  final.add(marked)
  return marked
}

export const isFinal = (error: Error): boolean => final.has(error)

export const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

/** The message of an error of `fetch`, which hides the reason in `cause`. */
export function messageOf(error: Error): string {
  const { cause } = error
  if (cause instanceof Error) return cause.message || ('code' in cause ? String(cause.code) : error.message)
  return error.message
}

/** Waits. @throws the reason of the signal if it aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(asError(signal.reason))
    const timer = setTimeout(done, ms)
    function done(): void {
      signal?.removeEventListener('abort', abort)
      resolve()
    }
    function abort(): void {
      clearTimeout(timer)
      reject(asError(signal?.reason))
    }
    signal?.addEventListener('abort', abort, { once: true })
  })
}
