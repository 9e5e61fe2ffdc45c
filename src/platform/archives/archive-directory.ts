// Reads the central directory of a zip archive. Checks only its format.
import { setImmediate } from 'node:timers/promises'
import { type Entry, fromRandomAccessReaderPromise, getFileNameLowLevel, RandomAccessReader } from 'yauzl'

/** A file that is read in ranges: a local file, or a file in the file store. */
export type ArchiveSource = {
  stat(): Promise<{ size: number }>
  read(target: Buffer, offset: number, length: number, position: number): Promise<{ bytesRead: number }>
}

/** Entry of the central directory, not yet verified. */
export type DirectoryEntry = {
  /** Decoded name with `/` as separator. Ends in `/` for a folder. */
  readonly name: string
  readonly rawName: Buffer
  /** Declared size of the content. */
  readonly sizeBytes: number
  readonly packedBytes: number
  readonly crc32: number
  /** 0 stored, 8 deflated, others exist. */
  readonly method: number
  readonly encrypted: boolean
  readonly symbolicLink: boolean
  /** Position of the local header in the file. */
  readonly offset: number
}

export type Directory =
  | { readable: true; entries: DirectoryEntry[] }
  | { readable: false; reason: 'malformed' | 'too-many-entries' | 'too-long-names' }

export type DirectoryLimits = {
  /** Maximum number of entries. */
  maxEntries: number
  /** Maximum total size of all entry names. */
  maxNameBytes: number
}

const WINDOW_BYTES = 256 * 1024
const YIELD_ENTRIES = 256
const ENCRYPTED_FLAGS = 0x1 | 0x40 | 0x2000
const FILE_TYPE_MASK = 0xf000
const SYMBOLIC_LINK = 0xa000
const MADE_ON_UNIX = 3

/** Lists the entries of the archive in `handle`. Rejects only if the file cannot be read. */
export async function readDirectory(handle: ArchiveSource, limits: DirectoryLimits): Promise<Directory> {
  const { size } = await handle.stat()
  const listed = await listEntries(handle, size, limits)
  if (!listed.readable) return listed
  const { entries, start, end, commentAt } = listed
  const isTrue = await isTrulyEnded(handle, { start, end, count: entries.length }, commentAt)
  return isTrue ? { readable: true, entries } : { readable: false, reason: 'malformed' }
}

type Listed = { readable: true; entries: DirectoryEntry[]; start: number; end: number; commentAt: number }

async function listEntries(
  handle: ArchiveSource,
  size: number,
  limits: DirectoryLimits,
): Promise<Listed | Extract<Directory, { readable: false }>> {
  const reader = new WindowReader(handle)
  try {
    const zip = await fromRandomAccessReaderPromise(reader, size, { decodeStrings: false, validateEntrySizes: false })
    if (zip.entryCount > limits.maxEntries) return { readable: false, reason: 'too-many-entries' }
    const start = Number(zip.readEntryCursor)
    const entries: DirectoryEntry[] = []
    let nameBytes = 0
    for await (const entry of zip.eachEntry()) {
      nameBytes += entry.fileNameLength
      if (nameBytes > limits.maxNameBytes) return { readable: false, reason: 'too-long-names' }
      entries.push(toDirectoryEntry(entry))
      // Entries in the window are read synchronously, so this yields to the event loop.
      if (entries.length % YIELD_ENTRIES === 0) await setImmediate()
    }
    return { readable: true, entries, start, end: Number(zip.readEntryCursor), commentAt: size - zip.comment.length }
  } catch {
    if (reader.problem !== undefined) throw reader.problem
    return { readable: false, reason: 'malformed' }
  }
}

const END_SIGNATURE = 0x06054b50
const END_BYTES = 22
const END64_SIGNATURE = 0x06064b50
const END64_BYTES = 56
const LOCATOR_BYTES = 20

/** Start, end and number of entries of the directory. */
type Extent = { start: number; end: number; count: number }

