// The versions of demo projects as rows, with their files.
import { createHash } from 'node:crypto'
import { demoArchive } from '#demo/catalogue/archive.ts'
import { demoPartId } from '#demo/ids.ts'
import { insertRows } from '#demo/seed/insert-rows.ts'
import type { Indexed, Names } from '#demo/seed/names.ts'
import { checkFilename } from '#features/catalogue/versions/files/filename.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'

export type PreparedVersion = ReturnType<typeof prepareVersions>[number]

/** Returns the rows and the files of the versions of a project. */
export function prepareVersions(
  fileRules: Deps['fileRules'],
  { project, index, id: projectId }: Indexed,
  names: Names,
) {
  return project.versions.map((version, i) => {
    const id = demoPartId('version', index, i)
    const fileId = demoPartId('file', index, i)
    const bytes = demoArchive(project, version)
    const { contentType } = checkFilename(fileRules, 'file', version.fileName)
    const key = `versions/${id}/${fileId}-${names.mark}`
    return {
      stored: { key, bytes, contentType },
      row: {
        id,
        project_id: projectId,
        author_id: names.accountOf(project.owner),
        name: version.name,
        version_number: version.number,
        changelog: version.changelog,
        version_type: version.channel,
        status: 'listed' as const,
        featured: version.featured,
        downloads: version.downloads,
        date_published: version.published,
        loaders: version.loaders,
        fields: version.fields,
      },
      file: {
        id: fileId,
        version_id: id,
        filename: version.fileName,
        size_bytes: bytes.length,
        sha1: createHash('sha1').update(bytes).digest('hex'),
        sha512: createHash('sha512').update(bytes).digest('hex'),
        is_primary: true,
        content_type: contentType,
        storage_key: key,
        created: version.published,
      },
      dependencies: version.dependencies.map(({ slug, kind }) => ({
        dependent_id: id,
        project_id: names.projectOf(slug),
        dependency_type: kind,
      })),
    }
  })
}

/** Adds versions of projects that exist. */
export async function insertVersions(tx: Tx, versions: readonly PreparedVersion[]): Promise<void> {
  const rows = versions.map(({ row }) => row)
  const contents = versions.map(({ row, file }) => ({ sha512: file.sha512, project_id: row.project_id }))
  const files = versions.map(({ file }) => file)
  const dependencies = versions.flatMap((version) => version.dependencies)
  await insertRows(tx, 'version', rows)
  await insertRows(tx, 'file_content', contents)
  await insertRows(tx, 'file', files)
  await insertRows(tx, 'dependency', dependencies)
}
