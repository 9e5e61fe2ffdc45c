// Finds the candidates that no selection can contain, because something that they require has no candidate at all.
import type { Because, Candidate, SolverRequest, World, WorldDependency } from './world.ts'

/** Reason of an impossible candidate. */
type Dead = { requires: WorldDependency & { projectId: string } } | 'limit'

export type Eliminated = ReadonlyMap<Candidate, Dead>

/** Number of dependencies between two yields: about a millisecond. */
const WORK_PER_TURN = 5000

/** Returns the projects that any candidate embeds. Yields when other work should have a turn. */
export function* listEmbedded(world: World): Generator<undefined, Set<string>> {
  const embedded = new Set<string>()
  let work = 0
  for (const { byId } of world.values()) {
    if (work > WORK_PER_TURN) {
      yield
      work = 0
    }
    for (const { dependencies } of byId.values()) work += 1 + dependencies.length
    for (const { dependencies } of byId.values()) {
      for (const { kind, projectId } of dependencies)
        if (kind === 'embedded' && projectId !== null) embedded.add(projectId)
    }
  }
  return embedded
}

/** Returns the impossible candidates. A cycle of requirements alone makes no candidate impossible. Yields like the search. */
export function* eliminate(
  { world, pins }: Pick<SolverRequest, 'world' | 'pins'>,
  embedded: ReadonlySet<string>,
): Generator<undefined, Eliminated> {
  const dead = new Map<Candidate, Dead>()
  const dependents = new Map<string, { candidate: Candidate; dependency: WorldDependency & { projectId: string } }[]>()
  const alive = new Map<string, number>()
  const queue: string[] = []
  const kill = (candidate: Candidate, reason: Dead): void => {
    if (dead.has(candidate)) return
    dead.set(candidate, reason)
    alive.set(candidate.projectId, (alive.get(candidate.projectId) ?? 0) - 1)
    queue.push(candidate.projectId)
  }
  for (const { id, byId } of world.values()) alive.set(id, byId.size)
  const isImpossible = ({ projectId, versionId }: WorldDependency & { projectId: string }): boolean => {
    if (pins === 'strict' && versionId !== null) {
      const pinned = world.get(projectId)?.byId.get(versionId)
      return pinned === undefined || dead.has(pinned)
    }
    return (alive.get(projectId) ?? 0) === 0 && (pins === 'strict' || !embedded.has(projectId))
  }
  let work = 0
  for (const { byId } of world.values()) {
    if (work > WORK_PER_TURN) {
      yield
      work = 0
    }
    for (const candidate of byId.values()) {
      work += 1 + candidate.dependencies.length
      if (!candidate.isRead) kill(candidate, 'limit')
      for (const dependency of candidate.dependencies) {
        if (!isRequirement(dependency)) continue
        const named = dependents.get(dependency.projectId)
        if (named === undefined) dependents.set(dependency.projectId, [{ candidate, dependency }])
        else named.push({ candidate, dependency })
        if (isImpossible(dependency)) kill(candidate, { requires: dependency })
      }
    }
  }
  for (let next = 0; next < queue.length; next += 1) {
    if (next % 500 === 499) yield
    for (const { candidate, dependency } of dependents.get(queue[next] ?? '') ?? []) {
      if (isImpossible(dependency)) kill(candidate, { requires: dependency })
    }
  }
  return dead
}

export function isRequirement(dependency: WorldDependency): dependency is WorldDependency & { projectId: string } {
  return dependency.kind === 'required' && dependency.projectId !== null
}

type Explanation = { state: 'no_version' | 'missing' | 'limit'; because: Because[]; lacking?: string }

/** Returns what a project, none of whose candidates is possible, lacks in the end, and the requirements that lead there. */
export function explain(
  { world, pins }: Pick<SolverRequest, 'world' | 'pins'>,
  dead: Eliminated,
  start: { projectId: string; candidates: readonly Candidate[] },
): Explanation {
  const because: Because[] = []
  let { projectId, candidates } = start
  for (;;) {
    const candidate = candidates[0]
    const reason = candidate && dead.get(candidate)
    if (candidate === undefined || reason === undefined) return { ...lackOf(world, projectId), because }
    if (reason === 'limit') return { state: 'limit', because }
    const { projectId: required, versionId } = reason.requires
    because.push({ version_id: candidate.id, requires: { project_id: required, version_id: versionId } })
    const project = world.get(required)
    if (pins === 'strict' && versionId !== null) {
      const pinned = project?.byId.get(versionId)
      if (pinned === undefined) return { state: project?.state === 'limit' ? 'limit' : 'missing', because }
      candidates = [pinned]
    } else {
      candidates = project === undefined ? [] : [...project.listed, ...project.byId.values()]
    }
    projectId = required
  }
}

export function lackOf(world: World, projectId: string): Omit<Explanation, 'because'> {
  const state = world.get(projectId)?.state ?? 'hidden'
  if (state === 'hidden') return { state: 'missing' }
  return state === 'limit' ? { state } : { state: 'no_version', lacking: projectId }
}
