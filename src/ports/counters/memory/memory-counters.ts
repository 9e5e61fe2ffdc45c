// Counters of one process, in memory, with a bounded number of keys.
import type { Rate, RateDecision } from '#lib/concurrency/rate.ts'
import {
  type Allowance,
  type Counters,
  checkAllowance,
  checkWindow,
  type Hit,
  rateDecision,
  rateIntervals,
  type Window,
  type WindowState,
} from '../counters.ts'

type Options = {
  /** Milliseconds of any origin. If the clock is set back, the counters stay correct. */
  now: () => number
  /** Maximum number of keys per time span. */
  keysMax?: number
}

/**
 * Creates counters for this process only. Every call returns synchronously.
 *
 * At most `keysMax` keys per time span (default: 100,000; about 25 MB) are stored. Beyond that, the least recently used keys
 * start again. To benefit, an attacker must send 50,000 other keys between two requests, which costs more than it gains.
 * Keys of one span, such as addresses that download, cannot displace another span, such as throttled sign-ins.
 */
export function createMemoryCounters({ now, keysMax = 100_000 }: Options) {
  return {
    ...createRates(now, keysMax),
    ...createWindows(now, keysMax),
    spend: createSpend(now, keysMax),
    check: async () => {},
    close: async () => {},
  } satisfies Counters
}

function createRates(now: () => number, keysMax: number) {
  const spans = new Spans<{ fullAtUs: number }>(keysMax)

  function take(key: string, rate: Rate, cost = 1): RateDecision {
    const intervals = rateIntervals(rate, cost)
    const { intervalUs, burstUs } = intervals
    const timeMs = now()
    const nowUs = Math.round(timeMs * 1000)
    const keys = spans.of(burstUs / 1000, timeMs)
    const entry = keys.find(key)
    // The time at which all units are available again, at most one burst from now.
    const fullAtUs = entry === undefined ? nowUs : Math.min(Math.max(entry.fullAtUs, nowUs), nowUs + burstUs)
    const afterUs = fullAtUs + cost * intervalUs
    const spareUs = nowUs + burstUs - afterUs
    // Stored also if units are missing; otherwise, after the clock is set back, every request would fail until the old time.
    if (entry !== undefined) entry.fullAtUs = spareUs < 0 ? fullAtUs : afterUs
    else if (spareUs >= 0) keys.add(key, { fullAtUs: afterUs })
    return rateDecision(rate, intervals, spareUs)
  }

  function giveBack(key: string, rate: Rate, cost = 1): void {
    const { intervalUs, burstUs } = rateIntervals(rate, cost)
    const entry = spans.of(burstUs / 1000, now()).find(key)
    // `take` ignores units beyond a full burst.
    if (entry !== undefined) entry.fullAtUs -= cost * intervalUs
  }

  return { take, giveBack }
}

function createWindows(now: () => number, keysMax: number) {
  const spans = new Spans<number[]>(keysMax)

  /** Finds the hits that still count; undefined if the key is new. */
  function findHits(key: string, window: Window) {
    checkWindow(window)
    const timeMs = now()
    const keys = spans.of(window.windowMs, timeMs)
    const hits = keys.find(key)
    if (hits !== undefined) dropPassed(hits, window.windowMs, timeMs)
    return { keys, hits, timeMs }
  }

  function hit(key: string, window: Window): Hit {
    const { keys, hits, timeMs } = findHits(key, window)
    const counted = (hits?.length ?? 0) < window.max
    if (hits === undefined) keys.add(key, [timeMs])
    else if (counted) hits.push(timeMs)
    return { counted, ...windowState(hits ?? [timeMs], window, timeMs) }
  }

  function giveBackHit(key: string, window: Window): void {
    findHits(key, window).hits?.pop()
  }

  function peek(key: string, window: Window): WindowState {
    const { hits = [], timeMs } = findHits(key, window)
    return windowState(hits, window, timeMs)
  }

  return { hit, giveBackHit, peek, reset: (key: string) => spans.delete(key) }
}

