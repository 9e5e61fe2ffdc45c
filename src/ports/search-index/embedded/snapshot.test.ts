import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { parseSearchRequest } from '#features/reading/search/requests.ts'
import { makeDocument } from '#test/conformance/search-index/tools.ts'
import { openEmbeddedSearchIndex } from './embedded-search-index.ts'

const folder = await mkdtemp(join(tmpdir(), 'search-format-'))
after(() => rm(folder, { recursive: true }))

/** Replaces the number of the format in the header, with its checksum. */
async function setFormat(file: string, format: number): Promise<void> {
  const bytes = await readFile(file)
  const start = bytes.indexOf('{"format":')
  const length = bytes.readUInt32LE(start - 8)
  const header = bytes.subarray(start, start + length)
  header.write(String(format), '{"format":'.length)
  bytes.writeUInt32LE(crc32(header), start - 4)
  await writeFile(file, bytes)
}

for (const [format, age] of [
  [2, 'an older'],
  [9, 'a newer'],
] as const) {
  test(`a saved index of ${age} version of Depot is reported and replaced by an empty one, which the feed fills`, async () => {
    const snapshotFile = join(folder, `index-${format}`)
    const first = await openEmbeddedSearchIndex({ snapshotFile })
    await first.apply([{ kind: 'upsert', sequence: 1, document: makeDocument('lantern', {}) }])
    await first.checkpoint()
    await first.close()
    await setFormat(snapshotFile, format)
    const problems: string[] = []
    const onError = ({ message, cause }: { message: string; cause?: unknown }) =>
      void problems.push(`${message} ${cause}`)
    const second = await openEmbeddedSearchIndex({ snapshotFile, onError })
    assert.match(problems.join(), new RegExp(`format ${format} of ${age} version of Depot, and is built again`))
    assert.equal((await second.status()).sequence, 0)
    assert.equal(JSON.parse(Buffer.from((await second.search(parseSearchRequest({}))).body).toString()).total_hits, 0)
    await second.close()
  })
}
