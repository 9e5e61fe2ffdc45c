// Follows objects that the source no longer lists. Nothing is deleted: what the source no longer shows at all becomes
// withheld (projects) or unlisted (versions), so that installations that use it keep working.
import type { StoredOrigin } from '#features/basics/access/origin.ts'
import { listVersionIds, lockProject } from '#features/catalogue/projects/queries.ts'
import { lockVersion } from '#features/catalogue/versions/queries.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { CopyFailure } from '../failures.ts'
import { forgetProject, type Kind, listMissing, listOrigins, markSeen, type OriginRow } from '../queries.ts'
import { readProjects, readVersions } from '../source/read-objects.ts'
import type { MirrorRun } from './context.ts'
import { recordProjectStatus } from './copy-project.ts'
import { recordVersionStatus } from './write-version.ts'

const BATCH = 500

/** Gives copies of these projects and versions the status that the source shows, if it shows any. */
export async function copyRemovals(
  run: MirrorRun,
  { projects, versions }: { projects: readonly string[]; versions: readonly string[] },
): Promise<void> {
  await forKind(run, 'project', projects)
  await forKind(run, 'version', versions)
}

async function forKind(run: MirrorRun, kind: Kind, ids: readonly string[]): Promise<void> {
  const { deps, mirror, source } = run
  const origins = await listOrigins(deps.db, mirror.id, kind, ids)
  if (origins.size === 0) return
  const known = [...origins.keys()]
  const [projects, versions] =
    kind === 'project' ? [await readProjects(source, known), undefined] : [undefined, await readVersions(source, known)]
  if (run.isDryRun) return
  for (const origin of origins.values()) {
    const project = projects?.get(origin.remote_id)
    const version = versions?.get(origin.remote_id)
    if (project instanceof CopyFailure || version instanceof CopyFailure) continue
    if (kind === 'project') await setProjectStatus(run, origin, project?.status ?? 'withheld')
    else await setVersionStatus(run, origin, version?.status ?? 'unlisted')
  }
}

/** A status that somebody has changed here remains. The object is compared again when the source lists it again. */
async function setProjectStatus(run: MirrorRun, { remote_id, project_id }: OriginRow, status: string): Promise<void> {
  if (project_id === null) return
  await forgetProject(run.deps.db, run.mirror.id, remote_id)
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
    if (follows) await recordVersionStatus(tx, version, status)
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
      await copyRemovals(run, kind === 'project' ? { projects: ids, versions: [] } : { projects: [], versions: ids })
      await markSeen(run.deps.db, run.mirror, kind, ids)
    }
  }
}
