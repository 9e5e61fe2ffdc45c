// The files of a draft, and its expiry after they change.

import type { Db, Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import type { LoaderFieldValues } from '#taxonomy/loader-fields.ts'
import type { VersionRow } from '../queries.ts'
import { draftExpiry } from './completeness.ts'

/** Renews the expiry of a locked draft after its files have changed. Does nothing for other versions. */
export async function refreshDraft(
  tx: Tx,
  { taxonomy, now }: Pick<Deps, 'taxonomy' | 'now'>,
  version: VersionRow,
): Promise<void> {
  if (!version.is_new_draft) return
  const files = (await listDraftFiles(tx, version.id)).length
  const content = { ...version, fields: version.fields as LoaderFieldValues, files }
  const draft_expires = draftExpiry(taxonomy, content, now())
  await tx.updateTable('version').set({ draft_expires }).where('id', '=', version.id).execute()
}

export type DraftFile = {
  id: string
  filename: string
  file_type: string | null
  is_primary: boolean
  storage_key: string
  size_bytes: number
  sha1: string
  sha512: string
}

/** Returns the files of a version in the order of its view. */
export function listDraftFiles(db: Db, versionId: string): Promise<DraftFile[]> {
  return db
    .selectFrom('file')
    .select(['id', 'filename', 'file_type', 'is_primary', 'storage_key', 'size_bytes', 'sha1', 'sha512'])
    .where('version_id', '=', versionId)
    .orderBy('is_primary', 'desc')
    .orderBy('filename')
    .execute()
}
