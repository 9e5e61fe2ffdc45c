// The limits of a call, and the clock that ends it.
import { OutgoingError } from './outgoing-error.ts'

export type CallLimits = {
  /** Maximum time until the connection is open, including name resolution and TLS. */
  connectMs: number
  /** Maximum time from there to the headers of the response. */
  firstByteMs: number
  /** Maximum time between two parts of the body. */
  idleMs: number
  /** Maximum time of the whole call. */
  totalMs: number
  /** Maximum size of the body. */
  bytes: number
}

export const CALL_LIMITS: CallLimits = {
  connectMs: 5_000,
  firstByteMs: 10_000,
  idleMs: 10_000,
  totalMs: 15_000,
  bytes: 256 * 1024,
}

export const DOWNLOAD_LIMITS: CallLimits = {
  connectMs: 10_000,
  firstByteMs: 30_000,
  idleMs: 30_000,
  totalMs: 30 * 60_000,
  bytes: 512 * 1024 * 1024,
}

export type CallClock = {
  /** Aborted with an OutgoingError `timeout`, or with the reason of the caller. */
  signal: AbortSignal
  /** Limits the time until the next call of `within` or `pause`. */
  within(ms: number): void
  pause(): void
  /** Ends the call and its timers. */
  stop(): void
}

export function startClock(totalMs: number, caller: AbortSignal | undefined): CallClock {
  const controller = new AbortController()
  const expire = () => controller.abort(new OutgoingError('timeout'))
  const cancel = () => controller.abort(caller?.reason)
  const total = setTimeout(expire, totalMs)
  let phase: NodeJS.Timeout | undefined
  const pause = () => clearTimeout(phase)
  if (caller?.aborted === true) cancel()
  caller?.addEventListener('abort', cancel, { once: true })
  return {
    signal: controller.signal,
    within: (ms) => {
      pause()
      phase = setTimeout(expire, ms)
    },
    pause,
    stop: () => {
      pause()
      clearTimeout(total)
      caller?.removeEventListener('abort', cancel)
    },
  }
}
