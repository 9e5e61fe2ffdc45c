import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { parseScopeNames } from '#features/basics/access/scopes.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { assertError, statuses } from '#test/support/http/account-steps.ts'
import { failingFiles } from '#test/support/stand-ins/failing-files.ts'

let t: TestApp
/** Number of images that the store accepts before it is full. Default: no limit. */
let room: number | undefined
before(async () => {
  const full = () => {
    if (room === undefined) return undefined
    room -= 1
    return room < 0 ? new Error('ENOSPC') : undefined
  }
  t = await testApp({ deps: ({ files }) => ({ files: failingFiles(files, { put: full }) }) })
  red = await sharp({ create: { width: 200, height: 200, channels: 3, background: '#ff0000', noise } })
    .png()
    .toBuffer()
})
after(() => t.close())

const noise = { type: 'gaussian', mean: 20, sigma: 5 } as const
let red: Buffer
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><script>alert(1)</script><rect width="8" height="8" fill="#00ff00"/></svg>'

const send = (who: { token: string }, path: string, bytes: Buffer | string, ext = 'png') =>
  t.as(who).patch(`${path}/icon`, bytes, { query: { ext }, headers: { 'content-type': 'application/octet-stream' } })
const avatar = (person: Person) => `/v3/user/${person.id}`
const read = async (path: string) => (await t.anyone.get(path)).json()
const fetch = (url: string) => t.anyone.get(new URL(url).pathname)
/** Returns a PNG of exactly this size; padding follows the image. */
const padded = (bytes: number): Buffer => Buffer.concat([red, Buffer.alloc(bytes - red.length)])
const newCollection = async (person: Person): Promise<string> =>
  `/v3/collection/${(await t.as(person).post('/v3/collection', { name: 'Lights' })).json().id}`

