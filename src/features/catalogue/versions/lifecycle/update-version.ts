// Edits a version in one transaction.

import { sql, type Updateable } from 'kysely'
import { type Membership, requirePermission } from '#features/basics/access/project-policy.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { dropUnusedImages } from '#features/basics/content-images/queries.ts'
import { touchProject } from '#features/catalogue/projects/queries.ts'
import { checkKeptSchedule, scheduleRelease } from '#features/catalogue/projects/schedule-release.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { notFound, validationError } from '#lib/errors.ts'
import { type PatchColumns, toColumns } from '#lib/schema/patch.ts'
import { toValue } from '#lib/text/json-bytes.ts'
import { isBlank } from '#lib/text/text-rules.ts'
import { requireRevision, withCurrentState } from '#platform/cache/revisions.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Version } from '#platform/db/schema.ts'
import { checkLoaderFields, type LoaderFieldValues } from '#platform/taxonomy/loader-fields.ts'
import { checkLoaders, fieldsOf, type Taxonomy } from '#platform/taxonomy/taxonomy.ts'
import type { Deps } from '#ports/deps.ts'
import { getVersion, versionViewer } from '../lookup/version-cache.ts'
import { requireCounterRights } from '../policy.ts'
import { insertDependencies, resolveDependencies } from '../publish/dependencies.ts'
import { checkDependencies, type DependencyInput } from '../publish/requests.ts'
import { type LockedVersion, lockVersion, type VersionRow } from '../queries.ts'
import { type VersionKeys, type VersionPatch, versionPatchKeys } from './requests.ts'
import { admitStatus, type ScanGate } from './scan-gate.ts'
import { announceVersion } from './show-version.ts'

export type VersionEdit = {
  id: string
  membership: Membership
  patch: VersionPatch
  /** Revision on which the edit is based. Default: any. */
  revision?: number | undefined
}

/**
 * @throws ApiError 403 without UPLOAD_VERSION, `conflict` for an outdated revision, `validation_error` naming the field;
 * nothing is saved.
 */
export async function updateVersion(deps: Deps, viewer: Viewer, edit: VersionEdit): Promise<void> {
  requirePermission(viewer, edit.membership, 'UPLOAD_VERSION')
  if (edit.patch.downloads !== undefined) requireCounterRights(viewer)
  await withCurrentState(
    deps,
    () => saveVersion(deps, viewer, edit),
    async (reader) => toValue(await getVersion(reader, versionViewer(viewer), edit.id)),
  )
}

async function saveVersion(deps: Deps, viewer: Viewer, { id, patch, revision }: VersionEdit): Promise<void> {
  const columns: Updateable<Version> = toColumns<ColumnFields, Updateable<Version>>(patch, columnsOf(deps.taxonomy))
  if (patch.dependencies !== undefined) checkDependencies(patch.dependencies, 'dependencies')
  const now = deps.now()
  await transaction(deps, async (tx, changed) => {
    const locked = await lockVersion(tx, id)
    if (locked === undefined) throw notFound('version')
    const { project, version } = locked
    requireRevision(version, revision)
    const update: Updateable<Version> = {
      ...columns,
      ...fieldChanges(version, patch, { taxonomy: deps.taxonomy, loaders: columns.loaders }),
      ...(await statusChange(tx, version, patch, { scanner: deps.config.scanner, now })),
    }
    if (patch.dependencies !== undefined) await replaceDependencies(tx, viewer, id, patch.dependencies)
    if (patch.file_types !== undefined) await retagFiles(tx, id, patch.file_types)
    if (patch.changelog !== undefined) await dropUnusedImages(tx, { context: 'version', id }, patch.changelog)
    if (patch.downloads !== undefined) {
      await tx.updateTable('version').set({ downloads: patch.downloads }).where('id', '=', id).execute()
      // The downloads of a project are the sum of the downloads of its versions.
      const downloads = sql<number>`greatest(0, downloads + ${patch.downloads - version.downloads})`
      await tx.updateTable('project').set({ downloads }).where('id', '=', project.id).execute()
    }
    if (Object.keys(update).length > 0) await tx.updateTable('version').set(update).where('id', '=', id).execute()
    await touchProject(tx, project.id, new Date(now))
    if (update.status !== undefined) await recordStatus(tx, viewer, locked, { status: update.status, now })
    changed.add('version', id)
    changed.add('project', project.id)
  })
}

