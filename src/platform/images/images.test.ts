import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import sharp from 'sharp'
import { createImages, type ProcessedImage } from './images.ts'

const images = createImages()
const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const

function plain(width: number, height: number, background = '#204060') {
  return sharp({ create: { width, height, channels: 4, background } })
}

function noisy(width: number, height: number) {
  return sharp({ create: { width, height, channels: 3, background: '#000', noise } })
}

function moving(frames: number, size: number) {
  const data = Buffer.concat(Array.from({ length: frames }, (_, i) => Buffer.alloc(size * size * 3, i * 40)))
  return sharp(data, { raw: { width: size, height: size * frames, channels: 3, pageHeight: size } })
}

function svg(text: string): Buffer {
  return Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64">${text}</svg>`)
}

async function sizeOf(image: ProcessedImage['optimized']) {
  assert.ok(image)
  const { width, height, format } = await sharp(image.bytes).metadata()
  return { width, height, format }
}

let photo: Buffer
before(async () => {
  photo = await noisy(600, 400).jpeg().toBuffer()
})

test('scales an icon to 96 pixels wide in WebP and stores the upload unchanged', async () => {
  const icon = await images.processIcon(photo, 'jpg')
  assert.deepEqual(icon.raw, { bytes: photo, ext: 'jpg', contentType: 'image/jpeg' })
  assert.deepEqual([icon.optimized?.ext, icon.optimized?.contentType], ['webp', 'image/webp'])
  assert.deepEqual(await sizeOf(icon.optimized), { width: 96, height: 64, format: 'webp' })
})

test('a tall icon is cut to a square from its middle, a gallery picture keeps its shape', async () => {
  const tall = await noisy(200, 900).png().toBuffer()
  const icon = await images.processIcon(tall, 'png', { maxBytes: tall.byteLength })
  assert.deepEqual(await sizeOf(icon.optimized), { width: 96, height: 96, format: 'webp' })
  const gallery = await images.processPicture(await noisy(700, 900).png().toBuffer(), 'png')
  assert.deepEqual(await sizeOf(gallery.optimized), { width: 350, height: 450, format: 'webp' })
})

test('does not enlarge small images, and discards a WebP that is not smaller', async () => {
  const small = await noisy(40, 20).png().toBuffer()
  assert.deepEqual(await sizeOf((await images.processIcon(small, 'png')).optimized), {
    width: 40,
    height: 20,
    format: 'webp',
  })
  const tiny = await plain(8, 8).webp({ quality: 1 }).toBuffer()
  assert.equal((await images.processIcon(tiny, 'webp')).optimized, undefined)
})

test('the colour is the one that most of the middle has', async () => {
  const color = async (bytes: Buffer) => (await images.processIcon(bytes, 'png')).color
  assert.equal(await color(await plain(64, 64, '#204060').png().toBuffer()), 0x204060)
  const framed = plain(100, 100, '#ff0000').composite([{ input: await plain(60, 60, '#00ff00').png().toBuffer() }])
  assert.equal(await color(await framed.png().toBuffer()), 0x00ff00)
  assert.equal(await color(await plain(64, 64, '#ff000000').png().toBuffer()), null)
  const gray = await plain(64, 64, '#808080').toColourspace('b-w').png().toBuffer()
  assert.equal(await color(gray), 0x808080)
})

test('stores animated images unchanged', async () => {
  for (const [bytes, ext] of [
    [await moving(5, 100).gif().toBuffer(), 'gif'],
    [await moving(5, 100).webp().toBuffer(), 'webp'],
  ] as const) {
    const icon = await images.processIcon(bytes, ext)
    assert.equal(icon.optimized, undefined)
    assert.deepEqual(icon.raw.bytes, bytes)
    assert.equal(typeof icon.color, 'number')
  }
})

test('shows an image upright if the camera rotated it', async () => {
  const turned = await noisy(300, 200).withMetadata({ orientation: 6 }).jpeg().toBuffer()
  const gallery = await images.processPicture(turned, 'jpeg')
  assert.deepEqual(await sizeOf(gallery.optimized), { width: 200, height: 300, format: 'webp' })
})

