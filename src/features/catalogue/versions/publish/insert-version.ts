// Inserts the rows of a new version: version, files and dependencies.
import { type InsertObject, sql } from 'kysely'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { type Actor, actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { attachImages } from '#features/basics/content-images/queries.ts'
import { requireUnblocked } from '#features/catalogue/contents/blocked-contents.ts'
import { claimContents } from '#features/catalogue/contents/content-owners.ts'
import { ApiError, invalidInput } from '#lib/errors.ts'
import type { ScannerConfig } from '#platform/config/config.ts'
import type { Tx } from '#platform/db/db.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import type { DB } from '#platform/db/schema.ts'
import { dropClaims } from '#ports/files/claims.ts'
import { withPackLoaders } from '../files/pack-loaders.ts'
import { firstStatus, requestScan } from '../lifecycle/scan-gate.ts'
import { insertManifests } from '../manifests/queries.ts'
import { embeddedDependencies, insertDependencies, resolveDependencies } from './dependencies.ts'
import type { PreparedFile } from './prepare-files.ts'
import { provenanceOf } from './provenance.ts'
import type { NewVersion } from './requests.ts'

export type VersionToInsert = {
  id: string
  projectId: string
  version: NewVersion
  files: readonly PreparedFile[]
  publishedAt: Date
  /** The scanner that must pass the files before the version is public. */
  scanner: ScannerConfig
  /** When an incomplete draft is deleted. Default: never */
  draftExpires?: Date | null
  /** Dotted path of the version in the request, for errors. Default: empty, for the whole body. */
  at?: string
}

/**
 * Inserts a version with its files, images and dependencies, and returns its initial status.
 * @throws ApiError `conflict` with `details.version_id` if the project already has the version, `validation_error`, and
 * the errors of `insertFiles`.
 */
export async function insertVersion(
  tx: Tx,
  viewer: Viewer,
  { id, projectId, version, files, publishedAt, scanner, draftExpires = null, at = '' }: VersionToInsert,
): Promise<string> {
  const hashes = files.map(({ staged }) => staged.sha512)
  await rejectSameVersion(tx, { projectId, number: version.columns.version_number, hashes, at })
  const { status, requested_status } = firstStatus(version.status, scanner)
  const inside = files.find(({ isPrimary }) => isPrimary)?.packLoaders ?? []
  const fields = version.status === 'draft' ? version.fields : withPackLoaders(version.fields, inside, at)
  const row = {
    id,
    project_id: projectId,
    author_id: viewer.id,
    ...version.columns,
    status,
    requested_status,
    is_new_draft: version.status === 'draft',
    draft_expires: draftExpires,
    fields: JSON.stringify(fields),
    date_published: publishedAt,
    provenance: provenanceOf(viewer),
  }
  await insertVersionRow(tx, actorOf(viewer), row, status)
  await insertFiles(tx, { versionId: id, projectId, files })
  const place = (field: string) => (at === '' ? field : `${at}.${field}`)
  await attachImages(tx, viewer, {
    ids: version.uploadedImages,
    target: { context: 'version', id },
    field: place('uploaded_images'),
  })
  const declared = await resolveDependencies(tx, viewer, version.dependencies, place('dependencies'))
  const embeddedFiles = declared.length > 0 ? [] : files.flatMap((file) => file.embedded)
  const embedded = await embeddedDependencies(tx, embeddedFiles)
  await insertDependencies(tx, id, [...declared, ...embedded])
  if (scanner.kind !== 'none' && files.length > 0)
    await requestScan(tx, id, { now: publishedAt.getTime(), shownBefore: false })
  return status
}

/** Inserts the row of a version, and records it in the audit log with `status`. */
export async function insertVersionRow(
  tx: Tx,
  actor: Actor,
  row: InsertObject<DB, 'version'> & { id: string; project_id: string; version_number: string },
  status: string,
): Promise<void> {
  await tx.insertInto('version').values(row).execute()
  const { id, project_id: project, version_number } = row
  const details = { project, version_number, status }
  await recordAudit(tx, { action: 'version.created', actor, subject: { kind: 'version', id }, details })
}

/**
 * Rejects a second version with this number and the same files. The lock on the project serialises uploads, so that this
 * also detects a concurrent duplicate.
 * @throws ApiError `conflict` with `details.version_id`.
 */
export async function rejectSameVersion(
  tx: Tx,
  { projectId, number, hashes, at = '' }: { projectId: string; number: string; hashes: readonly string[]; at?: string },
): Promise<void> {
  if (hashes.length === 0) return
  const { rows } = await sql<{ id: string }>`
    select version.id from version join file on file.version_id = version.id
    where version.project_id = ${projectId} and version.version_number = ${number} and not version.is_new_draft
    group by version.id having array_agg(file.sha512 order by file.sha512) = ${hashes.toSorted()}::text[]
    limit 1`.execute(tx)
  const [same] = rows
  if (same === undefined) return
  throw new ApiError('conflict', 'The project already has a version with this number and these files', {
    details: {
      field: at === '' ? 'version_number' : `${at}.version_number`,
      message: `is the number of version ${same.id}, which has the same files`,
      version_id: same.id,
    },
  })
}

/**
 * Inserts files of a version and drops their claims. Keys of the database enforce that only one project can be public
 * with a file (`file_content`), and that a file name of a version always has the same content (`file_address`).
 * @throws ApiError `invalid_input` or `conflict` naming the part.
 */
export async function insertFiles(
  tx: Tx,
  { versionId, projectId, files }: { versionId: string; projectId: string; files: readonly PreparedFile[] },
): Promise<void> {
  if (files.length === 0) return
  await requireOwnContents(tx, projectId, files)
  for (const file of files) {
    await tx
      .insertInto('file')
      .values({
        id: file.id,
        version_id: versionId,
        filename: file.filename,
        size_bytes: file.staged.sizeBytes,
        sha1: file.staged.sha1,
        sha512: file.staged.sha512,
        is_primary: file.isPrimary,
        file_type: file.fileType,
        content_type: file.contentType,
        storage_key: file.storageKey,
      })
      .execute()
      .catch(
        onUnique({
          file_name_key: () => invalidInput(`The version already has a file named ${file.filename}`, file.part),
          file_address_key: () => nameUsedBefore(file),
        }),
      )
    await insertManifests(tx, file.id, file.manifests)
  }
  const keys = files.map(({ storageKey }) => storageKey)
  await dropClaims(tx, keys)
}

function nameUsedBefore({ part, filename }: PreparedFile): ApiError {
  const message = `A different file named ${filename} was published in this version before. Choose another file name.`
  return new ApiError('conflict', message, { details: { field: part, message } })
}

/** @throws ApiError `invalid_input` naming the part of the first file that is blocked or that another project published first. */
async function requireOwnContents(tx: Tx, projectId: string, files: readonly PreparedFile[]): Promise<void> {
  await requireUnblocked(
    tx,
    files.map(({ staged: { sha512 }, filename, part }) => ({ sha512, filename, field: part })),
  )
  const hashes = files.map(({ staged }) => staged.sha512)
  const owned = await claimContents(tx, projectId, hashes)
  const file = files.find(({ staged }) => owned.has(staged.sha512))
  if (file !== undefined) throw invalidInput('Another project already contains this file', file.part)
}
