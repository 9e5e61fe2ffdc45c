import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { demoAvatar, demoIcon, demoScenes } from '#demo/catalogue/images.ts'
import { createRandom } from '#demo/catalogue/random.ts'

const TYPES = ['mod', 'modpack', 'resourcepack', 'shader', 'plugin', 'datapack', 'organization', 'unknown']

/** Decodes the whole image, so a wrong checksum or palette fails. */
async function decode(bytes: Buffer): Promise<{ format: string | undefined; width: number; height: number }> {
  const { format } = await sharp(bytes).metadata()
  const { info } = await sharp(bytes, { failOn: 'warning' }).raw().toBuffer({ resolveWithObject: true })
  return { format, width: info.width, height: info.height }
}

test('icons, avatars and gallery images are small PNG files, equal for equal seeds', async () => {
  const seen = new Set<string>()
  for (let n = 0; n < 160; n += 1) {
    const { bytes, color } = demoIcon(createRandom(5, n), TYPES[n % TYPES.length] ?? '')
    assert.ok(bytes.equals(demoIcon(createRandom(5, n), TYPES[n % TYPES.length] ?? '').bytes))
    assert.deepEqual(await decode(bytes), { format: 'png', width: 128, height: 128 })
    assert.ok(bytes.length < 12_000 && color >= 0 && color <= 0xffffff)
    seen.add(bytes.toString('base64'))
  }
  assert.ok(seen.size > 120, `${seen.size} different icons of 160`)
  for (let n = 0; n < 40; n += 1) {
    assert.deepEqual(await decode(demoAvatar(createRandom(5, n))), { format: 'png', width: 128, height: 128 })
    const scenes = demoScenes(createRandom(5, n), 8)
    assert.equal(new Set(scenes.map(({ bytes }) => bytes.toString('base64'))).size, 8)
    for (const { bytes, title } of scenes) {
      assert.deepEqual(await decode(bytes), { format: 'png', width: 640, height: 360 })
      assert.ok(bytes.length < 24_000 && title !== '')
    }
  }
})
