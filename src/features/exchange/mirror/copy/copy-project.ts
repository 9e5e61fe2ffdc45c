// Copies one project with those of its versions that are new or changed, in one transaction.

import { sql } from 'kysely'
import type { StoredOrigin } from '#features/basics/access/origin.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { recordStatusEvents } from '#features/basics/events/record-event.ts'
import { withStoredImages } from '#features/basics/images/hosted-image.ts'
import { claimContentsOf } from '#features/catalogue/contents/content-owners.ts'
import { isReservedSlug, listVersionIds, lockProject, type ProjectRow } from '#features/catalogue/projects/queries.ts'
import { insertProjectRow } from '#features/catalogue/publishing/insert-project.ts'
import { newId } from '#lib/ids.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import { dropClaims } from '#ports/files/claims.ts'
import { isPublicStatus } from '#taxonomy/project-status.ts'
import type { CopyFailure } from '../failures.ts'
import { forgetFailures, listFreeIds, listOrigins, type OriginRow, rememberFailure } from '../queries.ts'
import { revisionOf } from '../revision.ts'
import type { RemoteProject, RemoteVersion } from '../source/remote-objects.ts'
import type { MirrorRun } from './context.ts'
import type { OpenDependency } from './dependencies.ts'
import { type CopiedImages, imageFiles, type PreparedImages, prepareImages, writeImages } from './images.ts'
import { type ProjectColumns, parseRemoteProject } from './parse-remote.ts'
import { type PreparedVersion, prepareVersions } from './prepare-versions.ts'
import { setDownloads, setReplacements, writeVersion } from './write-version.ts'

export type ProjectToCopy = {
  remote: RemoteProject & { json: Readonly<Record<string, unknown>> }
  /** The versions to write; the others are unchanged. */
  versions: readonly RemoteVersion[]
  /** Whether the project itself was copied in this state before. */
  isSame: boolean
  /** Name of the author of the project, and of each version by its ID. */
  author: string | null
  authors: ReadonlyMap<string, string>
  /** Hashes of the files of versions on which these versions depend and which are not copied. */
  hashes: ReadonlyMap<string, string[]>
}

type Plan = {
  run: MirrorRun
  project: ProjectToCopy
  columns: ProjectColumns
  id: string
  origin: OriginRow | undefined
  versions: readonly PreparedVersion[]
  images: PreparedImages
}

/** A version that cannot be copied is remembered and counted. @throws CopyFailure if the project cannot be copied. */
export async function copyProject(run: MirrorRun, project: ProjectToCopy): Promise<void> {
  const { deps, mirror, report } = run
  const { remote } = project
  const columns = parseRemoteProject(remote, deps.taxonomy)
  const origin = (await listOrigins(deps.db, mirror.id, 'project', [remote.id])).get(remote.id)
  const ids = project.versions.map((version) => version.id)
  const origins = await listOrigins(deps.db, mirror.id, 'version', ids)
  const freeIds = origin === undefined ? await listFreeIds(deps.db, 'project', [remote.id]) : new Set<string>()
  const id = origin?.project_id ?? (freeIds.has(remote.id) ? remote.id : newId())
  const { prepared, failures, staged } = await prepareVersions(run, {
    versions: project.versions,
    origins,
    projectId: id,
  })
  try {
    for (const [versionId, failure] of failures) await reportFailure(run, { projectId: remote.id, versionId, failure })
    if (project.isSame && prepared.length === 0) return
    const before = (origin?.images ?? {}) as CopiedImages
    const images = await prepareImages(run, { remote, projectId: id, before })
    if (!run.isDryRun) await store({ run, project, columns, id, origin, versions: prepared, images })
    if (images.failure !== undefined)
      await rememberFailure(deps.db, mirror.id, { projectId: remote.id, failure: images.failure })
    report.projects += 1
    report.versions += prepared.length
    report.files += prepared.reduce((sum, { files }) => sum + files.length, 0)
  } finally {
    await Promise.allSettled(staged.map((file) => deps.files.discard(file)))
  }
}

/** Counts and records the items that were not copied. */
export async function reportFailure(
  { deps, mirror, report, warn, isDryRun }: MirrorRun,
  { projectId, versionId, failure }: { projectId: string; versionId?: string; failure: CopyFailure },
): Promise<void> {
  report.skipped += 1
  if (failure.code === 'hash_mismatch') report.mismatches += 1
  if (failure.code === 'unavailable') report.failed += 1
  warn(`${versionId === undefined ? `Project ${projectId}` : `Version ${versionId}`} was skipped: ${failure.message}`)
  if (isDryRun) return
  const of = versionId === undefined ? { projectId } : { projectId, versionId }
  await rememberFailure(deps.db, mirror.id, { ...of, failure })
}

/** Reports a project that was not copied. Its versions are read again with it, because the feed may not name them again. */
export async function reportProject(
  run: MirrorRun,
  { projectId, versionIds, failure }: { projectId: string; versionIds: readonly string[]; failure: CopyFailure },
): Promise<void> {
  await reportFailure(run, { projectId, failure })
  if (run.isDryRun) return
  for (const versionId of versionIds)
    await rememberFailure(run.deps.db, run.mirror.id, { projectId, versionId, failure })
}

async function store(plan: Plan): Promise<void> {
  const { deps } = plan.run
  const files = plan.versions.flatMap((version) => version.files)
  await withStoredImages(deps, { images: imageFiles(plan.images), files }, (imageKeys) =>
    transaction(deps, async (tx, changed) => {
      await write(tx, changed, plan)
      await dropClaims(tx, imageKeys)
    }),
  )
}

