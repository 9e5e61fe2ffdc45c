import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import sharp from 'sharp'
import { demoAvatar, demoIcon } from '#demo/demo-icons.ts'
import { createPixels, encodePng, fillRect, hsl, inkOf } from '#demo/demo-pixels.ts'
import { createRandom } from '#demo/demo-random.ts'
import { demoScene } from '#demo/demo-scenes.ts'
import { SPRITE_SIZE, SPRITES } from '#demo/demo-sprites.ts'

const TYPES = ['mod', 'modpack', 'resourcepack', 'shader', 'plugin', 'datapack', 'organization']
const sizeOf = async (bytes: Buffer) => {
  const { format, width, height } = await sharp(bytes).metadata()
  return { format, width, height }
}

test('what is drawn comes out of the PNG pixel by pixel, each as a square', async () => {
  const pixels = createPixels(3, 2, 0x102030)
  fillRect(pixels, { x: 1, y: -5, w: 9, h: 6 }, inkOf(pixels, 0xff8000))
  const { data, info } = await sharp(await encodePng(pixels, 4))
    .raw()
    .toBuffer({ resolveWithObject: true })
  assert.deepEqual([info.width, info.height, info.channels], [12, 8, 3])
  const at = (x: number, y: number) => data.subarray((y * 12 + x) * 3, (y * 12 + x) * 3 + 3).toString('hex')
  assert.deepEqual(
    [at(0, 0), at(3, 7), at(4, 0), at(11, 3), at(4, 4)],
    ['102030', '102030', 'ff8000', 'ff8000', '102030'],
  )
})

test('colours are those of their hue', () => {
  assert.deepEqual(
    [hsl(0, 1, 0.5), hsl(120, 1, 0.5), hsl(-120, 1, 0.5), hsl(77, 0, 1)],
    [0xff0000, 0x00ff00, 0x0000ff, 0xffffff],
  )
})

test('every sprite has its size', () => {
  for (const rows of SPRITES) {
    assert.equal(rows.length, SPRITE_SIZE)
    for (const row of rows) assert.match(row, /^[.#123]{12}$/)
  }
})

test('icons, avatars and gallery pictures are small pictures that can be read, the same for the same seed', async () => {
  const seen = new Set<string>()
  const count = 140
  for (let n = 0; n < count; n += 1) {
    const { bytes, color } = await demoIcon(createRandom(5, n), TYPES[n % TYPES.length] ?? '')
    assert.ok(bytes.equals((await demoIcon(createRandom(5, n), TYPES[n % TYPES.length] ?? '')).bytes))
    assert.deepEqual(await sizeOf(bytes), { format: 'png', width: 128, height: 128 })
    assert.ok(bytes.length < 12_000 && color >= 0 && color <= 0xffffff)
    seen.add(createHash('sha1').update(bytes).digest('hex'))
  }
  assert.equal(seen.size, count, 'no two alike')
  for (let n = 0; n < 20; n += 1) {
    assert.deepEqual(await sizeOf(await demoAvatar(createRandom(5, n))), { format: 'png', width: 128, height: 128 })
    const scene = await demoScene(createRandom(5, n))
    assert.deepEqual(await sizeOf(scene.bytes), { format: 'png', width: 640, height: 360 })
    assert.ok(scene.bytes.length < 24_000 && scene.title !== '')
  }
})
