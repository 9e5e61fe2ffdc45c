// Inspects an uploaded archive: lists its entries, rejects dangerous or inconsistent archives, and reads small entries for
// the file rules.

import { type FileHandle, open } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { createLimiter, overloaded } from '#lib/concurrency/limiter.ts'
import { ApiError, invalidInput } from '#lib/errors.ts'
import { describeBytes, MIB } from '#lib/text/sizes.ts'
import { ContentError, type ContentErrorKind, readContent, verifyContents } from './archive-contents.ts'
import { type ArchiveSource, type Directory, type DirectoryEntry, readDirectory } from './archive-directory.ts'

export type ArchiveLimits = {
  maxEntries: number
  /** Maximum total size of all entry names. */
  maxNameBytes: number
  /** Maximum total size of all unpacked contents. */
  maxTotalBytes: number
  /** The contents can have at most `freeBytes` plus this many times the size of the archive. */
  maxRatio: number
  freeBytes: number
  /** Maximum number of nested archives, which are counted but never opened. */
  maxNested: number
}

const YIELD_ENTRIES = 1024

/** Default limits. */
export const ARCHIVE_LIMITS: ArchiveLimits = {
  maxEntries: 65_535,
  maxNameBytes: 8 * MIB,
  maxTotalBytes: 4096 * MIB,
  maxRatio: 16,
  freeBytes: 64 * MIB,
  maxNested: 2048,
}

export type ArchiveEntry = {
  /** Relative path with `/` as separator, inside the archive. Ends in `/` for a folder. */
  readonly name: string
  readonly sizeBytes: number
}

/**
 * An inspected archive. `readable: false`: the file has no valid zip structure. The file rules decide whether that is an
 * error.
 */
export type Archive =
  | {
      readonly readable: true
      readonly entries: readonly ArchiveEntry[]
      /**
       * Returns the content of an entry, or undefined if it does not exist.
       * @throws ApiError `invalid_input` if the content is larger than `maxBytes`.
       */
      readEntry(name: string, maxBytes: number): Promise<Buffer | undefined>
    }
  | {
      readonly readable: false
      readonly reason: string
      /** Returns whether the raw bytes contain this text. */
      mentions(text: string): Promise<boolean>
    }

export type InspectOptions = {
  /** Part of the request, for errors. */
  field?: string
  limits?: ArchiveLimits
  signal?: AbortSignal
}

export type ArchiveInspector = {
  /**
   * Calls `inspectArchive` when the queue allows it. The queue takes archives in turn from each `caller`.
   * @throws ApiError also 503 if the queue is full.
   */
  inspect(path: string, options: InspectOptions & { caller: string }): Promise<Archive>
  /** Calls `reopenArchive` in the same queue. @throws ApiError also 503 if the queue is full. */
  reopen(source: ArchiveSource, options: InspectOptions & { caller: string }): Promise<Archive>
}

/** Each inspection uses one of the four pool threads of Node.js most of the time. */
const INSPECTED_AT_ONCE = 2
const WAITING_MAX = 200
const WAITING_PER_CALLER_MAX = 50

/** Creates the inspector of all uploads, which inspects a few archives concurrently. */
export function createArchiveInspector(): ArchiveInspector {
  const limiter = createLimiter({
    running: INSPECTED_AT_ONCE,
    waiting: WAITING_MAX,
    waitingPerCaller: WAITING_PER_CALLER_MAX,
    refuse: () => overloaded('Too many archives are being checked at the moment'),
  })
  return {
    inspect: (path, { caller, ...options }) => limiter.run(() => inspectArchive(path, options), caller),
    reopen: (source, { caller, ...options }) => limiter.run(() => reopenArchive(source, options), caller),
  }
}

const CONTENT_ERROR_TEXTS: Record<ContentErrorKind, string> = {
  overlaps: 'overlaps another entry or the end of the file',
  'header-differs': 'has two different headers',
  damaged: 'cannot be unpacked',
  'wrong-size': 'does not unpack to its declared size',
  'wrong-crc': 'does not have its declared checksum',
}

/**
 * Lists the archive at `path`, and unpacks every entry once to verify sizes and checksums, with little memory and without
 * blocking the event loop. Does not open nested archives.
 * @throws ApiError `invalid_input` with the entry for: absolute, duplicate or escaping names, symbolic links, encryption,
 * unknown compression methods, overlapping entries, wrong sizes or checksums, and exceeded limits.
 */
export async function inspectArchive(path: string, options: InspectOptions = {}): Promise<Archive> {
  const { field, limits = ARCHIVE_LIMITS, signal } = options
  const refuse = refusal(field)
  const access: Access = (use) => withFile(path, use)
  return access(async (handle) => {
    const directory = await readDirectory(handle, limits)
    signal?.throwIfAborted()
    if (!directory.readable) return unreadable(access, directory, limits, refuse)
    const { size } = await handle.stat()
    const problem = await directoryProblem(directory.entries, size, limits)
    if (problem !== undefined) throw refuse(problem)
    try {
      await verifyContents(handle, directory.entries, signal)
    } catch (error) {
      if (error instanceof ContentError)
        throw refuse(`entry ${quote(error.entryName)} ${CONTENT_ERROR_TEXTS[error.kind]}`)
      throw error
    }
    return readableArchive(access, directory.entries, refuse)
  })
}

