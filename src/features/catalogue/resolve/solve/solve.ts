// The solver: a pure function from a world and a request to a solution. The same input always has the same output.
import { compare } from '#lib/compare.ts'
import { type Eliminated, eliminate, explain, isRequirement, lackOf, listEmbedded } from './eliminate.ts'
import { search, WORK_PER_TURN } from './search.ts'
import { baseDomain, type Clash, Selection } from './selection.ts'
import type { Because, Candidate, Solution, SolvedItem, SolverItem, SolverRequest } from './world.ts'

/** Default number of choices of the exact search: 100 to 200 milliseconds. */
export const BUDGET = 20_000
/** Dead ends of one item in the fallback, and of all items together. */
const DEAD_ENDS_PER_ITEM = 1000
const DEAD_ENDS_MAX = 20_000
const BECAUSE_MAX = 16
/** Dependencies that the exact search looks at, and those that the fallback looks at. */
const WORK_MAX = 4_000_000
const FALLBACK_WORK_MAX = 20_000_000

/**
 * Chooses a version for each item and for everything that the versions require. Earlier items get their best possible
 * version first. If there is no solution for all items, or the budget is used up, adds the items in order, each with its
 * requirements, to the choices before: an item that cannot join is a conflict. Yields when other work should have a turn.
 */
export function* solveInSteps(request: SolverRequest): Generator<undefined, Solution> {
  const { world } = request
  const embedded = yield* listEmbedded(world)
  yield
  const dead = yield* eliminate(request, embedded)
  yield
  const { possible, failed } = partition(request, dead)
  const dependsOnAll = (projectId: string): boolean => {
    const project = world.get(projectId)
    return embedded.has(projectId) || (project !== undefined && project.byId.size > baseDomain(request, project).length)
  }
  const selection = startSelection(request, dead, possible)
  for (const { projectId } of possible) selection.request(projectId)
  const nodesMax = request.budget ?? BUDGET
  const { isFound, rejected } = yield* search(selection, {
    nodesMax,
    deadEndsMax: Infinity,
    workMax: WORK_MAX,
    dependsOnAll,
  })
  if (isFound) {
    const items = [...failed, ...possible.map((item) => toChosen(request, selection, item))]
    return yield* summarize(request, selection, {
      items,
      exact: true,
      isFirstChoice: rejected === 0 && dead.size === 0,
    })
  }
  const fallback = startSelection(request, dead, [])
  const items = yield* addInOrder(request, fallback, { possible, dependsOnAll })
  return yield* summarize(request, fallback, { items: [...failed, ...items], exact: false, isFirstChoice: false })
}

