// Test support: a solver as short as possible, which tries everything and checks each selection from the start.
import type { Candidate, SolverItem, SolverRequest } from '#features/catalogue/resolve/solve/world.ts'

type Choice = { projectId: string; version: Candidate | undefined }
type Outcome = {
  exact: boolean
  /** `none` for an item that is neither chosen nor kept. */
  items: { state: string; versionId: string | null }[]
  chosen: string[]
}

export function naiveSolve(request: SolverRequest): Outcome {
  const dead = impossible(request)
  const own = new Map<SolverItem, string>()
  const named = new Map<string, string>()
  const isAlive = (version: Candidate | undefined): boolean => version !== undefined && !dead.has(version.id)
  for (const { projectId, versionId } of request.items) {
    const version = request.world.get(projectId)?.byId.get(versionId ?? '')
    if (isAlive(version) && !named.has(projectId)) named.set(projectId, version?.id ?? '')
  }
  const possible: SolverItem[] = []
  for (const item of request.items) {
    const { projectId, versionId } = item
    const project = request.world.get(projectId)
    const first = named.get(projectId)
    const kept = request.strategy === 'minimal' ? [project?.byId.get(request.keep.get(projectId) ?? '')] : []
    const candidates = versionId === undefined ? [...kept, ...(project?.listed ?? [])] : [project?.byId.get(versionId)]
    if (first !== undefined && (versionId ?? first) === first) possible.push(item)
    else if (!candidates.some(isAlive)) own.set(item, 'impossible')
    else if (first === undefined) possible.push(item)
    else own.set(item, 'conflict')
  }
  const all = first(request, dead, { frozen: [], roots: possible.map(({ projectId }) => projectId), fixed: named })
  let choices = all ?? []
  if (all === undefined) {
    const fixed = new Map<string, string>()
    for (const item of possible) {
      const chosen = chosenIn(choices, item.projectId)
      const wanted = named.get(item.projectId)
      if (chosen !== undefined) {
        if (wanted !== undefined && wanted !== chosen.id) own.set(item, 'conflict')
        continue
      }
      if (wanted !== undefined) fixed.set(item.projectId, wanted)
      const next = first(request, dead, { frozen: choices, roots: [item.projectId], fixed })
      if (next === undefined) {
        fixed.delete(item.projectId)
        own.set(item, 'conflict')
      } else choices = next
    }
  }
  return {
    exact: all !== undefined,
    items: request.items.map((item) => toState(request, choices, item, own.get(item))),
    chosen: choices
      .flatMap(({ version }) => version ?? [])
      .sort((a, b) => (a.projectId < b.projectId ? -1 : 1))
      .map(({ id }) => id),
  }
}

function toState({ keep }: SolverRequest, choices: Choice[], item: SolverItem, state: string | undefined) {
  const version = chosenIn(choices, item.projectId)
  const isNamed = item.versionId === undefined && version !== undefined
  if (state !== undefined && !isNamed) return { state: 'none', versionId: null }
  return { state: keep.get(item.projectId) === version?.id ? 'kept' : 'chosen', versionId: version?.id ?? null }
}

const chosenIn = (choices: readonly Choice[], projectId: string): Candidate | undefined =>
  choices.find((choice) => choice.projectId === projectId && choice.version !== undefined)?.version

type Start = { frozen: readonly Choice[]; roots: readonly string[]; fixed: ReadonlyMap<string, string> }

/** Returns the first selection that contains the roots, in the order of the search. */
function first(request: SolverRequest, dead: ReadonlySet<string>, start: Start): Choice[] | undefined {
  const visit = (choices: readonly Choice[]): Choice[] | undefined => {
    const next = nextProject(choices, start)
    if (next === undefined) return [...choices]
    const { projectId, isRoot } = next
    if (!isRoot && isProvided(request, choices, projectId))
      return visit([...choices, { projectId, version: undefined }])
    for (const version of orderOf(request, choices, projectId, start)) {
      if (dead.has(version.id) || !isAllowed(request, choices, version)) continue
      const found = visit([...choices, { projectId, version }])
      if (found !== undefined) return found
    }
    return undefined
  }
  return visit(start.frozen)
}

/** Returns the first root without a version, otherwise the first required project without a decision. */
function nextProject(choices: readonly Choice[], { roots }: Start) {
  const root = roots.find((id) => chosenIn(choices, id) === undefined)
  if (root !== undefined) return { projectId: root, isRoot: true }
  const decided = new Set(choices.map(({ projectId }) => projectId))
  for (const { version } of choices) {
    for (const { kind, projectId } of version?.dependencies ?? []) {
      if (kind === 'required' && projectId !== null && !decided.has(projectId)) return { projectId, isRoot: false }
    }
  }
  return undefined
}

function isProvided({ pins }: SolverRequest, choices: readonly Choice[], id: string): boolean {
  return (
    pins === 'prefer' &&
    choices.some(({ version }) =>
      version?.dependencies.some(({ kind, projectId }) => kind === 'embedded' && projectId === id),
    )
  )
}

function orderOf(request: SolverRequest, choices: readonly Choice[], id: string, { fixed }: Start): Candidate[] {
  const project = request.world.get(id)
  if (project === undefined) return []
  const only = fixed.get(id)
  if (only !== undefined) return [...project.byId.values()].filter((version) => version.id === only)
  const kept = request.strategy === 'minimal' ? [request.keep.get(id)] : []
  const pinned = choices
    .flatMap(({ version }) => (version?.projectId === id ? [] : (version?.dependencies ?? [])))
    .filter(({ kind, projectId, versionId }) => kind === 'required' && projectId === id && versionId !== null)
    .flatMap(({ versionId }) => project.byId.get(versionId ?? '') ?? [])
    .sort((a, b) => b.published - a.published)
  return [...new Set([...kept.flatMap((each) => project.byId.get(each ?? '') ?? []), ...pinned, ...project.listed])]
}

/** Compares each pair of versions. */
function isAllowed({ pins }: SolverRequest, choices: readonly Choice[], version: Candidate): boolean {
  const excludes = (a: Candidate, b: Candidate): boolean =>
    a.dependencies.some(({ kind, projectId, versionId }) => {
      if (projectId !== b.projectId) return false
      if (kind === 'incompatible') return a.projectId !== b.projectId && (versionId ?? b.id) === b.id
      return kind === 'required' && pins === 'strict' && (versionId ?? b.id) !== b.id
    })
  const others = choices.flatMap((choice) => choice.version ?? [])
  return !excludes(version, version) && others.every((other) => !excludes(other, version) && !excludes(version, other))
}

/** Removes versions until each one left has a possible version of each requirement, or something could embed it. */
function impossible({ world, pins }: SolverRequest): Set<string> {
  const dead = new Set<string>()
  const all = [...world.values()].flatMap(({ byId }) => [...byId.values()])
  const embedded = all.flatMap(({ dependencies }) => dependencies.filter(({ kind }) => kind === 'embedded'))
  for (let before = -1; before !== dead.size; ) {
    before = dead.size
    for (const { id, dependencies } of all) {
      const lacks = dependencies.some(({ kind, projectId, versionId }) => {
        if (kind !== 'required' || projectId === null) return false
        const isStrictPin = pins === 'strict' && versionId !== null
        const left = [...(world.get(projectId)?.byId.values() ?? [])].filter((other) => !dead.has(other.id))
        if (isStrictPin) return !left.some((other) => other.id === versionId)
        return left.length === 0 && (pins === 'strict' || !embedded.some((other) => other.projectId === projectId))
      })
      if (lacks) dead.add(id)
    }
  }
  return dead
}
