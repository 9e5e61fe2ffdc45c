// Counters that another process of this machine holds, so that limits are one for all of its processes.

import type { Rate, RateDecision } from '#lib/concurrency/rate.ts'
import { MINUTE_MS } from '#lib/time.ts'
import type { Channel, Handlers } from '#platform/channel/channel.ts'
import { offer, remote } from '#platform/channel/remote-object.ts'
import type { Counters } from '../counters.ts'
import { createMemoryCounters } from '../memory/memory-counters.ts'

const METHODS = ['take', 'giveBack', 'hit', 'giveBackHit', 'peek', 'spend', 'reset', 'check'] as const

/** The limiter stands before every request: one that waits for so long is better refused. */
const TIMEOUT_MS = 10_000
/** Until what is worth a report is reported: many keys share a message. */
const REPORT_MS = 25
/** At most so much of one key is taken without asking between two reports, */
const FLOAT_MAX = 8
/** and by all processes together at most this share of a burst. */
const FLOATING_SHARE = 1 / 8
/** Half of that is never reported by itself, and forgotten after a while: most clients of a catalogue ask that little. */
const WORTH_REPORTING_SHARE = 1 / 2
const FORGET_MS = MINUTE_MS
/** Keys about which something is known; beyond that it is found out again. */
const KEYS_MAX = 50_000
/** Keys of which something is not reported; beyond that those not seen for longest are forgotten. */
const FLOATS_MAX = 20_000

type Report = readonly [key: string, rate: Rate, units: number]

/** What the process that holds the counters lets the others call. */
export function serveCounters(counters: Counters): Handlers {
  return {
    ...offer('counters', counters, METHODS),
    // Answered in the order of what is asked, as calls that answer at once are.
    'counters.report': ([reports]) => (reports as readonly Report[]).map((report) => takeReported(counters, report)),
  }
}

/** Takes what was taken already, or as much of it as is left, and returns how much more would pass. */
function takeReported(counters: Counters, [key, rate, units]: Report): number {
  let remaining = 0
  for (let cost = units; cost > 0; cost -= 1) {
    const taken = counters.take(key, rate, cost)
    if (taken instanceof Promise) throw new TypeError('Counters that are lent answer at once')
    remaining = taken.remaining
    if (taken.allowed) break
  }
  return remaining
}

type Options = {
  now: () => number
  /** How many processes share the counters. */
  processes: number
}

/** What is known of a key: how much less is left than this process alone has taken, and whether to ask each time. */
type Known = { others: number; isNearLimit: boolean }

/** What was taken without asking and is not known to the other process yet; `unsent` of it is in no report. */
type Float = { rate: Rate; units: number; unsent: number }

/**
 * The counters at the other end of a channel, which outlives them. Everything is exact for all processes together but
 * `take` far from the limit: there a few units are taken without asking, because a message for each request costs as
 * much as the request. They are reported together, 25 ms after there are more than half of what may be taken so; fewer
 * are reported before the same key is asked for, or not at all. So all processes together may let pass one eighth of a burst
 * too much in a minute.
 * @throws ApiError 503 when they do not answer.
 */
