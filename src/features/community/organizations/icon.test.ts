import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { scopeBits } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const ICON_BYTES_MAX = 262_144

const { t, make } = await teamApp()

type By = { token: string }
const picture = (background: string): Promise<Buffer> =>
  sharp({ create: { width: 300, height: 300, channels: 3, background } })
    .png()
    .toBuffer()
const red = await picture('#ff0000')
const blue = await picture('#0000ff')
const set = (by: By, id: string, bytes: Buffer | undefined, ext: string | undefined = 'png') =>
  t.as(by).patch(`/v3/organization/${id}/icon`, bytes, { query: { ext }, headers: { 'content-type': 'image/png' } })
const clear = (by: By, id: string) => t.as(by).delete(`/v3/organization/${id}/icon`)
type Icon = { icon_url: string | null; raw_icon_url: string | null; color: number | null }
const icon = async (id: string): Promise<Icon> => {
  const { icon_url, raw_icon_url, color } = (await t.anyone.get(`/v3/organization/${id}`)).json()
  return { icon_url, raw_icon_url, color }
}
const NONE = { icon_url: null, raw_icon_url: null, color: null }
const served = async (url: string | null): Promise<number> =>
  (await t.anyone.get(new URL(url ?? '/', 'https://depot.test').pathname)).statusCode

test('an icon is set, served, replaced and removed, and each change is visible immediately', async () => {
  const owner = await t.make.account()
  const { id, slug } = await make.organization(owner)
  assert.deepEqual(await icon(slug), NONE)
  const answer = await set(owner, slug, red)
  assert.deepEqual([answer.statusCode, answer.body], [204, ''])
  const first = await icon(slug)
  assert.equal((first.color ?? 0) >> 16, 255)
  for (const url of [first.icon_url, first.raw_icon_url]) assert.equal(await served(url), 200)

  assert.equal((await set(owner, id, blue, 'PNG')).statusCode, 204)
  const second = await icon(id)
  assert.equal((second.color ?? 0) & 255, 255)
  await t.runJobs()
  assert.deepEqual([await served(first.raw_icon_url), await served(second.raw_icon_url)], [404, 200])

  assert.equal((await clear(owner, id)).statusCode, 204)
  assert.deepEqual(await icon(id), NONE)
  assert.equal((await clear(owner, id)).statusCode, 204, 'also when there is none')
  await t.runJobs()
  assert.equal(await served(second.raw_icon_url), 404)
})

test('an invalid image changes nothing', async () => {
  const owner = await t.make.account()
  const { id } = await make.organization(owner)
  await set(owner, id, red)
  const stands = await icon(id)
  const script = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script>')
  assertError(await set(owner, id, Buffer.from('not an image at all')), 400, 'invalid_input')
  assertError(await set(owner, id, undefined), 400, 'invalid_input')
  assertError(await set(owner, id, red, 'jpg'), 400, 'invalid_input', 'ext')
  assertError(await set(owner, id, red, 'bmp'), 400, 'invalid_input', 'ext')
  assertError(await set(owner, id, script, 'svg'), 400, 'invalid_input')
  assertError(await set(owner, id, Buffer.alloc(ICON_BYTES_MAX + 1)), 400, 'invalid_input')
  assertError(await t.as(owner).patch(`/v3/organization/${id}/icon`, red), 400, 'invalid_input', 'ext')
  assert.deepEqual(await icon(id), stands)
  assert.equal(await served(stands.raw_icon_url), 200)
})

test('accepts an image of exactly the maximum size', async () => {
  const owner = await t.make.account()
  const { id } = await make.organization(owner)
  // A PNG ends with its last chunk; readers ignore the bytes after it.
  const padded = Buffer.concat([red, Buffer.alloc(ICON_BYTES_MAX - red.length)])
  assert.equal((await set(owner, id, padded)).statusCode, 204)
  assertError(await set(owner, id, Buffer.concat([padded, Buffer.alloc(1)])), 400, 'invalid_input')
})

test('icons take EDIT_DETAILS, which moderators have, and ORGANIZATION_WRITE', async () => {
  const [owner, editor, member, stranger] = (await Promise.all([1, 2, 3, 4].map(() => t.make.account()))) as [
    Person,
    Person,
    Person,
    Person,
  ]
  const moderator = await t.make.account({ role: 'moderator' })
  const { id, teamId } = await make.organization(owner)
  await make.member(teamId, editor, { organization_permissions: 1 })
  await make.member(teamId, member, { organization_permissions: 254 })
  for (const by of [editor, moderator]) assert.equal((await set(by, id, red)).statusCode, 204)
  for (const by of [member, stranger]) {
    assertError(await set(by, id, red), 403, 'unauthorized')
    assertError(await clear(by, id), 403, 'unauthorized')
  }
  const token = await t.make.pat(owner, scopeBits('ALL_BUT', 'ORGANIZATION_WRITE'))
  assertError(await set(token, id, red), 403, 'unauthorized')
  assertError(await t.anyone.delete(`/v3/organization/${id}/icon`), 401, 'unauthorized')
  assertError(await set(owner, 'no-such-one', red), 404, 'not_found')
  assertError(await clear(owner, 'no-such-one'), 404, 'not_found')
  assert.notDeepEqual(await icon(id), NONE)
})

test('parallel replacements leave one icon with its files, which are deleted with the organization', async () => {
  const owner = await t.make.account()
  const { id } = await make.organization(owner)
  const answers = await Promise.all([red, blue, red].map((bytes) => set(owner, id, bytes)))
  assert.ok(answers.every(({ statusCode }) => statusCode === 204))
  await t.runJobs()
  const { icon_url, raw_icon_url } = await icon(id)
  assert.deepEqual([await served(icon_url), await served(raw_icon_url)], [200, 200])
  await t.as(owner).delete(`/v3/organization/${id}`)
  await t.runJobs()
  assert.deepEqual([await served(icon_url), await served(raw_icon_url)], [404, 404])
})