async function storedPictures(): Promise<string[]> {
  const entries = await readdir(join(t.deps.config.dataDir, 'files'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

test('an avatar is scaled, visible immediately and served; the old one is deleted afterwards', async () => {
  const person = await t.make.account()
  await read(avatar(person))
  assert.equal((await send(person, `/v3/user/${person.username}`, red)).statusCode, 204)
  const first: string = (await read(avatar(person))).avatar_url
  assert.match(first, /_96\.webp$/)
  const served = await fetch(first)
  assert.deepEqual([served.statusCode, served.headers['content-type']], [200, 'image/webp'])
  assert.equal((await sharp(served.rawPayload).metadata()).width, 96)

  assert.equal((await send(person, avatar(person), SVG, 'SVG')).statusCode, 204)
  const second: string = (await read(avatar(person))).avatar_url
  assert.notEqual(second, first)
  assert.equal((await fetch(first)).statusCode, 200, 'until the job has run')
  await t.runJobs()
  assertError(await fetch(first), 404, 'not_found')
  assert.equal((await fetch(second)).statusCode, 200)

  assert.equal((await t.as(person).delete(`${avatar(person)}/icon`)).statusCode, 204)
  assert.equal((await read(avatar(person))).avatar_url, null)
  assert.equal((await t.as(person).delete(`${avatar(person)}/icon`)).statusCode, 204, 'also when there is none')
  await t.runJobs()
  assertError(await fetch(second), 404, 'not_found')
})

test('an SVG loses its script and is served as an image only', async () => {
  const person = await t.make.account()
  const path = await newCollection(person)
  assert.equal((await send(person, path, SVG, 'svg')).statusCode, 204)
  const { raw_icon_url } = await read(path)
  const served = await fetch(raw_icon_url)
  assert.equal(served.statusCode, 200)
  assert.doesNotMatch(served.body, /script|alert/)
  assert.match(String(served.headers['content-security-policy']), /sandbox/)
})

test("a collection's icon sets its colour and changes `updated`; deleting the collection removes the images", async () => {
  const person = await t.make.account()
  const path = await newCollection(person)
  const before = await read(path)
  t.advance(1000)
  assert.equal((await send(person, path, red)).statusCode, 204)
  const after = await read(path)
  assert.ok(after.color !== null && after.icon_url !== null && after.updated > before.updated)
  assert.equal((await t.as(person).delete(`${path}/icon`)).statusCode, 204)
  assert.deepEqual([(await read(path)).icon_url, (await read(path)).color], [null, null])
  assert.equal((await send(person, path, red)).statusCode, 204)
  const { icon_url } = await read(path)
  assert.equal((await t.as(person).delete(path)).statusCode, 204)
  await t.runJobs()
  assertError(await fetch(icon_url), 404, 'not_found')
})

test('rejects a file that is not an image, has a wrong type, is too large or has too many pixels, and the old image stays', async () => {
  const person = await t.make.account()
  await send(person, avatar(person), red)
  const { avatar_url } = await read(avatar(person))
  const stored = (await storedPictures()).length
  const bomb = await sharp({ create: { width: 4200, height: 4200, channels: 3, background: '#000' } })
    .png({ compressionLevel: 9 })
    .toBuffer()
  const refusals: [Buffer | string, string, string][] = [
    ['', 'png', 'icon'],
    ['not an image', 'png', 'ext'],
    [red, 'jpg', 'ext'],
    [red, 'bmp', 'ext'],
    [red, '', 'ext'],
    [red.subarray(0, 200), 'png', 'icon'],
    [padded(262_144), 'png', 'icon'],
    [Buffer.alloc(1024 * 1024), 'png', 'icon'],
    [bomb, 'png', 'icon'],
    ['<svg xmlns="http://www.w3.org/2000/svg"><!DOCTYPE x></svg>', 'svg', 'icon'],
  ]
  for (const [bytes, ext, field] of refusals)
    assertError(await send(person, avatar(person), bytes, ext), 400, 'invalid_input', field)
  assertError(await t.as(person).patch(`${avatar(person)}/icon`, red), 400, 'invalid_input', 'ext')
  assert.equal((await read(avatar(person))).avatar_url, avatar_url)
  assert.equal((await storedPictures()).length, stored)
  assert.equal((await send(person, avatar(person), padded(262_143))).statusCode, 204)
  await t.runJobs()
})

test('a full store returns 500, leaves no file behind, and the old image stays', async () => {
  const person = await t.make.account()
  await send(person, avatar(person), red)
  const { avatar_url } = await read(avatar(person))
  const stored = await storedPictures()
  for (const pictures of [0, 1]) {
    room = pictures
    try {
      assertError(await send(person, avatar(person), red), 500, 'file_hosting_error')
    } finally {
      room = undefined
    }
  }
  assert.deepEqual(await storedPictures(), stored)
  assert.equal((await read(avatar(person))).avatar_url, avatar_url)
  assert.equal((await fetch(avatar_url)).statusCode, 200)
})

test('of several concurrent uploads, one image and its files remain', async () => {
  const person = await t.make.account()
  await t.runJobs()
  const before = (await storedPictures()).length
  const answers = await Promise.all(
    [red, red, SVG, red].map((bytes) => send(person, avatar(person), bytes, bytes === SVG ? 'svg' : 'png')),
  )
  assert.deepEqual(statuses(answers), [204, 204, 204, 204])
  await t.runJobs()
  const { avatar_url } = await read(avatar(person))
  assert.equal((await fetch(avatar_url)).statusCode, 200)
  assert.ok((await storedPictures()).length - before <= 2)
})

test('avatars are changed by their users and by moderators, icons of collections by their creators', async () => {
  const [person, stranger, moderator] = await Promise.all([
    t.make.account(),
    t.make.account(),
    t.make.account({ role: 'moderator' }),
  ])
  const path = await newCollection(person)
  const weak = await t.make.pat(person, parseScopeNames('USER_READ COLLECTION_CREATE').bits)
  for (const target of [avatar(person), path]) {
    assertError(await t.anyone.patch(`${target}/icon`, red, { query: { ext: 'png' } }), 401, 'unauthorized')
    assertError(await send(weak, target, red), 403, 'unauthorized')
    assertError(await send(stranger, target, red), 403, 'unauthorized')
    assertError(await t.as(stranger).delete(`${target}/icon`), 403, 'unauthorized')
  }
  assert.equal((await send(moderator, avatar(person), red)).statusCode, 204)
  assert.equal((await t.as(moderator).delete(`${avatar(person)}/icon`)).statusCode, 204)
  assertError(await send(moderator, path, red), 403, 'unauthorized')
  assertError(await send(person, '/v3/user/nobody-here', red), 404, 'not_found')
  assertError(await send(person, '/v3/collection/zzzzzzzz', red), 404, 'not_found')
  assertError(await send(person, '/v3/collection/not-an-id', red), 400, 'decoding_error', 'id')
  await t.deps.db.updateTable('collection').set({ status: 'private' }).execute()
  assertError(await send(stranger, path, red), 404, 'not_found')
})

test('the images of an account are deleted with it', async () => {
  const person = await t.make.account()
  await send(person, avatar(person), red)
  const path = await newCollection(person)
  await send(person, path, red)
  const urls: string[] = [(await read(avatar(person))).avatar_url, (await read(path)).icon_url]
  assert.equal((await t.as(person).delete(avatar(person))).statusCode, 204)
  await t.runJobs()
  for (const url of urls) assertError(await fetch(url), 404, 'not_found')
})
