// Edits a version in one transaction.

import { sql, type Updateable } from 'kysely'
import { requireNotMirrored } from '#features/basics/access/origin.ts'
import { type Membership, requirePermission } from '#features/basics/access/project-policy.ts'
import { isListedStatus } from '#features/basics/access/version-status.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { dropUnusedImages } from '#features/basics/content-images/queries.ts'
import { recordVersionEvent } from '#features/basics/events/record-event.ts'
import { announceLostVersion } from '#features/catalogue/breakage/announce-loss.ts'
import { touchProject } from '#features/catalogue/projects/queries.ts'
import { checkKeptSchedule, scheduleRelease } from '#features/catalogue/projects/schedule-release.ts'
import { notFound, validationError } from '#lib/errors.ts'
import { Refusals } from '#lib/schema/refusals.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { requireRevision, withCurrentState } from '#platform/cache/revisions.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Version } from '#platform/db/schema.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { draftExpiry } from '../drafts/completeness.ts'
import { listDraftFiles } from '../drafts/draft-files.ts'
import { type CheckedFiles, checkDraftFiles, completeDraft, type NextVersion } from '../drafts/publish-draft.ts'
import { PACK_LOADERS_FIELD, withPackLoaders } from '../files/pack-loaders.ts'
import { getVersion, versionViewer } from '../lookup/version-cache.ts'
import { warnOfVersionAhead } from '../lookup/version-filter.ts'
import { requireCounterRights, requireTrustedPublisher } from '../policy.ts'
import { insertDependencies, resolveDependencies } from '../publish/dependencies.ts'
import { checkDependencies, type DependencyInput } from '../publish/requests.ts'
import { type LockedVersion, lockVersion, type VersionRow } from '../queries.ts'
import { choosePrimaryFile, retagFiles } from './edit-files.ts'
import { nextContent } from './next-content.ts'
import type { VersionPatch } from './requests.ts'
import { admitStatus, type ScanGate } from './scan-gate.ts'
import { announceVersion, recordVersionStatus } from './show-version.ts'
import { recordWithdrawal, withdrawalChange } from './withdraw-version.ts'

export type VersionEdit = {
  id: string
  membership: Membership
  patch: VersionPatch
  /** Revision on which the edit is based. Default: any. */
  revision?: number | undefined
  /** Errors of the request that are known already. */
  found?: Refusals | undefined
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
    async (reader) => viewOf(await getVersion(reader, versionViewer(viewer), edit.id)),
  )
}

async function saveVersion(deps: Deps, viewer: Viewer, { id, patch, revision, found }: VersionEdit): Promise<void> {
  const { dependencies, file_types, primary_file } = patch
  const before = new Refusals(found)
  const areDependenciesValid = before.check(() => {
    checkDependencies(dependencies ?? [], 'dependencies')
    return true
  })
  const checked = await before.wait(() => checkPublication(deps, viewer, id, patch))
  const now = deps.now()
  const { publishes, projectId } = await transaction(deps, async (tx, changed) => {
    const locked = await lockVersion(tx, id)
    if (locked === undefined) throw notFound('version')
    const { project, version } = locked
    if (before.isEmpty) requireRevision(version, revision)
    requireNotMirrored(version, patch)
    const refusals = new Refusals(before)
    const content = refusals.check(() => nextContent(version, patch, deps.taxonomy))
    const gate = { scanner: deps.config.scanner, now }
    const status = await refusals.wait(() => statusChange(tx, version, patch, gate))
    const withdrawal = await refusals.wait(() => withdrawalChange(tx, locked, { patch, status: status?.status, now }))
    await refusals.wait(async () => {
      if (dependencies !== undefined && areDependenciesValid) await replaceDependencies(tx, viewer, id, dependencies)
    })
    await refusals.wait(async () => {
      if (file_types !== undefined) await retagFiles(tx, id, file_types)
    })
    await refusals.wait(async () => {
      if (primary_file !== undefined) await choosePrimaryFile(tx, id, primary_file)
    })
    refusals.throwAny()
    const { columns, fields, fieldChanges } = content ?? nextContent(version, patch, deps.taxonomy)
    const update: Updateable<Version> = { ...columns, ...fieldChanges, ...status, ...withdrawal }
    const publishes = version.is_new_draft && update.status !== undefined && update.status !== 'draft'
    if (version.is_new_draft) {
      const next = { ...version, ...columns, fields }
      if (publishes && version.provenance === null) requireTrustedPublisher(viewer, project)
      if (publishes)
        await warnOfVersionAhead(
          { db: tx, dryRun: deps.dryRun },
          { projectId: project.id, id, number: next.version_number, ordering: next.ordering },
        )
      Object.assign(update, await draftChanges(tx, deps, { next, checked, publishes }))
    } else if (checked !== undefined) {
      update.fields = JSON.stringify(withPackLoaders(fields, checked.packLoaders))
    }
    if (patch.changelog !== undefined) await dropUnusedImages(tx, { context: 'version', id }, patch.changelog)
    if (patch.downloads !== undefined) {
      await tx.updateTable('version').set({ downloads: patch.downloads }).where('id', '=', id).execute()
      // The downloads of a project are the sum of the downloads of its versions.
      const downloads = sql<number>`greatest(0, downloads + ${patch.downloads - version.downloads})`
      await tx.updateTable('project').set({ downloads }).where('id', '=', project.id).execute()
    }
    if (Object.keys(update).length > 0) await tx.updateTable('version').set(update).where('id', '=', id).execute()
    if (!(update.is_new_draft ?? version.is_new_draft)) await touchProject(tx, project.id, new Date(now))
    if (update.status !== undefined) await recordStatus(tx, viewer, locked, { status: update.status, now })
    await recordWithdrawal(tx, changed, viewer, locked, update)
    if (!version.is_new_draft) await recordFields(tx, locked, patch)
    changed.add('version', id)
    changed.add('project', project.id)
    return { publishes, projectId: project.id }
  })
  if (publishes) recordEvent(deps, 'version.published', { project_id: projectId, version_id: id })
}