test('rejects an extension that is unknown, not allowed or wrong for the content, and names the field', async () => {
  const refused = (ext: string, bytes = photo) =>
    assert.rejects(images.processIcon(bytes, ext), (error: { kind: string; details: { field: string } }) => {
      assert.deepEqual([error.kind, error.details.field], ['invalid_input', 'ext'])
      return true
    })
  for (const ext of ['png', 'gif', 'webp', 'svg', 'bmp', 'tiff', '', 'JPG', '__proto__', 'constructor'])
    await refused(ext)
  await refused('png', Buffer.from('<html><script>alert(1)</script></html>'))
  await refused('svg', Buffer.from('<html></html>'))
  await refused('png', Buffer.from('MZ'))
  await assert.rejects(images.processPicture(svg(''), 'svg'), { kind: 'invalid_input' })
  await assert.rejects(images.processIcon(photo, 'png', { extField: 'icon' }), {
    details: { field: 'icon', message: 'The extension is png, but the content is of kind jpeg' },
  })
})

test('rejects an undecodable or damaged image with the name of its field', async () => {
  const png = await noisy(200, 200).png().toBuffer()
  for (const [bytes, ext] of [
    [Buffer.alloc(0), 'png'],
    [png.subarray(0, 8), 'png'],
    [png.subarray(0, png.byteLength - 2000), 'png'],
    [photo.subarray(0, photo.byteLength / 2), 'jpg'],
    [Buffer.concat([png.subarray(0, 1000), Buffer.alloc(3000)]), 'png'],
    [svg('<g>'), 'svg'],
    [Buffer.from([...svg(''), 0xff]), 'svg'],
    [Buffer.from('<svg width="0" height="0"/>'), 'svg'],
  ] as const) {
    await assert.rejects(images.processIcon(bytes, ext), (error: { kind: string; details: { field: string } }) => {
      assert.deepEqual([error.kind, error.details.field], ['invalid_input', 'icon'])
      return true
    })
  }
  await assert.rejects(images.processPicture(Buffer.alloc(0), 'png', { field: 'shot' }), {
    message: /empty/,
    details: { field: 'shot', message: 'The image is empty' },
  })
})

test('the limit of bytes is exact on both sides', async () => {
  const base = await plain(16, 16).png().toBuffer()
  const padded = (size: number) => Buffer.concat([base, Buffer.alloc(size - base.byteLength)])
  await images.processIcon(padded(262_144), 'png')
  await assert.rejects(images.processIcon(padded(262_145), 'png'), { message: /larger than 256 KiB/ })
  await assert.rejects(images.processIcon(padded(262_144), 'png', { maxBytes: 262_143 }), { message: /262143/ })
  await images.processPicture(padded(5 * 1024 * 1024), 'png')
  await assert.rejects(images.processPicture(padded(5 * 1024 * 1024 + 1), 'png'), { kind: 'invalid_input' })
})

test('rejects a small file with too many pixels before it unpacks it', async () => {
  // The first chunk of a PNG contains its claimed size; the decoder notices a wrong checksum only when it unpacks the
  // image.
  const bomb = await plain(1, 1).png().toBuffer()
  bomb.writeUInt32BE(30_000, 16)
  bomb.writeUInt32BE(30_000, 20)
  await assert.rejects(images.processIcon(bomb, 'png'), { kind: 'invalid_input' })
  const wide = await plain(4097, 4096).png({ compressionLevel: 9 }).toBuffer()
  await assert.rejects(images.processIcon(wide, 'png'), { message: /more than 16777216 pixels/ })
  const huge = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="90000" height="90000"/>')
  await assert.rejects(images.processIcon(huge, 'svg'), { message: /more than 16777216 pixels/ })
})

test('an SVG is stored clean and shown as WebP when that is smaller', async () => {
  const filler = Array.from({ length: 200 }, (_, i) => `<path d="M${i} ${i}h9"/>`).join('')
  const icon = await images.processIcon(
    svg(`<script>alert(1)</script><rect width="64" height="64" fill="#ff8000"/><g opacity="0">${filler}</g>`),
    'svg',
  )
  assert.equal(icon.raw.contentType, 'image/svg+xml')
  assert.doesNotMatch(icon.raw.bytes.toString(), /script/)
  assert.deepEqual(await sizeOf(icon.optimized), { width: 64, height: 64, format: 'webp' })
  assert.equal(icon.color, 0xff8000)
})