async function write(tx: Tx, changed: ChangeSet, plan: Plan): Promise<void> {
  const { run, project, columns, id, versions, images } = plan
  const { remote } = project
  const before = await lockProject(tx, id)
  const status = before === undefined ? await insertRow(tx, plan) : await updateRow(tx, changed, plan, before)
  const copied = await writeImages(tx, {
    remote,
    projectId: id,
    before: (plan.origin?.images ?? {}) as CopiedImages,
    prepared: images,
  })
  const state = {
    project_id: id,
    remote_revision: revisionOf(remote.json),
    pass: run.mirror.pass,
    images: JSON.stringify(copied),
  }
  await tx
    .insertInto('origin')
    .values({ mirror_id: run.mirror.id, kind: 'project', remote_id: remote.id, ...state })
    .onConflict((conflict) => conflict.columns(['mirror_id', 'kind', 'remote_id']).doUpdateSet(state))
    .execute()
  const page = pageOf(run, remote)
  for (const version of versions) {
    const { remote: one } = version
    const origin = {
      address: run.mirror.address,
      id: one.id,
      url: `${page}/version/${one.id}`,
      author: project.authors.get(one.author_id ?? '') ?? null,
    }
    const dependencies = one.dependencies.map((dependency): OpenDependency => {
      const sha512 = project.hashes.get(dependency.version_id ?? '')
      return sha512 === undefined ? dependency : { ...dependency, sha512 }
    })
    const copy = { id, status }
    const isNew = await writeVersion(tx, changed, { run, project: copy, version, origin, dependencies })
    const isNews = isNew && before !== undefined && one.status === 'listed' && isPublicStatus(before.status)
    if (isNews)
      await enqueue(
        tx,
        'versions.notify-followers',
        { version_id: version.id },
        { jobKey: `notify-followers:${version.id}` },
      )
  }
  await setReplacements(tx, { run, versions })
  await setDownloads(tx, 'project', id, remote.downloads)
  // The statements above have set the time of the copy.
  await tx.updateTable('project').set({ updated: columns.updated }).where('id', '=', id).execute()
  await forgetFailures(tx, run.mirror.id, {
    projectId: remote.id,
    versionIds: versions.map((version) => version.remote.id),
  })
  changed.add('project', id)
}

/** Returns the page of a project at the source: an ID leads to the page under its present name. */
const pageOf = ({ mirror }: MirrorRun, { id }: RemoteProject): string => `${mirror.address}/project/${id}`

function storedOrigin({ run, project: { remote, author } }: Plan): string {
  const { mirror } = run
  const origin: StoredOrigin = {
    address: mirror.address,
    id: remote.id,
    url: pageOf(run, remote),
    author,
    mirror: mirror.id,
    status: remote.status,
  }
  return JSON.stringify(origin)
}

/** Returns the status of the new project. */
async function insertRow(tx: Tx, plan: Plan): Promise<ProjectRow['status']> {
  const { run, project, columns, id } = plan
  const { remote } = project
  const slug = await freeSlug(tx, columns.slug)
  const organization_id = run.owner.organizationId
  const row = { id, ...columns, slug, status: remote.status, organization_id, origin: storedOrigin(plan) }
  await insertProjectRow(tx, COMMAND, row, { mirrored_from: run.mirror.address })
  await recordStatusEvents(tx, { id, from: 'draft', to: remote.status })
  return remote.status
}

/** A status, a slug and an owner that somebody has changed here remain. Returns the status of the project. */
async function updateRow(tx: Tx, changed: ChangeSet, plan: Plan, row: ProjectRow): Promise<ProjectRow['status']> {
  const { remote } = plan.project
  const before = row.origin as unknown as StoredOrigin | null
  if (before?.mirror !== plan.run.mirror.id) throw new Error(`The project ${row.id} is not a copy of this mirror`)
  const follows = before.status === row.status && row.status !== remote.status
  const { slug: wanted, ...content } = plan.columns
  const slug = wanted === row.slug ? row.slug : await freeSlug(tx, wanted, row)
  await tx
    .updateTable('project')
    .set({ ...content, slug, ...(follows ? { status: remote.status } : {}), origin: storedOrigin(plan) })
    .where('id', '=', row.id)
    .execute()
  if (!follows) return row.status
  await claimContentsOf(tx, row.id, remote.status)
  await recordProjectStatus(tx, row, remote.status)
  changed.addEach('version', await listVersionIds(tx, row.id))
  return remote.status
}

/** Records a status that has changed at the source. Called after the change. */
export async function recordProjectStatus(tx: Tx, row: Pick<ProjectRow, 'id' | 'status'>, to: string): Promise<void> {
  const details = { from: row.status, to }
  await recordAudit(tx, {
    action: 'project.status_changed',
    actor: COMMAND,
    subject: { kind: 'project', id: row.id },
    details,
  })
  await recordStatusEvents(tx, { id: row.id, from: row.status, to })
}

/** Returns the slug, or the first of `slug-2`, `slug-3` and so on that nothing has. A copy keeps the one it has. */
async function freeSlug(tx: Tx, wanted: string, own?: ProjectRow): Promise<string> {
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? '' : `-${number}`
    const slug = `${wanted.slice(0, 64 - suffix.length)}${suffix}`
    if (slug === own?.slug) return slug
    if (isReservedSlug(slug)) continue
    const { rows } = await sql`select 1 from project where (slug = ${slug} or lower(id) = ${slug})
      and id is distinct from ${own?.id ?? null} limit 1`.execute(tx)
    if (rows.length === 0) return slug
  }
}
