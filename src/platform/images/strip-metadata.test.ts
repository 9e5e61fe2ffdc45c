import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32, deflateSync } from 'node:zlib'
import fc from 'fast-check'
import sharp, { type Sharp } from 'sharp'
import { createImages } from './images.ts'
import { BrokenImage, stripMetadata } from './strip-metadata.ts'

const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const
const photo = () => sharp({ create: { width: 60, height: 40, channels: 3, background: '#123', noise } })
const ENCODERS = {
  jpeg: (picture: Sharp) => picture.jpeg(),
  'progressive jpeg': (picture: Sharp) => picture.jpeg({ progressive: true }),
  'jpeg for print': (picture: Sharp) => picture.toColourspace('cmyk').jpeg(),
  png: (picture: Sharp) => picture.png(),
  webp: (picture: Sharp) => picture.webp(),
  'lossless webp': (picture: Sharp) => picture.webp({ lossless: true }),
}
const kindOf = (name: string) => (/png|webp/.exec(name)?.[0] ?? 'jpeg') as 'jpeg' | 'png' | 'webp'
const PLANTED = /Planted|GPS/

/** As a telephone writes it, and an editor after it. */
const taken = (picture: Sharp, orientation: number) =>
  picture
    .withExif({
      IFD0: { Make: 'PlantedCamera', Copyright: 'Planted Name' },
      IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 3230/100' },
    })
    .withMetadata({ orientation, icc: 'p3' })
    .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/">PlantedXmp</x:xmpmeta>')

const upright = (bytes: Buffer) => sharp(bytes, { failOn: 'warning' }).autoOrient().raw().toBuffer()

test('removes location, camera, names and trailing data, and preserves pixels, colours and orientation', async () => {
  for (const [name, encode] of Object.entries(ENCODERS)) {
    for (const orientation of [1, 6]) {
      const source = await encode(taken(photo(), orientation)).toBuffer()
      assert.match(source.toString('latin1'), PLANTED)
      const stripped = stripMetadata(Buffer.concat([source, Buffer.from('Planted')]), kindOf(name))
      assert.doesNotMatch(stripped.toString('latin1'), PLANTED, name)
      const [before, after] = [await sharp(source).metadata(), await sharp(stripped).metadata()]
      assert.deepEqual([after.orientation ?? 1, after.xmp, after.icc], [orientation, undefined, before.icc], name)
      assert.ok((await upright(stripped)).equals(await upright(source)), name)
      assert.ok(stripMetadata(stripped, kindOf(name)).equals(stripped), 'once more changes nothing')
    }
  }
})

test('returns an image without metadata unchanged', async () => {
  for (const [name, encode] of Object.entries(ENCODERS)) {
    if (name === 'jpeg for print') continue
    const source = await encode(photo()).toBuffer()
    assert.ok(stripMetadata(source, kindOf(name)).equals(source), name)
  }
})

/** A PNG with more chunks after its header. */
const withChunks = (png: Buffer, ...chunks: Buffer[]) =>
  Buffer.concat([png.subarray(0, PNG_HEADER_END), ...chunks, png.subarray(PNG_HEADER_END)])
const PNG_HEADER_END = 33

function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(4), Buffer.from(type), data, Buffer.alloc(4)])
  bytes.writeUInt32BE(data.length, 0)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), bytes.length - 4)
  return bytes
}

test('texts in a PNG go unread, also those that would unpack to hundreds of megabytes', async () => {
  const png = await photo().png().toBuffer()
  const text = chunk('tEXt', Buffer.from('Author\0Planted'))
  const bomb = chunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0'), deflateSync(Buffer.alloc(7_000_000))]))
  const planted = withChunks(png, text, ...Array(32).fill(bomb))
  assert.ok(stripMetadata(planted, 'png').equals(png))
  const { raw } = await createImages().processIcon(planted, 'png')
  assert.ok(raw.bytes.equals(png))
})

