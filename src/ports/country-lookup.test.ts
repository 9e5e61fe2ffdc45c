// The GeoIP database: a file in MaxMind format, which the test builds byte by byte, and the error for an invalid file.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openCountryLookup } from './country-lookup.ts'

let dir = ''
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'depot-geoip-'))
})
after(() => rm(dir, { recursive: true }))

test('countries are found by address, and addresses that are not listed have none', async () => {
  const path = join(dir, 'country.mmdb')
  await writeFile(path, tinyDatabase())
  const lookup = await openCountryLookup(path)
  assert.equal(lookup?.('10.0.0.1'), 'DE')
  assert.equal(lookup?.('192.0.2.1'), undefined)
  assert.equal(lookup?.('2001:db8::1'), undefined)
})

test('without a file, lookup is disabled; an unreadable file fails the start with a clear message', async () => {
  assert.equal(await openCountryLookup(undefined), undefined)
  const garbage = join(dir, 'garbage.mmdb')
  await writeFile(garbage, 'not a database')
  for (const path of [garbage, join(dir, 'absent.mmdb')])
    await assert.rejects(openCountryLookup(path), /\.mmdb \(GEOIP_DATABASE\) cannot be read$/)
})

/** One node: the lower half of IPv4 is Germany, the upper half is not listed. */
function tinyDatabase(): Buffer {
  const nodeCount = 1
  const tree = Buffer.alloc(6)
  // A record above the number of nodes points into the data, 16 bytes after the tree; one equal to it means nothing.
  tree.writeUIntBE(nodeCount + 16, 0, 3)
  tree.writeUIntBE(nodeCount, 3, 3)
  const metadata = map([
    ['binary_format_major_version', uint16(2)],
    ['binary_format_minor_version', uint16(0)],
    ['build_epoch', uint16(1)],
    ['database_type', text('Test-Country')],
    ['description', map([])],
    ['ip_version', uint16(4)],
    ['languages', Buffer.from([0x00, 0x04])],
    ['node_count', uint16(nodeCount)],
    ['record_size', uint16(24)],
  ])
  const data = map([['country', map([['iso_code', text('DE')]])]])
  const marker = Buffer.concat([Buffer.from([0xab, 0xcd, 0xef]), Buffer.from('MaxMind.com')])
  return Buffer.concat([tree, Buffer.alloc(16), data, marker, metadata])
}

/** Type in the upper three bits, size in the lower five; longer texts are not needed here. */
const text = (value: string): Buffer => Buffer.concat([Buffer.from([(2 << 5) | value.length]), Buffer.from(value)])
const uint16 = (value: number): Buffer => Buffer.from([(5 << 5) | 2, value >> 8, value & 255])
const map = (entries: [string, Buffer][]): Buffer =>
  Buffer.concat([Buffer.from([(7 << 5) | entries.length]), ...entries.flatMap(([key, value]) => [text(key), value])])
