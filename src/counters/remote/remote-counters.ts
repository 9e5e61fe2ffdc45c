// Counters that another process of this machine holds, so that limits are one for all of its processes.
import type { Channel, Handlers } from '#channel/channel.ts'
import { offer, remote } from '#channel/remote-object.ts'
import type { Counters } from '../counters.ts'

const METHODS = ['take', 'giveBack', 'hit', 'giveBackHit', 'peek', 'spend', 'reset', 'check'] as const

/** The limiter stands before every request: one that waits for so long is better refused. */
const TIMEOUT_MS = 10_000

/** What the process that holds the counters lets the others call. */
export const serveCounters = (counters: Counters): Handlers => offer('counters', counters, METHODS)

/** The counters at the other end of a channel, which outlives them. @throws ApiError 503 when they do not answer. */
export function remoteCounters(channel: Channel): Counters {
  const methods = remote<Counters, (typeof METHODS)[number]>('counters', channel, METHODS, { timeoutMs: TIMEOUT_MS })
  return { ...methods, close: async () => {} }
}
