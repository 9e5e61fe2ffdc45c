// Counters in another process of this machine, so that all processes of a server share one limit.

import type { Rate, RateDecision } from '#lib/concurrency/rate.ts'
import { MINUTE_MS } from '#lib/time.ts'
import type { Channel, Handlers } from '#platform/channel/channel.ts'
import { offer, remote } from '#platform/channel/remote-object.ts'
import type { Counters } from '../counters.ts'
import { createMemoryCounters, Generations } from '../memory/memory-counters.ts'

const METHODS = ['take', 'giveBack', 'hit', 'giveBackHit', 'peek', 'spend', 'reset', 'check'] as const

/** Every request waits for the limiter; a longer wait is worse than a rejection. */
const TIMEOUT_MS = 10_000
/** Delay before a report, so that many keys share a message. */
const REPORT_MS = 25
/** Maximum number of units of one key that a process takes locally between two reports, */
const LOCAL_UNITS_MAX = 8
/** and the share of a burst that all processes together can take locally. */
const LOCAL_SHARE = 1 / 8
/** Up to half of that is not reported, and forgotten after a while: most clients of a catalogue send that few requests. */
const UNREPORTED_SHARE = 1 / 2
const FORGET_MS = MINUTE_MS
/** Number of keys whose state is cached. Beyond that, the cache is emptied. */
const KEYS_MAX = 50_000
/** Number of keys with unreported units. Beyond that, the least recently used ones are forgotten. */
const LOCAL_KEYS_MAX = 20_000

type Report = readonly [key: string, rate: Rate, units: number]

/** Returns the handlers of the process that owns the counters. */
export function serveCounters(counters: Counters): Handlers {
  return {
    ...offer('counters', counters, METHODS),
    'counters.report': ([reports]) => (reports as readonly Report[]).map((report) => takeReported(counters, report)),
  }
}

/** Takes the reported units, or as many of them as are left, and returns the number of remaining units. */
function takeReported(counters: Counters, [key, rate, units]: Report): number {
  let remaining = 0
  for (let cost = units; cost > 0; cost -= 1) {
    const decision = counters.take(key, rate, cost)
    if (decision instanceof Promise) throw new TypeError('The shared counters must be synchronous')
    remaining = decision.remaining
    if (decision.allowed) break
  }
  return remaining
}

type Options = {
  now: () => number
  /** The number of processes that share the counters. */
  processes: number
}

/**
 * Returns the counters of the process at the other end of a channel, which outlives them. All operations are exact, except
 * `take` far from the limit: a message per request would cost as much as the request, so each process takes a few units
 * locally. It reports them together, 25 ms after they exceed half of the local maximum, and before it asks about the same
 * key. All processes together therefore let pass at most one eighth of a burst too much per minute.
 * @throws ApiError 503 if the other process does not respond.
 */
export function remoteCounters(channel: Channel, options: Options): Counters {
  const shared = remote<Counters, (typeof METHODS)[number]>('counters', channel, METHODS, { timeoutMs: TIMEOUT_MS })
  const rates = new SharedRates(channel, options)

  async function takeShared(key: string, rate: Rate, cost: number): Promise<RateDecision> {
    rates.report(key)
    const decision = await shared.take(key, rate, cost)
    rates.learn(key, rate, decision, cost)
    return decision
  }

  return {
    ...shared,
    take: (key, rate, cost = 1) => rates.takeLocally(key, rate, cost) ?? takeShared(key, rate, cost),
    giveBack(key, rate, cost = 1) {
      if (rates.giveBackLocally(key, rate, cost)) return
      rates.report(key)
      return shared.giveBack(key, rate, cost)
    },
    close: () => rates.close(),
  }
}

/** The units of a key that this process has taken locally. Those that are `unsent` are in no report. */
type LocalUnits = { rate: Rate; units: number; unsent: number }

/** The units that the other processes have taken of a key, and whether its limit is too near for local decisions. */
type KeyState = { others: number; isNearLimit: boolean }

