// Staged uploads on the local disk, the half that every files adapter shares: streaming in, hashing, throwing away.
import { createHash } from 'node:crypto'
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import { invalidInput } from '#lib/errors.ts'
import { randomBase62 } from '#lib/ids.ts'
import { describeBytes, hostingError, type StagedFile, type StageOptions } from './files.ts'

// Chunks are gathered to this size before they are written: few system calls, and at most two batches in memory.
const BATCH_BYTES = 1024 * 1024
// A long upload is pushed to the disk as it arrives, so that making it durable at the end does not take seconds.
const SYNC_EVERY_BYTES = 32 * 1024 * 1024

/** Runs a step of the store; its failure becomes `file_hosting_error` with the cause. */
export async function hosted<T>(step: Promise<T>): Promise<T> {
  try {
    return await step
  } catch (cause) {
    throw hostingError(cause)
  }
}

/** A fresh path in the staging folder. */
export function newStagedPath(folder: string): string {
  return join(folder, `${randomBase62(24)}.part`)
}

/** `Files.stage` for a staging folder on the local disk. */
export async function stageFile(folder: string, source: Readable, options: StageOptions): Promise<StagedFile> {
  const path = newStagedPath(folder)
  let writer: BatchWriter | undefined
  // The source may break before anybody reads it; the reader then meets the error of the destroyed stream.
  source.on('error', () => undefined)
  try {
    if (options.signal !== undefined) addAbortSignal(options.signal, source)
    writer = batchWriter(await hosted(open(path, 'wx', 0o600)))
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

async function pump(source: Readable, writer: BatchWriter, { maxBytes, field }: StageOptions) {
  const sha1 = createHash('sha1')
  const sha512 = createHash('sha512')
  let sizeBytes = 0
  for await (const chunk of source as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length
    if (sizeBytes > maxBytes) {
      throw invalidInput(`The file is larger than the limit of ${describeBytes(maxBytes)}`, field)
    }
    sha1.update(chunk)
    sha512.update(chunk)
    await writer.write(chunk)
  }
  return { sizeBytes, sha1: sha1.digest('hex'), sha512: sha512.digest('hex') }
}

type BatchWriter = {
  write(chunk: Buffer): Promise<void>
  close(): Promise<void>
  /** Closes whatever is open and swallows errors: the file is about to be removed. */
  abandon(): Promise<void>
}

/** Gathers chunks and writes each batch while the next one is gathered and hashed. */
function batchWriter(handle: FileHandle): BatchWriter {
  let batch: Buffer[] = []
  let batchBytes = 0
  let unsyncedBytes = 0
  let underway: Promise<void> = Promise.resolve()

  async function flush(): Promise<void> {
    await underway
    const full = batch
    unsyncedBytes += batchBytes
    const sync = unsyncedBytes >= SYNC_EVERY_BYTES
    if (sync) unsyncedBytes = 0
    batch = []
    batchBytes = 0
    underway = writeBatch(handle, full, { sync })
    // The error is met by the next `flush` or by `close`; until then it must not count as unhandled.
    underway.catch(() => undefined)
  }

  return {
    async write(chunk) {
      batch.push(chunk)
      batchBytes += chunk.length
      if (batchBytes >= BATCH_BYTES) await flush()
    },
    async close() {
      if (batchBytes > 0) await flush()
      await underway
      await hosted(handle.close())
    },
    async abandon() {
      await underway.catch(() => undefined)
      await handle.close().catch(() => undefined)
    },
  }
}

async function writeBatch(handle: FileHandle, batch: Buffer[], { sync }: { sync: boolean }): Promise<void> {
  const total = batch.reduce((sum, chunk) => sum + chunk.length, 0)
  const { bytesWritten } = await hosted(handle.writev(batch))
  // A nearly full disk takes a part and refuses the rest with the next call.
  if (bytesWritten < total) await hosted(handle.appendFile(Buffer.concat(batch).subarray(bytesWritten)))
  if (sync) await hosted(handle.datasync())
}

/** `Files.discard` for a staging folder on the local disk. */
export async function discardStaged(staged: StagedFile): Promise<void> {
  await hosted(rm(staged.path, { force: true }))
}

/** `Files.sweep` for a staging folder on the local disk; a file that vanishes meanwhile counts for nobody. */
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
