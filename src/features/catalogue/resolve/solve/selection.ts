// The decisions of a search, in their order, with indexes that answer in constant time what they exclude and require.
import { type Eliminated, isRequirement } from './eliminate.ts'
import type { Because, Candidate, SolverRequest, WorldDependency, WorldProject } from './world.ts'

/** A project for which the search must decide. Its index is the position of the decision. */
export type AgendaEntry = {
  projectId: string
  /** Position of the decision that requires it first; -1 if an item requests it. */
  cause: number
  isFirst: boolean
}

/** Conflict between a candidate and the decision that excludes it. `statedBy`: the side whose dependency it is. */
export type Clash = {
  position: number
  candidate: Candidate
  dependency: WorldDependency
  statedBy: 'earlier' | 'later'
}

type Stated = { position: number; dependency: WorldDependency }

const SELF_CONTRADICTION = -1

export class Selection {
  readonly agenda: AgendaEntry[] = []
  /** One per decided entry of the agenda; undefined if an embedded project satisfies the requirement. */
  readonly decisions: (Candidate | undefined)[] = []
  /** The best candidate at the time of each decision. */
  readonly firsts: (Candidate | undefined)[] = []
  readonly #request: SolverRequest
  readonly #dead: Eliminated
  /** Versions that the request names, by project. */
  readonly fixed = new Map<string, string>()
  readonly #queued = new Set<string>()
  readonly #positions = new Map<string, number>()
  readonly #forbidden = new Map<string, Stated[]>()
  readonly #pins = new Map<string, Stated[]>()
  readonly #embedded = new Map<string, Stated[]>()
  readonly #agendaEnds: number[] = []
  /** Number of dependencies that were looked at: a measure of the time. */
  work = 0

  constructor(request: SolverRequest, dead: Eliminated) {
    this.#request = request
    this.#dead = dead
  }

  /** Adds a requested project to the agenda, unless a version of it is chosen. */
  request(projectId: string): void {
    if (this.chosenOf(projectId) !== undefined) return
    const isQueued = this.#queued.has(projectId)
    if (isQueued && this.agenda.length > this.decisions.length) return
    this.agenda.push({ projectId, cause: -1, isFirst: !isQueued })
    this.#queued.add(projectId)
  }

  chosenOf(projectId: string): Candidate | undefined {
    const position = this.#positions.get(projectId)
    return position === undefined ? undefined : this.decisions[position]
  }

