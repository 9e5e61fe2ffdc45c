// The state of everything that Depot depends on, for /ready and `depot check`.
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { Deps } from '#main/deps.ts'

const DependencyState = Type.Object({
  status: Type.Enum(['ok', 'failing']),
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

const CHECK_TIMEOUT_MS = 3_000
/** Checks write and open connections, and /ready is not limited: requests within this time share one round. */
const SHARED_MS = 500

type CheckedDeps = Pick<Deps, 'db' | 'files' | 'search' | 'analytics' | 'counters' | 'mail'>
type Dependencies = { status: 'ready' | 'unavailable'; dependencies: Record<string, Checked> }

/** `checkDependencies` for /ready; reasons of failures go to the log. */
export function sharedChecks(deps: CheckedDeps & Pick<Deps, 'log'>): () => Promise<Dependencies> {
  let round: Promise<Dependencies> | undefined
  const check = async (): Promise<Dependencies> => {
    const result = await checkDependencies(deps)
    for (const [dependency, { error }] of Object.entries(result.dependencies)) {
      if (error !== undefined) deps.log.warn({ dependency, reason: error }, `Not ready: ${dependency} fails`)
    }
    return result
  }
  return () => {
    if (round === undefined) {
      round = check()
      const forget = () => {
        setTimeout(() => {
          round = undefined
        }, SHARED_MS).unref()
      }
      round.then(forget, forget)
    }
    return round
  }
}

/** Checks all dependencies in parallel, each for at most three seconds. */
export async function checkDependencies(deps: CheckedDeps): Promise<Dependencies> {
  const checks: Record<string, () => Promise<unknown>> = {
    database: () => sql`select 1`.execute(deps.db),
    files: async () => deps.files.check(),
    search: () => checkSearch(deps),
    analytics: () => deps.analytics.check(),
    counters: async () => deps.counters.check(),
    mail: async () => deps.mail.check(),
  }
  const states = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await state(check)] as const),
  )
  const failing = states.some(([, { status }]) => status === 'failing')
  return { status: failing ? 'unavailable' : 'ready', dependencies: Object.fromEntries(states) }
}

/** An index that is opened or built for the first time is no failure: everything else works meanwhile. */
async function checkSearch({ search }: Pick<Deps, 'search'>): Promise<string> {
  const { state, error } = await search.state()
  if (state === 'failing') throw new Error(error)
  return state
}

async function state(check: () => Promise<unknown>): Promise<Checked> {
  let timer: NodeJS.Timeout | undefined
  const tooSlow = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${CHECK_TIMEOUT_MS} ms`)), CHECK_TIMEOUT_MS)
  })
  try {
    const doing = await Promise.race([check(), tooSlow])
    return { status: 'ok', ...(typeof doing === 'string' ? { state: doing } : {}) }
  } catch (error) {
    return { status: 'failing', error: error instanceof Error ? error.message : String(error) }
  } finally {
    clearTimeout(timer)
  }
}
