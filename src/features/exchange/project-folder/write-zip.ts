// Streams the entries of a project as a ZIP archive: one file is open at a time, and nothing is read ahead of the client.
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { ZipFile } from 'yazl'
import { ApiError } from '#lib/errors.ts'
import type { Files } from '#ports/files/files.ts'
import type { Entry } from './export-project.ts'

/** The output of the library, which its types describe as a `ReadableStream`. */
type Output = Readable & { writableNeedDrain: boolean }

const MODE = 0o100644

/** Destroying the stream closes the current file. If a file cannot be read, the stream fails. */
export function writeZip(store: Pick<Files, 'open'>, entries: AsyncIterable<Entry>, mtime: Date): Readable {
  const zip = new ZipFile()
  const output = zip.outputStream as unknown as Output
  zip.on('error', (error: Error) => output.destroy(error))
  addAll(store, zip, output, { entries, mtime }).then(
    () => zip.end(),
    (error: Error) => output.destroy(error),
  )
  return output
}

async function addAll(
  store: Pick<Files, 'open'>,
  zip: ZipFile,
  output: Output,
  { entries, mtime }: { entries: AsyncIterable<Entry>; mtime: Date },
): Promise<void> {
  const options = { mtime, mode: MODE, compress: false }
  for await (const entry of entries) {
    if (output.destroyed) return
    if ('json' in entry) zip.addBuffer(Buffer.from(`${JSON.stringify(entry.json, null, 2)}\n`), entry.path, options)
    else await addFile(zip, output, { entry, options, content: await open(store, entry) })
    if (output.writableNeedDrain) await Promise.race([once(output, 'drain'), once(output, 'close')])
  }
}

async function addFile(
  zip: ZipFile,
  output: Output,
  { entry, options, content }: { entry: Entry; options: { mtime: Date; mode: number }; content: Readable },
): Promise<void> {
  const close = (): void => void content.destroy()
  output.once('close', close)
  if (output.destroyed) close()
  zip.addReadStream(content, entry.path, options)
  await finished(content)
  output.removeListener('close', close)
}

/** @throws ApiError `file_hosting_error` */
async function open(
  store: Pick<Files, 'open'>,
  { path, storageKey }: Entry & { storageKey: string },
): Promise<Readable> {
  const opened = await store.open(storageKey)
  if (opened === undefined) throw new ApiError('file_hosting_error', `The file ${path} is missing from the store`)
  return opened.stream
}
