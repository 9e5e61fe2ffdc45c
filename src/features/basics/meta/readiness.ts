// Checks the dependencies of Depot for /ready and `depot doctor`.

import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import Type, { type Static } from 'typebox'
import { reasonOf } from '#lib/errors.ts'
import { NamedObject } from '#lib/schema/schema-parts.ts'
import type { Deps } from '#ports/deps.ts'

const DependencyState = Type.Object({
  status: Type.Enum(['ok', 'slow', 'degraded', 'failing'], {
    description:
      '`slow`: the check has not finished, for example because the machine is busy. `degraded`: the part does not work, ' +
      'and requests that do not need it do. `failing`: no request can be served',
  }),
  state: Type.Optional(Type.String({ description: 'More about the state' })),
})

/** A state with the reason of a failure. Only the log contains the reason, because /ready is public. */
type Checked = Static<typeof DependencyState> & { error?: string }

export const Readiness = NamedObject('Readiness', {
  status: Type.Enum(['ready', 'degraded', 'unavailable']),
  dependencies: Type.Record(Type.String(), DependencyState),
})

export const ReadinessQuery = Type.Object({
  for: Type.Optional(
    Type.Enum(['balancer'], {
      description:
        '`balancer` checks the database and, if files are stored on a local disk, the disk. A database that does not ' +
        'respond within 4 seconds is `failing`. It ignores a shared file store, whose failure would remove every ' +
        'server from rotation. Default: check everything',
    }),
  ),
})

export type Audience = Static<typeof ReadinessQuery>['for']

/** Time after which a running check counts as `slow`. */
const SLOW_MS = 3_000
/** Time after which a running check counts as `failing`, because a silently dropped connection never responds. */
const LOST_MS = 30_000
/** The same for the database and a load balancer, which waits for at most 5 seconds. */
const SILENT_MS = 4_000
/** Interval in which a check's running time is counted. Time in which the process did not run counts as one interval. */
const BEAT_MS = 250
/** Without these, no request can be served. Everything else works while one of the others does not. */
const ESSENTIAL = ['database', 'files']
/** Requests within this time share one round of checks, because /ready is not limited and checks are expensive. */
const SHARED_MS = 500

type CheckedDeps = Pick<Deps, 'pool' | 'files' | 'search' | 'analytics' | 'counters' | 'mail' | 'config'>
type Dependencies = Omit<Static<typeof Readiness>, 'dependencies'> & { dependencies: Record<string, Checked> }
type Times = { slowMs: number; lostMs: number }

/**
 * Returns a function that checks the dependencies for /ready in bounded time. Requests of the same audience share a
 * round, and a check that is still running is not started again. Logs the reasons of failures.
 */
export function sharedChecks(
  deps: CheckedDeps & Pick<Deps, 'log'>,
  { silentMs = SILENT_MS, ...times }: Times & { silentMs?: number } = { slowMs: SLOW_MS, lostMs: LOST_MS },
): (audience?: Audience) => Promise<Dependencies> {
  const checks = watchedChecks(deps)
  // The limits differ, so a check that a load balancer gives up can still be `slow` for the other audience.
  const balancerChecks = watchedChecks(deps)
  const forBalancer = deps.config.files.store.kind === 'folder' ? ['database', 'files'] : ['database']
  const rounds = new Map<Audience, Promise<Dependencies>>()
  const round = async (audience: Audience): Promise<Dependencies> => {
    const requested = audience === undefined ? checks : balancerChecks.filter(([name]) => forBalancer.includes(name))
    const result = await runAll(requested, (name) =>
      audience === 'balancer' && name === 'database' ? { slowMs: silentMs, lostMs: silentMs } : times,
    )
    for (const [dependency, { error }] of Object.entries(result.dependencies)) {
      if (error !== undefined)
        deps.log.warn({ dependency, reason: error }, `The check of the dependency ${dependency} failed`)
    }
    return result
  }
  return (audience) => {
    const running = rounds.get(audience) ?? round(audience)
    if (!rounds.has(audience)) {
      rounds.set(audience, running)
      const forget = () => void setTimeout(() => rounds.delete(audience), SHARED_MS).unref()
      running.then(forget, forget)
    }
    return running
  }
}

/** Checks all dependencies concurrently, and waits for each until it succeeds, fails or times out. */
export function checkDependencies(deps: CheckedDeps): Promise<Dependencies> {
  return runAll(watchedChecks(deps), () => ({ slowMs: LOST_MS, lostMs: LOST_MS }))
}

/** Response of /ready after the process has received a signal to stop. */
export const STOPPING: Dependencies = {
  status: 'unavailable',
  dependencies: { server: { status: 'failing', state: 'stopping' } },
}

type WatchedCheck = readonly [name: string, check: (times: Times) => Promise<Checked>]

