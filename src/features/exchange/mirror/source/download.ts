// Downloads files of a source to the local disk: continues after an interruption, and checks size and hash.
import { Readable } from 'node:stream'
import { FILE_BYTES_MAX } from '#features/catalogue/versions/publish/prepare-files.ts'
import type { Deps } from '#ports/deps.ts'
import type { StagedFile } from '#ports/files/files.ts'
import { CopyFailure } from '../failures.ts'
import { readBounded } from './read-bounded.ts'
import { reasonOf, type Source, SourceUnusable } from './source.ts'

const INTERRUPTIONS_MAX = 5

export type RemoteContent = { url: string; size: number; sha512: string }

/** Downloads a file to the local disk. @throws CopyFailure `hash_mismatch`, `too_large`, `unavailable`; SourceUnusable. */
export async function downloadFile(
  files: Deps['files'],
  source: Source,
  { url, size, sha512 }: RemoteContent,
): Promise<StagedFile> {
  if (size > FILE_BYTES_MAX) throw new CopyFailure('too_large', `${url} has more than ${FILE_BYTES_MAX} bytes`)
  const mismatch = (): CopyFailure =>
    new CopyFailure('hash_mismatch', `${url} is not the file that the source describes`)
  let staged: StagedFile
  try {
    staged = await files.stage(Readable.from(bytesOf(source, url, { size, mismatch }), { objectMode: false }), {
      maxBytes: FILE_BYTES_MAX,
    })
  } catch (error) {
    source.signal?.throwIfAborted()
    if (error instanceof CopyFailure || error instanceof SourceUnusable) throw error
    throw new CopyFailure('unavailable', `${url} could not be downloaded: ${reasonOf(error)}`)
  }
  if (staged.sizeBytes === size && staged.sha512 === sha512) return staged
  await files.discard(staged)
  throw mismatch()
}

/** Yields the bytes of a file, and requests the rest after an interruption. */
async function* bytesOf(
  source: Source,
  url: string,
  { size, mismatch }: { size: number; mismatch: () => Error },
): AsyncGenerator<Uint8Array> {
  let received = 0
  let etag: string | null = null
  for (let interruptions = 0; ; interruptions += 1) {
    const isRest = received > 0
    const response = await source.openFile(url, {
      'accept-encoding': 'identity',
      ...(isRest ? { range: `bytes=${received}-`, ...(etag === null ? {} : { 'if-range': etag }) } : {}),
    })
    if (response.status !== 200 && !(isRest && response.status === 206)) {
      await response.body?.cancel()
      throw new CopyFailure('unavailable', `${url} has the status ${response.status}`)
    }
    etag ??= response.headers.get('etag')
    // A source without ranges sends everything again.
    let skip = isRest && response.status === 200 ? received : 0
    try {
      for await (const chunk of response.body ?? []) {
        const piece = chunk.subarray(Math.min(skip, chunk.length))
        skip -= chunk.length - piece.length
        received += piece.length
        if (received > size) throw mismatch()
        if (piece.length > 0) yield piece
      }
      if (received >= size) return
    } catch (error) {
      source.signal?.throwIfAborted()
      if (error instanceof CopyFailure || interruptions >= INTERRUPTIONS_MAX) throw error
    }
    if (interruptions >= INTERRUPTIONS_MAX) throw mismatch()
    await source.pause(1000 * 2 ** interruptions)
  }
}

/** Returns the bytes of an image. @throws CopyFailure, SourceUnusable. */
export async function downloadImage(source: Source, url: string, bytesMax: number): Promise<Buffer> {
  try {
    const response = await source.open(url)
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new CopyFailure('unavailable', `${url} has the status ${response.status}`)
    }
    return await readBounded(response, bytesMax, () => new CopyFailure('too_large', `${url} has too many bytes`))
  } catch (error) {
    source.signal?.throwIfAborted()
    if (error instanceof CopyFailure || error instanceof SourceUnusable) throw error
    throw new CopyFailure('unavailable', `${url} could not be downloaded: ${reasonOf(error)}`)
  }
}
