// Counters of one process, in memory. Bounded in keys; what happens at the bound is said at `createMemoryCounters`.
import type { RateDecision } from '#lib/concurrency/rate.ts'
import { type Counters, checkAllowance, checkWindow, type Hit, rateIntervals, type WindowState } from '../counters.ts'

type Options = {
  /** Milliseconds of any origin; a step backwards makes the counters neither stricter for long nor wrong later. */
  now: () => number
  /** Keys kept for each time span. */
  keysMax?: number
}

/**
 * Makes counters for this process alone. Every call answers at once.
 *
 * Keys are kept apart by their time span (a limit's minute, a throttle's quarter of an hour), and at most `keysMax`
 * (100,000 unless given; about 25 MB) of one span are remembered. Beyond that the keys not seen for longest are
 * forgotten, which gives them a fresh start and never refuses anybody. To gain from it an attacker must show 50,000
 * other keys between two visits of one, which costs more than it frees; and a flood of one span, such as
 * addresses that download, cannot push out another, such as accounts under a sign-in throttle.
 */
export function createMemoryCounters({ now, keysMax = 100_000 }: Options) {
  const rates = new Spans<{ fullAtUs: number }>(keysMax)
  const windows = new Spans<number[]>(keysMax)
  const allowances = new Spans<{ spent: number; endsAtMs: number }>(keysMax)

  function take(key: string, rate: Parameters<Counters['take']>[1], cost = 1): RateDecision {
    const { intervalUs, burstUs } = rateIntervals(rate, cost)
    const timeMs = now()
    const nowUs = Math.round(timeMs * 1000)
    const keys = rates.of(burstUs / 1000, timeMs)
    const entry = keys.find(key)
    // Time of all being free again; no real one lies further off than a whole burst.
    const fullAtUs = entry === undefined ? nowUs : Math.min(Math.max(entry.fullAtUs, nowUs), nowUs + burstUs)
    const afterUs = fullAtUs + cost * intervalUs
    const spareUs = nowUs + burstUs - afterUs
    if (spareUs < 0) {
      // Kept even so, or a clock that was set back would refuse until it is where it was.
      if (entry !== undefined) entry.fullAtUs = fullAtUs
      const retryAfterMs = Math.ceil(-spareUs / 1000)
      const resetSeconds = Math.ceil(-spareUs / 1e6)
      return { allowed: false, limit: rate.limit, remaining: 0, resetSeconds, retryAfterMs }
    }
    if (entry === undefined) keys.add(key, { fullAtUs: afterUs })
    else entry.fullAtUs = afterUs
    const remaining = Math.floor(spareUs / intervalUs)
    const resetSeconds = Math.ceil((afterUs - nowUs) / 1e6)
    return { allowed: true, limit: rate.limit, remaining, resetSeconds, retryAfterMs: 0 }
  }

  function giveBack(key: string, rate: Parameters<Counters['take']>[1], cost = 1): void {
    const { intervalUs, burstUs } = rateIntervals(rate, cost)
    const entry = rates.of(burstUs / 1000, now()).find(key)
    // More than is free again would be a loan on the future; `take` cuts it off.
    if (entry !== undefined) entry.fullAtUs -= cost * intervalUs
  }

  function hit(key: string, window: Parameters<Counters['hit']>[1]): Hit {
    checkWindow(window)
    const timeMs = now()
    const keys = windows.of(window.windowMs, timeMs)
    const hits = keys.find(key)
    if (hits === undefined) {
      keys.add(key, [timeMs])
      return { counted: true, ...windowState([timeMs], window, timeMs) }
    }
    dropPassed(hits, window.windowMs, timeMs)
    const counted = hits.length < window.max
    if (counted) hits.push(timeMs)
    return { counted, ...windowState(hits, window, timeMs) }
  }

  function giveBackHit(key: string, window: Parameters<Counters['giveBackHit']>[1]): void {
    checkWindow(window)
    const timeMs = now()
    const hits = windows.of(window.windowMs, timeMs).find(key)
    if (hits === undefined) return
    dropPassed(hits, window.windowMs, timeMs)
    hits.pop()
  }

  function peek(key: string, window: Parameters<Counters['peek']>[1]): WindowState {
    checkWindow(window)
    const timeMs = now()
    const hits = windows.of(window.windowMs, timeMs).find(key) ?? []
    dropPassed(hits, window.windowMs, timeMs)
    return windowState(hits, window, timeMs)
  }

  function spend(key: string, amount: number, allowance: Parameters<Counters['spend']>[2]): number {
    checkAllowance(amount, allowance)
    const { max, spanMs } = allowance
    const timeMs = now()
    const keys = allowances.of(spanMs, timeMs)
    const entry = keys.find(key)
    // One that ends further off than a whole span was begun before the clock was set back; it ends in a span from now.
    if (entry !== undefined) entry.endsAtMs = Math.min(entry.endsAtMs, timeMs + spanMs)
    const spent = entry === undefined || entry.endsAtMs <= timeMs ? 0 : entry.spent
    const granted = Math.min(amount, max - spent)
    if (entry === undefined) keys.add(key, { spent: granted, endsAtMs: timeMs + spanMs })
    else if (entry.endsAtMs <= timeMs) Object.assign(entry, { spent: granted, endsAtMs: timeMs + spanMs })
    else entry.spent = spent + granted
    return granted
  }

  return {
    take,
    giveBack,
    hit,
    giveBackHit,
    peek,
    spend,
    reset: (key: string) => windows.delete(key),
    check: async () => {},
    close: async () => {
      rates.clear()
      windows.clear()
      allowances.clear()
    },
  } satisfies Counters
}

/** Removes the hits that no longer count; those that a clock set back left in the future happen now. */
function dropPassed(hits: number[], windowMs: number, timeMs: number): void {
  let kept = 0
  for (const at of hits) {
    if (at > timeMs - windowMs) hits[kept++] = Math.min(at, timeMs)
  }
  hits.length = kept
}

function windowState(hits: readonly number[], { max, windowMs }: { max: number; windowMs: number }, timeMs: number) {
  // Hits are in order, so the place is free when the oldest of the last `max` has passed.
  const blocking = hits[hits.length - max]
  return { count: hits.length, retryAfterMs: blocking === undefined ? 0 : Math.ceil(blocking + windowMs - timeMs) }
}

/** One bounded set of keys for each order of magnitude of time spans. */
class Spans<Value> {
  readonly #keysMax: number
  readonly #bySpan = new Map<number, Generations<Value>>()

  constructor(keysMax: number) {
    this.#keysMax = keysMax
  }

  of(spanMs: number, timeMs: number): Generations<Value> {
    // Rounded up to a power of two, so that there are at most 32 sets, whatever rates operators grant.
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

  clear(): void {
    this.#bySpan.clear()
  }
}

/**
 * Keys in two generations. What is looked at moves to the young one; when a span has passed, or the young one is half
 * the bound, the old one is dropped whole and the young one takes its place. So a key lives at least one span after its
 * last use unless the bound comes first, expiry costs nothing per key, and a warm look-up is one read of one map.
 */
export class Generations<Value> {
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
    // A clock set back starts the span again: keys live longer, not shorter.
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
