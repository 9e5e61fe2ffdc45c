// Restores files from backups into the file store.
import { ApiError } from '#lib/errors.ts'
import { imageTypeOf } from '#platform/images/image-kind.ts'
import type { Deps } from '#ports/deps.ts'
import { assertFileKey, type StoredBytes } from '#ports/files/files.ts'
import { ArchiveError, damaged, type PresentEntry, USE_ANOTHER, unreadable } from './archive/archive-format.ts'
import type { ArchiveReader } from './archive/archive-reader.ts'
import { openBackup, type Source } from './archive/encryption.ts'
import type { Member } from './archive/member-reader.ts'

/** Files up to this size are collected in memory and stored in batches of at most this size. */
const SMALL_BYTES = 1024 * 1024
const BATCH_FILES = 64

/** Returns the content type of a file by its extension. */
export const contentTypeOf = (key: string): string => imageTypeOf(key) ?? 'application/octet-stream'

/** Creates a restorer that stores large files immediately and small files in batches. */
export function createFileRestorer({ files }: Pick<Deps, 'files'>) {
  let waiting: StoredBytes[] = []
  let waitingBytes = 0

  async function store(): Promise<void> {
    const items = waiting
    waiting = []
    waitingBytes = 0
    if (items.length > 0) await files.putAll(items)
  }

  return {
    /** Stores the remaining files and makes all files durable. @throws ApiError `file_hosting_error` */
    async end(): Promise<void> {
      await store()
      await files.flush()
    },
    /** Reads the file of a member `files/KEY`. @throws ArchiveError, ApiError `file_hosting_error` */
    async add(member: Member): Promise<void> {
      const key = keyOf(member.name)
      const contentType = contentTypeOf(key)
      if (member.size > SMALL_BYTES) return storeLarge(files, member, { key, contentType })
      if (waiting.length === BATCH_FILES || waitingBytes + member.size > SMALL_BYTES) await store()
      waiting.push({ key, bytes: await member.bytes(), contentType })
      waitingBytes += member.size
    },
  }
}

async function storeLarge(
  files: Deps['files'],
  member: Member,
  { key, contentType }: { key: string; contentType: string },
): Promise<void> {
  const sizeBytes = await files
    .putStream(key, member.stream(), { contentType, maxBytes: member.size })
    .catch((cause) => Promise.reject(cause instanceof ApiError ? cause : unreadable(cause)))
  if (sizeBytes !== member.size) throw damaged(`${member.name} is shorter than declared`)
}

function keyOf(name: string): string {
  const key = name.slice('files/'.length)
  try {
    assertFileKey(key)
  } catch (cause) {
    throw damaged(`${JSON.stringify(name.slice(0, 200))} is not a valid file name`, cause)
  }
  return key
}

/**
 * Restores the files that the manifest of `reader` assigns to the earlier backup `id`, and returns their number. Both
 * backups list files in the same order.
 */
export async function restoreEarlier(
  deps: Pick<Deps, 'files'>,
  reader: ArchiveReader,
  {
    id,
    source,
    identities,
    isWanted = () => true,
  }: { id: string; source: Source; identities: readonly string[]; isWanted?: (name: string) => boolean },
): Promise<number> {
  const wanted = filesIn(reader.elsewhere(), id, isWanted)
  let next = (await wanted.next()).value
  if (next === undefined) return 0
  const earlier = await openBackup(source, identities).catch((error) => Promise.reject(inSource(source, error)))
  const restorer = createFileRestorer(deps)
  let count = 0
  try {
    for await (const member of earlier.members()) {
      if (next === undefined) break
      if (member.name !== next.name) continue
      await restorer.add(member)
      if ((await member.sha256()) !== next.sha256)
        throw damaged(`${member.name} in ${source.name} has changed since the backup was created`)
      count += 1
      next = (await wanted.next()).value
    }
    if (next !== undefined)
      throw new ArchiveError(
        `${source.name} does not contain ${next.name}, which a later backup requires. Nothing was restored. ${USE_ANOTHER}`,
      )
    await restorer.end()
    return count
  } catch (error) {
    throw inSource(source, error)
  } finally {
    await earlier.dispose()
  }
}

/** Names the backup or the pack to which an error refers. */
function inSource({ name }: Source, error: unknown): unknown {
  if (!(error instanceof ArchiveError) || error.message.includes(name)) return error
  return new ArchiveError(`${name}: ${error.message}`, { cause: error.cause })
}

async function* filesIn(
  entries: ReturnType<ArchiveReader['elsewhere']>,
  id: string,
  isWanted: (name: string) => boolean,
): AsyncGenerator<PresentEntry, undefined> {
  for await (const entry of entries) if (!('absent' in entry) && entry.in === id && isWanted(entry.name)) yield entry
  return undefined
}
