// Sends deliveries. They are not jobs of the worker: a receiver that does not respond must delay nobody. Several
// processes can dispatch at the same time.

import { Counter, Gauge, Histogram } from 'prom-client'
import { SecretLostError } from '#features/basics/instance-key/seal-secret.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { MIB } from '#lib/text/sizes.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import { defineMetrics } from '#platform/telemetry/metrics.ts'
import type { Deps } from '#ports/deps.ts'
import { type Payload, readPayload } from '../messages/payload.ts'
import { buildRequest, type Request, type SendingDeps, sendRequest } from './attempt.ts'
import { type Candidate, type Claimed, claim, findWork, listDue, release } from './claim.ts'
import { fanOut } from './fan-out.ts'
import { disableWithoutSecret, discard, recordAttempt } from './record-attempt.ts'

const webhookMetrics = defineMetrics((registers) => ({
  attempts: new Counter({
    name: 'depot_webhook_attempts_total',
    help: 'Attempts to deliver an event to a webhook, by outcome (delivered, retried, failed)',
    labelNames: ['outcome'] as const,
    registers,
  }),
  seconds: new Histogram({
    name: 'depot_webhook_attempt_seconds',
    help: 'Time of attempts to deliver an event to a webhook',
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers,
  }),
  inFlight: new Gauge({
    name: 'depot_webhooks_in_flight',
    help: 'Requests to webhooks that wait for their response',
    registers,
  }),
  delay: new Gauge({
    name: 'depot_webhook_delay_seconds',
    help: 'Time for which the delivery that was due longest has waited for a free slot',
    registers,
  }),
}))

/** Requests at the same time: in the process, to a host, and to all webhooks together whose last attempt failed. */
const LIMITS = { all: 32, perHost: 2, failing: 8, perFailingHost: 1 } as const
/** Longest time until a process notices an event. A shorter time costs idle processes more statements. */
const POLL_MS = 1_000
/** Time for requests to end when the process stops; then it ends them. */
const DRAIN_MS = 5_000

export type Dispatcher = ReturnType<typeof createDispatcher>

type InFlight = { host: string; isFailing: boolean }

export function createDispatcher(deps: SendingDeps) {
  const metrics = webhookMetrics(deps.metrics)
  const inFlight = new Map<string, InFlight>()
  const running = new Set<Promise<void>>()
  const stopping = new AbortController()
  const ending = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let pumping: Promise<void> | undefined
  let isAskedAgain = false

  /** Starts as many requests as the limits permit. Returns their number. */
  async function startDue(): Promise<number> {
    const candidates = choose(await listDue(deps.db, { now: new Date(deps.now()), ...fullness(inFlight) }), inFlight)
    const facts = new Map(candidates.map((candidate) => [candidate.id, candidate]))
    const delays = candidates.map(({ next_attempt }) => deps.now() - next_attempt.getTime())
    metrics.delay.set(Math.max(0, ...delays) / 1_000)
    const claimed = await claim(deps.db, [...facts.keys()])
    for (const each of claimed) {
      const { host, is_failing: isFailing = false } = facts.get(each.id) ?? { host: each.webhook.host }
      inFlight.set(each.id, { host, isFailing })
      metrics.inFlight.set(inFlight.size)
      const work = deliver(deps, each, ending.signal).finally(() => {
        inFlight.delete(each.id)
        running.delete(work)
        metrics.inFlight.set(inFlight.size)
        void pump()
      })
      running.add(work)
    }
    return claimed.length
  }

  async function pumpOnce(): Promise<void> {
    const isPaused = !deps.config.outgoing.isOn || (await getSettings(deps)).read_only
    if (isPaused) return
    const work = await findWork(deps.db)
    if (work?.hasEvents) await fanOut(deps)
    else if (!work?.hasDeliveries) {
      metrics.delay.set(0)
      return
    }
    while (!stopping.signal.aborted && inFlight.size < LIMITS.all && (await startDue()) > 0);
  }

  /** Never rejects: errors of the database are temporary. */
  function pump(): Promise<void> {
    if (pumping !== undefined) {
      isAskedAgain = true
      return pumping
    }
    if (stopping.signal.aborted) return Promise.resolve()
    pumping = pumpOnce()
      .catch((err: unknown) => deps.log.warn({ err }, 'Could not send webhooks; Depot will try again'))
      .finally(() => {
        pumping = undefined
        const again = isAskedAgain
        isAskedAgain = false
        if (again) void pump()
      })
    return pumping
  }

  return {
    start(): void {
      timer = setInterval(() => void pump(), POLL_MS)
    },
    /** Sends everything that is due now. */
    async settle(): Promise<void> {
      await pump()
      while (running.size > 0 || pumping !== undefined) await Promise.all([...running, pumping])
    },
    /** Waits for requests that are being sent. Those that take too long are sent again by the next process. */
    async stop(): Promise<void> {
      stopping.abort()
      clearInterval(timer)
      await pumping
      const limit = setTimeout(() => ending.abort(), DRAIN_MS)
      while (running.size > 0) await Promise.all(running)
      clearTimeout(limit)
    },
  }
}

