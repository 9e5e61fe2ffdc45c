// Copies projects of a source that are new or changed, in parts that fit into memory.
import { CopyFailure } from '../failures.ts'
import { forgetRemoved, listDropped, listOrigins, markSeen } from '../queries.ts'
import { revisionOf } from '../revision.ts'
import {
  type Read,
  type ReadProject,
  readNames,
  readOwners,
  readProjects,
  readVersions,
} from '../source/read-objects.ts'
import type { RemoteVersion } from '../source/remote-objects.ts'
import type { MirrorRun } from './context.ts'
import { copyProject, reportFailure, reportProject } from './copy-project.ts'
import { copyRemovals } from './copy-removals.ts'
import { asFailure } from './parse-remote.ts'
import { type Revisions, readCurrent, reportBehind } from './read-current.ts'

/** Number of versions in memory, unless one project has more. */
const VERSIONS_MAX = 500

/** Returns which of these projects the run copies. */
export type Wants = (id: string) => boolean

export type Wanted = {
  /** Projects by their IDs. Projects in the map are already read. */
  projects: ReadonlyMap<string, ReadProject | CopyFailure | undefined>
  /** Versions that may have changed, by project. Others are read if they are new. */
  versions?: ReadonlyMap<string, ReadonlySet<string>>
  /** Reads all versions, for a source whose changes are unknown. */
  isComplete?: boolean
  /** Projects that lack something here, and are written again also if the source has not changed them. */
  incomplete?: ReadonlySet<string>
  /** The states that the change feed names. */
  revisions?: { projects: Revisions; versions: Revisions }
}

const NO_REVISIONS = { projects: new Map(), versions: new Map() }

/**
 * Copies these projects. Projects that the source does not show are left alone. Returns whether everything is at least in
 * the state that the change feed names.
 * @throws SourceUnusable
 */
export async function copyProjects(
  run: MirrorRun,
  { projects, versions = new Map(), isComplete = false, incomplete = new Set(), revisions = NO_REVISIONS }: Wanted,
): Promise<boolean> {
  const unread = [...projects].flatMap(([id, project]) => (project === undefined ? [id] : []))
  const { found: read, behind } = await readCurrent(run.source, {
    ids: unread,
    revisions: revisions.projects,
    read: readProjects,
  })
  reportBehind(run, 'project', behind)
  let isCurrent = behind.length === 0
  for (const [id, project] of projects) if (project !== undefined) read.set(id, project)
  let part: Planned[] = []
  let size = 0
  for (const [id, project] of read) {
    const changed = versions.get(id) ?? new Set()
    if (project instanceof CopyFailure) {
      await reportProject(run, { projectId: id, versionIds: [...changed], failure: project })
      continue
    }
    const ids = await versionsToRead(run, project, { changed, isComplete })
    const absent = [...changed].filter((version) => !project.versions.includes(version))
    const unlisted = absent.filter((version) => revisions.versions.has(version))
    reportBehind(run, 'version', unlisted)
    isCurrent &&= unlisted.length === 0
    if (absent.length > unlisted.length) await forgetRemoved(run.deps.db, run.mirror.id, { versions: absent })
    part.push({ project, ids, isIncomplete: incomplete.has(id) })
    size += ids.length
    if (size < VERSIONS_MAX && part.length < VERSIONS_MAX) continue
    isCurrent = (await copyPart(run, part, revisions.versions)) && isCurrent
    part = []
    size = 0
  }
  return (await copyPart(run, part, revisions.versions)) && isCurrent
}

type Planned = { project: ReadProject; ids: string[]; isIncomplete: boolean }

/** Returns the versions that are new, changed or must be compared. */
async function versionsToRead(
  { deps, mirror }: MirrorRun,
  project: ReadProject,
  { changed, isComplete }: { changed: ReadonlySet<string>; isComplete: boolean },
): Promise<string[]> {
  const all = [...new Set(project.versions)]
  if (isComplete) return all
  const origins = await listOrigins(deps.db, mirror.id, 'version', all)
  return all.filter((id) => changed.has(id) || (origins.get(id)?.remote_revision ?? null) === null)
}