async function runAll(checks: readonly WatchedCheck[], timesOf: (name: string) => Times): Promise<Dependencies> {
  const states = await Promise.all(checks.map(async ([name, check]) => [name, await check(timesOf(name))] as const))
  const found = new Set(states.map(([, { status }]) => status))
  const status = found.has('failing') ? 'unavailable' : found.has('degraded') ? 'degraded' : 'ready'
  // Requests do not depend on jobs, so their state is shown only if they do not run.
  const shown = states.filter(([name, { status }]) => name !== 'jobs' || status !== 'ok')
  return { status, dependencies: Object.fromEntries(shown) }
}

function watchedChecks(deps: CheckedDeps): WatchedCheck[] {
  const checks: Record<string, Check> = {
    database: (givenUp) => checkDatabase(deps.pool, givenUp),
    files: async () => deps.files.check(),
    search: () => checkSearch(deps),
    analytics: async () => deps.analytics.check(),
    counters: async () => deps.counters.check(),
    mail: async () => deps.mail.check(),
    jobs: () => checkJobs(deps.pool),
  }
  return Object.entries(checks).map(([name, check]) => [
    name,
    watched(check, ESSENTIAL.includes(name) ? 'failing' : 'degraded'),
  ])
}

/**
 * Requests a row. If the check is given up, closes its connection: a connection whose packets were dropped can stay silent
 * for long after the database responds again, and the next check needs another one. A damaged page makes some requests fail;
 * `depot doctor --fix` removes the record when nothing is damaged.
 */
async function checkDatabase(pool: Pick<Deps['pool'], 'connect'>, givenUp: AbortSignal): Promise<Degraded | undefined> {
  const client = await pool.connect()
  let isOpen = true
  const release = (isLost: boolean) => {
    if (isOpen) client.release(isLost)
    isOpen = false
  }
  givenUp.addEventListener('abort', () => release(true))
  try {
    await client.query('select 1')
    const found = client.query<{ damaged_at: Date | null }>('select damaged_at from instance_copy')
    // The schema might be older.
    const damagedAt = (await found.catch(() => undefined))?.rows[0]?.damaged_at ?? null
    return damagedAt === null ? undefined : { status: 'degraded', state: 'damaged' }
  } finally {
    release(false)
  }
}

/** A quiet copy runs no jobs and sends nothing. */
async function checkJobs(pool: Pick<Deps['pool'], 'query'>): Promise<Degraded | undefined> {
  try {
    const { rows } = await pool.query('select 1 from instance_copy where quiet_since is not null')
    return rows.length > 0 ? { status: 'degraded', state: 'quiet' } : undefined
  } catch {
    // The check of the database reports why it failed.
    return undefined
  }
}

/** An index that is being opened or built is not a failure, because everything except search works. */
async function checkSearch({ search }: Pick<Deps, 'search'>): Promise<string> {
  const { state, error } = await search.state()
  if (state === 'failing') throw new Error(error)
  return state
}

/** The result of a check of a part that works in parts. */
type Degraded = { status: 'degraded'; state: string }

const isDegraded = (result: unknown): result is Degraded =>
  typeof result === 'object' && result !== null && 'status' in result && result.status === 'degraded'

/** `givenUp` aborts when the check has taken too long. A check can ignore it. */
type Check = (givenUp: AbortSignal) => Promise<unknown>

type RunningCheck = { done: Promise<Checked>; waitedMs: number; giveUp(): void }

/**
 * Returns a function that runs a check, or joins the running one, and waits for at most `slowMs`. `failure` is the status
 * if the check fails or takes longer than `lostMs`.
 */
function watched(check: Check, failure: 'failing' | 'degraded'): (times: Times) => Promise<Checked> {
  let running: RunningCheck | undefined

  function begin(beatMs: number): RunningCheck {
    const over = new AbortController()
    const own = { done: outcome(() => check(over.signal), failure), waitedMs: 0, giveUp: () => over.abort() }
    const beat = setInterval(() => {
      own.waitedMs += beatMs
    }, beatMs)
    beat.unref()
    void own.done.then(() => {
      clearInterval(beat)
      running = undefined
    })
    return own
  }

  return async ({ slowMs, lostMs }) => {
    running ??= begin(Math.min(BEAT_MS, lostMs / 4))
    const { done } = running
    const own = running
    const over = new AbortController()
    const waiting = async (): Promise<Checked> => {
      while (!over.signal.aborted) {
        await sleep(Math.min(slowMs, 100), undefined, { signal: over.signal }).catch(() => undefined)
        // Results that arrived while the process did not run are read first.
        await setImmediate()
        if (own.waitedMs >= lostMs) {
          own.giveUp()
          return { status: failure, error: `no response within ${lostMs} ms` }
        }
        if (own.waitedMs >= slowMs) return { status: 'slow' }
      }
      return done
    }
    return Promise.race([done, waiting()]).finally(() => over.abort())
  }
}

async function outcome(check: () => Promise<unknown>, failure: 'failing' | 'degraded'): Promise<Checked> {
  try {
    const state = await check()
    if (isDegraded(state)) return state
    return { status: 'ok', ...(typeof state === 'string' ? { state } : {}) }
  } catch (error) {
    return { status: failure, error: reasonOf(error) }
  }
}
