import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { assertError, assertRefusedValues, statuses } from '#test/support/http/account-steps.ts'
import { visitor } from '#test/support/http/visitor.ts'

const t = await testApp()
after(() => t.close())
const admin = await t.make.account({ role: 'admin', username: 'olga' })

const publish = (kind: string, text: unknown) => t.as(admin).put(`/_internal/admin/page/${kind}`, { text })
const page = (kind: string) => t.anyone.get(`/_internal/page/${kind}`)
const versions = async (kind: string) => (await t.as(admin).get(`/_internal/admin/page/${kind}`)).json().versions
const instance = async () => (await t.anyone.get('/_internal/instance')).json()

test('a published page is public, every footer links to it, and an empty version removes it; versions remain', async () => {
  const someone = visitor(t)
  const shown = ['/', '/mods', '/account/sign-in', '/nothing']
  const links = async (kind: string) =>
    Promise.all(shown.map(async (path) => (await someone.get(path)).body.includes(`href="/${kind}">`)))
  for (const kind of ['terms', 'privacy', 'imprint', 'contact', 'rules']) {
    assertError(await page(kind), 404, 'not_found')
    assert.equal((await someone.get(`/${kind}`)).statusCode, 404)
    assert.deepEqual(await links(kind), [false, false, false, false])
    assert.equal((await publish(kind, `First ${kind}`)).statusCode, 204)
    assert.deepEqual(await links(kind), [true, true, true, true], kind)
    assert.match((await someone.get(`/${kind}`)).body, new RegExp(`First ${kind}[\\s\\S]*Version 1, published`))
    assert.equal((await publish(kind, `Second ${kind}`)).statusCode, 204)
    assert.match((await someone.get(`/${kind}`)).body, new RegExp(`Second ${kind}[\\s\\S]*Version 2, published`))
    const { published, ...rest } = (await page(kind)).json()
    assert.deepEqual(rest, { kind, version: 2, text: `Second ${kind}`, asks_again: false })
    assert.ok(Date.parse(published))
  }
  assert.deepEqual(
    (await instance()).pages.map((one: { kind: string }) => one.kind),
    ['rules', 'terms', 'privacy', 'imprint', 'contact'],
  )
  assert.equal((await publish('terms', ' \n')).statusCode, 204)
  assertError(await page('terms'), 404, 'not_found')
  assert.equal((await someone.get('/terms')).statusCode, 404)
  assert.deepEqual(await links('terms'), [false, false, false, false])
  assert.deepEqual(
    (await versions('terms')).map((one: Record<string, unknown>) => [
      one['version'],
      one['published_by'],
      one['is_empty'],
    ]),
    [
      [3, 'olga', true],
      [2, 'olga', false],
      [1, 'olga', false],
    ],
  )
  const first = await t.as(admin).get('/_internal/admin/page/terms/version/1')
  assert.equal(first.json().text, 'First terms')
  assertError(await t.as(admin).get('/_internal/admin/page/terms/version/4'), 404, 'not_found')
})

test('the same text adds no version, an unused page cannot be removed, and each version is in the audit log', async () => {
  const before = (await versions('imprint')).length
  for (const text of ['Ours', 'Ours']) assert.equal((await publish('imprint', text)).statusCode, 204)
  assert.equal((await versions('imprint')).length, before + 1)
  const query = { action: 'page.published', limit: 1 }
  const [entry] = (await t.as(admin).get('/_internal/admin/audit-log', { query })).json().entries
  assert.deepEqual(entry.details, { kind: 'imprint', version: before + 1, length: 4 })
})

test('the setting `rules` is the newest version of the rules', async () => {
  const settings = '/_internal/admin/settings'
  assert.equal((await t.as(admin).patch(settings, { rules: 'By setting' })).statusCode, 204)
  assert.equal((await page('rules')).json().text, 'By setting')
  assert.equal((await publish('rules', 'x'.repeat(65_536))).statusCode, 204)
  assert.equal((await instance()).rules.length, 65_536)
  assert.equal((await t.as(admin).patch(settings, { rules: null })).statusCode, 204)
  assertError(await page('rules'), 404, 'not_found')
  assert.equal((await publish('rules', 'Again')).statusCode, 204)
  assert.equal((await publish('rules', '')).statusCode, 204)
  assert.equal((await instance()).rules, null)
})

test('concurrent versions are all stored, in an order', async () => {
  const answers = await Promise.all(['A', 'B', 'C'].map((text) => publish('contact', text)))
  assert.deepEqual(statuses(answers), [204, 204, 204])
  const [newest, ...earlier] = await versions('contact')
  assert.equal((await instance()).pages.find((one: { kind: string }) => one.kind === 'contact').version, newest.version)
  assert.ok(earlier.length >= 4)
})

test('rejects long and unstorable texts and unknown pages; only operators publish', async () => {
  const refused = ['x'.repeat(65_537), 'a\u0000b', 5, null]
  await assertRefusedValues(
    (body) => t.as(admin).put('/_internal/admin/page/terms', body),
    { text: 'x' },
    'text',
    refused,
  )
  assert.equal((await publish('boats', 'x')).statusCode, 400)
  assert.equal((await page('boats')).statusCode, 400)
  const moderator = t.as(await t.make.account({ role: 'moderator' }))
  for (const client of [t.anyone, moderator]) {
    assertError(await client.put('/_internal/admin/page/terms', { text: 'Mine' }), 404, 'not_found')
    assertError(await client.get('/_internal/admin/page/terms'), 404, 'not_found')
    assertError(await client.get('/_internal/admin/page/terms/version/1'), 404, 'not_found')
  }
})
