// The state of everything that Depot depends on, for /ready and `depot check`.
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { Deps } from '#ports/deps.ts'

const DependencyState = Type.Object({
  status: Type.Enum(['ok', 'slow', 'failing'], {
    description: '`slow` has not answered yet, which a busy machine may be the cause of; it counts as ready',
  }),
  state: Type.Optional(Type.String({ description: 'More about its state' })),
})

/** With the reason of a failure, which only the operator reads: /ready is public. */
type Checked = Static<typeof DependencyState> & { error?: string }

export const Readiness = Type.Object(
  {
    status: Type.Enum(['ready', 'unavailable']),
    dependencies: Type.Record(Type.String(), DependencyState),
  },
  { title: 'Readiness' },
)

/** Who asks: `balancer` wants to know whether this server is the one to turn away from. */
export const ReadinessQuery = Type.Object({
  for: Type.Optional(
    Type.Enum(['balancer'], {
      description:
        'Only the database, without which nothing can be answered, and files where they are in a folder of the ' +
        'server. A file store that all servers share would take away all of them at once. Unset: everything',
    }),
  ),
})

export type Audience = Static<typeof ReadinessQuery>['for']

/** After this time a check that still runs is `slow`. */
const SLOW_MS = 3_000
/** After this time it is `failing`: a connection that is cut without a word never answers. */
const LOST_MS = 30_000
/** Of the time between two beats no more than this counts: in the rest the process did not run and could not listen. */
const BEAT_MS = 1_000
/** Checks write and open connections, and /ready is not limited: requests within this time share one round. */
const SHARED_MS = 500

type CheckedDeps = Pick<Deps, 'db' | 'files' | 'search' | 'analytics' | 'counters' | 'mail' | 'config'>
type Dependencies = { status: 'ready' | 'unavailable'; dependencies: Record<string, Checked> }
type Times = { slowMs: number; lostMs: number }

/**
 * `checkDependencies` for /ready, with an end: each audience shares its rounds, and a check that has not ended is waited
 * for and not begun again. Reasons of failures go to the log.
 */
export function sharedChecks(
  deps: CheckedDeps & Pick<Deps, 'log'>,
  times: Times = { slowMs: SLOW_MS, lostMs: LOST_MS },
): (audience?: Audience) => Promise<Dependencies> {
  const checks = Object.entries(checksOf(deps)).map(([name, check]) => [name, watched(check, times)] as const)
  const forBalancer = deps.config.files.store.kind === 'folder' ? ['database', 'files'] : ['database']
  const rounds = new Map<Audience, Promise<Dependencies>>()
  const round = async (audience: Audience): Promise<Dependencies> => {
    const asked = checks.filter(([name]) => audience === undefined || forBalancer.includes(name))
    const states = await Promise.all(asked.map(async ([name, look]) => [name, await look()] as const))
    const result = summary(Object.fromEntries(states))
    for (const [dependency, { error }] of Object.entries(result.dependencies)) {
      if (error !== undefined) deps.log.warn({ dependency, reason: error }, `Not ready: ${dependency} fails`)
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

/** Checks all dependencies in parallel, each for as long as it takes to call it lost. */
export async function checkDependencies(deps: CheckedDeps): Promise<Dependencies> {
  const times = { slowMs: LOST_MS, lostMs: LOST_MS }
  const states = await Promise.all(
    Object.entries(checksOf(deps)).map(async ([name, check]) => [name, await watched(check, times)()] as const),
  )
  return summary(Object.fromEntries(states))
}

/** What /ready says from the moment on at which the process is asked to stop. */
export const STOPPING: Dependencies = {
  status: 'unavailable',
  dependencies: { server: { status: 'failing', state: 'stopping' } },
}

function summary(dependencies: Record<string, Checked>): Dependencies {
  const failing = Object.values(dependencies).some(({ status }) => status === 'failing')
  return { status: failing ? 'unavailable' : 'ready', dependencies }
}

function checksOf(deps: CheckedDeps): Record<string, () => Promise<unknown>> {
  return {
    database: () => sql`select 1`.execute(deps.db),
    files: async () => deps.files.check(),
    search: () => checkSearch(deps),
    analytics: async () => deps.analytics.check(),
    counters: async () => deps.counters.check(),
    mail: async () => deps.mail.check(),
  }
}

/** An index that is opened or built for the first time is no failure: everything else works meanwhile. */
async function checkSearch({ search }: Pick<Deps, 'search'>): Promise<string> {
  const { state, error } = await search.state()
  if (state === 'failing') throw new Error(error)
  return state
}

/** Runs a check, or goes on waiting for the one that runs, until `slowMs` have passed. */
function watched(check: () => Promise<unknown>, { slowMs, lostMs }: Times): () => Promise<Checked> {
  let running: { done: Promise<Checked>; waitedMs: number } | undefined

  function begin(): { done: Promise<Checked>; waitedMs: number } {
    const own = { done: outcome(check), waitedMs: 0 }
    let before = performance.now()
    const beatMs = Math.min(BEAT_MS, lostMs / 4)
    const beat = setInterval(() => {
      const now = performance.now()
      own.waitedMs += Math.min(now - before, 2 * beatMs)
      before = now
    }, beatMs)
    beat.unref()
    void own.done.then(() => {
      clearInterval(beat)
      running = undefined
    })
    return own
  }

  return async () => {
    running ??= begin()
    const { done } = running
    const own = running
    const over = new AbortController()
    const waiting = async (): Promise<Checked> => {
      while (!over.signal.aborted) {
        await sleep(Math.min(slowMs, 100), undefined, { signal: over.signal }).catch(() => undefined)
        if (own.waitedMs >= lostMs) return { status: 'failing', error: `no answer within ${lostMs} ms` }
        if (own.waitedMs >= slowMs) return { status: 'slow' }
      }
      return done
    }
    return Promise.race([done, waiting()]).finally(() => over.abort())
  }
}

async function outcome(check: () => Promise<unknown>): Promise<Checked> {
  try {
    const doing = await check()
    return { status: 'ok', ...(typeof doing === 'string' ? { state: doing } : {}) }
  } catch (error) {
    return { status: 'failing', error: error instanceof Error ? error.message : String(error) }
  }
}
