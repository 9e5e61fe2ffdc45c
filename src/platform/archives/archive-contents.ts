// Verifies that the contents of a zip archive match its directory: unpacks each entry once and checks size and checksum.
// Uses little memory and blocks the event loop for a few milliseconds at most.
import { pipeline } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { crc32, createInflateRaw, inflateRaw, inflateRawSync } from 'node:zlib'
import type { ArchiveSource, DirectoryEntry } from './archive-directory.ts'

/** Difference between an entry and the directory. */
export type ContentErrorKind = 'overlaps' | 'header-differs' | 'damaged' | 'wrong-size' | 'wrong-crc'

/** Error for an entry that does not match the directory. */
export class ContentError extends Error {
  readonly kind: ContentErrorKind
  readonly entryName: string

  constructor(kind: ContentErrorKind, entryName: string) {
    super(`${entryName}: ${kind}`)
    this.name = 'ContentError'
    this.kind = kind
    this.entryName = entryName
  }
}

/** An entry and its end: the start of the next entry, or the end of the file. */
type Placed = { entry: DirectoryEntry; end: number }

const LOCAL_HEADER_SIGNATURE = 0x04034b50
const LOCAL_HEADER_BYTES = 30
const NAME_AND_EXTRA_BYTES_MAX = 2 * 0xffff
const DEFLATED = 8
// Up to this size, unpacking synchronously (20 to 200 microseconds) is cheaper than using another thread.
const SMALL_BYTES = 64 * 1024
// Up to this size, an entry is unpacked in one piece on a zlib thread; larger entries are streamed.
const WHOLE_BYTES = 1024 * 1024
const RUN_BYTES = 1024 * 1024
const YIELD_ENTRIES = 64
const YIELD_BYTES = 256 * 1024
const LANES = 2

const inflateWhole = promisify<Buffer, { maxOutputLength: number; chunkSize: number }, Buffer>(inflateRaw)

/**
 * Unpacks every entry and compares its size and CRC-32 with the directory.
 * @throws ContentError for the first entry that differs; the reason of the signal; read errors of the file.
 */
