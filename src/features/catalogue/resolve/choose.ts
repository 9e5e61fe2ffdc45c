// Loads what a request can reach, and solves it: the one way in which Depot chooses versions that fit together.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Db } from '#platform/db/db.ts'
import { loadWorld, type WorldRequest } from './load/load-world.ts'
import { solveInSteps } from './solve/solve.ts'
import type { Solution, SolverRequest, World } from './solve/world.ts'

/** Candidates of each project, if the first candidates do not fit together. */
const CANDIDATES_MAX = 20
/** Maximum time before other requests get a turn. */
const TURN_MS = 5

export type ChoiceRequest = Omit<SolverRequest, 'world' | 'budget'> &
  Pick<WorldRequest, 'target' | 'viewer' | 'skipsUnavailable'>

/** Returns the choice, and the projects on which it depends. */
export async function choose(db: Db, request: ChoiceRequest): Promise<{ solution: Solution; world: World }> {
  const solveWith = async (candidatesMax: number) => {
    const world = await loadWorld(db, { ...request, kept: request.keep, candidatesMax })
    return { world, solution: await solveInTurns({ ...request, world }) }
  }
  // The first candidates are enough if they fit together: the search would choose them among any number of candidates.
  const first = await solveWith(1)
  return first.solution.isFirstChoice ? first : solveWith(CANDIDATES_MAX)
}

/** Gives other requests a turn between the steps. */
async function solveInTurns(request: SolverRequest): Promise<Solution> {
  const steps = solveInSteps(request)
  for (let startedAt = performance.now(); ; ) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (performance.now() - startedAt < TURN_MS) continue
    await nextTurn()
    startedAt = performance.now()
  }
}
