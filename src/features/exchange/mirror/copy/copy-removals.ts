// Follows objects that the source no longer lists. Nothing is deleted: what the source no longer shows at all becomes
// withheld (projects) or unlisted (versions), so that installations that use it keep working.
import type { StoredOrigin } from '#features/basics/access/origin.ts'
import { isListedStatus } from '#features/basics/access/version-status.ts'
import { listVersionIds, lockProject } from '#features/catalogue/projects/queries.ts'
import { lockVersion } from '#features/catalogue/versions/queries.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { isSearchableStatus } from '#taxonomy/project-status.ts'
import { CopyFailure } from '../failures.ts'
import { forgetRemoved, type Kind, listMissing, listOrigins, markSeen, type OriginRow } from '../queries.ts'
import { type Read, readProjects, readVersions } from '../source/read-objects.ts'
import type { RemoteProject, RemoteVersion } from '../source/remote-objects.ts'
import type { Source } from '../source/source.ts'
import type { MirrorRun } from './context.ts'
import { recordProjectStatus } from './copy-project.ts'
import { reportBehind } from './read-current.ts'
import { recordCopiedStatus } from './write-version.ts'

const BATCH = 500

/** A copy with the object that the source shows; undefined if it shows none. */
type Shown<T> = { origin: OriginRow; remote: T | undefined }

/**
 * Gives copies of removed projects and versions the status that the source shows, if it shows any. Returns whether it shows
 * all of them as removed: a source with several processes or a cache can show an older state for a moment.
 */
export async function copyRemovals(
  run: MirrorRun,
  removed: { projects: readonly string[]; versions: readonly string[] },
): Promise<boolean> {
  if (!run.isDryRun) await forgetRemoved(run.deps.db, run.mirror.id, removed)
  const projects = await readShown(run, 'project', removed.projects, readProjects)
  const versions = await readShown(run, 'version', removed.versions, readVersions)
  const isPublic = ({ remote }: Shown<RemoteProject>) => remote !== undefined && isSearchableStatus(remote.status)
  // A listed version of a project that is not public is removed too.
  const listed = versions.flatMap(({ remote }) =>
    remote !== undefined && isListedStatus(remote.status) ? [remote] : [],
  )
  const parents = await readProjects(run.source, [...new Set(listed.map(({ project_id }) => project_id))])
  const isListed = ({ remote }: Shown<RemoteVersion>): boolean => {
    if (remote === undefined || !isListedStatus(remote.status)) return false
    const parent = parents.get(remote.project_id)
    return parent !== undefined && !(parent instanceof CopyFailure) && isSearchableStatus(parent.status)
  }
  await setStatuses(run, {
    projects: projects.filter((one) => !isPublic(one)),
    versions: versions.filter((one) => !isListed(one)),
  })
  const projectsBehind = projects.filter(isPublic).map(({ origin }) => origin.remote_id)
  const versionsBehind = versions.filter(isListed).map(({ origin }) => origin.remote_id)
  reportBehind(run, 'project', projectsBehind)
  reportBehind(run, 'version', versionsBehind)
  return projectsBehind.length + versionsBehind.length === 0
}

async function readShown<T>(
  { deps, mirror, source }: MirrorRun,
  kind: Kind,
  ids: readonly string[],
  read: (source: Source, ids: readonly string[]) => Promise<Read<T>>,
): Promise<Shown<T>[]> {
  const origins = await listOrigins(deps.db, mirror.id, kind, ids)
  const found = await read(source, [...origins.keys()])
  return [...origins].flatMap(([id, origin]) => {
    const remote = found.get(id)
    return remote instanceof CopyFailure ? [] : [{ origin, remote }]
  })
}

async function setStatuses(
  run: MirrorRun,
  { projects, versions }: { projects: readonly Shown<RemoteProject>[]; versions: readonly Shown<RemoteVersion>[] },
): Promise<void> {
  if (run.isDryRun) return
  for (const { origin, remote } of projects) await setProjectStatus(run, origin, remote?.status ?? 'withheld')
  for (const { origin, remote } of versions) await setVersionStatus(run, origin, remote?.status ?? 'unlisted')
}

/** A status that somebody has changed here remains. The object is compared again when the source lists it again. */
async function setProjectStatus(run: MirrorRun, { remote_id, project_id }: OriginRow, status: string): Promise<void> {
  if (project_id === null) return
  await forgetRemoved(run.deps.db, run.mirror.id, { projects: [remote_id] })
  await transaction(run.deps, async (tx, changed) => {
    const row = await lockProject(tx, project_id)
    const origin = row?.origin as unknown as StoredOrigin | null | undefined
    await tx.updateTable('origin').set({ remote_revision: null }).where('project_id', '=', project_id).execute()
    if (row === undefined || origin == null || origin.status === status) return
    const follows = row.status === origin.status
    await tx
      .updateTable('project')
      .set({
        ...(follows ? { status: status as typeof row.status } : {}),
        origin: JSON.stringify({ ...origin, status }),
      })
      .where('id', '=', project_id)
      .execute()
    if (follows) await recordProjectStatus(tx, row, status)
    changed.add('project', project_id)
    changed.addEach('version', await listVersionIds(tx, project_id))
  })
}

async function setVersionStatus(
  run: MirrorRun,
  { version_id }: OriginRow,
  status: 'listed' | 'archived' | 'unlisted',
): Promise<void> {
  if (version_id === null) return
  await transaction(run.deps, async (tx, changed) => {
    const locked = await lockVersion(tx, version_id)
    await tx.updateTable('origin').set({ remote_revision: null }).where('version_id', '=', version_id).execute()
    const origin = locked?.version.origin as unknown as StoredOrigin | null | undefined
    if (locked === undefined || origin == null || origin.status === status) return
    const { version, project } = locked
    const follows = version.status === origin.status
    await tx
      .updateTable('version')
      .set({ ...(follows ? { status } : {}), origin: JSON.stringify({ ...origin, status }) })
      .where('id', '=', version_id)
      .execute()
    if (follows) await recordCopiedStatus(tx, locked, status)
    changed.add('version', version_id)
    changed.add('project', project.id)
  })
}

/** Follows everything that the source did not have in a comparison with all of it. */
export async function copyMissing(run: MirrorRun): Promise<void> {
  for (const kind of ['project', 'version'] as const) {
    for (;;) {
      const ids = await listMissing(run.deps.db, run.mirror, kind, BATCH)
      if (ids.length === 0) break
      await setStatuses(run, {
        projects: kind === 'project' ? await readShown(run, kind, ids, readProjects) : [],
        versions: kind === 'version' ? await readShown(run, kind, ids, readVersions) : [],
      })
      await markSeen(run.deps.db, run.mirror, kind, ids)
    }
  }
}
