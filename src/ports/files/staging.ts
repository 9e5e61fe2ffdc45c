// Staged uploads on the local disk: receives, hashes and discards them. Every files adapter shares this code.

import { createHash } from 'node:crypto'
import { copyFile, type FileHandle, link, open, readdir, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import { invalidInput } from '#lib/errors.ts'
import { randomBase62 } from '#lib/ids.ts'
import { describeBytes } from '#lib/text/sizes.ts'
import { HOUR_MS } from '#lib/time.ts'
import type { Deps } from '#ports/deps.ts'
import {
  hostingError,
  type LocalFile,
  type Received,
  type ReceiveOptions,
  type StagedFile,
  type StageOptions,
} from './files.ts'

// Size of a write: few system calls, and at most two batches in memory.
const BATCH_BYTES = 1024 * 1024
// A long upload is synced as it arrives, so that the final sync does not take seconds.
const SYNC_EVERY_BYTES = 32 * 1024 * 1024

/** Converts a failure of the step to `file_hosting_error` with the cause, which names `path`. */
export async function hosted<T>(step: Promise<T>, path?: string): Promise<T> {
  try {
    return await step
  } catch (cause) {
    throw hostingError(cause, path)
  }
}

/** Returns an unused path in the staging folder. */
export function newStagedPath(folder: string): string {
  return join(folder, `${randomBase62(24)}.part`)
}

/** Implements `Files.stage`. */
export async function stageFile(folder: string, source: Readable, options: StageOptions): Promise<StagedFile> {
  const path = newStagedPath(folder)
  let writer: BatchWriter | undefined
  // The source can fail before it is read; reading then throws the error.
  source.on('error', () => undefined)
  try {
    if (options.signal !== undefined) addAbortSignal(options.signal, source)
    writer = batchWriter(await hosted(open(path, 'wx', 0o600)), path)
    const hashed = await pump(source, writer, options)
    await writer.close()
    return { path, ...hashed }
  } catch (error) {
    source.destroy()
    await writer?.abandon()
    await rm(path, { force: true }).catch(() => undefined)
    throw options.signal?.aborted ? options.signal.reason : error
  }
}

/** Implements `Files.receive`. */
export async function receivePart(
  folder: string,
  source: Readable,
  options: ReceiveOptions,
): Promise<{ part: LocalFile; cut: unknown }> {
  const path = newStagedPath(folder)
  source.on('error', () => undefined)
  try {
    const { sizeBytes, cut } = await receiveInto(
      batchWriter(await hosted(open(path, 'wx', 0o600)), path),
      source,
      options,
    )
    return { part: { path, sizeBytes }, cut }
  } catch (error) {
    await rm(path, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Writes after the first `at` bytes of a file, durably. */
export async function extendFile(
  path: string,
  at: number,
  source: Readable,
  options: ReceiveOptions,
): Promise<Received> {
  source.on('error', () => undefined)
  await hosted(shortenFile(path, at), path)
  const writer = batchWriter(await hosted(open(path, 'r+')), path, { at, isDurable: true })
  return receiveInto(writer, source, options)
}

/** Shortens a file to its first `at` bytes. */
export async function shortenFile(path: string, at: number): Promise<void> {
  const { size } = await stat(path)
  if (size > at) await truncate(path, at)
}

async function receiveInto(
  writer: BatchWriter,
  source: Readable,
  { maxBytes, tooLarge, onChunk, signal }: ReceiveOptions,
): Promise<Received> {
  try {
    let sizeBytes = 0
    const chunks = chunksUntilCut(source, signal)
    for await (const chunk of chunks) {
      sizeBytes += chunk.length
      if (sizeBytes > maxBytes) throw tooLarge()
      onChunk(chunk)
      await writer.write(chunk)
    }
    await writer.close()
    return { sizeBytes, cut: chunks.cut }
  } catch (error) {
    await writer.abandon()
    throw error
  }
}

/** Stages the first `sizeBytes` bytes of a file as a second name of it, or as a copy where the file system has no links. */
export async function stageLink(folder: string, path: string, sizeBytes: number): Promise<StagedFile> {
  const staged = newStagedPath(folder)
  try {
    await hosted(
      link(path, staged).catch(() => copyFile(path, staged)),
      path,
    )
    await hosted(truncate(staged, sizeBytes), staged)
    return { path: staged, sizeBytes, ...(await hosted(digestsOf(staged), staged)) }
  } catch (error) {
    await rm(staged, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Yields chunks until the source ends or fails, or `signal` aborts. The response needs the connection afterwards. */
function chunksUntilCut(source: Readable, signal: AbortSignal): AsyncIterable<Buffer> & { cut: unknown } {
  const chunks = source.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer, undefined>
  let stop = (_reason: unknown): void => undefined
  signal.addEventListener('abort', () => stop(signal.reason), { once: true })
  // A new promise for each chunk: one for all of them, in `Promise.race`, would hold every chunk until the end.
  const next = () =>
    new Promise<IteratorResult<Buffer, undefined>>((resolve, reject) => {
      stop = reject
      if (signal.aborted) reject(signal.reason)
      else chunks.next().then(resolve, reject)
    })
  const iterable = {
    cut: undefined as unknown,
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const result = await next().catch((error: unknown) => {
          iterable.cut = error ?? new Error('The body was cut')
        })
        if (result === undefined || result.done === true) return
        yield result.value
      }
    },
  }
  return iterable
}

async function pump(source: Readable, writer: BatchWriter, { maxBytes, field }: StageOptions) {
  const sha1 = createHash('sha1')
  const sha512 = createHash('sha512')
  let sizeBytes = 0
  for await (const chunk of source as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length
    if (sizeBytes > maxBytes)
      throw invalidInput(`The file is larger than the limit of ${describeBytes(maxBytes)}`, field)
    sha1.update(chunk)
    sha512.update(chunk)
    await writer.write(chunk)
  }
  return { sizeBytes, sha1: sha1.digest('hex'), sha512: sha512.digest('hex') }
}

/** Reads into one buffer: a stream would allocate one for each chunk. */
async function digestsOf(path: string): Promise<{ sha1: string; sha512: string }> {
  const [sha1, sha512] = [createHash('sha1'), createHash('sha512')]
  const handle = await open(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(BATCH_BYTES)
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null)
      if (bytesRead === 0) return { sha1: sha1.digest('hex'), sha512: sha512.digest('hex') }
      const chunk = buffer.subarray(0, bytesRead)
      sha1.update(chunk)
      sha512.update(chunk)
    }
  } finally {
    await handle.close()
  }
}

type BatchWriter = ReturnType<typeof batchWriter>

/** Writes each batch of chunks while the next one is received and hashed. */
function batchWriter(
  handle: FileHandle,
  path: string,
  { at, isDurable = false }: { at?: number; isDurable?: boolean } = {},
) {
  let position = at
  let batch: Buffer[] = []
  let batchBytes = 0
  let unsyncedBytes = 0
  let writing: Promise<void> = Promise.resolve()

  async function flush(): Promise<void> {
    await writing
    const full = batch
    unsyncedBytes += batchBytes
    const sync = unsyncedBytes >= SYNC_EVERY_BYTES
    if (sync) unsyncedBytes = 0
    batch = []
    batchBytes = 0
    writing = hosted(writeBatch(handle, full, { sync, position }), path)
    if (position !== undefined) position += full.reduce((sum, chunk) => sum + chunk.length, 0)
    // The next `flush` or `close` throws the error; until then it must not count as unhandled.
    writing.catch(() => undefined)
  }

  return {
    async write(chunk: Buffer): Promise<void> {
      batch.push(chunk)
      batchBytes += chunk.length
      if (batchBytes >= BATCH_BYTES) await flush()
    },
    async close(): Promise<void> {
      if (batchBytes > 0) await flush()
      await writing
      if (isDurable) await hosted(handle.datasync(), path)
      await hosted(handle.close(), path)
    },
    /** Closes the file and ignores errors, because the file is removed next. */
    async abandon(): Promise<void> {
      await writing.catch(() => undefined)
      await handle.close().catch(() => undefined)
    },
  }
}

/** `position` of the batch. Default: after the previous batch. */
async function writeBatch(
  handle: FileHandle,
  batch: Buffer[],
  { sync, position }: { sync: boolean; position: number | undefined },
): Promise<void> {
  const total = batch.reduce((sum, chunk) => sum + chunk.length, 0)
  const { bytesWritten } = await handle.writev(batch, position)
  // A nearly full disk accepts a part and fails with the next call.
  if (bytesWritten < total) {
    const bytes = Buffer.concat(batch)
    for (let done = bytesWritten; done < total; ) {
      const at = position === undefined ? null : position + done
      done += (await handle.write(bytes, done, total - done, at)).bytesWritten
    }
  }
  if (sync) await handle.datasync()
}

/** Implements `Files.discard`. */
export async function discardStaged(staged: Pick<StagedFile, 'path'>): Promise<void> {
  await hosted(rm(staged.path, { force: true }))
}

/** Implements `Files.sweep`. A file that another process removes first is not counted. */
export async function sweepStaged(folder: string, olderThanMs: number, nowMs: number): Promise<number> {
  let removed = 0
  for (const name of await hosted(readdir(folder))) {
    const path = join(folder, name)
    const info = await stat(path).catch(() => undefined)
    if (info === undefined || nowMs - info.mtimeMs < olderThanMs) continue
    await hosted(rm(path, { force: true }))
    removed += 1
  }
  return removed
}

/** Maximum duration of an upload. */
const AGE_MAX_MS = 6 * HOUR_MS

/**
 * Removes staged files of killed processes, now and every hour until stopped. Logs failures. Not a job, which would run on
 * one machine only.
 */
export function startStagingSweep({ files, log, now }: Pick<Deps, 'files' | 'log' | 'now'>): { stop(): Promise<void> } {
  const sweep = async (): Promise<void> => {
    try {
      const removed = await files.sweep({ olderThanMs: AGE_MAX_MS, nowMs: now() })
      if (removed > 0) log.info({ files: { removed } }, 'Removed unfinished uploads of a stopped process')
    } catch (error) {
      log.warn({ err: error }, 'Could not remove unfinished uploads')
    }
  }
  let running = sweep()
  const timer = setInterval(() => {
    running = running.then(sweep)
  }, HOUR_MS)
  timer.unref()
  return {
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
