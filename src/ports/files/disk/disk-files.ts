// The folder adapter of the files port. `objects/` contains the files by key, `staging/` the uploads.
import { closeSync, fstatSync, mkdirSync, openSync, readSync, writeFileSync } from 'node:fs'
import { mkdir, open, readdir, rename, rm, rmdir, stat, statfs, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { ApiError } from '#lib/errors.ts'
import { assertFileKey, type ByteRange, type Files, hostingError, type OpenedFile } from '../files.ts'
import {
  discardStaged,
  extendFile,
  hosted,
  newStagedPath,
  receivePart,
  shortenFile,
  stageFile,
  stageLink,
  sweepStaged,
} from '../staging.ts'
import { syncFileSystem, syncPath } from './sync-file-system.ts'

export type DiskFilesOptions = {
  /** A dedicated folder; created if missing. */
  folder: string
  /** `check` fails if less space is free. */
  minFreeBytes?: number
}

const FREE_BYTES_MIN = 64 * 1024 * 1024
const READ_CHUNK_BYTES = 256 * 1024
// Removing the last file of a folder removes the folder, concurrently with a publish into it.
const MOVE_TRIES = 8

/** Opens the store and creates its folders. @throws ApiError `file_hosting_error` if the folder cannot be used. */
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
    receive: (source, options) => receivePart(staging, source, options),
    extensible: {
      extend: (source, { key, at }, options) => extendFile(pathOf(key), at, source, options),
      shorten: ({ key, at }) => hosted(absentAsUndefined(shortenFile(pathOf(key), at))).then(() => undefined),
      stageStored: ({ key, sizeBytes }) => stageLink(staging, pathOf(key), sizeBytes),
    },
    async publish(staged, key) {
      const path = pathOf(key)
      await hosted(syncPath(staged.path), staged.path)
      await hosted(moveDurably(staged.path, path, top), path)
    },
    async put(key, bytes) {
      const path = pathOf(key)
      const temporary = newStagedPath(staging)
      try {
        await hosted(writeFile(temporary, bytes, { flag: 'wx', mode: 0o600, flush: true }), temporary)
        await hosted(moveDurably(temporary, path, top), path)
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => undefined)
        throw error
      }
    },
    async putAll(items) {
      const write = createBulkWriter(objects)
      for (const { key, bytes } of items) {
        const path = pathOf(key)
        hostedSync(path, () => write(path, bytes))
      }
    },
    async putStream(key, source) {
      const path = pathOf(key)
      await hosted(mkdir(dirname(path), { recursive: true, mode: 0o700 }), path)
      return writeStream(path, source)
    },
    flush: () => hosted(syncFileSystem(objects), objects),
    async readAll(keys, { maxBytes }) {
      const paths = keys.map(pathOf)
      return paths.map((path) => hostedSync(path, () => readSmallSync(path, maxBytes)))
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
      await hosted(writeFile(probe, 'ok', { flag: 'wx', flush: true }), probe)
      await hosted(rm(probe), probe)
      const { bavail, bsize } = await hosted(statfs(objects))
      if (bavail * bsize < minFreeBytes)
        throw hostingError(new Error(`only ${bavail * bsize} bytes are free in`), objects)
    },
  }
}

/** Reads one folder at a time, so that memory does not depend on the size of the store. */
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
    const info = await hosted(handle.stat(), path)
    if (!info.isFile()) {
      await handle.close()
      return undefined
    }
    const last = Math.min(end ?? info.size - 1, info.size - 1)
    const wholeEmptyFile = info.size === 0 && start === 0 && end === undefined
    if (!wholeEmptyFile && (start < 0 || start > last))
      throw new ApiError('range_not_satisfiable', `The range is outside the file's ${info.size} bytes`)
    const range = wholeEmptyFile ? {} : { start, end: last }
    return { stream: handle.createReadStream({ ...range, highWaterMark: READ_CHUNK_BYTES }), sizeBytes: info.size }
  } catch (error) {
    await handle.close().catch(() => undefined)
    throw error
  }
}

// For files of a few KB, the thread pool costs more than the system calls: a restore takes a third of the time with the
// synchronous functions.

function hostedSync<T>(path: string, step: () => T): T {
  try {
    return step()
  } catch (cause) {
    throw hostingError(cause, path)
  }
}

/**
 * Returns a function that writes files. Keys come in order, so the folder of a file is often that of the previous file, or next
 * to it, and one system call creates it.
 */
function createBulkWriter(top: string): (path: string, bytes: Uint8Array) => void {
  let last = top
  const make = (folder: string): void => {
    if (last === folder || last.startsWith(`${folder}/`) || folder.length <= top.length) return
    make(dirname(folder))
    try {
      mkdirSync(folder, { mode: 0o700 })
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error
    }
    last = folder
  }
  return (path, bytes) => {
    const folder = dirname(path)
    try {
      make(folder)
      writeFileSync(path, bytes, { mode: 0o600 })
    } catch (error) {
      // Removing a file also removes its empty folders.
      if (!hasCode(error, 'ENOENT')) throw error
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeFileSync(path, bytes, { mode: 0o600 })
    }
  }
}

/** Writes a file while the source produces the next chunk. Returns its size. */
async function writeStream(path: string, source: Readable): Promise<number> {
  const handle = await hosted(open(path, 'w', 0o600), path)
  let sizeBytes = 0
  let writing: Promise<unknown> = Promise.resolve()
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      await writing
      sizeBytes += chunk.length
      writing = hosted(handle.writeFile(chunk), path)
      writing.catch(() => undefined)
    }
    await writing
    return sizeBytes
  } finally {
    await writing.catch(() => undefined)
    await handle.close()
  }
}

function readSmallSync(path: string, maxBytes: number): Buffer | 'larger' | undefined {
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
    // readFileSync asks for the size again, and reads once more to find the end.
    const bytes = Buffer.allocUnsafe(info.size)
    let at = 0
    while (at < bytes.length) {
      const count = readSync(file, bytes, at, bytes.length - at, null)
      if (count === 0) break
      at += count
    }
    return bytes.subarray(0, at)
  } finally {
    closeSync(file)
  }
}

/** Moves a file, creates the folders and makes the name durable. A failure leaves nothing at `to`. */
async function moveDurably(from: string, to: string, top: string): Promise<void> {
  await moveTo(from, to)
  try {
    await syncFolders(to, top)
  } catch (error) {
    await rm(to, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Atomic, because both paths are on one file system. */
async function moveTo(from: string, to: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    try {
      return await rename(from, to)
    } catch (error) {
      if (tries === MOVE_TRIES || !hasCode(error, 'ENOENT')) throw error
    }
  }
}

/** Makes the name of a file durable: syncs its folder and all parents up to `top`. */
async function syncFolders(path: string, top: string): Promise<void> {
  for (let folder = dirname(path); folder.length >= top.length; folder = dirname(folder)) await syncPath(folder)
}

/** Removes empty folders upwards from `from`, but not `top`. */
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
