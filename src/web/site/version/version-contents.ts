// Reads the contents of a version's archives: entries, manifests, and the difference from another version. They are cached,
// because the files of a version rarely change and a remote store would get a request for each page.

import type { Manifest } from '#features/catalogue/versions/manifests/manifest.ts'
import { listManifests } from '#features/catalogue/versions/manifests/queries.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { type EntryRow, type FileEntries, listEntries } from '#features/community/moderation/entries/read-entries.ts'
import { MIB } from '#lib/text/sizes.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import type { PageRequest } from '#web/kit/request.ts'

/** Maximum number of entries of which the pages of a version know. */
const ENTRIES_MAX = 20_000

export type ContentsFile = {
  id: string
  filename: string
  /** Entries by path, with those of the other version that were removed; undefined if the file is not an archive. */
  entries: readonly EntryRow[] | undefined
  counts: { added: number; removed: number; changed: number; same: number }
  /** Whether the other version has such a file. */
  isCompared: boolean
  manifests: readonly Manifest[]
}

const CONTENTS = defineCache<RememberDefinition<readonly ContentsFile[]>>({
  name: 'archive-contents',
  contains: 'Entries and manifests of the files of a version',
  maxBytes: 32 * MIB,
  sizeOf: (files) =>
    files.reduce(
      (sum, { entries = [], manifests }) =>
        sum +
        entries.reduce((all, { path }) => all + 2 * path.length + 120, 400) +
        2 * JSON.stringify(manifests).length,
      0,
    ),
})

type Revised = Pick<VersionView, 'id' | 'revision'>

/** Returns the contents of each file; undefined if the file store is unavailable. */
export async function loadContents(
  { deps }: PageRequest,
  version: Revised,
  against: Revised | undefined,
): Promise<readonly ContentsFile[] | undefined> {
  const key = [version, against].map((each) => `${each?.id} ${each?.revision}`).join(' ')
  const remembered = deps.cache.remember(CONTENTS)
  return remembered
    .get(key, async () => {
      const query = { text: '', count: ENTRIES_MAX, offset: 0 }
      const { files } = await listEntries(deps, { versionId: version.id, against: against?.id }, query)
      const manifests = await listManifests(deps.db, version.id)
      return files.map((file) => toContents(file, manifests))
    })
    .catch((error: unknown) => {
      deps.log.warn({ err: error, version_id: version.id }, 'Could not read the contents of a version')
      return undefined
    })
}

function toContents(
  { file, against, listed }: FileEntries,
  manifests: Awaited<ReturnType<typeof listManifests>>,
): ContentsFile {
  const { added = 0, removed = 0, changed = 0, same = 0 } = listed?.counts ?? {}
  return {
    id: file.id,
    filename: file.filename,
    entries: listed?.entries,
    counts: { added, removed, changed, same },
    isCompared: against !== undefined,
    manifests: manifests.filter(({ file_id }) => file_id === file.id).map(({ manifest }) => manifest),
  }
}

/** A folder of an archive. */
export type Folder = {
  name: string
  /** Path with a slash at the end; empty for the archive. */
  path: string
  folders: Folder[]
  files: { name: string; size: number }[]
  /** Number and size of all files below. */
  count: number
  size: number
}

/** Returns the entries of an archive as a tree, without removed ones. A folder with a single folder is joined with it. */
export function folderTree(entries: readonly EntryRow[]): Folder {
  const root: Folder = newFolder('', '')
  const byPath = new Map([['', root]])
  for (const { path, size } of entries) {
    if (size === null) continue
    const cut = path.lastIndexOf('/') + 1
    folderAt(byPath, path.slice(0, cut)).files.push({ name: path.slice(cut), size })
  }
  return summed(root)
}

const newFolder = (name: string, path: string): Folder => ({ name, path, folders: [], files: [], count: 0, size: 0 })

/** Depth below which folders are not nested, so that a hostile path cannot nest markup without limit. */
const DEPTH_MAX = 24

function folderAt(byPath: Map<string, Folder>, path: string): Folder {
  const names = path.split('/').slice(0, -1)
  let folder = byPath.get('') ?? newFolder('', '')
  for (let depth = 0; depth < names.length; depth += 1) {
    const isLast = depth === DEPTH_MAX
    const name = isLast ? names.slice(depth).join('/') : (names[depth] ?? '')
    const own = `${folder.path}${name}/`
    const known = byPath.get(own)
    const next = known ?? newFolder(name, own)
    if (known === undefined) {
      byPath.set(own, next)
      folder.folders.push(next)
    }
    folder = next
    if (isLast) break
  }
  return folder
}

/** Counts the files of each folder, and joins a folder that contains only one folder with it. */
function summed(folder: Folder): Folder {
  const folders = folder.folders.map((each) => {
    const below = summed(each)
    const [only] = below.folders
    return below.files.length === 0 && below.folders.length === 1 && only !== undefined
      ? { ...only, name: `${below.name}/${only.name}` }
      : below
  })
  return {
    ...folder,
    folders,
    count: folders.reduce((sum, { count }) => sum + count, folder.files.length),
    size: [...folders, ...folder.files].reduce((sum, { size }) => sum + size, 0),
  }
}

/** Returns the folder with this path; undefined if the archive does not contain it. */
export function findFolder(folder: Folder, path: string): Folder | undefined {
  if (folder.path === path) return folder
  const below = folder.folders.find((each) => path.startsWith(each.path))
  return below === undefined ? undefined : findFolder(below, path)
}