/** Records the fields of a patch that readers see, except the status and the withdrawal, which have their own events. */
async function recordFields(
  tx: Tx,
  { project, version }: LockedVersion,
  { status, requested_status, scheduled_at, downloads, withdrawn, ...shown }: VersionPatch,
): Promise<void> {
  const fields = Object.keys(shown)
  if (fields.length === 0) return
  await recordVersionEvent(tx, 'version.updated', { projectId: project.id, versionId: version.id }, { fields })
}

/** Announces a version that becomes listed, and records the change of its status. Called after the change. */
export async function recordStatus(
  tx: Tx,
  viewer: Viewer,
  { project, version }: LockedVersion,
  { status, now }: { status: string; now: number },
): Promise<void> {
  const { id, status: from } = version
  if (status === 'listed' && from !== 'archived')
    await announceVersion(tx, { versionId: id, project, status, at: new Date(now) })
  if (status === from) return
  await recordVersionStatus(tx, { project, versionId: id, from, to: status })
  if (isListedStatus(from) && !isListedStatus(status))
    await announceLostVersion(tx, version, { reason: 'hidden', at: new Date(now) })
  const details = { from, to: status, project: project.id }
  const subject = { kind: 'version', id } as const
  await recordAudit(tx, { action: 'version.status_changed', actor: actorOf(viewer), subject, details })
}

async function replaceDependencies(tx: Tx, viewer: Viewer, id: string, dependencies: DependencyInput[]): Promise<void> {
  const resolved = await resolveDependencies(tx, viewer, dependencies)
  if (resolved.some(({ version_id }) => version_id === id))
    throw validationError('dependencies', 'cannot contain the version itself')
  await tx.deleteFrom('dependency').where('dependent_id', '=', id).execute()
  await insertDependencies(tx, id, resolved)
}

/**
 * Checks the stored files outside the transaction if the patch publishes a new draft, chooses another primary file, or
 * changes the loaders inside a pack.
 * @throws ApiError like `checkDraftFiles`, and `validation_error` like `nextContent`.
 */
async function checkPublication(deps: Deps, viewer: Viewer, id: string, patch: VersionPatch) {
  const { status, primary_file, file_types } = patch
  const publishes = status !== undefined && status !== 'draft'
  const changesFile = primary_file !== undefined || Object.hasOwn(patch, PACK_LOADERS_FIELD)
  if (!publishes && !changesFile) return undefined
  const version = await deps.db.selectFrom('version').selectAll().where('id', '=', id).executeTakeFirst()
  if (version === undefined) throw notFound('version')
  const needsCheck = version.is_new_draft ? publishes : changesFile
  if (!needsCheck) return undefined
  const { columns, fields } = nextContent(version, patch, deps.taxonomy)
  const next = { ...version, ...columns, fields }
  return checkDraftFiles(deps, viewer, { next, edit: { primary_file, file_types } })
}

/** Returns the other columns that change together with a new draft. */
async function draftChanges(
  tx: Tx,
  deps: Pick<Deps, 'taxonomy' | 'now'>,
  { next, checked, publishes }: { next: NextVersion; checked: CheckedFiles | undefined; publishes: boolean },
): Promise<Updateable<Version>> {
  if (publishes) return completeDraft(tx, deps, { next, checked })
  const files = await listDraftFiles(tx, next.id)
  return { draft_expires: draftExpiry(deps.taxonomy, { ...next, files: files.length }, deps.now()) }
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
