// The versions of demo projects as rows, with their files.
import { createHash } from 'node:crypto'
import { demoArchive } from '#demo/catalogue/archive.ts'
import type { SeededProject } from '#demo/catalogue/new-projects.ts'
import type { DemoVersion } from '#demo/catalogue/versions.ts'
import { demoVersionId } from '#demo/ids.ts'
import { insertRows } from '#demo/seed/insert-rows.ts'
import { checkFilename } from '#features/catalogue/versions/files/filename.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'

export type PreparedVersion = {
  version: DemoVersion
  id: string
  projectId: string
  authorId: string
  file: { id: string; storageKey: string; bytes: Buffer; sha1: string; sha512: string; contentType: string }
}

type Place = { project: SeededProject; index: number; projectId: string; authorId: string; mark: string }

export function prepareVersions(
  fileRules: Deps['fileRules'],
  { project, index, projectId, authorId, mark }: Place,
): PreparedVersion[] {
  return project.versions.map((version, i) => {
    const id = demoVersionId('version', index, i)
    const fileId = demoVersionId('file', index, i)
    const bytes = demoArchive(project, version)
    return {
      version,
      id,
      projectId,
      authorId,
      file: {
        id: fileId,
        storageKey: `versions/${id}/${fileId}-${mark}`,
        bytes,
        sha1: createHash('sha1').update(bytes).digest('hex'),
        sha512: createHash('sha512').update(bytes).digest('hex'),
        contentType: checkFilename(fileRules, 'file', version.fileName).contentType,
      },
    }
  })
}

export async function insertVersions(
  tx: Tx,
  versions: readonly PreparedVersion[],
  names: { projectOf(slug: string): string },
): Promise<void> {
  await insertRows(
    tx,
    'version',
    versions.map(({ id, projectId, authorId, version }) => ({
      id,
      project_id: projectId,
      author_id: authorId,
      name: version.name,
      version_number: version.number,
      changelog: version.changelog,
      version_type: version.channel,
      status: 'listed',
      featured: version.featured,
      downloads: version.downloads,
      date_published: version.published,
      loaders: version.loaders,
      fields: version.fields,
    })),
  )
  await insertRows(
    tx,
    'file_content',
    versions.map(({ projectId, file }) => ({ sha512: file.sha512, project_id: projectId })),
  )
  await insertRows(
    tx,
    'file',
    versions.map(({ id, version, file }) => ({
      id: file.id,
      version_id: id,
      filename: version.fileName,
      size_bytes: file.bytes.length,
      sha1: file.sha1,
      sha512: file.sha512,
      is_primary: true,
      content_type: file.contentType,
      storage_key: file.storageKey,
      created: version.published,
    })),
  )
  await insertRows(
    tx,
    'dependency',
    versions.flatMap(({ id, version }) =>
      version.dependencies.map(({ slug, kind }) => ({
        dependent_id: id,
        project_id: names.projectOf(slug),
        dependency_type: kind,
      })),
    ),
  )
}