export async function verifyContents(
  handle: ArchiveSource,
  entries: readonly DirectoryEntry[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const { size } = await handle.stat()
  const runs = groupRuns(entries, size)
  const stop = new AbortController()
  async function lane(): Promise<void> {
    const scratch = Buffer.allocUnsafe(RUN_BYTES)
    for (let run = runs.next(); !run.done; run = runs.next()) {
      signal?.throwIfAborted()
      if (stop.signal.aborted) return
      await verifyRun(handle, run.value, scratch)
    }
  }
  await Promise.all(Array.from({ length: LANES }, () => lane().catch((error: unknown) => stop.abort(error))))
  stop.signal.throwIfAborted()
}

/** Splits the entries, in file order, into runs of small adjacent entries and single large entries. */
function* groupRuns(entries: readonly DirectoryEntry[], fileBytes: number): Generator<Placed[]> {
  const sorted = entries.toSorted((a, b) => a.offset - b.offset)
  let run: Placed[] = []
  let start = 0
  for (const [i, entry] of sorted.entries()) {
    const placed = { entry, end: Math.min(sorted[i + 1]?.offset ?? fileBytes, fileBytes) }
    if (entry.offset > placed.end) throw new ContentError('overlaps', entry.name)
    const isSmall = Math.max(entry.sizeBytes, entry.packedBytes) <= SMALL_BYTES
    if (run.length > 0 && (!isSmall || placed.end - start > RUN_BYTES)) {
      yield run
      run = []
    }
    if (run.length === 0) start = entry.offset
    run.push(placed)
    if (!isSmall) {
      yield run
      run = []
    }
  }
  if (run.length > 0) yield run
}

async function verifyRun(handle: ArchiveSource, run: readonly Placed[], scratch: Buffer): Promise<void> {
  const [first] = run
  const last = run.at(-1)
  if (first === undefined || last === undefined) return
  if (Math.max(first.entry.sizeBytes, first.entry.packedBytes) > SMALL_BYTES) return verifyLarge(handle, first, scratch)
  const start = first.entry.offset
  const lastEnd = last.entry.offset + LOCAL_HEADER_BYTES + NAME_AND_EXTRA_BYTES_MAX + last.entry.packedBytes
  const bytes = await readAt(handle, start, Math.min(last.end, lastEnd) - start, scratch)
  let sinceYield = { entries: 0, bytes: 0 }
  for (const placed of run) {
    verifySmall(placed, bytes.subarray(placed.entry.offset - start))
    sinceYield.entries += 1
    sinceYield.bytes += placed.entry.sizeBytes
    if (sinceYield.entries >= YIELD_ENTRIES || sinceYield.bytes >= YIELD_BYTES) {
      await setImmediate()
      sinceYield = { entries: 0, bytes: 0 }
    }
  }
}

function verifySmall(placed: Placed, bytes: Buffer): void {
  const { entry } = placed
  const dataStart = checkHeader(placed, bytes)
  const packed = bytes.subarray(dataStart, dataStart + entry.packedBytes)
  try {
    checkContent(entry, entry.method === DEFLATED ? inflateRawSync(packed, outputBounds(entry)) : packed)
  } catch (error) {
    throw asContentError(error, entry)
  }
}

async function verifyLarge(handle: ArchiveSource, placed: Placed, scratch: Buffer): Promise<void> {
  const { entry } = placed
  const header = await readAt(handle, entry.offset, LOCAL_HEADER_BYTES + entry.rawName.length)
  const dataStart = entry.offset + checkHeader(placed, header)
  if (Math.max(entry.sizeBytes, entry.packedBytes) > WHOLE_BYTES) return verifyStreamed(handle, entry, dataStart)
  checkContent(entry, await unpackAt(handle, entry, dataStart, scratch))
}

/** Unpacks a small entry into memory. @throws ContentError if it is damaged or larger than declared. */
async function unpackAt(
  handle: ArchiveSource,
  entry: DirectoryEntry,
  dataStart: number,
  scratch?: Buffer,
): Promise<Buffer> {
  const packed = await readAt(handle, dataStart, entry.packedBytes, scratch)
  if (entry.method !== DEFLATED) return packed
  return inflateWhole(packed, outputBounds(entry)).catch((error: unknown) => {
    throw asContentError(error, entry)
  })
}

/** Limits unpacking and allocation to the declared size. zlib requires at least 64 bytes. */
function outputBounds({ sizeBytes }: DirectoryEntry): { maxOutputLength: number; chunkSize: number } {
  return { maxOutputLength: Math.max(sizeBytes, 1), chunkSize: Math.max(sizeBytes, 64) }
}

/**
 * Returns the content of an entry of a verified archive.
 * @throws ContentError if the entry has changed since.
 */
export async function readContent(handle: ArchiveSource, entry: DirectoryEntry): Promise<Buffer> {
  const header = await readAt(handle, entry.offset, LOCAL_HEADER_BYTES + entry.rawName.length)
  const dataStart = entry.offset + checkHeader({ entry, end: Number.MAX_SAFE_INTEGER }, header)
  const content = await unpackAt(handle, entry, dataStart)
  checkContent(entry, content)
  return content
}

/** Ends the unpacking of an entry of which only the start is needed. */
class EnoughError extends Error {}

/**
 * Returns the start of an entry's content, at most `maxBytes`, without reading the rest.
 * @throws ContentError if the entry is damaged.
 */
export async function readStart(handle: ArchiveSource, entry: DirectoryEntry, maxBytes: number): Promise<Buffer> {
  const header = await readAt(handle, entry.offset, LOCAL_HEADER_BYTES + entry.rawName.length)
  const dataStart = entry.offset + checkHeader({ entry, end: Number.MAX_SAFE_INTEGER }, header)
  if (entry.method !== DEFLATED) return readAt(handle, dataStart, Math.min(entry.packedBytes, maxBytes))
  const chunks: Buffer[] = []
  let sizeBytes = 0
  async function collect(content: AsyncIterable<Buffer>): Promise<void> {
    for await (const chunk of content) {
      chunks.push(chunk)
      sizeBytes += chunk.length
      if (sizeBytes >= maxBytes) throw new EnoughError()
    }
  }
  await pipeline(
    readPieces(handle, dataStart, entry.packedBytes),
    createInflateRaw({ chunkSize: SMALL_BYTES }),
    collect,
  ).catch((error: unknown) => {
    if (!(error instanceof EnoughError)) throw asContentError(error, entry)
  })
  return Buffer.concat(chunks).subarray(0, maxBytes)
}

async function verifyStreamed(handle: ArchiveSource, entry: DirectoryEntry, dataStart: number): Promise<void> {
  const packed = readPieces(handle, dataStart, entry.packedBytes)
  async function count(content: AsyncIterable<Buffer>): Promise<void> {
    let sizeBytes = 0
    let sum = 0
    for await (const chunk of content) {
      sizeBytes += chunk.length
      // Stops zip bombs: unpacks at most the declared size, which is limited.
      if (sizeBytes > entry.sizeBytes) throw new ContentError('wrong-size', entry.name)
      sum = crc32(chunk, sum)
    }
    if (sizeBytes !== entry.sizeBytes) throw new ContentError('wrong-size', entry.name)
    if (sum !== entry.crc32) throw new ContentError('wrong-crc', entry.name)
  }
  try {
    if (entry.method === DEFLATED) await pipeline(packed, createInflateRaw({ chunkSize: SMALL_BYTES * 4 }), count)
    else await pipeline(packed, count)
  } catch (error) {
    throw asContentError(error, entry)
  }
}

/** Reads a part of the file in pieces. A read stream would add a listener to the handle for each entry. */
async function* readPieces(handle: ArchiveSource, start: number, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < length; at += RUN_BYTES) {
    const piece = await readAt(handle, start + at, Math.min(RUN_BYTES, length - at))
    if (piece.length === 0) return
    yield piece
  }
}