/**
 * Opens an archive that `inspectArchive` has accepted before, without unpacking its entries again.
 * @throws ApiError `invalid_input` if it exceeds the limits; the errors of `source`.
 */
export async function reopenArchive(source: ArchiveSource, options: InspectOptions = {}): Promise<Archive> {
  const { field, limits = ARCHIVE_LIMITS } = options
  const access: Access = (use) => use(source)
  const directory = await readDirectory(source, limits)
  if (!directory.readable) return unreadable(access, directory, limits, refusal(field))
  return readableArchive(access, directory.entries, refusal(field))
}

/** Opens the file of an archive for the duration of `use`. */
type Access = <T>(use: (file: ArchiveSource) => Promise<T>) => Promise<T>

function refusal(field: string | undefined) {
  return (reason: string): ApiError => invalidInput(`The archive is refused: ${reason}`, field)
}

function unreadable(
  access: Access,
  { reason }: Extract<Directory, { readable: false }>,
  limits: ArchiveLimits,
  refuse: (reason: string) => ApiError,
): Archive {
  if (reason === 'too-many-entries') throw refuse(`it has more than ${limits.maxEntries} entries`)
  if (reason === 'too-long-names') throw refuse(`its names take more than ${limits.maxNameBytes} bytes`)
  return {
    readable: false,
    reason: 'The file is not a zip archive, or it is incomplete',
    mentions: (text) => access((file) => containsText(file, Buffer.from(text))),
  }
}

async function containsText(file: ArchiveSource, text: Buffer): Promise<boolean> {
  const window = Buffer.alloc(MIB + text.length)
  let kept = 0
  let position = 0
  for (;;) {
    const { bytesRead } = await file.read(window, kept, MIB, position)
    const filled = window.subarray(0, kept + bytesRead)
    if (filled.includes(text)) return true
    if (bytesRead === 0) return false
    position += bytesRead
    // The text can span two reads, so the end of this read is searched again.
    kept = Math.min(filled.length, text.length - 1)
    filled.copyWithin(0, filled.length - kept)
  }
}

function readableArchive(
  access: Access,
  directory: readonly DirectoryEntry[],
  refuse: (reason: string) => ApiError,
): Archive {
  const byName = new Map(directory.map((entry) => [entry.name, entry]))
  return {
    readable: true,
    entries: directory.map(({ name, sizeBytes }) => ({ name, sizeBytes })),
    async readEntry(name, maxBytes) {
      const entry = byName.get(name)
      if (entry === undefined) return undefined
      if (Math.max(entry.sizeBytes, entry.packedBytes) > maxBytes)
        throw refuse(`entry ${quote(name)} is larger than ${describeBytes(maxBytes)}`)
      return access((file) => readContent(file, entry))
    },
  }
}

/** Returns the first problem in the directory. */
async function directoryProblem(entries: readonly DirectoryEntry[], fileBytes: number, limits: ArchiveLimits) {
  const maxTotalBytes = Math.min(limits.maxTotalBytes, limits.freeBytes + limits.maxRatio * fileBytes)
  const names = new Set<string>()
  let totalBytes = 0
  let nested = 0
  for (const [i, entry] of entries.entries()) {
    if (i % YIELD_ENTRIES === 0) await setImmediate()
    const problem = entryProblem(entry)
    if (problem !== undefined) return `entry ${quote(entry.name)} ${problem}`
    // Build tools write duplicate folders, which are harmless.
    if (names.has(entry.name) && !entry.name.endsWith('/')) return `entry ${quote(entry.name)} occurs twice`
    names.add(entry.name)
    totalBytes += entry.sizeBytes
    if (/\.(jar|zip)$/i.test(entry.name)) nested += 1
  }
  if (totalBytes > maxTotalBytes) return `it unpacks to ${totalBytes} bytes, more than the ${maxTotalBytes} allowed`
  if (nested > limits.maxNested) return `it contains more than ${limits.maxNested} archives`
  return undefined
}

function entryProblem(entry: DirectoryEntry): string | undefined {
  if (!isContainedPath(entry.name)) return 'does not stay inside the archive'
  if (entry.symbolicLink) return 'is a symbolic link'
  if (entry.encrypted) return 'is encrypted'
  if (entry.method !== 0 && entry.method !== 8)
    return `is packed by method ${entry.method}; stored and deflate are known`
  if (entry.method === 0 && entry.packedBytes !== entry.sizeBytes) return CONTENT_ERROR_TEXTS['wrong-size']
  return undefined
}

/** Returns whether a path stays inside the target folder on every operating system. */
export function isContainedPath(path: string): boolean {
  if (path === '' || path.includes('\0') || /^([/\\]|[A-Za-z]:)/.test(path)) return false
  return !path.split(/[/\\]/).includes('..')
}

const QUOTED_LENGTH_MAX = 100

function quote(name: string): string {
  return JSON.stringify(name.length > QUOTED_LENGTH_MAX ? `${name.slice(0, QUOTED_LENGTH_MAX)}…` : name)
}

async function withFile<T>(path: string, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  let handle: FileHandle | undefined
  try {
    handle = await open(path, 'r')
    return await use(handle)
  } catch (error) {
    throw isSystemError(error)
      ? new ApiError('file_hosting_error', 'The staged file cannot be read', { cause: error })
      : error
  } finally {
    await handle?.close()
  }
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}
