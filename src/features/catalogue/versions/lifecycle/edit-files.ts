// Edits the rows of a version's files: their types, and which of them is primary.

import { validationError } from '#lib/errors.ts'
import type { Tx } from '#platform/db/db.ts'
import type { VersionPatch } from './requests.ts'

/** Changes the types of files. @throws ApiError `validation_error` for a file that is not in this version. */
export async function retagFiles(
  tx: Tx,
  versionId: string,
  changes: NonNullable<VersionPatch['file_types']>,
): Promise<void> {
  for (const [index, { algorithm, hash, file_type }] of changes.entries()) {
    if (algorithm !== 'sha1' && algorithm !== 'sha512')
      throw validationError(`file_types.${index}.algorithm`, 'must be sha1 or sha512')
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

/** Makes the file with this SHA-512 hash the primary file. @throws ApiError `validation_error` if it is not in this version. */
export async function choosePrimaryFile(tx: Tx, versionId: string, sha512: string): Promise<void> {
  const ofVersion = tx.updateTable('file').where('version_id', '=', versionId)
  const hash = sha512.toLowerCase()
  await ofVersion.set({ is_primary: false }).where('is_primary', '=', true).where('sha512', '<>', hash).execute()
  const { numUpdatedRows } = await ofVersion.set({ is_primary: true }).where('sha512', '=', hash).executeTakeFirst()
  if (numUpdatedRows === 0n) throw unknownPrimary()
}

export const unknownPrimary = () =>
  validationError('primary_file', 'must be the SHA-512 hash of a file of this version')
