// Response schemas of the entries of archives and of projects by hash.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable } from '#lib/schema/schema-parts.ts'
import { LABELS } from './labels.ts'
import type { FoundFile } from './projects-by-hash.ts'
import { type FileEntries, STATES } from './read-entries.ts'

const EntryView = NamedObject('ArchiveEntry', {
  path: Type.String(),
  size: Nullable(Type.Integer({ description: 'Size in bytes; null if the entry was removed' })),
  size_before: Nullable(Type.Integer()),
  state: Type.Enum([...STATES]),
  labels: Type.Array(Type.Enum([...LABELS])),
})

export const EntriesView = NamedObject('VersionEntries', {
  files: Type.Array(
    Type.Object({
      id: Type.String(),
      filename: Type.String(),
      primary: Type.Boolean(),
      against: Nullable(Type.String({ description: 'ID of the file with which the entries are compared' })),
      archive: Type.Boolean({ description: 'Whether the file is a readable archive' }),
      counts: Nullable(
        Type.Record(Type.String(), Type.Integer(), { description: 'Number of entries by state and by label' }),
      ),
      matches: Type.Integer({ description: 'Number of entries that match the filter' }),
      entries: Type.Array(EntryView, { description: 'By path' }),
    }),
  ),
  omitted: Type.Integer({ description: 'Number of files that were not read' }),
})

export function toEntriesView({
  files,
  omitted,
}: {
  files: FileEntries[]
  omitted: number
}): Static<typeof EntriesView> {
  return {
    files: files.map(({ file, against, listed }) => ({
      id: file.id,
      filename: file.filename,
      primary: file.is_primary,
      against: against?.id ?? null,
      archive: listed !== undefined,
      counts: listed?.counts ?? null,
      matches: listed?.matches ?? 0,
      entries: listed?.entries ?? [],
    })),
    omitted,
  }
}

export const EntryTextView = NamedObject('ArchiveEntryText', {
  path: Type.String(),
  size: Type.Integer(),
  text: Nullable(Type.String({ description: 'At most 64 KiB; null if the entry is not UTF-8 text' })),
  complete: Type.Boolean({ description: 'Whether `text` is the whole entry' }),
})

export const ProjectsOfFilesView = NamedObject('ProjectsOfFiles', {
  projects: Type.Array(
    Type.Object({
      id: Type.String(),
      slug: Type.String(),
      name: Type.String(),
      status: Type.String(),
      downloads: Type.Integer(),
      files: Type.Array(
        Type.Object({
          sha512: Type.String(),
          filename: Type.String(),
          version_id: Type.String(),
          version_number: Type.String(),
          version_status: Type.String(),
        }),
      ),
    }),
    { description: 'Most downloaded first' },
  ),
  complete: Type.Boolean({ description: 'False if there are more than 1,000 files' }),
})

export function toProjectsView(found: { files: FoundFile[]; complete: boolean }): Static<typeof ProjectsOfFilesView> {
  const projects = new Map<string, Static<typeof ProjectsOfFilesView>['projects'][number]>()
  for (const { project_id: id, slug, name, status, downloads, ...file } of found.files) {
    const project = projects.get(id) ?? { id, slug, name, status, downloads, files: [] }
    project.files.push(file)
    projects.set(id, project)
  }
  return { projects: [...projects.values()], complete: found.complete }
}
