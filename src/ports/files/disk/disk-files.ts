// The folder adapter of the files port. Below its folder: `objects/` holds the files by key, `staging/` the uploads.
import { closeSync, fstatSync, mkdirSync, openSync, readSync, writeFileSync } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir, stat, statfs, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { ApiError } from '#lib/errors.ts'
import { assertFileKey, type ByteRange, type Files, hostingError, type OpenedFile } from '../files.ts'
import { discardStaged, hosted, newStagedPath, stageFile, sweepStaged } from '../staging.ts'
import { syncFileSystem, syncPath } from './sync-file-system.ts'

export type DiskFilesOptions = {
  /** The adapter's own folder; made when absent. */
  folder: string
  /** `check` fails when less room than this is left. */
  minFreeBytes?: number
}

const FREE_BYTES_MIN = 64 * 1024 * 1024
const READ_CHUNK_BYTES = 256 * 1024
// Removing the last file of a folder and publishing into that folder can meet; each try makes the folder again.
const PLACE_TRIES = 8

/** Opens the store, making its folders. @throws ApiError `file_hosting_error` when the folder cannot be used. */
export async function openDiskFiles({ folder, minFreeBytes = FREE_BYTES_MIN }: DiskFilesOptions): Promise<Files> {
  const top = resolve(folder)
  const objects = join(top, 'objects')
  const staging = join(top, 'staging')
  await hosted(mkdir(objects, { recursive: true, mode: 0o700 }))
  await hosted(mkdir(staging, { recursive: true, mode: 0o700 }))
  const pathOf = (key: string): string => {
    assertFileKey(key)
    return join(objects, key)
  }

  return {
    stage: (source, options) => stageFile(staging, source, options),
    async publish(staged, key) {
      const path = pathOf(key)
      await hosted(syncPath(staged.path))
      await hosted(place(staged.path, path, top))
    },
    async put(key, bytes) {
      const path = pathOf(key)
      const temporary = newStagedPath(staging)
      try {
        await hosted(writeFile(temporary, bytes, { flag: 'wx', mode: 0o600, flush: true }))
        await hosted(place(temporary, path, top))
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => undefined)
        throw error
      }
    },
    async putAll(items) {
      for (const { key, bytes } of items) {
        const path = pathOf(key)
        hostedNow(() => writeNow(path, bytes))
      }
    },
    flush: () => hosted(syncFileSystem(objects)),
    async readAll(keys, { maxBytes }) {
      const paths = keys.map(pathOf)
      return paths.map((path) => hostedNow(() => readNow(path, maxBytes)))
    },
    open: (key, range) => openFile(pathOf(key), range ?? {}),
    async stat(key) {
      const info = await hosted(absentAsUndefined(stat(pathOf(key))))
      return info?.isFile() ? { sizeBytes: info.size } : undefined
    },
    list: () => listFiles(objects, ''),
    async remove(key) {
      const path = pathOf(key)
      await hosted(absentAsUndefined(rm(path)))
      await hosted(removeEmptyFolders(dirname(path), objects))
    },
    discard: discardStaged,
    link: async () => undefined,
    assertAvailable: async () => {},
    close: async () => {},
    sweep: ({ olderThanMs, nowMs }) => sweepStaged(staging, olderThanMs, nowMs),
    async check() {
      const probe = newStagedPath(staging)
      await hosted(writeFile(probe, 'ok', { flag: 'wx', flush: true }).finally(() => rm(probe, { force: true })))
      const { bavail, bsize } = await hosted(statfs(objects))
      if (bavail * bsize < minFreeBytes) throw hostingError(new Error(`Only ${bavail * bsize} bytes are free`))
    },
  }
}

/** One folder at a time, so that memory stays flat however large the store is. */
async function* listFiles(folder: string, prefix: string): AsyncGenerator<{ key: string; sizeBytes: number }> {
  const entries = await hosted(absentAsUndefined(readdir(folder, { withFileTypes: true })))
  for (const entry of entries ?? []) {
    const path = join(folder, entry.name)
    const key = `${prefix}${entry.name}`
    if (entry.isDirectory()) yield* listFiles(path, `${key}/`)
    if (!entry.isFile()) continue
    const info = await hosted(absentAsUndefined(stat(path)))
    if (info !== undefined) yield { key, sizeBytes: info.size }
  }
}

async function openFile(path: string, { start = 0, end }: ByteRange): Promise<OpenedFile | undefined> {
  const handle = await hosted(absentAsUndefined(open(path, 'r')))
  if (handle === undefined) return undefined
  try {
    const info = await hosted(handle.stat())
    if (!info.isFile()) return await closeAsAbsent(handle)
    const last = Math.min(end ?? info.size - 1, info.size - 1)
    const wholeEmptyFile = info.size === 0 && start === 0 && end === undefined
    if (!wholeEmptyFile && (start < 0 || start > last)) {
      throw new ApiError('range_not_satisfiable', `The range is outside the file's ${info.size} bytes`)
    }
    // An empty file has no last byte to name.
    const range = wholeEmptyFile ? {} : { start, end: last }
    return { stream: handle.createReadStream({ ...range, highWaterMark: READ_CHUNK_BYTES }), sizeBytes: info.size }
  } catch (error) {
    await handle.close().catch(() => undefined)
    throw error
  }
}

// A file of a few KB costs more in hand-overs to other threads and back than in calls of the system: a restore takes a
// third of the time with these.

function hostedNow<T>(step: () => T): T {
  try {
    return step()
  } catch (cause) {
    throw hostingError(cause)
  }
}

/** Most files have a folder of their own, which is not there. */
function writeNow(path: string, bytes: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, bytes, { mode: 0o600 })
}

function readNow(path: string, maxBytes: number): Buffer | 'larger' | undefined {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
  try {
    const info = fstatSync(file)
    if (!info.isFile()) return undefined
    if (info.size > maxBytes) return 'larger'
    const bytes = Buffer.allocUnsafe(info.size)
    let at = 0
    for (let count = -1; at < info.size && count !== 0; at += count)
      count = readSync(file, bytes, at, info.size - at, at)
    return bytes.subarray(0, at)
  } finally {
    closeSync(file)
  }
}

/** A folder is no file: to the caller the key is absent. */
async function closeAsAbsent(handle: FileHandle): Promise<undefined> {
  await handle.close()
  return undefined
}

/** Moves a file to its place, making the folders, and makes the name durable; a failure leaves nothing at `to`. */
async function place(from: string, to: string, top: string): Promise<void> {
  await moveTo(from, to)
  try {
    await syncFolders(to, top)
  } catch (error) {
    await rm(to, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Atomic, since both paths are on one file system. */
async function moveTo(from: string, to: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    try {
      return await rename(from, to)
    } catch (error) {
      if (tries === PLACE_TRIES || !hasCode(error, 'ENOENT')) throw error
    }
  }
}

/** Makes the name itself durable: the file's folder and each one above it, up to the store's own. */
async function syncFolders(path: string, top: string): Promise<void> {
  for (let folder = dirname(path); folder.length >= top.length; folder = dirname(folder)) await syncPath(folder)
}

/** Removes the folders that a removal has left empty, upwards, never `top` itself. */
async function removeEmptyFolders(from: string, top: string): Promise<void> {
  for (let folder = from; folder.length > top.length; folder = dirname(folder)) {
    try {
      await rmdir(folder)
    } catch (error) {
      if (hasCode(error, 'ENOTEMPTY', 'EEXIST')) return
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }
}

async function absentAsUndefined<T>(step: Promise<T>): Promise<T | undefined> {
  try {
    return await step
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
