// The part of the catalogue that a request can reach, and the request itself, as plain data: the solver reads nothing else.

export type WorldDependency = {
  kind: 'required' | 'optional' | 'incompatible' | 'embedded'
  /** Null for a file that is not in the catalogue. */
  projectId: string | null
  /** The version that the publisher named: a pin of a requirement. */
  versionId: string | null
  fileName: string | null
}

export type Candidate = {
  id: string
  projectId: string
  /** Time of its publication, in milliseconds. */
  published: number
  /** Whether it does not match the filter: it was pinned, kept or requested by name. */
  outsideFilter: boolean
  /** False if its dependencies could not all be read, because there are too many. */
  isRead: boolean
  /** In the publisher's order. */
  dependencies: readonly WorldDependency[]
}

export type WorldProject = {
  id: string
  /** `limit`: its versions were not read, because it is too far away or there are too many projects. */
  state: 'known' | 'hidden' | 'limit'
  /** The versions that match the filter, in the order of the project's list. The first is the choice of the update check. */
  listed: readonly Candidate[]
  /** All candidates by ID, including those that are only pinned, kept or requested by name. */
  byId: ReadonlyMap<string, Candidate>
}

/** Projects by ID. A project that is absent is hidden or does not exist. */
export type World = ReadonlyMap<string, WorldProject>

export type SolverItem = {
  /** Position in the request. */
  index: number
  projectId: string
  /** The version that the request names. */
  versionId: string | undefined
}

export type SolverRequest = {
  world: World
  /** Items that exist, in the order of the request. */
  items: readonly SolverItem[]
  /** `strict`: a pin is binding, and an embedded project satisfies nothing. */
  pins: 'prefer' | 'strict'
  /** `minimal`: kept versions come first among the candidates. */
  strategy: 'newest' | 'minimal'
  /** Project → the version that is installed. */
  keep: ReadonlyMap<string, string>
  /** Maximum number of choices of the exact search. */
  budget?: number
}

/** One side of a conflict, or one of the requirements that lead to a missing project. */
export type Because = {
  /** The version that states it; without one, `item` states it. */
  version_id?: string
  /** Position of an item of the request. */
  item?: number
  requires?: { project_id: string; version_id: string | null }
  incompatible?: { project_id: string; version_id: string | null }
}

export type ItemState = 'chosen' | 'kept' | 'no_version' | 'missing' | 'conflict' | 'limit'

export type SolvedItem = {
  index: number
  state: ItemState
  projectId: string
  versionId?: string
  because?: Because[]
  /** The project that has no version for the filter. */
  lacking?: string
}

export type Choice = { candidate: Candidate; insteadOf: string | null; requiredBy: string[] }

export type Solution = {
  items: SolvedItem[]
  /** By project ID. */
  chosen: Choice[]
  /** Whether the exact search found the result. */
  exact: boolean
  /** Whether every item got the first candidate of every project: more candidates would not change the result. */
  isFirstChoice: boolean
  unmetPins: { versionId: string; projectId: string; pin: string; chosen: string | null }[]
  suggested: { projectId: string; suggestedBy: string[] }[]
  external: { fileName: string; requiredBy: string[] }[]
  provided: { projectId: string; requiredBy: string[]; by: string[] }[]
}
