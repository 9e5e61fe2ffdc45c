// Streams a ZIP archive of stored files. Files are not compressed, so that the size is known in advance, and only one
// file is open at a time.
import { Readable } from 'node:stream'
import { ZipFile } from 'yazl'
import { ApiError } from '#lib/errors.ts'
import type { Files } from '#ports/files/files.ts'
import type { Archive } from './choose-files.ts'

export type WrittenArchive = { stream: Readable; sizeBytes: number }

/**
 * Returns the archive as a stream. Destroying the stream closes the current file. If a file cannot be read, the stream
 * fails, so that clients notice the incomplete archive.
 */
export function writeArchive(
  store: Pick<Files, 'open'>,
  { files, texts = [] }: Pick<Archive, 'files' | 'texts'>,
): WrittenArchive {
  const zip = new ZipFile()
  const output = zip.outputStream as Readable
  let current: Readable | undefined
  zip.on('error', (error: Error) => output.destroy(error))
  output.once('close', () => current?.destroy())
  for (const { name, content } of texts)
    zip.addBuffer(Buffer.from(content), name, { compress: false, mtime: files[0]?.at ?? new Date(0), mode: 0o100644 })
  for (const { name, storageKey, sizeBytes, at, read } of files) {
    zip.addReadStreamLazy(name, { compress: false, size: sizeBytes, mtime: at, mode: 0o100644 }, (take) => {
      const opened = read === undefined ? open(store, storageKey) : read().then((bytes) => Readable.from([bytes]))
      opened.then(
        (stream) => {
          current = stream
          stream.once('error', (error) => output.destroy(error))
          if (output.destroyed) stream.destroy()
          else take(null, stream)
        },
        (error: Error) => output.destroy(error),
      )
    })
  }
  return { stream: output, sizeBytes: endArchive(zip) }
}

/** @throws ApiError `file_hosting_error` */
async function open(store: Pick<Files, 'open'>, key: string): Promise<Readable> {
  const opened = await store.open(key)
  if (opened === undefined) throw new ApiError('file_hosting_error', 'The file is missing from the store')
  return opened.stream
}

/** Ends the archive and returns its size. The library passes the size synchronously; its types omit the argument. */
function endArchive(zip: ZipFile): number {
  let sizeBytes = 0
  const take = (size: number): void => {
    sizeBytes = size
  }
  zip.end({ forceZip64Format: false, comment: '' }, take as () => void)
  return sizeBytes
}