  /** Returns the possible and impossible candidates for the next decision on this project, best first. */
  domainOf(projectId: string): readonly Candidate[] {
    const { world, strategy, keep } = this.#request
    const project = world.get(projectId)
    if (project === undefined) return []
    const fixed = this.fixed.get(projectId)
    if (fixed !== undefined) return [project.byId.get(fixed)].filter((candidate) => candidate !== undefined)
    const pins = this.#pins.get(projectId) ?? []
    const base = baseDomain(this.#request, project)
    if (pins.length === 0) return base
    const kept = strategy === 'minimal' ? project.byId.get(keep.get(projectId) ?? '') : undefined
    const pinned = pins
      .map(({ dependency }) => project.byId.get(dependency.versionId ?? ''))
      .filter((candidate) => candidate !== undefined)
      .sort((a, b) => b.published - a.published || (a.id < b.id ? -1 : 1))
    return [...new Set([...(kept === undefined ? [] : [kept]), ...pinned, ...base])]
  }

  isDead(candidate: Candidate): boolean {
    return this.#dead.has(candidate)
  }

  /** Whether a chosen version embeds the project. */
  isProvided(projectId: string): boolean {
    return this.#request.pins === 'prefer' && (this.#embedded.get(projectId)?.length ?? 0) > 0
  }

  /** Returns why the candidate cannot join the decisions, or undefined if it can. */
  findClash(candidate: Candidate): Clash | undefined {
    const { projectId, id, dependencies } = candidate
    this.work += 1 + dependencies.length
    const isStrict = this.#request.pins === 'strict'
    const forbids = this.#forbidden.get(projectId)?.find(({ dependency: { versionId } }) => (versionId ?? id) === id)
    if (forbids !== undefined) return { ...forbids, candidate, statedBy: 'earlier' }
    const pin = isStrict ? this.#pins.get(projectId)?.find(({ dependency }) => dependency.versionId !== id) : undefined
    if (pin !== undefined) return { ...pin, candidate, statedBy: 'earlier' }
    for (const dependency of dependencies) {
      const { kind, versionId } = dependency
      if (dependency.projectId === projectId) {
        if (!isStrict || kind !== 'required' || (versionId ?? id) === id) continue
        return { position: SELF_CONTRADICTION, candidate, dependency, statedBy: 'later' }
      }
      const isPin = isStrict && kind === 'required' && versionId !== null
      if (dependency.projectId === null || !(isPin || kind === 'incompatible')) continue
      const position = this.#positions.get(dependency.projectId)
      if (position === undefined) continue
      const isNamed = versionId === null || this.decisions[position]?.id === versionId
      if (isPin !== isNamed) return { position, candidate, dependency, statedBy: 'later' }
    }
    return undefined
  }

  /**
   * Decides the next entry of the agenda, and adds what the version requires.
   * @param first The best candidate, whether or not it was possible.
   */
  place(candidate: Candidate | undefined, first: Candidate | undefined): void {
    const position = this.decisions.length
    this.decisions.push(candidate)
    this.firsts.push(first)
    this.#agendaEnds.push(this.agenda.length)
    if (candidate === undefined) return
    this.#positions.set(candidate.projectId, position)
    this.work += candidate.dependencies.length
    for (const dependency of candidate.dependencies) {
      const { kind, projectId, versionId } = dependency
      if (projectId === null || kind === 'optional') continue
      const stated = { position, dependency }
      if (kind === 'embedded') addTo(this.#embedded, projectId, stated)
      else if (projectId === candidate.projectId) continue
      else if (kind === 'incompatible') addTo(this.#forbidden, projectId, stated)
      else {
        if (versionId !== null) addTo(this.#pins, projectId, stated)
        if (this.#queued.has(projectId)) continue
        this.#queued.add(projectId)
        this.agenda.push({ projectId, cause: position, isFirst: true })
      }
    }
  }

  /** Undoes the decisions from this position on. Entries of the agenda that they added are removed. */
  undoTo(position: number): void {
    while (this.decisions.length > position) this.#undoLast()
  }

  /** Removes requested entries that are not decided. */
  dropUndecided(): void {
    this.#truncate(this.decisions.length)
  }

  #undoLast(): void {
    const candidate = this.decisions.pop()
    this.firsts.pop()
    this.#truncate(this.#agendaEnds.pop() ?? 0)
    if (candidate === undefined) return
    this.#positions.delete(candidate.projectId)
    this.work += candidate.dependencies.length
    for (const { kind, projectId, versionId } of candidate.dependencies) {
      if (projectId === null || kind === 'optional') continue
      if (kind === 'embedded') this.#embedded.get(projectId)?.pop()
      else if (projectId === candidate.projectId) continue
      else if (kind === 'incompatible') this.#forbidden.get(projectId)?.pop()
      else if (versionId !== null) this.#pins.get(projectId)?.pop()
    }
  }

  #truncate(length: number): void {
    for (const { projectId, isFirst } of this.agenda.splice(length)) if (isFirst) this.#queued.delete(projectId)
  }

  /** Names both sides of a clash. */
  nameSides({ position, candidate, dependency, statedBy }: Clash, item: number): Because[] {
    const other = this.decisions[position]
    if (dependency.kind === 'incompatible') {
      const [states, target] = statedBy === 'earlier' ? [other, candidate] : [candidate, other]
      const named = { project_id: dependency.projectId ?? '', version_id: dependency.versionId ?? target?.id ?? null }
      return [{ version_id: states?.id ?? '', incompatible: named }, ...this.#needOf(candidate.projectId, item)]
    }
    const pin = { project_id: dependency.projectId ?? '', version_id: dependency.versionId }
    if (statedBy === 'earlier')
      return [{ version_id: other?.id ?? '', requires: pin }, ...this.#needOf(candidate.projectId, item)]
    return [...this.#needOf(dependency.projectId ?? '', item), { version_id: candidate.id, requires: pin }]
  }

  /** Returns what wants the project: the versions that pin it, the version that requires it first, or the item. */
  #needOf(projectId: string, item: number): Because[] {
    const pins = this.#pins.get(projectId) ?? []
    const needs = pins.map(({ position, dependency }) => ({
      version_id: this.decisions[position]?.id ?? '',
      requires: { project_id: projectId, version_id: dependency.versionId },
    }))
    if (needs.length > 0) return needs
    const version_id = this.fixed.get(projectId) ?? null
    const entry = this.agenda.find((each) => each.projectId === projectId)
    const requirer = entry === undefined || entry.cause < 0 ? undefined : this.decisions[entry.cause]
    const requires = { project_id: projectId, version_id }
    if (requirer !== undefined) return [{ version_id: requirer.id, requires }]
    const index = this.#request.items.find((each) => each.projectId === projectId)?.index ?? item
    return [{ item: index, requires }]
  }

  /** Returns the requirements that lead from an item to a project. */
  pathTo(cause: number, projectId: string): Because[] {
    const path: Because[] = []
    for (let [position, required] = [cause, projectId]; position >= 0; ) {
      const version_id = this.decisions[position]?.id ?? ''
      path.unshift({ version_id, requires: { project_id: required, version_id: null } })
      const entry = this.agenda[position]
      required = entry?.projectId ?? ''
      position = entry?.cause ?? -1
    }
    return path
  }

  /** Returns the chosen versions that require each project, without those of skipped dependencies. */
  listRequirements(): { version: Candidate; dependency: WorldDependency & { projectId: string } }[] {
    return this.decisions.flatMap((version) =>
      version === undefined
        ? []
        : version.dependencies.filter(isRequirement).map((dependency) => ({ version, dependency })),
    )
  }
}

/**
 * Returns the candidates of a project that nothing pins. A kept version is among them if it matches the filter, also if it
 * is withdrawn; the strategy `minimal` puts it first, whatever the filter.
 */
export function baseDomain(
  { strategy, keep }: Pick<SolverRequest, 'strategy' | 'keep'>,
  { id, listed, byId }: WorldProject,
): readonly Candidate[] {
  const kept = byId.get(keep.get(id) ?? '')
  if (kept === undefined) return listed
  if (strategy === 'minimal') return [kept, ...listed.filter((candidate) => candidate !== kept)]
  return kept.outsideFilter || listed.includes(kept) ? listed : [...listed, kept]
}

function addTo(map: Map<string, Stated[]>, key: string, stated: Stated): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [stated])
  else list.push(stated)
}
