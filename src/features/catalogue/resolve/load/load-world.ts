// Loads the projects that a request can reach, level by level: the items, then everything that their candidates require.
// Each level costs the same number of statements, however many projects it has.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Viewer } from '#features/basics/access/viewer.ts'
import type { Db } from '#platform/db/db.ts'
import type { Candidate, SolverItem, World, WorldDependency, WorldProject } from '../solve/world.ts'
import { listCandidates, listDependencies, listNamed } from './queries.ts'
import type { Target } from './target.ts'

/** Maximum number of projects, and of steps from an item to a requirement. */
export const PROJECTS_MAX = 5000
export const LEVELS_MAX = 40
/** Maximum number of dependencies of all candidates together. */
const DEPENDENCIES_MAX = 200_000
/** Dependencies between two turns of other work. */
const ROWS_PER_TURN = 5000

type LoadedCandidate = Omit<Candidate, 'dependencies' | 'isRead'> & { dependencies: WorldDependency[]; isRead: boolean }
type LoadedProject = Omit<WorldProject, 'listed' | 'byId' | 'state'> & {
  state: WorldProject['state']
  listed: LoadedCandidate[]
  byId: Map<string, LoadedCandidate>
  /** Item that leads to the project first. */
  item: number
}

export type WorldRequest = {
  target: Target
  /** Projects and versions that this viewer cannot see do not exist. */
  viewer: Viewer | null
  items: readonly SolverItem[]
  /** The version of each project that the request keeps: it is a candidate, also if it is withdrawn. */
  kept: ReadonlyMap<string, string>
  /** Maximum number of candidates of each project. */
  candidatesMax: number
  projectsMax?: number
  /** Whether to leave out requirements that have no candidate, so that the others can be chosen. */
  skipsUnavailable?: boolean
}

type Loading = WorldRequest & {
  db: Db
  world: Map<string, LoadedProject>
  rowsLeft: number
  /** Named versions that are not read yet, and all that were. */
  names: Set<string>
  seenNames: Set<string>
}

type Level = { projects: LoadedProject[]; names: string[] }

export async function loadWorld(db: Db, request: WorldRequest): Promise<World> {
  const { items, kept } = request
  const named = items.flatMap(({ versionId }) => versionId ?? [])
  const names = new Set([...items.flatMap(({ projectId }) => kept.get(projectId) ?? []), ...named])
  const loading: Loading = {
    ...request,
    db,
    world: new Map(),
    rowsLeft: DEPENDENCIES_MAX,
    names: new Set(),
    seenNames: new Set(names),
  }
  for (const { projectId, index } of items) addProject(loading.world, projectId, index)
  let level: Level = { projects: [...loading.world.values()], names: [...names] }
  for (let depth = 0; level.projects.length > 0 || level.names.length > 0; depth += 1) {
    const found = await loadLevel(loading, level)
    level = { projects: admit(loading, found, depth), names: [...loading.names] }
    loading.names.clear()
  }
  if (request.skipsUnavailable === true) skipUnavailable(loading.world)
  return loading.world
}

function skipUnavailable(world: Map<string, LoadedProject>): void {
  const isAvailable = ({ kind, projectId }: WorldDependency): boolean =>
    kind !== 'required' || projectId === null || (world.get(projectId)?.byId.size ?? 0) > 0
  for (const { byId } of world.values()) {
    for (const candidate of byId.values()) candidate.dependencies = candidate.dependencies.filter(isAvailable)
  }
}

function addProject(world: Map<string, LoadedProject>, id: string, item: number): LoadedProject {
  const known = world.get(id)
  if (known !== undefined) return known
  const project: LoadedProject = { id, item, state: 'hidden', listed: [], byId: new Map() }
  world.set(id, project)
  return project
}