/** Returns whether the source shows every version in the state that the change feed names. */
async function copyPart(run: MirrorRun, part: readonly Planned[], revisions: Revisions): Promise<boolean> {
  if (part.length === 0) return true
  const { deps, mirror, source } = run
  const { found: read, behind } = await readCurrent(source, {
    ids: [...new Set(part.flatMap(({ ids }) => ids))],
    revisions,
    read: readVersions,
  })
  reportBehind(run, 'version', behind)
  const projectIds = part.map(({ project }) => project.id)
  const listed = part.flatMap(({ project }) => project.versions)
  // The feed does not name a version that was removed while its project was not public.
  const dropped = await listDropped(deps.db, mirror.id, { projects: projectIds, versions: listed })
  const isFollowed = dropped.length === 0 || (await copyRemovals(run, { projects: [], versions: dropped }))
  const isCurrent = behind.length === 0 && isFollowed
  const knownProjects = await listOrigins(deps.db, mirror.id, 'project', projectIds)
  const known = await listOrigins(deps.db, mirror.id, 'version', [...read.keys()])
  const changed: {
    project: ReadProject
    versions: RemoteVersion[]
    failures: Map<string, CopyFailure>
    isSame: boolean
  }[] = []
  for (const { project, ids, isIncomplete } of part) {
    const failures = new Map<string, CopyFailure>()
    const versions: RemoteVersion[] = []
    for (const id of ids) {
      const version = read.get(id)
      if (version instanceof CopyFailure) failures.set(id, version)
      // A version of another project that the source names here.
      else if (version === undefined || version.project_id !== project.id) continue
      else if (isChanged(known.get(id), version.json) || (run.withFiles && known.get(id)?.lacks_files === true))
        versions.push(version)
    }
    const isSame = !isIncomplete && !isChanged(knownProjects.get(project.id), project.json)
    if (!isSame || versions.length > 0 || failures.size > 0) changed.push({ project, versions, failures, isSame })
  }
  if (!run.isDryRun) {
    await markSeen(deps.db, mirror, 'project', projectIds)
    await markSeen(deps.db, mirror, 'version', listed)
  }
  if (changed.length === 0) return isCurrent
  const names = await namesOf(run, changed)
  const changedVersions = changed.flatMap(({ versions }) => versions)
  const hashes = await hashesOf(run, changedVersions, read)
  for (const { project, versions, failures, isSame } of changed) {
    for (const [versionId, failure] of failures) await reportFailure(run, { projectId: project.id, versionId, failure })
    const author = names.projectAuthor(project)
    try {
      await copyProject(run, { remote: project, versions, isSame, author, authors: names.users, hashes })
    } catch (error) {
      const failure = asFailure(project.id, error)
      if (!(failure instanceof CopyFailure)) throw failure
      await reportProject(run, { projectId: project.id, versionIds: versions.map(({ id }) => id), failure })
    }
    source.signal?.throwIfAborted()
  }
  return isCurrent
}

const isChanged = (known: { remote_revision: string | null } | undefined, json: ReadProject['json']): boolean =>
  known?.remote_revision !== revisionOf(json)

type Changed = readonly { project: ReadProject; versions: readonly RemoteVersion[] }[]

/** Reads the names of the authors: of the organization, otherwise of the owner, and of the user who published a version. */
async function namesOf({ source }: MirrorRun, changed: Changed) {
  const unique = (ids: readonly (string | null | undefined)[]) => [...new Set(ids.flatMap((id) => id ?? []))]
  const organizations = await readNames(
    source,
    '/v3/organizations',
    unique(changed.map(({ project }) => project.organization)),
  )
  const teams = changed.flatMap(({ project }) => (project.organization == null ? (project.team_id ?? []) : []))
  const owners = await readOwners(source, unique(teams))
  const users = await readNames(
    source,
    '/v3/users',
    unique(changed.flatMap(({ versions }) => versions.map(({ author_id }) => author_id))),
  )
  return {
    users,
    projectAuthor: ({ organization, team_id }: ReadProject): string | null =>
      (organization == null ? owners.get(team_id ?? '') : organizations.get(organization)) ?? null,
  }
}

/** Reads the hashes of versions on which these depend and that are not copied. */
async function hashesOf(
  { deps, mirror, source }: MirrorRun,
  versions: readonly RemoteVersion[],
  read: Read<RemoteVersion>,
): Promise<Map<string, string[]>> {
  const ids = [
    ...new Set(versions.flatMap(({ dependencies }) => dependencies.flatMap(({ version_id }) => version_id ?? []))),
  ]
  const copied = await listOrigins(deps.db, mirror.id, 'version', ids)
  const unknown = ids.filter((id) => !copied.has(id) && !read.has(id))
  const found = await readVersions(source, unknown)
  return new Map(
    [...found].flatMap(([id, version]): [string, string[]][] =>
      version instanceof CopyFailure ? [] : [[id, version.files.map(({ hashes }) => hashes.sha512)]],
    ),
  )
}
