// Rows of the manifests of uploaded files.

import type { Db, Tx } from '#platform/db/db.ts'
import type { Manifest } from './manifest.ts'

/** Stores the manifests of a new file. */
export async function insertManifests(tx: Tx, fileId: string, manifests: readonly Manifest[]): Promise<void> {
  if (manifests.length === 0) return
  const rows = manifests.map((manifest) => ({
    file_id: fileId,
    entry: manifest.entry,
    declared_id: manifest.id ?? null,
    content: JSON.stringify(manifest),
  }))
  await tx.insertInto('file_manifest').values(rows).execute()
}

/** Returns the readable manifests of a version's files, those of the primary file first. */
export async function listManifests(db: Db, versionId: string): Promise<{ file_id: string; manifest: Manifest }[]> {
  const rows = await db
    .selectFrom('file')
    .innerJoin('file_manifest', 'file_manifest.file_id', 'file.id')
    .select(['file.id', 'file_manifest.content'])
    .where('file.version_id', '=', versionId)
    .orderBy('file.is_primary', 'desc')
    .orderBy('file.filename')
    .orderBy('file_manifest.entry')
    .execute()
  return rows
    .map(({ id, content }) => ({ file_id: id, manifest: content as unknown as Manifest }))
    .filter(({ manifest }) => manifest.isUnreadable !== true)
}

/** Returns the IDs that the manifests of a project's published files declare. */
export async function listDeclaredIds(db: Db, projectId: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('version')
    .innerJoin('file', 'file.version_id', 'version.id')
    .innerJoin('file_manifest', 'file_manifest.file_id', 'file.id')
    .select('file_manifest.declared_id')
    .distinct()
    .where('version.project_id', '=', projectId)
    .where('version.is_new_draft', '=', false)
    .where('file_manifest.declared_id', 'is not', null)
    .limit(100)
    .execute()
  return new Set(rows.map(({ declared_id }) => declared_id ?? ''))
}
