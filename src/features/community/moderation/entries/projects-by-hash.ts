// Finds all projects that contain certain files.
import type { Db } from '#platform/db/db.ts'

/** Maximum number of files in a response. */
const FILES_MAX = 1000

export type FoundFile = {
  sha512: string
  filename: string
  version_id: string
  version_number: string
  version_status: string
  project_id: string
  slug: string
  name: string
  status: string
  downloads: number
}

/** Returns the files with these SHA-512 hashes in all versions, ordered by project; one more than the maximum. */
export async function listFilesByHash(
  db: Db,
  hashes: readonly string[],
): Promise<{ files: FoundFile[]; complete: boolean }> {
  const files = await db
    .selectFrom('file')
    .innerJoin('version', 'version.id', 'file.version_id')
    .innerJoin('project', 'project.id', 'version.project_id')
    .select(['file.sha512', 'file.filename', 'version.id as version_id', 'version.version_number'])
    .select(['version.status as version_status', 'project.id as project_id', 'project.slug', 'project.name'])
    .select(['project.status', 'project.downloads'])
    .where('file.sha512', 'in', hashes)
    .orderBy('project.downloads', 'desc')
    .orderBy('project.id')
    .orderBy('version.date_published', 'desc')
    .orderBy('file.id')
    .limit(FILES_MAX + 1)
    .execute()
  return { files: files.slice(0, FILES_MAX), complete: files.length <= FILES_MAX }
}