function createSpend(now: () => number, keysMax: number) {
  const spans = new Spans<{ spent: number; endsAtMs: number }>(keysMax)

  return (key: string, amount: number, allowance: Allowance): number => {
    checkAllowance(amount, allowance)
    const { max, spanMs } = allowance
    const timeMs = now()
    const keys = spans.of(spanMs, timeMs)
    const entry = keys.find(key)
    // An end further away than a whole span means that the clock was set back; then it ends one span from now.
    if (entry !== undefined) entry.endsAtMs = Math.min(entry.endsAtMs, timeMs + spanMs)
    const spent = entry === undefined || entry.endsAtMs <= timeMs ? 0 : entry.spent
    const granted = Math.min(amount, max - spent)
    if (entry === undefined) keys.add(key, { spent: granted, endsAtMs: timeMs + spanMs })
    else if (entry.endsAtMs <= timeMs) Object.assign(entry, { spent: granted, endsAtMs: timeMs + spanMs })
    else entry.spent = spent + granted
    return granted
  }
}

/** Removes the hits that no longer count. Hits in the future, after the clock was set back, happen now. */
function dropPassed(hits: number[], windowMs: number, timeMs: number): void {
  let kept = 0
  for (const at of hits) {
    if (at > timeMs - windowMs) hits[kept++] = Math.min(at, timeMs)
  }
  hits.length = kept
}

function windowState(hits: readonly number[], { max, windowMs }: Window, timeMs: number) {
  // Hits are in order, so the next hit is counted when the oldest of the last `max` has expired.
  const blocking = hits[hits.length - max]
  return { count: hits.length, retryAfterMs: blocking === undefined ? 0 : Math.ceil(blocking + windowMs - timeMs) }
}

/** A bounded set of keys for each order of magnitude of time spans. */
class Spans<Value> {
  readonly #keysMax: number
  readonly #bySpan = new Map<number, Generations<Value>>()

  constructor(keysMax: number) {
    this.#keysMax = keysMax
  }

  of(spanMs: number, timeMs: number): Generations<Value> {
    // Rounded up to a power of two, so that there are at most 32 sets.
    const roundedMs = 2 ** (32 - Math.clz32(Math.ceil(spanMs) - 1))
    let keys = this.#bySpan.get(roundedMs)
    if (keys === undefined) {
      keys = new Generations(roundedMs, this.#keysMax, timeMs)
      this.#bySpan.set(roundedMs, keys)
    }
    keys.turn(timeMs)
    return keys
  }

  delete(key: string): void {
    for (const keys of this.#bySpan.values()) keys.delete(key)
  }
}

/**
 * Keys in two generations. A read moves a key to the young generation. After a span, or when the young generation has half
 * of the maximum number of keys, it replaces the old generation, which is deleted. A key therefore lives at least one span
 * after its last use (below the maximum), expiry costs nothing per key, and most reads are one read of one map.
 */
class Generations<Value> {
  readonly #spanMs: number
  readonly #youngMax: number
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()
  #turnedAtMs: number

  constructor(spanMs: number, keysMax: number, timeMs: number) {
    this.#spanMs = spanMs
    this.#youngMax = Math.max(1, Math.floor(keysMax / 2))
    this.#turnedAtMs = timeMs
  }

  turn(timeMs: number): void {
    const ageMs = timeMs - this.#turnedAtMs
    if (ageMs >= 0 && ageMs < this.#spanMs) return
    // If the clock was set back, the span starts again, so that keys live longer, not shorter.
    if (ageMs < 0) this.#turnedAtMs = timeMs
    else this.#advance(timeMs, ageMs >= 2 * this.#spanMs)
  }

  find(key: string): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) {
      this.#old.delete(key)
      this.add(key, old)
    }
    return old
  }

  add(key: string, value: Value): void {
    if (this.#young.size >= this.#youngMax) this.#advance(this.#turnedAtMs, false)
    this.#young.set(key, value)
  }

  delete(key: string): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }

  #advance(timeMs: number, dropBoth: boolean): void {
    this.#old = dropBoth ? new Map() : this.#young
    this.#young = new Map()
    this.#turnedAtMs = timeMs
  }
}