/** Returns the hosts that get no more requests, and whether webhooks that fail have all their slots. */
function fullness(inFlight: ReadonlyMap<string, InFlight>): { fullHosts: string[]; skipsFailing: boolean } {
  const { perHost, failing } = countInFlight(inFlight)
  const fullHosts = [...perHost].flatMap(([host, count]) => (count >= LIMITS.perHost ? [host] : []))
  return { fullHosts, skipsFailing: failing >= LIMITS.failing }
}

function countInFlight(inFlight: ReadonlyMap<string, InFlight>) {
  const perHost = new Map<string, number>()
  let failing = 0
  for (const { host, isFailing } of inFlight.values()) {
    perHost.set(host, (perHost.get(host) ?? 0) + 1)
    if (isFailing) failing += 1
  }
  return { perHost, failing }
}

/** Returns the deliveries that the limits permit, in their order. */
function choose(candidates: readonly Candidate[], inFlight: ReadonlyMap<string, InFlight>): Candidate[] {
  const counts = countInFlight(inFlight)
  const chosen: Candidate[] = []
  for (const candidate of candidates) {
    const { host, is_failing } = candidate
    const ofHost = counts.perHost.get(host) ?? 0
    if (inFlight.size + chosen.length >= LIMITS.all) break
    if (inFlight.has(candidate.id) || ofHost >= (is_failing ? LIMITS.perFailingHost : LIMITS.perHost)) continue
    if (is_failing && counts.failing >= LIMITS.failing) continue
    counts.perHost.set(host, ofHost + 1)
    if (is_failing) counts.failing += 1
    chosen.push(candidate)
  }
  return chosen
}

/** For 2 seconds, so that an event for many webhooks is read once. Later, a webhook could receive what was hidden in the meantime. */
const PAYLOADS = defineCache<RememberDefinition<Payload | undefined>>({
  name: 'webhook-payloads',
  contains: 'Content of the deliveries for an event',
  maxAgeMs: 2_000,
  maxBytes: 8 * MIB,
  sizeOf: (payload) => JSON.stringify(payload?.data ?? {}).length * 2,
})

function payloadOf(deps: Deps, { event, webhook }: Claimed): Promise<Payload | undefined> {
  const isMember = webhook.owner_kind !== 'instance'
  return deps.cache.remember(PAYLOADS).get(`${event.key} ${isMember}`, () => readPayload(deps, event, isMember))
}

/** Sends one delivery and stores the result. Never rejects. */
async function deliver(deps: SendingDeps, claimed: Claimed, signal: AbortSignal): Promise<void> {
  const { webhook, event } = claimed
  const { attempts, seconds } = webhookMetrics(deps.metrics)
  try {
    const payload = await payloadOf(deps, claimed)
    if (payload === undefined) return await discard(deps, claimed)
    const request = await buildRequest(deps, { webhook, event, payload }).catch(asLostSecret)
    if (request === undefined) return await disableWithoutSecret(deps, claimed)
    const attempt = await sendRequest(deps, request, { format: webhook.format, signal })
    seconds.observe(attempt.ms / 1_000)
    const outcome = await recordAttempt(deps, claimed, attempt)
    attempts.inc({ outcome })
  } catch (err) {
    // The lease ends by itself if the database does not respond either.
    await release(deps.db, [claimed.id]).catch(() => undefined)
    if (!signal.aborted) deps.log.warn({ err, webhook_id: webhook.id }, 'A webhook was not sent; Depot will try again')
  }
}

function asLostSecret(error: unknown): Request | undefined {
  if (error instanceof SecretLostError) return undefined
  throw error
}
