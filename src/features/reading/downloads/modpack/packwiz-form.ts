// A published modpack as a packwiz pack, which launchers install and update from one address. Each file of the pack has a
// description named by its path and content, so that files that a new version does not change keep their names: launchers
// compare the names. The content of override folders has addresses here; other files have the addresses of the index.
import { hash, webcrypto } from 'node:crypto'
import {
  type Described,
  writeDescription,
  writeIndexOf,
  writePackOf,
} from '#features/catalogue/resolve/locks/packwiz.ts'
import type { PackIndex } from '#features/catalogue/versions/files/content-pack.ts'
import { forEachConcurrently } from '#lib/concurrency/for-each-concurrently.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { fileNameKey } from '#lib/text/file-names.ts'
import { describeBytes, MIB } from '#lib/text/sizes.ts'
import { isContainedPath } from '#platform/archives/inspect-archive.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import type { Deps } from '#ports/deps.ts'
import { getPackFile, type Modpack, openModpack, targetOfIndex } from './open-modpack.ts'

/** Limits of the override folders: each file is unpacked once to learn its hash. */
const OVERRIDES_MAX = 2048
const OVERRIDES_BYTES_MAX = 128 * MIB
const ENTRY_BYTES_MAX = 16 * MIB
const READ_AT_ONCE = 4

/** `entry`: the path in the archive, for a file of an override folder. */
type Part = { text: string; entry?: string }
type PackwizForm = { packToml: string; index: string; parts: ReadonlyMap<string, Part> }

const FORMS = defineCache<RememberDefinition<PackwizForm>>({
  name: 'packwiz-forms',
  contains: 'Published modpacks in the format of packwiz',
  maxBytes: 32 * MIB,
  sizeOf: ({ packToml, index, parts }) =>
    [...parts.values()].reduce(
      (sum, { text, entry = '' }) => sum + text.length + entry.length + 200,
      packToml.length + index.length,
    ),
})

export type PackwizRequest = {
  versionId: string
  /** Absolute URL of the page of the project, below which the files of the pack are. */
  pageUrl: string
  caller: string
}

/**
 * Returns the files of the pack as texts: `packToml`, its index, and the description of each file by its ID.
 * @throws ApiError 404 if the version has no content pack, `invalid_input` if its override folders are beyond the limits,
 * 503 if too many archives are open.
 */
export async function getPackwizForm(deps: Deps, { versionId, pageUrl, caller }: PackwizRequest): Promise<PackwizForm> {
  // Each time, because a moderator can block the content.
  const file = await getPackFile(deps.db, versionId)
  return deps.cache.remember(FORMS).get(`${versionId} ${file.sha512} ${pageUrl}`, async () => {
    const pack = await openModpack(deps, file, caller)
    const parts = await describeParts(pack, pageUrl)
    const names = [...parts.entries()]
    const index = await writeIndexOf(names, ([id, { text }]) => ({ path: `file-${id}.pw.toml`, text }))
    const packToml = writePackOf(deps, targetOfIndex(deps, pack.index), {
      file: `index-${versionId}.toml`,
      text: index,
    })
    return { packToml, index, parts }
  })
}

/** Returns the content of a file of an override folder: the `entry` of a part. @throws ApiError 404, 503. */
export async function readOverride(
  deps: Deps,
  { versionId, caller }: PackwizRequest,
  entry: string | undefined,
): Promise<Buffer> {
  if (entry === undefined) throw notFound('file')
  const { archive } = await openModpack(deps, await getPackFile(deps.db, versionId), caller)
  const content = await archive.readEntry(entry, ENTRY_BYTES_MAX)
  if (content === undefined) throw notFound('file')
  return content
}

/** `source`: an entry of the archive, or a file of the index. */
type Placed = { path: string; source: string | PackIndex['files'][number] }

async function describeParts(pack: Modpack, pageUrl: string): Promise<Map<string, Part>> {
  const client = filesOfSide(pack, 'client')
  const server = filesOfSide(pack, 'server')
  const hashes = await hashEntries(pack, [...client.values(), ...server.values()])
  const parts = new Map<string, Part>()
  const add = ({ path, source }: Placed, side: Described['side']): void => {
    const isEntry = typeof source === 'string'
    const sha512 = isEntry ? (hashes.get(source) ?? '') : source.hashes.sha512.toLowerCase()
    const id = hash('sha256', JSON.stringify([path, side, sha512])).slice(0, 32)
    const url = isEntry ? `${pageUrl}/file-${id}` : (source.downloads[0] ?? '')
    const name = path.slice(path.lastIndexOf('/') + 1)
    const text = writeDescription({ name, filename: path, side, url, sha512 })
    parts.set(id, isEntry ? { text, entry: source } : { text })
  }
  for (const [key, placed] of client) add(placed, server.get(key)?.source === placed.source ? 'both' : 'client')
  for (const [key, placed] of server) if (client.get(key)?.source !== placed.source) add(placed, 'server')
  return parts
}

/** Returns the files that a side installs. Override folders replace files of the index, and those of the side come last. */
function filesOfSide({ archive, index }: Modpack, side: 'client' | 'server'): Map<string, Placed> {
  const files = new Map<string, Placed>()
  for (const file of index.files)
    if (file.env?.[side] !== 'unsupported') files.set(fileNameKey(file.path), { path: file.path, source: file })
  for (const folder of ['overrides', `${side}-overrides`])
    for (const { name: source } of archive.entries) {
      const path = source.slice(folder.length + 1)
      if (source.startsWith(`${folder}/`) && !source.endsWith('/') && isContainedPath(path))
        files.set(fileNameKey(path), { path, source })
    }
  return files
}

/** Returns the SHA-512 hashes of entries, calculated outside the event loop. */
async function hashEntries({ archive }: Modpack, placed: readonly Placed[]): Promise<Map<string, string>> {
  const wanted = new Set(placed.flatMap(({ source }) => (typeof source === 'string' ? source : [])))
  const entries = archive.entries.filter(({ name }) => wanted.has(name))
  const bytes = entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const isLarge = entries.some(({ sizeBytes }) => sizeBytes > ENTRY_BYTES_MAX)
  if (entries.length > OVERRIDES_MAX || bytes > OVERRIDES_BYTES_MAX || isLarge)
    throw invalidInput(
      `The override folders have more than ${OVERRIDES_MAX} files, ${describeBytes(OVERRIDES_BYTES_MAX)}, or a file ` +
        `larger than ${describeBytes(ENTRY_BYTES_MAX)}. Use latest.mrpack`,
    )
  const hashes = new Map<string, string>()
  const add = async (name: string): Promise<void> => {
    const content = (await archive.readEntry(name, ENTRY_BYTES_MAX)) ?? Buffer.alloc(0)
    hashes.set(name, Buffer.from(await webcrypto.subtle.digest('SHA-512', content)).toString('hex'))
  }
  await forEachConcurrently(
    entries.map(({ name }) => name),
    add,
    READ_AT_ONCE,
  )
  return hashes
}
