// Packs: archives that contain only files, to which several backups refer. So, a later backup stores only files that are new,
// rows do not live longer than their backup, and a bucket contains few objects.
import { createHash } from 'node:crypto'
import type { Writable } from 'node:stream'
import { newId } from '#lib/ids.ts'
import { BLOCK, type Head, type ManifestEntry } from '../archive/archive-format.ts'
import { type ArchiveWriter, type Content, createArchiveWriter } from '../archive/archive-writer.ts'
import { encryptTo } from '../archive/encryption.ts'
import { openUpload, packKey, type StoredPack, type Target, type Upload } from './target.ts'

/** A larger pack is not continued. */
const PACK_BYTES = 1024 ** 3
/** Approximate size of a line in the manifest of a pack, without the name. */
const LINE_BYTES = 100
/** With more packs than this, the files of all but the largest `PACKS_AFTER_MERGE` are stored again. */
const PACKS_MAX = 32
const PACKS_AFTER_MERGE = 16
/** Below this share, the remaining files of a pack are stored again, so that the pack can be deleted. */
const USED_SHARE_MIN = 0.5

/** Names the keys that can decrypt a pack. A pack for other keys, or for nobody, is not continued. */
export function nameOfRecipients(recipients: readonly string[]): string {
  if (recipients.length === 0) return 'plain'
  return createHash('sha256').update(recipients.toSorted().join(' ')).digest('hex').slice(0, 8)
}

/** Returns the packs whose files later backups can refer to. `usedBytes`: by ID of the pack. */
export function reusablePacks(
  packs: readonly StoredPack[],
  recipients: string,
  usedBytes: ReadonlyMap<string, number>,
): Set<string> {
  const wanted = packs.filter(
    (pack) => pack.recipients === recipients && (usedBytes.get(pack.id) ?? 0) >= USED_SHARE_MIN * pack.sizeBytes,
  )
  if (wanted.length <= PACKS_MAX) return new Set(wanted.map(({ id }) => id))
  const largest = wanted.toSorted((one, other) => other.sizeBytes - one.sizeBytes).slice(0, PACKS_AFTER_MERGE)
  return new Set(largest.map(({ id }) => id))
}

/** Returns the approximate size of a file in a pack. */
export function packedBytes({ name, size }: { name: string; size: number }): number {
  return 2 * BLOCK + Math.ceil(size / BLOCK) * BLOCK + name.length + LINE_BYTES
}

type PackOptions = {
  head: Head
  recipients: readonly string[]
  /** Receives the entry of each file, in order. */
  note(entry: ManifestEntry): Promise<void>
}

type Open = { id: string; upload: Upload; sink: Writable; writer: ArchiveWriter; bytes: number }

/** Creates a writer that stores files in new packs. */
export function createPackWriter(target: Target, { head, recipients, note }: PackOptions) {
  const kind = nameOfRecipients(recipients)
  const written: Head['since'] = []
  let current: Open | undefined
  let bytes = 0

  async function open(): Promise<Open> {
    const id = newId()
    const upload = openUpload(target)
    try {
      const sink = recipients.length === 0 ? upload.sink : await encryptTo(recipients, upload.sink)
      const own = { ...head, id, tables: [], sequences: [], events: {}, since: [] }
      return { id, upload, sink, writer: await createArchiveWriter(own, sink), bytes: 0 }
    } catch (error) {
      await upload.discard()
      throw error
    }
  }

  async function finish(): Promise<void> {
    if (current === undefined) return
    await current.writer.finish()
    bytes += await current.upload.publish(packKey(current.id, kind))
    await current.writer.dispose()
    written.push({ id: current.id, created: head.created })
    current = undefined
  }

  async function addStream(name: string, size: number, content: Content): Promise<void> {
    if (current !== undefined && current.bytes + size > PACK_BYTES) await finish()
    current ??= await open()
    current.bytes += size
    await note({ ...(await current.writer.addStream(name, size, content)), in: current.id })
  }

  return {
    note,
    addStream,
    add: (name: string, content: Buffer) => addStream(name, content.length, [content]),
    /** Stores the last pack. Returns all packs, and their size. */
    async finish(): Promise<{ packs: Head['since']; bytes: number }> {
      await finish()
      return { packs: written, bytes }
    },
    /** Discards a pack that is not stored yet. */
    async dispose(): Promise<void> {
      await current?.writer.dispose()
      await current?.upload.discard()
    },
  }
}