/**
 * Returns whether every program reads the same directory: the end records must follow directly and contain the correct
 * position, size and number of entries. Programs use different ones of these values; if they disagree, each program sees
 * different entries.
 * @param commentAt Position of the comment at the end of the file.
 */
async function isTrulyEnded(handle: ArchiveSource, read: Extent, commentAt: number): Promise<boolean> {
  const tail = Buffer.alloc(Math.max(0, Math.min(commentAt - read.end, END64_BYTES + LOCATOR_BYTES + END_BYTES)))
  await handle.read(tail, 0, tail.length, read.end)
  if (tail.length === END_BYTES) return isTrueEnd(tail, read, { mayPass: false })
  if (tail.length !== END64_BYTES + LOCATOR_BYTES + END_BYTES || tail.readUInt32LE(0) !== END64_SIGNATURE) return false
  const [count, bytes, start, located] = [32, 40, 48, END64_BYTES + 8].map((at) => Number(tail.readBigUInt64LE(at)))
  const isTrue = count === read.count && start === read.start && bytes === read.end - read.start
  return isTrue && located === read.end && isTrueEnd(tail.subarray(-END_BYTES), read, { mayPass: true })
}

/** @param mayPass Whether a field can have its maximum value, which refers to the zip64 record. */
function isTrueEnd(record: Buffer, read: Extent, { mayPass }: { mayPass: boolean }): boolean {
  const isStated = (stated: number, value: number, highest: number) =>
    stated === value || (mayPass && stated === highest)
  return (
    record.readUInt32LE(0) === END_SIGNATURE &&
    isStated(record.readUInt16LE(10), read.count, 0xffff) &&
    isStated(record.readUInt32LE(12), read.end - read.start, 0xffffffff) &&
    isStated(record.readUInt32LE(16), read.start, 0xffffffff)
  )
}

function toDirectoryEntry(entry: Entry): DirectoryEntry {
  const name = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false)
  const madeOnUnix = entry.versionMadeBy >> 8 === MADE_ON_UNIX
  return {
    name,
    // A copy, because the original is a view that keeps the whole record in memory.
    rawName: Buffer.from(entry.fileNameRaw),
    sizeBytes: entry.uncompressedSize,
    packedBytes: entry.compressedSize,
    crc32: entry.crc32,
    method: entry.compressionMethod,
    encrypted: (entry.generalPurposeBitFlag & ENCRYPTED_FLAGS) !== 0,
    symbolicLink: madeOnUnix && ((entry.externalFileAttributes >>> 16) & FILE_TYPE_MASK) === SYMBOLIC_LINK,
    offset: entry.relativeOffsetOfLocalHeader,
  }
}

/** Serves the many small reads of a directory from one window, so that 65,535 entries do not cost 131,070 reads. */
class WindowReader extends RandomAccessReader {
  problem: Error | undefined
  readonly #handle: ArchiveSource
  #window: Buffer = Buffer.alloc(0)
  #windowStart = 0

  constructor(handle: ArchiveSource) {
    super()
    this.#handle = handle
  }

  override read(
    target: Buffer,
    offset: number,
    length: number,
    position: number,
    done: (error: Error | null, bytesRead?: number) => void,
  ): void {
    // The declared position of a directory can be anywhere, even after the end of the file.
    if (!Number.isSafeInteger(position + length)) {
      done(null, 0)
      return
    }
    const start = position - this.#windowStart
    if (start >= 0 && start + length <= this.#window.length) {
      this.#window.copy(target, offset, start, start + length)
      done(null, length)
      return
    }
    this.#load(position, length).then(
      // After the end of the file, the window is short or empty.
      () => done(null, this.#window.copy(target, offset, 0, length)),
      (error: Error) => {
        this.problem = error
        done(error)
      },
    )
  }

  async #load(position: number, length: number): Promise<void> {
    const window = Buffer.allocUnsafe(Math.max(length, WINDOW_BYTES))
    const { bytesRead } = await this.#handle.read(window, 0, window.length, position)
    this.#window = window.subarray(0, bytesRead)
    this.#windowStart = position
  }
}