export function remoteCounters(channel: Channel, { now, processes }: Options): Counters {
  const asked = remote<Counters, (typeof METHODS)[number]>('counters', channel, METHODS, { timeoutMs: TIMEOUT_MS })
  /** What this process has taken, as if it were alone. */
  const own = createMemoryCounters({ now, keysMax: KEYS_MAX })
  const known = new Map<string, Known>()
  let floating = new Map<string, Float>()
  /** Those of the time before, until they are taken of again. */
  let formerlyFloating = new Map<string, Float>()
  let forgotAtMs = now()
  /** Those that are worth a report. */
  const worthReporting = new Map<string, Float>()
  let timer: NodeJS.Timeout | undefined

  function floatOf(key: string): Float | undefined {
    const float = floating.get(key)
    if (float !== undefined) return float
    const former = formerlyFloating.get(key)
    if (former === undefined) return undefined
    formerlyFloating.delete(key)
    floating.set(key, former)
    return former
  }

  function forgetOldFloats(): void {
    const ageMs = now() - forgotAtMs
    if (ageMs >= 0 && ageMs < FORGET_MS && floating.size < FLOATS_MAX / 2) return
    formerlyFloating = floating
    floating = new Map()
    forgotAtMs = now()
  }

  /** Goes out before whatever is asked next; resolves when the other process knows. */
  async function report(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const sent = [...worthReporting]
      .filter(([, { unsent }]) => unsent > 0)
      .map(([key, float]) => ({ key, float, units: float.unsent }))
    worthReporting.clear()
    if (sent.length === 0) return
    for (const { float } of sent) float.unsent = 0
    const reports: Report[] = sent.map(({ key, float, units }) => [key, float.rate, units])
    let left: number[]
    try {
      left = (await channel.call('counters.report', [reports], { timeoutMs: TIMEOUT_MS })) as number[]
    } catch {
      // Without the other process this one ends.
      return
    }
    for (const [n, { key, float, units }] of sent.entries()) {
      float.units -= units
      learn(key, float.rate, left[n] ?? 0)
    }
  }

  function reportWith(key: string): void {
    const float = floatOf(key)
    if (float !== undefined) worthReporting.set(key, float)
    void report()
  }

  function learn(key: string, rate: Rate, remaining: number): void {
    const isNearLimit = remaining < rate.burst * 2 * FLOATING_SHARE
    // Where nobody else has taken anything there is nothing to remember.
    const mine = own.take(key, rate)
    void own.giveBack(key, rate)
    const unknown = floatOf(key)?.units ?? 0
    const others = mine instanceof Promise ? 0 : Math.max(0, mine.remaining + 1 + unknown - remaining)
    if (known.size >= KEYS_MAX) known.clear()
    if (isNearLimit || others > 0) known.set(key, { others, isNearLimit })
    else known.delete(key)
  }

  /** Undefined where it must be asked. */
  function takeWithoutAsking(key: string, rate: Rate, cost: number): RateDecision | undefined {
    const most = Math.min(FLOAT_MAX, Math.floor((rate.burst * FLOATING_SHARE) / processes))
    const before = floatOf(key)
    const about = known.get(key)
    if ((before?.units ?? 0) + cost > most || about?.isNearLimit === true) return undefined
    const taken = own.take(key, rate, cost)
    if (taken instanceof Promise || !taken.allowed || taken.remaining <= (about?.others ?? 0)) return undefined
    float(key, before, { rate, cost, most })
    return about === undefined ? taken : { ...taken, remaining: taken.remaining - about.others }
  }

  type Floated = { rate: Rate; cost: number; most: number }

  function float(key: string, before: Float | undefined, { rate, cost, most }: Floated): void {
    if (before === undefined) {
      forgetOldFloats()
      floating.set(key, { rate, units: cost, unsent: cost })
      return
    }
    before.units += cost
    before.unsent += cost
    if (before.unsent <= most * WORTH_REPORTING_SHARE) return
    worthReporting.set(key, before)
    timer ??= setTimeout(report, REPORT_MS).unref()
  }

  async function ask(key: string, rate: Rate, cost: number): Promise<RateDecision> {
    reportWith(key)
    const taken = await asked.take(key, rate, cost)
    if (taken.allowed) void own.take(key, rate, cost)
    learn(key, rate, taken.remaining)
    return taken
  }

  return {
    ...asked,
    take: (key, rate, cost = 1) => takeWithoutAsking(key, rate, cost) ?? ask(key, rate, cost),
    giveBack(key, rate, cost = 1) {
      void own.giveBack(key, rate, cost)
      const float = floatOf(key)
      if (float !== undefined && float.unsent >= cost) {
        // The other process need never know of it.
        float.units -= cost
        float.unsent -= cost
        return
      }
      reportWith(key)
      return asked.giveBack(key, rate, cost)
    },
    async close() {
      await report()
      await own.close()
    },
  }
}
