// The rows of a new version: itself, its files with their claim to the bytes, and its dependencies.
import { sql } from 'kysely'
import { attachImages } from '#features/basics/content-images/queries.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { ApiError, invalidInput } from '#lib/errors.ts'
import type { ScannerConfig } from '#platform/config/config.ts'
import type { Tx } from '#platform/db/db.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import { dropClaims } from '#ports/files/claims.ts'
import { firstStatus, requestScan } from '../lifecycle/scan-gate.ts'
import { embeddedDependencies, insertDependencies, resolveDependencies } from './dependencies.ts'
import type { PreparedFile } from './prepare-files.ts'
import type { NewVersion } from './requests.ts'

export type VersionToInsert = {
  id: string
  projectId: string
  version: NewVersion
  files: readonly PreparedFile[]
  publishedAt: Date
  /** What has to judge the files before the version is shown. */
  scanner: ScannerConfig
  /** Dotted path of the version in the request, for errors; empty for the body itself. */
  at?: string
}

/**
 * Inserts a version with everything it holds, and returns the status it begins with.
 * @throws ApiError `conflict` with `details.version_id` where the project has the version already; for dependencies and pictures that cannot be, and for bytes or file names that are taken.
 */
export async function insertVersion(
  tx: Tx,
  viewer: Viewer,
  { id, projectId, version, files, publishedAt, scanner, at = '' }: VersionToInsert,
): Promise<string> {
  await refuseSameVersion(tx, { projectId, version, files, at })
  const { status, requested_status } = firstStatus(version.status, scanner)
  await tx
    .insertInto('version')
    .values({
      id,
      project_id: projectId,
      author_id: viewer.id,
      name: version.name.trim(),
      version_number: version.versionNumber,
      changelog: version.changelog,
      version_type: version.versionType,
      status,
      requested_status,
      featured: version.featured,
      ordering: version.ordering,
      loaders: version.loaders,
      fields: JSON.stringify(version.fields),
      date_published: publishedAt,
    })
    .execute()
  await insertFiles(tx, { versionId: id, projectId, files })
  const place = (field: string) => (at === '' ? field : `${at}.${field}`)
  await attachImages(tx, viewer, {
    ids: version.uploadedImages,
    target: { context: 'version', id },
    field: place('uploaded_images'),
  })
  const declared = await resolveDependencies(tx, viewer, version.dependencies, place('dependencies'))
  const embedded =
    declared.length > 0
      ? []
      : await embeddedDependencies(
          tx,
          files.flatMap((file) => file.embedded),
        )
  await insertDependencies(tx, id, [...declared, ...embedded])
  if (scanner.kind !== 'none') await requestScan(tx, id, { now: publishedAt.getTime(), shownBefore: false })
  return status
}

/**
 * The same files under the same number are the same version, sent again. Uploads to one project come one after the
 * other, so that of two at once the second is refused.
 */
async function refuseSameVersion(
  tx: Tx,
  { projectId, version, files, at = '' }: Pick<VersionToInsert, 'projectId' | 'version' | 'files' | 'at'>,
): Promise<void> {
  const hashes = files.map(({ staged }) => staged.sha512)
  if (hashes.length === 0) return
  const { rows } = await sql<{ id: string }>`
    select version.id from version join file on file.version_id = version.id
    where version.project_id = ${projectId} and version.version_number = ${version.versionNumber}
    group by version.id having array_agg(file.sha512 order by file.sha512) = ${hashes.toSorted()}::text[]
    limit 1`.execute(tx)
  const [same] = rows
  if (same === undefined) return
  throw new ApiError('conflict', 'The project has this version already: the same number and the same files', {
    details: {
      field: at === '' ? 'version_number' : `${at}.version_number`,
      message: `belongs to the version ${same.id}, which has the same files`,
      version_id: same.id,
    },
  })
}

/**
 * Inserts files of a version and drops the claims on their bytes. The same bytes belong to one project only; the
 * primary key of `file_content` settles it, also between two uploads at once. So does that of `file_address` for a name
 * that was used before: it may come back with the same bytes only.
 * @throws ApiError `invalid_input` for bytes or names that are taken, `conflict` for a name that had other bytes.
 */
export async function insertFiles(
  tx: Tx,
  { versionId, projectId, files }: { versionId: string; projectId: string; files: readonly PreparedFile[] },
): Promise<void> {
  if (files.length === 0) return
  await claimContents(tx, projectId, files)
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
          file_name_key: () => invalidInput(`The version has a file named ${file.filename} already`, file.part),
          file_address_key: () => nameUsedBefore(file),
        }),
      )
  }
  await dropClaims(
    tx,
    files.map(({ storageKey }) => storageKey),
  )
}

function nameUsedBefore({ part, filename }: PreparedFile): ApiError {
  const message = `The name ${filename} was used for other bytes in this version, and its address stays theirs: choose another name`
  return new ApiError('conflict', message, { details: { field: part, message } })
}

async function claimContents(tx: Tx, projectId: string, files: readonly PreparedFile[]): Promise<void> {
  // In the order of their keys, so that two uploads of the same files wait for each other and do not deadlock.
  for (const { part, staged } of files.toSorted((a, b) => (a.staged.sha512 < b.staged.sha512 ? -1 : 1))) {
    const { rows } = await sql<{ project_id: string }>`
      insert into file_content (sha512, project_id) values (${staged.sha512}, ${projectId})
      on conflict (sha512) do update set project_id = file_content.project_id
      returning project_id`.execute(tx)
    if (rows[0]?.project_id !== projectId) {
      throw invalidInput('These bytes are a file of another project already', part)
    }
  }
}