/** The local part of shared rates. */
class SharedRates {
  readonly #channel: Channel
  readonly #options: Options
  readonly #local: Generations<LocalUnits>
  /** The units that this process has taken, as if it were alone. */
  readonly #own: ReturnType<typeof createMemoryCounters>
  readonly #states = new Map<string, KeyState>()
  readonly #toReport = new Map<string, LocalUnits>()
  #timer: NodeJS.Timeout | undefined

  constructor(channel: Channel, options: Options) {
    const { now } = options
    this.#channel = channel
    this.#options = options
    this.#local = new Generations(FORGET_MS, LOCAL_KEYS_MAX, now())
    this.#own = createMemoryCounters({ now, keysMax: KEYS_MAX })
  }

  /** Returns undefined if only the other process can decide. */
  takeLocally(key: string, rate: Rate, cost: number): RateDecision | undefined {
    const max = Math.min(LOCAL_UNITS_MAX, Math.floor((rate.burst * LOCAL_SHARE) / this.#options.processes))
    const local = this.#local.find(key)
    const { others, isNearLimit } = this.#states.get(key) ?? { others: 0, isNearLimit: false }
    if (isNearLimit || (local?.units ?? 0) + cost > max) return undefined
    const decision = this.#own.take(key, rate, cost)
    if (!decision.allowed || decision.remaining <= others) return undefined
    if (local === undefined) {
      this.#local.turn(this.#options.now())
      this.#local.add(key, { rate, units: cost, unsent: cost })
    } else {
      local.units += cost
      local.unsent += cost
      if (local.unsent > max * UNREPORTED_SHARE) {
        this.#toReport.set(key, local)
        this.#timer ??= setTimeout(() => this.#sendReports(), REPORT_MS).unref()
      }
    }
    return others === 0 ? decision : { ...decision, remaining: decision.remaining - others }
  }

  /** Returns whether the units were still unsent, so that the other process needs no message. */
  giveBackLocally(key: string, rate: Rate, cost: number): boolean {
    this.#own.giveBack(key, rate, cost)
    const local = this.#local.find(key)
    if (local === undefined || local.unsent < cost) return false
    local.units -= cost
    local.unsent -= cost
    return true
  }

  /** Sends the unsent units of a key, before any later call. */
  report(key: string): void {
    const local = this.#local.find(key)
    if (local !== undefined) this.#toReport.set(key, local)
    void this.#sendReports()
  }

  /** Uses a decision of the other process. */
  learn(key: string, rate: Rate, { allowed, remaining }: RateDecision, cost: number): void {
    if (allowed) this.#own.take(key, rate, cost)
    this.#updateState(key, rate, remaining)
  }

  async close(): Promise<void> {
    await this.#sendReports()
    await this.#own.close()
  }

  /** Resolves when the other process has the reports. */
  async #sendReports(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const sent = [...this.#toReport]
      .filter(([, { unsent }]) => unsent > 0)
      .map(([key, local]) => ({ key, local, units: local.unsent }))
    this.#toReport.clear()
    if (sent.length === 0) return
    for (const { local } of sent) local.unsent = 0
    const reports: Report[] = sent.map(({ key, local, units }) => [key, local.rate, units])
    let remaining: unknown
    try {
      // No `catch()` here: another promise would delay this result behind the results of later calls.
      remaining = await this.#channel.call('counters.report', [reports], { timeoutMs: TIMEOUT_MS })
    } catch {
      // Without the other process, this process ends.
      return
    }
    for (const [n, { key, local, units }] of sent.entries()) {
      local.units -= units
      this.#updateState(key, local.rate, (remaining as number[])[n] ?? 0)
    }
  }

  #updateState(key: string, rate: Rate, remaining: number): void {
    const isNearLimit = remaining < rate.burst * 2 * LOCAL_SHARE
    const own = this.#own.take(key, rate)
    this.#own.giveBack(key, rate)
    const unreported = this.#local.find(key)?.units ?? 0
    const others = Math.max(0, own.remaining + 1 + unreported - remaining)
    if (this.#states.size >= KEYS_MAX) this.#states.clear()
    if (isNearLimit || others > 0) this.#states.set(key, { others, isNearLimit })
    else this.#states.delete(key)
  }
}
