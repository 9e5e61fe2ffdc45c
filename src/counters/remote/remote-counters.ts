// Counters that another process of this machine holds, so that limits are one for all of its processes.
import type { Channel, Handlers } from '#channel/channel.ts'
import { offer, remote } from '#channel/remote-object.ts'
import type { Counters, Rate, Taken } from '../counters.ts'
import { createMemoryCounters } from '../memory/memory-counters.ts'

const METHODS = ['take', 'giveBack', 'hit', 'giveBackHit', 'peek', 'spend', 'reset', 'check'] as const

/** The limiter stands before every request: one that waits for so long is better refused. */
const TIMEOUT_MS = 10_000
/** How long what was taken without asking may stay unknown to the others. */
const REPORT_MS = 25
/** At most so much of one key is taken without asking between two reports, */
const FLOAT_MAX = 8
/** and by all processes together at most this share of a burst. */
const FLOATING_SHARE = 1 / 8
/** Keys about which something is known; beyond that it is found out again. */
const KEYS_MAX = 50_000

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

/**
 * The counters at the other end of a channel, which outlives them. Everything is exact for all processes together but
 * `take` far from the limit: there a few units are taken without asking and reported 25 ms later, because a message for
 * each request costs as much as the request. So all processes together may let pass one eighth of a burst too much,
 * when they all reach the limit within such a time.
 * @throws ApiError 503 when they do not answer.
 */
export function remoteCounters(channel: Channel, { now, processes }: Options): Counters {
  const asked = remote<Counters, (typeof METHODS)[number]>('counters', channel, METHODS, { timeoutMs: TIMEOUT_MS })
  /** What this process has taken, as if it were alone. */
  const own = createMemoryCounters({ now, keysMax: KEYS_MAX })
  const known = new Map<string, Known>()
  /** What was taken without asking and is not known to the other process yet; `unsent` of it waits for the next report. */
  const floating = new Map<string, { rate: Rate; units: number; unsent: number }>()
  let timer: NodeJS.Timeout | undefined

  /** Goes out before whatever is asked next. */
  function report(): void {
    clearTimeout(timer)
    timer = undefined
    const reports: Report[] = []
    for (const [key, float] of floating) {
      if (float.unsent > 0) reports.push([key, float.rate, float.unsent])
      float.unsent = 0
    }
    if (reports.length === 0) return
    channel.call('counters.report', [reports], { timeoutMs: TIMEOUT_MS }).then(
      (left) => {
        for (const [n, report] of reports.entries()) land(report, (left as number[])[n] ?? 0)
      },
      // Without the other process this one ends.
      () => undefined,
    )
  }

  function land([key, rate, units]: Report, remaining: number): void {
    const float = floating.get(key)
    if (float !== undefined) {
      float.units -= units
      if (float.units === 0) floating.delete(key)
    }
    learn(key, rate, remaining)
  }

  function learn(key: string, rate: Rate, remaining: number): void {
    const isNearLimit = remaining < rate.burst * 2 * FLOATING_SHARE
    // Where nobody else has taken anything there is nothing to remember.
    const mine = own.take(key, rate)
    void own.giveBack(key, rate)
    const unknown = floating.get(key)?.units ?? 0
    const others = mine instanceof Promise ? 0 : Math.max(0, mine.remaining + 1 + unknown - remaining)
    if (known.size >= KEYS_MAX) known.clear()
    if (isNearLimit || others > 0) known.set(key, { others, isNearLimit })
    else known.delete(key)
  }

  /** Undefined where it must be asked. */
  function takeWithoutAsking(key: string, rate: Rate, cost: number): Taken | undefined {
    const float = Math.min(FLOAT_MAX, Math.floor((rate.burst * FLOATING_SHARE) / processes))
    const before = floating.get(key)
    const about = known.get(key)
    if ((before?.units ?? 0) + cost > float || about?.isNearLimit === true) return undefined
    const taken = own.take(key, rate, cost)
    if (taken instanceof Promise || !taken.allowed || taken.remaining <= (about?.others ?? 0)) return undefined
    floating.set(key, { rate, units: (before?.units ?? 0) + cost, unsent: (before?.unsent ?? 0) + cost })
    timer ??= setTimeout(report, REPORT_MS).unref()
    return about === undefined ? taken : { ...taken, remaining: taken.remaining - about.others }
  }

  async function ask(key: string, rate: Rate, cost: number): Promise<Taken> {
    report()
    const taken = await asked.take(key, rate, cost)
    if (taken.allowed) void own.take(key, rate, cost)
    learn(key, rate, taken.remaining)
    return taken
  }

  return {
    ...asked,
    take: (key, rate, cost = 1) => takeWithoutAsking(key, rate, cost) ?? ask(key, rate, cost),
    giveBack(key, rate, cost = 1) {
      report()
      void own.giveBack(key, rate, cost)
      return asked.giveBack(key, rate, cost)
    },
    async close() {
      report()
      await own.close()
    },
  }
}
