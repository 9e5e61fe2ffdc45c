// Edits a version: all of it or nothing.
import { sql, type Updateable } from 'kysely'
import { transaction } from '#cache/transaction.ts'
import type { Tx } from '#db/db.ts'
import type { Version } from '#db/schema.ts'
import { dropUnusedImages } from '#features/content-images/queries.ts'
import { lockProject } from '#features/projects/queries.ts'
import { scheduleRelease } from '#features/projects/schedule-release.ts'
import { forbidden, notFound, validationError } from '#lib/errors.ts'
import { isBlank } from '#lib/text-rules.ts'
import { isModerator, type Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { checkLoaderFields, type LoaderFieldValues } from '#taxonomy/loader-fields.ts'
import { checkLoaders, fieldsOf, type Taxonomy } from '#taxonomy/taxonomy.ts'
import { announceVersion } from '../publish/create-version.ts'
import { insertDependencies, resolveDependencies } from '../publish/dependencies.ts'
import { checkDependencies } from '../publish/requests.ts'
import { lockVersion, type VersionRow } from '../queries.ts'
import { type VersionPatch, versionPatchKeys } from './requests.ts'
import { admitStatus, type Gate } from './scan-gate.ts'

/** @throws ApiError naming the field; nothing is saved then. */
export async function updateVersion(
  deps: Deps,
  viewer: Viewer,
  { id, projectId, patch }: { id: string; projectId: string; patch: VersionPatch },
): Promise<void> {
  if (patch.name !== undefined && isBlank(patch.name)) throw validationError('name', 'must not be blank')
  if (patch.downloads !== undefined && !isModerator(viewer)) throw forbidden('Only moderators may change downloads')
  const { dependencies } = patch
  if (dependencies !== undefined) checkDependencies(dependencies, 'dependencies')
  await transaction(deps, async (tx, changed) => {
    // The project first, as everywhere, so that two edits wait for each other instead of deadlocking.
    const project = await lockProject(tx, projectId)
    const version = await lockVersion(tx, id)
    if (project === undefined || version === undefined) throw notFound('version')
    const loaders = patch.loaders === undefined ? undefined : checkLoaders(deps.taxonomy, patch.loaders)
    const update: Updateable<Version> = {
      ...plainFields(patch),
      ...(loaders === undefined ? {} : { loaders }),
      ...fieldChanges(version, patch, { taxonomy: deps.taxonomy, loaders }),
      ...(await statusChange(tx, version, patch, { scanner: deps.config.scanner, now: deps.now() })),
    }
    if (dependencies !== undefined) {
      const resolved = await resolveDependencies(tx, viewer, dependencies)
      if (resolved.some(({ version_id }) => version_id === id))
        throw validationError('dependencies', 'a version cannot depend on itself')
      await tx.deleteFrom('dependency').where('dependent_id', '=', id).execute()
      await insertDependencies(tx, id, resolved)
    }
    await retagFiles(tx, id, patch.file_types ?? [])
    if (patch.changelog !== undefined) await dropUnusedImages(tx, { context: 'version', id }, patch.changelog)
    if (patch.downloads !== undefined && patch.downloads !== version.downloads) {
      const difference = patch.downloads - version.downloads
      await tx
        .updateTable('project')
        .set({ downloads: sql`greatest(0, downloads + ${difference})` })
        .where('id', '=', projectId)
        .execute()
    }
    // Also when only files or dependencies changed: the revision has to move.
    await tx
      .updateTable('version')
      .set({ ...update, project_id: projectId })
      .where('id', '=', id)
      .execute()
    await tx
      .updateTable('project')
      .set({ updated: new Date(deps.now()) })
      .where('id', '=', projectId)
      .execute()
    if (update.status === 'listed' && version.status !== 'archived') {
      await announceVersion(tx, {
        versionId: id,
        projectId,
        status: 'listed',
        projectStatus: project.status,
        at: new Date(deps.now()),
      })
    }
    changed.add('version', id)
    changed.add('project', projectId)
  })
}

function plainFields(patch: VersionPatch): Updateable<Version> {
  return {
    ...(patch.name === undefined ? {} : { name: patch.name.trim() }),
    ...(patch.version_number === undefined ? {} : { version_number: patch.version_number }),
    ...(patch.changelog === undefined ? {} : { changelog: patch.changelog }),
    ...(patch.version_type === undefined ? {} : { version_type: patch.version_type }),
    ...(patch.featured === undefined ? {} : { featured: patch.featured }),
    ...(patch.ordering === undefined ? {} : { ordering: patch.ordering }),
    ...(patch.downloads === undefined ? {} : { downloads: patch.downloads }),
  }
}

/**
 * The version's fields with those of the patch over them, checked against the loaders it will have. Fields that the
 * new loaders do not know go; those they demand must be there.
 */
function fieldChanges(
  version: VersionRow,
  patch: VersionPatch,
  { taxonomy, loaders }: { taxonomy: Taxonomy; loaders: string[] | undefined },
): Updateable<Version> {
  const sent = Object.entries(patch).filter(([key, value]) => !Object.hasOwn(versionPatchKeys, key) && value !== null)
  if (sent.length === 0 && loaders === undefined) return {}
  const next = loaders ?? version.loaders
  const supported = new Set(fieldsOf(taxonomy, next))
  const kept = Object.entries(version.fields as LoaderFieldValues).filter(([key]) => supported.has(key))
  const fields = checkLoaderFields(taxonomy, next, Object.fromEntries([...kept, ...sent]))
  return { fields: JSON.stringify(fields) }
}

/**
 * `scheduled` needs a future time and what follows; every other status ends a schedule. A public one has to get past
 * the scanner.
 */
async function statusChange(
  tx: Tx,
  version: VersionRow,
  patch: VersionPatch,
  gate: Gate,
): Promise<Updateable<Version>> {
  const { status } = patch
  if (status === undefined) {
    if (patch.scheduled_at != null) throw validationError('scheduled_at', 'goes with the status scheduled')
    if (version.status === 'scheduled' && patch.requested_status === null) {
      throw validationError('requested_status', 'is what the schedule leads to')
    }
    return patch.requested_status === undefined ? {} : { requested_status: patch.requested_status }
  }
  if (status !== 'scheduled') return admitStatus(tx, { id: version.id, from: version.status, wanted: status }, gate)
  const next = patch.requested_status === undefined ? version.requested_status : patch.requested_status
  if (next === null) throw validationError('requested_status', 'is required with the status scheduled')
  const at = Date.parse(patch.scheduled_at ?? '')
  if (!Number.isFinite(at) || at <= gate.now) throw validationError('scheduled_at', 'must be a time in the future')
  await scheduleRelease(tx, { version_id: version.id }, new Date(at))
  return { status, requested_status: next, scheduled_at: new Date(at) }
}

/** Only files of this version can be retagged. */
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
    if (numUpdatedRows === 0n) throw validationError(`file_types.${index}.hash`, 'is no file of this version')
  }
}
