// Reads the entries of published archives from the file store: the directory at the end of the archive, and one entry. The
// listing is not stored, because a directory is a small part of its archive and names would take as much space as all other
// rows of a version.
import { buffer } from 'node:stream/consumers'
import { ContentError, readStart } from '#platform/archives/archive-contents.ts'
import { type ArchiveSource, type DirectoryEntry, readDirectory } from '#platform/archives/archive-directory.ts'
import { ARCHIVE_LIMITS } from '#platform/archives/inspect-archive.ts'
import type { Files } from '#ports/files/files.ts'

export type StoredFile = { storage_key: string; size_bytes: number }

/** Returns the entries of a file without its folders, by path; undefined if it is missing or no archive. */
export async function readEntries(files: Files, file: StoredFile): Promise<DirectoryEntry[] | undefined> {
  const directory = await readDirectory(sourceOf(files, file), ARCHIVE_LIMITS)
  if (!directory.readable) return undefined
  return directory.entries
    .filter(({ name }) => !name.endsWith('/'))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

/** Returns the start of an entry, at most `maxBytes`; undefined if the entry cannot be unpacked. */
export async function readEntryStart(
  files: Files,
  { file, entry, maxBytes }: { file: StoredFile; entry: DirectoryEntry; maxBytes: number },
): Promise<Buffer | undefined> {
  return readStart(sourceOf(files, file), entry, maxBytes).catch((error: unknown) => {
    if (error instanceof ContentError) return undefined
    throw error
  })
}

/** Returns a stored file as the source of an archive. */
export function sourceOf(files: Files, { storage_key: key, size_bytes: size }: StoredFile): ArchiveSource {
  return {
    stat: async () => ({ size }),
    read: async (target, offset, length, position) => {
      const end = Math.min(position + length, size) - 1
      if (position > end) return { bytesRead: 0 }
      const opened = await files.open(key, { start: position, end })
      if (opened === undefined) return { bytesRead: 0 }
      return { bytesRead: (await buffer(opened.stream)).copy(target, offset) }
    },
  }
}
