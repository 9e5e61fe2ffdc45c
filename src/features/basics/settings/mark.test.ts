import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { verifyInstance } from '#features/operation/backup/verify-instance.ts'
import { ADMIN_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { assertError, statuses } from '#test/support/http/account-steps.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { visitor } from '#test/support/http/visitor.ts'

const MARK = '/_internal/admin/settings/mark'
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><script>alert(1)</script><rect width="8" height="8" fill="#00ff00"/></svg>'

let t: TestApp
let admin: Person
let red: Buffer
before(async () => {
  t = await testApp()
  admin = await t.make.account({ role: 'admin' })
  red = await paint(600, 600)
})
after(() => t?.close())

const paint = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#ff0000' } })
    .png()
    .toBuffer()
const send = (bytes: Buffer | string, ext = 'png') =>
  t.as(admin).patch(MARK, bytes, { query: { ext }, headers: { 'content-type': 'application/octet-stream' } })
const markOf = async () => (await t.anyone.get('/_internal/instance')).json().mark
const fetch = (url: string) => t.anyone.get(new URL(url).pathname)

test('a logo appears immediately on every page, in the manifest and on cards; deleting it restores the drawn one', async () => {
  const someone = visitor(t)
  const project = await t.make.project({ name: 'Lantern' })
  const card = async () => (await t.anyone.get(`/card/${project.id}.png`)).rawPayload
  const manifest = async () => JSON.parse((await t.anyone.get('/manifest.webmanifest')).body)
  const pages = ['/mods', '/account/sign-in', '/nothing']
  const drawn = await card()
  assert.match((await manifest()).icons[0].src, /^\/assets\/mark\.\w+\.svg$/)
  assert.equal((await send(red)).statusCode, 204)
  const mark = await markOf()
  assert.deepEqual(
    mark.sizes.map(({ width }: { width: number }) => width),
    [96, 192, 512],
  )
  for (const { url, width } of mark.sizes) {
    const { format, ...size } = await sharp((await fetch(url)).rawPayload).metadata()
    assert.deepEqual([format, size.width, size.height], ['webp', width, width])
  }
  for (const path of pages) {
    const { body } = await someone.get(path)
    assert.ok(body.includes(`<img src="${mark.url}" alt="" width="28" height="28">`), path)
    assert.ok(body.includes(`<link rel="icon" href="${mark.url}" type="image/webp">`), path)
    assertValidHtml(body, path)
  }
  assert.deepEqual(
    (await manifest()).icons.map(({ src, sizes }: { src: string; sizes: string }) => [src, sizes]),
    mark.sizes.map(({ url, width }: { url: string; width: number }) => [url, `${width}x${width}`]),
  )
  assert.ok(!(await card()).equals(drawn))
  assert.deepEqual((await t.as(admin).get('/_internal/admin/settings')).json().set, ['mark'])
  assert.equal((await t.as(admin).delete(MARK)).statusCode, 204)
  assert.equal((await t.as(admin).delete(MARK)).statusCode, 204, 'also when there is none')
  assert.equal(await markOf(), null)
  for (const path of pages) assert.ok(!(await someone.get(path)).body.includes('width="28"'), path)
  assert.ok((await card()).equals(drawn))
  await t.runJobs()
  for (const { url } of [mark, { url: mark.raw_url }, ...mark.sizes]) assert.equal((await fetch(url)).statusCode, 404)
})

test('an SVG is cleaned, has copies whatever they weigh, and is the icon of the tab as it is', async () => {
  assert.equal((await send(SVG, 'SVG')).statusCode, 204)
  const { raw_url, sizes } = await markOf()
  assert.doesNotMatch((await fetch(raw_url)).body, /script|alert/)
  assert.equal(sizes.length, 3)
  const { body } = await visitor(t).get('/mods')
  assert.ok(body.includes(`<link rel="icon" href="${raw_url}" type="image/svg+xml">`))
})

test('rejects a file that is not an image, has a wrong type, is not square, is animated or is too large; the logo stays', async () => {
  const before = await markOf()
  const moving = await sharp([red, await sharp(red).negate().toBuffer()], { join: { animated: true } })
    .webp()
    .toBuffer()
  const refusals: [Buffer | string, string, string][] = [
    ['', 'png', 'mark'],
    ['not an image', 'png', 'ext'],
    [red, 'webp', 'ext'],
    [await sharp(red).jpeg().toBuffer(), 'jpg', 'ext'],
    [await sharp(red).gif().toBuffer(), 'gif', 'ext'],
    [red.subarray(0, 100), 'png', 'mark'],
    [await paint(64, 32), 'png', 'mark'],
    [await paint(32, 64), 'png', 'mark'],
    [SVG.replace('0 0 8 8', '0 0 8 16'), 'svg', 'mark'],
    ['<svg xmlns="http://www.w3.org/2000/svg"><!DOCTYPE x></svg>', 'svg', 'mark'],
    [moving, 'webp', 'mark'],
    [Buffer.alloc(262_145), 'png', 'mark'],
  ]
  for (const [bytes, ext, field] of refusals) assertError(await send(bytes, ext), 400, 'invalid_input', field)
  assertError(await t.as(admin).patch(MARK, red), 400, 'invalid_input', 'ext')
  assert.deepEqual(await markOf(), before)
})

test('one of several concurrent logos remains, with only its files, and each change is in the audit log', async () => {
  assert.deepEqual(statuses(await Promise.all([send(red), send(SVG, 'svg'), send(red)])), [204, 204, 204])
  await t.runJobs()
  const { raw_url, sizes } = await markOf()
  for (const url of [raw_url, ...sizes.map((size: { url: string }) => size.url)])
    assert.equal((await fetch(url)).statusCode, 200)
  assert.equal((await verifyInstance(t.deps, { canReadEvents: false })).findings, 0)
  const query = { action: 'settings.changed', limit: 1 }
  const [entry] = (await t.as(admin).get('/_internal/admin/audit-log', { query })).json().entries
  assert.deepEqual(entry.details, { fields: ['mark'], mark: raw_url.replace(/^.*\/data\//, 'pictures/') })
})

test('only operators can set the logo; the route returns 404 to others', async () => {
  const moderator = await t.make.account({ role: 'moderator' })
  const query = { ext: 'png' }
  for (const client of [t.anyone, t.as(moderator)]) {
    assertError(await client.patch(MARK, red, { query }), 404, 'not_found')
    assertError(await client.delete(MARK), 404, 'not_found')
  }
  const headers = { 'x-admin-key': ADMIN_KEY, 'content-type': 'image/png' }
  assert.equal((await t.anyone.patch(MARK, red, { query, headers })).statusCode, 204)
})