/** Compares the local header with the directory, and returns the offset of the content from the header. */
function checkHeader({ entry, end }: Placed, bytes: Buffer): number {
  if (bytes.length < LOCAL_HEADER_BYTES) throw new ContentError('overlaps', entry.name)
  if (bytes.readUInt32LE(0) !== LOCAL_HEADER_SIGNATURE) throw new ContentError('header-differs', entry.name)
  const nameBytes = bytes.readUInt16LE(26)
  const nameEnd = LOCAL_HEADER_BYTES + nameBytes
  const dataStart = nameEnd + bytes.readUInt16LE(28)
  if (entry.offset + dataStart + entry.packedBytes > end) throw new ContentError('overlaps', entry.name)
  const sameName = bytes.subarray(LOCAL_HEADER_BYTES, nameEnd).equals(entry.rawName)
  if (!sameName || bytes.readUInt16LE(8) !== entry.method) throw new ContentError('header-differs', entry.name)
  return dataStart
}

function checkContent(entry: DirectoryEntry, content: Buffer): void {
  if (content.length !== entry.sizeBytes) throw new ContentError('wrong-size', entry.name)
  if (crc32(content) !== entry.crc32) throw new ContentError('wrong-crc', entry.name)
}

/** Translates zlib errors; other errors are unchanged. */
function asContentError(error: unknown, entry: DirectoryEntry): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ERR_BUFFER_TOO_LARGE') return new ContentError('wrong-size', entry.name)
  return code.startsWith('Z_') ? new ContentError('damaged', entry.name) : error
}

/** Reads into `scratch` if it is given and large enough; the result is then valid until the next read. */
async function readAt(handle: ArchiveSource, position: number, length: number, scratch?: Buffer): Promise<Buffer> {
  const bytes = scratch !== undefined && length <= scratch.length ? scratch : Buffer.allocUnsafe(length)
  const { bytesRead } = await handle.read(bytes, 0, length, position)
  return bytes.subarray(0, bytesRead)
}
