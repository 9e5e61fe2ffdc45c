import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { ApiError } from '#lib/errors.ts'
import { makeZip, readEnd, rewriteEnd, type TestEntry, toZip64 } from '#test/support/factories/archives.ts'
import { ARCHIVE_LIMITS, inspectArchive, isContainedPath } from './inspect-archive.ts'

describe('inspecting an archive', () => {
  let folder: string
  let count = 0
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'depot-archives-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  async function inspect(bytes: Uint8Array, options: Parameters<typeof inspectArchive>[1] = {}) {
    count += 1
    const path = join(folder, `${count}.zip`)
    await writeFile(path, bytes)
    return inspectArchive(path, options)
  }

  async function refused(entries: TestEntry[] | Buffer, reason: RegExp, limits = ARCHIVE_LIMITS) {
    const bytes = Buffer.isBuffer(entries) ? entries : makeZip(entries)
    await assert.rejects(inspect(bytes, { field: 'file', limits }), (error: unknown) => {
      assert.ok(error instanceof ApiError, String(error))
      assert.equal(error.kind, 'invalid_input')
      assert.deepEqual(error.details, { field: 'file', message: error.message })
      assert.match(error.message, reason)
      return true
    })
  }

  test('lists its entries and reads single ones, stored and deflated, small and large', async () => {
    const middle = Buffer.alloc(300_000, 'middle')
    const large = Buffer.alloc(6_000_000, 'a large one')
    const archive = await inspect(
      makeZip(
        [
          { name: 'META-INF/', stored: true },
          { name: 'fabric.mod.json', data: '{}' },
          { name: 'stored.txt', data: 'as it is', stored: true },
          { name: 'middle.bin', data: middle },
          { name: 'large.bin', data: large },
          { name: 'large-stored.bin', data: large, stored: true },
          { name: 'ünïcode/名.txt', data: 'x' },
          { name: 'empty', data: '' },
        ],
        { comment: 'a comment' },
      ),
    )
    assert.ok(archive.readable)
    assert.deepEqual(
      archive.entries.map(({ name, sizeBytes }) => [name, sizeBytes]),
      [
        ['META-INF/', 0],
        ['fabric.mod.json', 2],
        ['stored.txt', 8],
        ['middle.bin', 300_000],
        ['large.bin', 6_000_000],
        ['large-stored.bin', 6_000_000],
        ['ünïcode/名.txt', 1],
        ['empty', 0],
      ],
    )
    assert.equal(String(await archive.readEntry('fabric.mod.json', 100)), '{}')
    assert.equal(String(await archive.readEntry('stored.txt', 100)), 'as it is')
    assert.deepEqual(await archive.readEntry('middle.bin', 300_000), middle)
    assert.equal(await archive.readEntry('absent', 100), undefined)
    await assert.rejects(archive.readEntry('middle.bin', 299_999), /larger than 299999 bytes/)
  })

  test('calls a file unreadable if it is not a zip, or is truncated', async () => {
    const whole = makeZip([{ name: 'a', data: 'content' }])
    const inputs = [
      Buffer.alloc(0),
      Buffer.from('not a zip at all'),
      Buffer.alloc(100_000),
      whole.subarray(0, -1),
      whole.subarray(0, 40),
      whole.subarray(20),
      Buffer.concat([whole, Buffer.from('trailing')]),
    ]
    for (const bytes of inputs) assert.equal((await inspect(bytes)).readable, false)
  })

  test('calls an archive unreadable in which another reader can find other entries', async () => {
    const zip = makeZip([
      { name: 'seen', data: 'x' },
      { name: '../hidden', data: 'y' },
    ])
    const [first, second] = [makeZip([{ name: 'first' }]), makeZip([{ name: 'second' }])]
    const lies = {
      'fewer entries than there are': rewriteEnd(zip, () => ({ count: 1 })),
      'no entry at all': rewriteEnd(zip, () => ({ count: 0 })),
      'a directory that begins later': rewriteEnd(zip, ({ bytes }) => ({ bytes: bytes - 50 })),
      'another directory before the last one': rewriteEnd(Buffer.concat([first, second]), () =>
        readEnd(first.subarray(-22)),
      ),
      'the end of another archive in the comment': makeZip([{ name: 'seen' }], {
        comment: makeZip([]).toString('latin1'),
      }),
      'fewer entries in the larger record': toZip64(zip, () => ({ count: 1 })),
      'more entries in the larger record than fit': toZip64(zip, () => ({ count: 2 ** 52 })),
      'a larger record elsewhere': toZip64(zip, ({ start }) => ({ recordAt: start })),
      'two records that differ': rewriteEnd(toZip64(zip), () => ({ count: 1 })),
    }
    for (const [what, bytes] of Object.entries(lies)) {
      const outcome = await inspect(bytes).catch((error: ApiError) => error)
      assert.ok(outcome instanceof ApiError || !outcome.readable, what)
    }
  })

  test('takes archives of the larger form', async () => {
    const archive = await inspect(toZip64(makeZip([{ name: 'a', data: 'content' }])))
    assert.ok(archive.readable)
    assert.equal(String(await archive.readEntry('a', 100)), 'content')
  })

  test('leaves nothing on the file for each large entry', async () => {
    const large = Buffer.alloc(1_100_000)
    const warnings: Error[] = []
    const listen = (warning: Error) => warnings.push(warning)
    process.on('warning', listen)
    const entries = Array.from({ length: 14 }, (_, i) => ({ name: `${i}`, data: large }))
    assert.ok((await inspect(makeZip(entries))).readable)
    await new Promise(setImmediate)
    process.off('warning', listen)
    assert.deepEqual(warnings, [])
  })

  test('rejects a zip whose start is missing or moved', async () => {
    const whole = makeZip([
      { name: 'first', data: 'x'.repeat(50) },
      { name: 'second', data: 'y'.repeat(50) },
    ])
    const damaged = Buffer.from(whole)
    damaged.writeUInt32LE(0, 0)
    await refused(damaged, /"first" has two different headers/)
  })

  test('rejects names that leave the archive, in every spelling', async () => {
    const names = ['../x', 'a/../../x', '/etc/x', '\\x', '..\\x', 'a\\..\\..\\x', 'C:\\x', 'c:x', 'a\0b', '']
    for (const name of names) await refused([{ name: 'ok' }, { name, data: 'x' }], /does not stay inside/)
  })

  test('reads backslashes between segments as slashes', async () => {
    const archive = await inspect(makeZip([{ name: 'assets\\pack.png', data: 'x' }]))
    assert.ok(archive.readable)
    assert.equal(archive.entries[0]?.name, 'assets/pack.png')
    assert.equal(String(await archive.readEntry('assets/pack.png', 10)), 'x')
  })

  test('rejects a duplicate name, also in two spellings, but not a repeated folder', async () => {
    await refused(
      [
        { name: 'a.txt', data: '1' },
        { name: 'a.txt', data: '2' },
      ],
      /"a.txt" occurs twice/,
    )
    await refused(
      [
        { name: 'a/b', data: '1' },
        { name: 'a\\b', data: '2' },
      ],
      /twice/,
    )
    assert.ok((await inspect(makeZip([{ name: 'a/' }, { name: 'a/' }, { name: 'A/' }]))).readable)
  })

  test('rejects links, encryption and foreign packing', async () => {
    await refused([{ name: 'a', data: '/etc/passwd', lie: { unixMode: 0o120777 } }], /symbolic link/)
    await refused([{ name: 'a', data: 'x', lie: { flags: 0x1 } }], /encrypted/)
    await refused([{ name: 'a', data: 'x', lie: { method: 12 } }], /packed by method 12/)
  })

  test('rejects a wrong checksum in small, middle and large entries', async () => {
    for (const size of [10, 200_000, 5_000_000]) {
      const data = Buffer.alloc(size, 'abc')
      await refused(
        [
          { name: 'ok', data: 'x' },
          { name: 'bad', data, lie: { crc32: 1 } },
        ],
        /"bad".*checksum/,
      )
      await refused([{ name: 'bad', data, stored: true, lie: { crc32: 1 } }], /"bad".*checksum/)
    }
  })

  test('rejects entries that unpack to more or less than they declare, however large', async () => {
    for (const size of [10, 200_000, 5_000_000]) {
      const data = Buffer.alloc(size, 'abc')
      await refused([{ name: 'bad', data, lie: { sizeBytes: size - 1 } }], /"bad" does not unpack to its declared size/)
      await refused([{ name: 'bad', data, lie: { sizeBytes: size + 1 } }], /"bad" does not unpack to its declared size/)
      await refused([{ name: 'bad', data, stored: true, lie: { sizeBytes: size + 1 } }], /declared size/)
    }
  })

  test('rejects contents that are not a deflate stream, or are truncated', async () => {
    await refused([{ name: 'bad', data: 'x', lie: { packed: Buffer.from('garbage!') } }], /cannot be unpacked|size/)
    for (const size of [10, 200_000, 5_000_000]) {
      const data = Buffer.alloc(size, 'abc')
      const cut = deflateRawSync(data)
      await refused(
        [{ name: 'bad', data, lie: { packed: cut.subarray(0, cut.length - 2) } }],
        /cannot be unpacked|size/,
      )
    }
  })

  test('rejects overlapping entries and entries that reach past the file', async () => {
    const entry = (name: string): TestEntry => ({ name, data: 'x'.repeat(100), stored: true })
    await refused([entry('a'), { ...entry('a2'), lie: { sameOffsetAs: 0 } }], /overlaps/)
    await refused([{ name: 'a', data: 'x', stored: true, lie: { packedBytes: 9000, sizeBytes: 9000 } }], /overlaps/)
    await refused([{ name: 'a', data: 'x', lie: { packedBytes: 3_000_000_000 } }], /overlaps/)
  })

  test('rejects an entry whose two names differ', async () => {
    await refused([{ name: 'a.txt', data: 'x', lie: { localName: '../../x' } }], /two different headers/)
  })

  test('rejects a declared bomb before a byte is unpacked, and a lying one at its declared size', async () => {
    const bomb = Buffer.alloc(80 * 1024 * 1024)
    const packed = deflateRawSync(bomb)
    await refused([{ name: 'bomb', data: bomb, lie: { packed } }], /unpacks to 83886080 bytes/)
    await refused([{ name: 'bomb', lie: { packed, sizeBytes: 1000 } }], /declared size/)
    await refused([{ name: 'bomb', lie: { packed, sizeBytes: 5_000_000 } }], /declared size/)
    await refused([{ name: 'bomb', data: 'x', lie: { sizeBytes: 4_000_000_000 } }], /unpacks to 4000000000 bytes/)
  })

  test('keeps every limit at its exact value', async () => {
    const entries = Array.from({ length: 10 }, (_, i) => ({ name: `${i}.jar`, data: 'x'.repeat(100) }))
    const zip = makeZip(entries)
    const exact = { ...ARCHIVE_LIMITS, maxEntries: 10, maxNameBytes: 50, maxTotalBytes: 1000, maxNested: 10 }
    assert.ok((await inspect(zip, { limits: exact })).readable)
    await refused(zip, /more than 9 entries/, { ...exact, maxEntries: 9 })
    await refused(zip, /more than 49 bytes/, { ...exact, maxNameBytes: 49 })
    await refused(zip, /more than the 999 allowed/, { ...exact, maxTotalBytes: 999 })
    await refused(zip, /more than 9 archives/, { ...exact, maxNested: 9 })
  })

  test('takes archives inside the archive as plain bytes', async () => {
    const inner = makeZip([{ name: '../evil', data: 'x' }])
    assert.ok((await inspect(makeZip([{ name: 'META-INF/jars/inner.jar', data: inner, stored: true }]))).readable)
  })

  test('takes thousands of entries', async () => {
    const zip = makeZip(Array.from({ length: 20_000 }, (_, i) => ({ name: `e/${i}`, data: `content ${i}` })))
    const archive = await inspect(zip)
    assert.ok(archive.readable)
    assert.equal(archive.entries.length, 20_000)
  })

  test('answers any damage with an archive, an unreadable one or a refusal', async () => {
    const whole = makeZip([
      { name: 'a/', stored: true },
      { name: 'a/b.txt', data: 'hello '.repeat(200) },
      { name: 'c.bin', data: Buffer.alloc(70_000, 'xy') },
      { name: 'd', data: 'stored', stored: true },
    ])
    let seed = 7
    const below = (limit: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((seed / 2_147_483_648) * limit)
    }
    for (let i = 0; i < 150; i += 1) {
      const damaged = Buffer.from(whole)
      for (let hits = 0; hits <= below(4); hits += 1) damaged[below(whole.length)] = below(256)
      const outcome = await inspect(damaged).catch((error: unknown) => error)
      const isRefusal = outcome instanceof ApiError && outcome.kind === 'invalid_input'
      assert.ok(isRefusal || !(outcome instanceof Error), String(outcome))
    }
  })

  test('stops when it is aborted', async () => {
    const zip = makeZip([{ name: 'a', data: 'x' }])
    await assert.rejects(inspect(zip, { signal: AbortSignal.abort(new Error('enough')) }), /enough/)
  })

  test('reports a missing staged file as a hosting error', async () => {
    await assert.rejects(inspectArchive(join(folder, 'absent.zip')), (error: ApiError) => {
      return error.kind === 'file_hosting_error'
    })
  })
})

test('a contained path is relative and never climbs', () => {
  for (const path of ['a', 'a/b.txt', './a', 'a..b/c', '..a', 'a/...']) assert.equal(isContainedPath(path), true, path)
  for (const path of ['', '/a', '\\a', 'C:a', '..', 'a/..', '../a', 'a\\..\\b', 'a\0'])
    assert.equal(isContainedPath(path), false, path)
})
