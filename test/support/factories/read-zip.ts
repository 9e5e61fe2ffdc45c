import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import yauzl from 'yauzl'

export type Entry = { name: string; content: Buffer; modified: Date }

/** Reads an archive with another library than the writer's. */
export async function readZip(bytes: Buffer): Promise<Entry[]> {
  const zip = await promisify<Buffer, yauzl.Options, yauzl.ZipFile>(yauzl.fromBuffer)(bytes, { lazyEntries: true })
  const entries: Entry[] = []
  return new Promise((resolve, reject) => {
    zip.on('error', reject)
    zip.on('end', () => resolve(entries))
    zip.on('entry', (entry: yauzl.Entry) => {
      zip.openReadStream(entry, (error, stream) => {
        if (error !== null) return reject(error)
        buffer(stream).then((content) => {
          entries.push({ name: entry.fileName, content, modified: entry.getLastModDate() })
          zip.readEntry()
        }, reject)
      })
    })
    zip.readEntry()
  })
}