/** Solves without a pause. */
export function solve(request: SolverRequest): Solution {
  const steps = solveInSteps(request)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

function startSelection(request: SolverRequest, dead: Eliminated, items: readonly SolverItem[]): Selection {
  const selection = new Selection(request, dead)
  for (const { projectId, versionId } of items) {
    if (versionId !== undefined) selection.fixed.set(projectId, versionId)
  }
  return selection
}

/** Separates the items that cannot be solved whatever the others are, and those that name another version of a project. */
function partition(request: SolverRequest, dead: Eliminated): { possible: SolverItem[]; failed: SolvedItem[] } {
  const named = nameVersions(request, dead)
  const possible: SolverItem[] = []
  const failed: SolvedItem[] = []
  for (const item of request.items) {
    const { index, projectId, versionId } = item
    const first = named.get(projectId)
    const candidates = candidatesOf(request, item)
    const isPossible = candidates.some((candidate) => !dead.has(candidate))
    if (first !== undefined && (versionId ?? first.versionId) === first.versionId) possible.push(item)
    else if (!isPossible) failed.push({ index, projectId, ...explain(request, dead, { projectId, candidates }) })
    else if (first === undefined) possible.push(item)
    else {
      const because = [first, item].map((side) => ({
        item: side.index,
        requires: { project_id: projectId, version_id: side.versionId ?? null },
      }))
      failed.push({ index, projectId, state: 'conflict', because })
    }
  }
  return { possible, failed }
}

/** Returns the first item of each project that names a possible version. */
function nameVersions(request: SolverRequest, dead: Eliminated): Map<string, SolverItem> {
  const named = new Map<string, SolverItem>()
  for (const item of request.items) {
    if (item.versionId === undefined || named.has(item.projectId)) continue
    if (candidatesOf(request, item).some((candidate) => !dead.has(candidate))) named.set(item.projectId, item)
  }
  return named
}

/** The candidates of an item, without those that only a pin adds, which the search finds. */
function candidatesOf(request: SolverRequest, { projectId, versionId }: SolverItem): readonly Candidate[] {
  const project = request.world.get(projectId)
  if (project === undefined) return []
  if (versionId === undefined) return baseDomain(request, project)
  const named = project.byId.get(versionId)
  return named === undefined ? [] : [named]
}

function* addInOrder(
  request: SolverRequest,
  selection: Selection,
  { possible, dependsOnAll }: { possible: readonly SolverItem[]; dependsOnAll: (projectId: string) => boolean },
): Generator<undefined, SolvedItem[]> {
  const items: SolvedItem[] = []
  // An item that names a version decides for all items of the project, also for those before it.
  const versions = new Map(possible.flatMap((item) => (item.versionId ? [[item.projectId, item.versionId]] : [])))
  let deadEnds = 0
  let turnAt = selection.work + WORK_PER_TURN
  for (const item of possible) {
    if (selection.work > turnAt) {
      yield
      turnAt = selection.work + WORK_PER_TURN
    }
    const { index, projectId } = item
    const versionId = versions.get(projectId)
    const before = selection.decisions.length
    const chosen = selection.chosenOf(projectId)
    if (chosen !== undefined) {
      const isWanted = versionId === undefined || chosen.id === versionId
      items.push(isWanted ? toChosen(request, selection, item) : clashOfVersions(selection, item, chosen))
      continue
    }
    if (versionId !== undefined) selection.fixed.set(projectId, versionId)
    selection.request(projectId)
    const clashes: Because[] = []
    let lack: SolvedItem | undefined
    const onLack = (lacking: string, cause: number): void => {
      lack ??= { index, projectId, ...lackOf(request.world, lacking), because: selection.pathTo(cause, lacking) }
    }
    const onClash = (clash: Clash): void => {
      if (clashes.length < BECAUSE_MAX) clashes.push(...selection.nameSides(clash, index))
    }
    const deadEndsMax = Math.min(DEAD_ENDS_PER_ITEM, Math.max(0, DEAD_ENDS_MAX - deadEnds))
    const result = yield* search(selection, {
      nodesMax: Infinity,
      deadEndsMax,
      workMax: FALLBACK_WORK_MAX,
      dependsOnAll,
      onClash,
      onLack,
    })
    deadEnds += result.deadEnds
    if (result.isFound) items.push(toChosen(request, selection, item))
    else {
      selection.undoTo(before)
      selection.dropUndecided()
      selection.fixed.delete(projectId)
      const because = [...new Map(clashes.map((each) => [JSON.stringify(each), each])).values()]
      const conflict: SolvedItem = { index, projectId, state: 'conflict', because: because.slice(0, BECAUSE_MAX) }
      items.push(clashes.length === 0 && lack !== undefined ? lack : conflict)
    }
  }
  return items
}

/** An item names a version of a project of which an earlier item requires another. */
function clashOfVersions(selection: Selection, item: SolverItem, chosen: Candidate): SolvedItem {
  const { index, projectId, versionId = null } = item
  const requirers = selection
    .listRequirements()
    .filter(({ dependency }) => dependency.projectId === projectId)
    .map(({ version }) => ({ version_id: version.id, requires: { project_id: projectId, version_id: chosen.id } }))
  const own = { item: index, requires: { project_id: projectId, version_id: versionId } }
  return { index, projectId, state: 'conflict', because: [...requirers.slice(0, BECAUSE_MAX - 1), own] }
}

function isNamedBy({ items }: SolverRequest, selection: Selection, { index, projectId }: SolvedItem): boolean {
  const item = items.find((each) => each.index === index)
  return item?.versionId === undefined && selection.chosenOf(projectId) !== undefined
}

function toChosen(
  { keep }: SolverRequest,
  selection: Selection,
  { index, projectId }: Pick<SolverItem, 'index' | 'projectId'>,
): SolvedItem {
  const version = selection.chosenOf(projectId)
  if (version === undefined) throw new Error(`No version of ${projectId} is chosen`)
  const state = keep.get(projectId) === version.id ? 'kept' : 'chosen'
  return { index, state, projectId, versionId: version.id }
}

function* summarize(
  request: SolverRequest,
  selection: Selection,
  { items, exact, isFirstChoice }: { items: SolvedItem[]; exact: boolean; isFirstChoice: boolean },
): Generator<undefined, Solution> {
  yield
  const versions = selection.decisions.filter((candidate) => candidate !== undefined)
  const requirements = selection.listRequirements()
  const requiredBy = new Map<string, Set<string>>()
  for (const { version, dependency } of requirements) addTo(requiredBy, dependency.projectId, version.id)
  yield
  const embeddedBy = new Map<string, Set<string>>()
  const suggestedBy = new Map<string, Set<string>>()
  const externalFor = new Map<string, Set<string>>()
  for (const version of versions) {
    for (const { kind, projectId, fileName } of version.dependencies) {
      if (kind === 'embedded' && projectId !== null) addTo(embeddedBy, projectId, version.id)
      if (kind === 'required' && projectId === null && fileName !== null) addTo(externalFor, fileName, version.id)
      if (kind === 'optional' && projectId !== null && selection.chosenOf(projectId) === undefined)
        addTo(suggestedBy, projectId, version.id)
    }
  }
  yield
  const chosen = selection.decisions.flatMap((candidate, position) => {
    if (candidate === undefined) return []
    const first = selection.firsts[position]?.id ?? candidate.id
    const insteadOf = first === candidate.id ? null : first
    return { candidate, insteadOf, requiredBy: sorted(requiredBy.get(candidate.projectId)) }
  })
  yield
  // A project that could not be chosen for its own item can be chosen because another item pins or requires a version of it.
  const settled = items.map((item) =>
    item.versionId === undefined && isNamedBy(request, selection, item) ? toChosen(request, selection, item) : item,
  )
  const unmetPins = listUnmetPins(selection, versions)
  yield
  return {
    items: settled.sort((a, b) => a.index - b.index),
    chosen: chosen.sort((a, b) => compare(a.candidate.projectId, b.candidate.projectId)),
    exact,
    isFirstChoice,
    unmetPins,
    suggested: byKey(suggestedBy).map(([projectId, by]) => ({ projectId, suggestedBy: by })),
    external: byKey(externalFor).map(([fileName, by]) => ({ fileName, requiredBy: by })),
    provided: byKey(requiredBy)
      .filter(([projectId]) => selection.chosenOf(projectId) === undefined)
      .map(([projectId, by]) => ({ projectId, requiredBy: by, by: sorted(embeddedBy.get(projectId)) })),
  }
}

function listUnmetPins(selection: Selection, versions: readonly Candidate[]): Solution['unmetPins'] {
  const embedded = new Set(
    versions.flatMap(({ dependencies }) =>
      dependencies.flatMap(({ kind, versionId }) => (kind === 'embedded' && versionId !== null ? [versionId] : [])),
    ),
  )
  return versions
    .flatMap(({ id, dependencies }) =>
      dependencies.filter(isRequirement).flatMap(({ projectId, versionId: pin }) => {
        const chosen = selection.chosenOf(projectId)?.id ?? null
        const isMet = pin === null || chosen === pin || (chosen === null && embedded.has(pin))
        return isMet ? [] : [{ versionId: id, projectId, pin, chosen }]
      }),
    )
    .sort((a, b) => compare(a.projectId, b.projectId) || compare(a.versionId, b.versionId) || compare(a.pin, b.pin))
}

function addTo(map: Map<string, Set<string>>, key: string, value: string): void {
  const values = map.get(key)
  if (values === undefined) map.set(key, new Set([value]))
  else values.add(value)
}

const sorted = (values: ReadonlySet<string> | undefined): string[] => [...(values ?? [])].sort(compare)

const byKey = (map: ReadonlyMap<string, ReadonlySet<string>>): [string, string[]][] =>
  Array.from(map, ([key, values]): [string, string[]] => [key, sorted(values)]).sort(([a], [b]) => compare(a, b))