test('reads the orientation in both byte orders, and treats invalid values as upright', async () => {
  const png = await photo().png().toBuffer()
  const turned = async (tiff: string) => {
    const stripped = stripMetadata(withChunks(png, chunk('eXIf', Buffer.from(tiff, 'hex'))), 'png')
    return (await sharp(stripped).metadata()).orientation ?? 1
  }
  assert.equal(await turned('4d4d002a0000000800010112000300000001000800000000'), 8)
  assert.equal(await turned('49492a000800000001001201030001000000030000000000'), 3)
  for (const nonsense of [
    '',
    '4d4d',
    '49492a00ffffffff0100',
    '49492a0008000000ffff',
    '49492a000800000001001201030001000000090000000000',
    '49492a000800000001001201040001000000030000000000',
    '454949002a000800000001001201',
  ])
    assert.equal(await turned(nonsense), 1, nonsense)
})

test('comments in a JPEG go', async () => {
  const jpeg = await photo().jpeg().toBuffer()
  const comment = Buffer.concat([Buffer.from([0xff, 0xfe, 0, 9]), Buffer.from('Planted')])
  const second = Buffer.concat([jpeg.subarray(0, 2), comment, jpeg.subarray(2)])
  assert.ok(stripMetadata(second, 'jpeg').equals(jpeg))
})

test('a moving GIF keeps its frames, its timing and its repetition, and loses its comments', async () => {
  const frames = Buffer.concat([0, 90, 200].map((level) => Buffer.alloc(16 * 16 * 3, level)))
  const gif = await sharp(frames, { raw: { width: 16, height: 48, channels: 3, pageHeight: 16 } })
    .gif({ loop: 3, delay: [100, 200, 300] })
    .toBuffer()
  assert.ok(stripMetadata(gif, 'gif').equals(gif))
  const extension = (label: number, words: string) =>
    Buffer.concat([Buffer.from([0x21, label, words.length]), Buffer.from(`${words}\0`)])
  const planted = Buffer.concat([
    gif.subarray(0, -1),
    extension(0xfe, 'Planted'),
    extension(0xff, 'XMP DataXMP'),
    gif.subarray(-1),
    Buffer.from('Planted'),
  ])
  assert.ok(stripMetadata(planted, 'gif').equals(gif))
})

test('a truncated or changed file is rejected or its output is not longer than the input', async () => {
  const sources = await Promise.all(
    Object.entries(ENCODERS).map(async ([name, encode]) => ({
      kind: kindOf(name),
      bytes: await encode(taken(photo(), 1)).toBuffer(),
    })),
  )
  const gif = { kind: 'gif' as const, bytes: await photo().gif().toBuffer() }
  const place = fc.double({ min: 0, max: 0.999, noNaN: true })
  const edit = fc.record({ place, byte: fc.integer({ min: 0, max: 255 }) })
  fc.assert(
    fc.property(fc.constantFrom(...sources, gif), fc.array(edit, { maxLength: 6 }), place, (source, edits, cut) => {
      const bytes = Buffer.from(source.bytes.subarray(0, Math.ceil(source.bytes.length * (1 - cut * cut))))
      for (const { place, byte } of edits) bytes[Math.floor(bytes.length * place * place)] = byte
      try {
        assert.ok(stripMetadata(bytes, source.kind).length <= bytes.length + 1)
      } catch (error) {
        if (!(error instanceof BrokenImage)) throw error
      }
    }),
    { numRuns: 500 },
  )
})

test('rejects an image that would be decoded a hundred times', async () => {
  const source = await photo().jpeg({ progressive: true }).toBuffer()
  const lastScan = source.subarray(source.lastIndexOf(Buffer.from([0xff, 0xda])), -2)
  const scans = Buffer.concat([source.subarray(0, -2), ...Array(120).fill(lastScan), source.subarray(-2)])
  assert.throws(() => stripMetadata(scans, 'jpeg'), BrokenImage)
  await assert.rejects(createImages().processIcon(scans, 'jpg'), { kind: 'invalid_input' })
})

test('stores the stripped image and creates the small copy from it', async () => {
  const source = await taken(photo(), 6).jpeg().toBuffer()
  const { raw, optimized } = await createImages().processPicture(source, 'jpg')
  assert.doesNotMatch(raw.bytes.toString('latin1'), PLANTED)
  assert.equal((await sharp(raw.bytes).metadata()).orientation, 6)
  const { width, height } = await sharp(optimized?.bytes).metadata()
  assert.deepEqual([width, height], [40, 60])
})