/** Reads the candidates of a level. Returns the projects that they require for the first time. */
async function loadLevel(loading: Loading, { projects, names }: Level): Promise<LoadedProject[]> {
  const { db, target, viewer, world, candidatesMax: limit } = loading
  const fresh: LoadedCandidate[] = []
  const add = (project: LoadedProject, id: string): LoadedCandidate => {
    const known = project.byId.get(id)
    if (known !== undefined) return known
    const candidate = { id, projectId: project.id, published: 0, outsideFilter: false, isRead: true, dependencies: [] }
    project.byId.set(id, candidate)
    fresh.push(candidate)
    return candidate
  }
  if (projects.length > 0) {
    const rows = await listCandidates(db, target, { projectIds: projects.map(({ id }) => id), limit, viewer })
    const byProject = new Map(rows.map((row) => [row.project_id, row.version_ids]))
    for (const project of projects) {
      const ids = byProject.get(project.id)
      if (ids === undefined) continue
      project.state = 'known'
      project.listed = ids.map((id) => add(project, id))
    }
  }
  if (names.length > 0) {
    const rows = new Map((await listNamed(db, target, { ids: names, viewer })).map((row) => [row.id, row]))
    for (const name of names) {
      const row = rows.get(name)
      const project = row && world.get(row.project_id)
      if (row === undefined || project === undefined || project.state === 'limit') continue
      const candidate = add(project, name)
      candidate.published = row.published
      candidate.outsideFilter = !row.matches
    }
  }
  return fresh.length === 0 ? [] : addDependencies(loading, fresh)
}

async function addDependencies(loading: Loading, candidates: readonly LoadedCandidate[]): Promise<LoadedProject[]> {
  const { db, world, target, seenNames } = loading
  const ids = candidates.map(({ id }) => id)
  const rows = await listDependencies(db, ids, loading.rowsLeft + 1)
  const isCut = rows.length > loading.rowsLeft
  const end = isCut ? (rows.at(-1)?.n ?? 1) - 1 : candidates.length
  for (const candidate of candidates.slice(end)) candidate.isRead = false
  loading.rowsLeft -= Math.min(rows.length, loading.rowsLeft)
  const found: LoadedProject[] = []
  for (const [index, row] of rows.entries()) {
    if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1) await nextTurn()
    const position = row.n - 1
    const candidate = candidates[position]
    if (candidate === undefined || position >= end) break
    const dependency = toDependency(row, target)
    if (dependency === undefined) continue
    candidate.dependencies.push(dependency)
    const { kind, projectId, versionId } = dependency
    if (kind !== 'required' || projectId === null) continue
    const known = world.get(projectId)
    if (known === undefined) found.push(addProject(world, projectId, world.get(candidate.projectId)?.item ?? 0))
    for (const name of [versionId, loading.kept.get(projectId)]) {
      if (name === null || name === undefined || seenNames.has(name)) continue
      seenNames.add(name)
      loading.names.add(name)
    }
  }
  return found
}

function toDependency(
  { kind, project_id, version_id, file_name }: Awaited<ReturnType<typeof listDependencies>>[number],
  { substitutes }: Target,
): WorldDependency | undefined {
  const by = kind === 'required' && project_id !== null ? substitutes.get(project_id) : undefined
  if (by === null) return undefined
  if (by !== undefined) return { kind, projectId: by, versionId: null, fileName: null }
  return { kind, projectId: project_id, versionId: version_id, fileName: file_name }
}

/**
 * Returns the projects that the next level reads. If there are too many, the items that lead to the fewest new projects go
 * first; the projects of the others get the state `limit`.
 */
function admit({ world, projectsMax = PROJECTS_MAX }: Loading, found: LoadedProject[], depth: number): LoadedProject[] {
  if (depth >= LEVELS_MAX) {
    for (const project of found) project.state = 'limit'
    return []
  }
  if (world.size <= projectsMax) return found
  const groups = [...Map.groupBy(found, ({ item }) => item)].sort(([a, x], [b, y]) => x.length - y.length || a - b)
  let left = Math.max(0, projectsMax - (world.size - found.length))
  const admitted = new Set<LoadedProject>()
  for (const [, projects] of groups) {
    const fits = projects.length <= left
    if (fits) left -= projects.length
    for (const project of projects) {
      if (fits) admitted.add(project)
      else project.state = 'limit'
    }
  }
  return found.filter((project) => admitted.has(project))
}
