// Adds files to an existing version.

import { findMembership } from '#features/basics/access/memberships.ts'
import { requireNotMirrored } from '#features/basics/access/origin.ts'
import { type Membership, requirePermission } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { recordVersionEvent } from '#features/basics/events/record-event.ts'
import { touchProject } from '#features/catalogue/projects/queries.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { fileNameKey } from '#lib/text/file-names.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { withStoredFiles } from '#ports/files/claims.ts'
import type { LoaderFieldValues } from '#taxonomy/loader-fields.ts'
import { refreshDraft } from '../drafts/draft-files.ts'
import { holdForScan } from '../lifecycle/scan-gate.ts'
import { choosePrimaryOf } from '../manifests/manifest.ts'
import { listDeclaredIds } from '../manifests/queries.ts'
import { requireTrustedPublisher } from '../policy.ts'
import { findPrimaryManifests } from '../proposals/queries.ts'
import { lockVersion, type VersionRow } from '../queries.ts'
import { findNamedUploads, takeUploads, withUploads } from '../uploads/use-uploads.ts'
import { insertFiles } from './insert-version.ts'
import { oneFile, type PreparedFile, prepareFiles, type ReceivedFiles, withParts } from './prepare-files.ts'
import { keepProvenance } from './provenance.ts'
import { type AddedFiles, FILE_PARTS_MAX } from './requests.ts'

export type FilesToAdd = {
  versionId: string
  membership: Membership
  /** Reads the form; called only if the viewer may add files. */
  receive: () => Promise<ReceivedFiles<AddedFiles>>
}

/**
 * A draft keeps the unfinished uploads that are named.
 * @throws ApiError 403 without UPLOAD_VERSION, 404 for the version, `invalid_input` naming the part.
 */
export async function addFiles(
  deps: Deps,
  viewer: Viewer,
  { versionId, membership, receive }: FilesToAdd,
): Promise<void> {
  requirePermission(viewer, membership, 'UPLOAD_VERSION')
  const row = await deps.db
    .selectFrom('version')
    .select(['loaders', 'fields', 'is_new_draft'])
    .where('id', '=', versionId)
    .executeTakeFirst()
  if (row === undefined) throw notFound('version')
  const { description, parts: sent } = await receive()
  const { fileTypes, fileParts: names } = description
  const uploads = await findNamedUploads(deps, viewer, { names, isDraft: row.is_new_draft }).catch((error) =>
    withParts(deps, sent, () => Promise.reject(error)),
  )
  await withUploads(deps, { sent, uploads, names }, async (parts) => {
    if (parts.length + uploads.unfinished.length === 0) throw invalidInput('At least one file part is required', 'file')
    // The loaders of a draft can still change. `updateVersion` checks its files when it is published.
    const loaders = row.is_new_draft ? [] : row.loaders
    const version = { columns: { loaders }, fields: row.fields as LoaderFieldValues, fileTypes }
    const files = await prepareFiles(deps, { version, versionId, parts, caller: viewer.caller })
    await withStoredFiles(deps, files, () =>
      transaction(deps, async (tx, changed) => {
        const locked = await lockVersion(tx, versionId)
        if (locked === undefined) throw notFound('version')
        const projectId = locked.project.id
        // Checked again because the membership might have ended during the upload.
        requirePermission(viewer, await findMembership(tx, viewer, locked.project), 'UPLOAD_VERSION')
        requireTrustedPublisher(viewer, locked.project)
        requireNotMirrored(locked.version)
        await rejectFiles(tx, versionId, files)
        await insertFiles(tx, { versionId, projectId, files: await withPrimary(tx, locked.version, files) })
        await takeUploads(tx, uploads, { versionId, now: deps.now() })
        await refreshDraft(tx, deps, locked.version)
        if (files.length === 0) return
        await keepProvenance(tx, viewer, locked.version)
        await holdForScan(tx, locked.version, { scanner: deps.config.scanner, now: deps.now() })
        if (!locked.version.is_new_draft) {
          await touchProject(tx, projectId, new Date(deps.now()))
          await recordVersionEvent(tx, 'version.updated', { projectId, versionId }, { fields: ['files'] })
        }
        changed.add('version', versionId)
        changed.add('project', projectId)
      }),
    )
  })
}

/** @throws ApiError `invalid_input` for too many files, and for a name that differs from a stored one only in its form. */
async function rejectFiles(tx: Tx, versionId: string, added: readonly PreparedFile[]): Promise<void> {
  const stored = await tx.selectFrom('file').select('filename').where('version_id', '=', versionId).execute()
  if (stored.length + added.length > FILE_PARTS_MAX)
    throw invalidInput(`A version can have at most ${FILE_PARTS_MAX} files`, 'file')
  const names = new Map(stored.map(({ filename }) => [fileNameKey(filename), filename]))
  for (const { filename, part } of added) {
    const other = names.get(fileNameKey(filename))
    if (other !== undefined && other !== filename) throw oneFile(filename, other, part)
  }
}

/**
 * Chooses the primary file of a draft among its files and the new ones, unless the primary file has a manifest: the file
 * whose manifest has named the project before, otherwise the first file with a manifest, otherwise the first file.
 */
async function withPrimary(
  tx: Tx,
  { id, project_id, is_new_draft }: VersionRow,
  files: readonly PreparedFile[],
): Promise<readonly PreparedFile[]> {
  if (!is_new_draft || files.length === 0) return files
  const present = await findPrimaryManifests(tx, id)
  const chosen = choosePrimaryOf(files, await listDeclaredIds(tx, project_id))
  if (present !== undefined && (present.manifests.length > 0 || chosen?.manifests.length === 0)) return files
  await tx.updateTable('file').set({ is_primary: false }).where('version_id', '=', id).execute()
  return files.map((file) => ({ ...file, isPrimary: file === chosen }))
}