/** Announces a version that becomes listed, and records the change of its status. */
export async function recordStatus(
  tx: Tx,
  viewer: Viewer,
  { project, version }: LockedVersion,
  { status, now }: { status: string; now: number },
): Promise<void> {
  const { id, status: from } = version
  if (status === 'listed' && from !== 'archived') {
    await announceVersion(tx, { versionId: id, project, status, at: new Date(now) })
  }
  if (status === from) return
  const details = { from, to: status, project: project.id }
  const subject = { kind: 'version', id } as const
  await recordAudit(tx, { action: 'version.status_changed', actor: actorOf(viewer), subject, details })
}

/** Fields of a patch that depend on each other and are written together. */
type StatusField = 'status' | 'requested_status' | 'scheduled_at'
/** Fields that are columns of the version. Dependencies and file types are separate rows. */
type ColumnFields = Omit<VersionKeys, StatusField | 'dependencies' | 'file_types'>

/** Returns the columns that each field of the patch sets. */
function columnsOf(taxonomy: Taxonomy): PatchColumns<ColumnFields, Updateable<Version>> {
  return {
    name: (name) => {
      if (isBlank(name)) throw validationError('name', 'must not be blank')
      return { name: name.trim() }
    },
    version_number: (version_number) => ({ version_number }),
    changelog: (changelog) => ({ changelog }),
    version_type: (version_type) => ({ version_type }),
    loaders: (loaders) => ({ loaders: checkLoaders(taxonomy, loaders) }),
    featured: (featured) => ({ featured }),
    ordering: (ordering) => ({ ordering }),
    // A counter is written alone, so that it raises no revision.
    downloads: () => ({}),
  }
}

async function replaceDependencies(tx: Tx, viewer: Viewer, id: string, dependencies: DependencyInput[]): Promise<void> {
  const resolved = await resolveDependencies(tx, viewer, dependencies)
  if (resolved.some(({ version_id }) => version_id === id))
    throw validationError('dependencies', 'cannot contain the version itself')
  await tx.deleteFrom('dependency').where('dependent_id', '=', id).execute()
  await insertDependencies(tx, id, resolved)
}

/** Removes fields that the new loaders do not support. @throws ApiError `validation_error` naming the field. */
function fieldChanges(
  version: VersionRow,
  patch: VersionPatch,
  { taxonomy, loaders }: { taxonomy: Taxonomy; loaders: string[] | undefined },
): Updateable<Version> {
  const sent = Object.entries(patch).filter(([key, value]) => !Object.hasOwn(versionPatchKeys, key) && value !== null)
  if (sent.length === 0 && loaders === undefined) return {}
  const next = loaders ?? version.loaders
  const supported = new Set(fieldsOf(taxonomy, next))
  const current = Object.entries(version.fields as LoaderFieldValues).filter(([key]) => supported.has(key))
  const fields = checkLoaderFields(taxonomy, next, Object.fromEntries([...current, ...sent]))
  return { fields: JSON.stringify(fields) }
}

/** Any other status than `scheduled` cancels the schedule. A public status can have to wait for the scan. */
async function statusChange(
  tx: Tx,
  version: VersionRow,
  patch: VersionPatch,
  gate: ScanGate,
): Promise<Updateable<Version>> {
  const { status } = patch
  if (status === undefined) {
    checkKeptSchedule(patch, version)
    return patch.requested_status === undefined ? {} : { requested_status: patch.requested_status }
  }
  if (status !== 'scheduled') return admitStatus(tx, { id: version.id, from: version.status, wanted: status }, gate)
  return { status, ...(await scheduleRelease(tx, { version_id: version.id }, { patch, row: version, now: gate.now })) }
}

/** Changes the types of files. @throws ApiError `validation_error` for a file that is not in this version. */
async function retagFiles(tx: Tx, versionId: string, changes: NonNullable<VersionPatch['file_types']>): Promise<void> {
  for (const [index, { algorithm, hash, file_type }] of changes.entries()) {
    if (algorithm !== 'sha1' && algorithm !== 'sha512') {
      throw validationError(`file_types.${index}.algorithm`, 'must be sha1 or sha512')
    }
    const { numUpdatedRows } = await tx
      .updateTable('file')
      .set({ file_type })
      .where('version_id', '=', versionId)
      .where(algorithm, '=', hash.toLowerCase())
      .executeTakeFirst()
    if (numUpdatedRows === 0n)
      throw validationError(`file_types.${index}.hash`, 'must be the hash of a file of this version')
  }
}
