import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ADMIN_KEY, testApp } from '#test/support/app/test-app.ts'
import { assertError, assertRefusedValues, mailsTo } from '#test/support/http/account-steps.ts'

const SETTINGS = '/_internal/admin/settings'
const KEY = { headers: { 'x-admin-key': ADMIN_KEY } }
const NOTHING = {
  name: null,
  accent_hue: null,
  home_heading: null,
  home_text: null,
  home_sections: null,
  about: null,
  rules: null,
  footer_links: null,
  announcement: null,
  registration: null,
  read_only: null,
  read_only_message: null,
}

const t = await testApp({ env: { SITE_NAME: 'From the environment' } })
after(() => t.close())
const admin = await t.make.account({ role: 'admin' })

const set = (body: object) => t.as(admin).patch(SETTINGS, body)
const settings = async () => (await t.as(admin).get(SETTINGS)).json()
const instance = async () => (await t.anyone.get('/_internal/instance')).json()

test('the database wins over the environment, null gives it back, and everyone sees what is in force', async () => {
  const { set: none, ...before } = await settings()
  assert.deepEqual(
    [before.name, before.registration, before.read_only, none],
    ['From the environment', 'open', false, []],
  )
  const changed = {
    name: 'Our lanterns',
    accent_hue: 210,
    rules: '# Be kind\nand careful',
    footer_links: [
      { label: 'Forum', url: 'https://forum.example/' },
      { label: 'Packs', url: '/modpacks?g=1.21' },
    ],
    announcement: 'Tea at five',
  }
  assert.equal((await set(changed)).statusCode, 204)
  const shown = { ...before, ...changed, pages: [{ kind: 'rules', version: 1, asked_version: null }] }
  const names = ['name', 'accent_hue', 'rules', 'footer_links', 'announcement']
  assert.deepEqual(await settings(), { ...shown, set: names })
  const { first_steps_dismissed: _steps, require_staff_two_factor: _rule, ...open } = shown
  assert.deepEqual(await instance(), open)
  assert.equal((await set({})).statusCode, 204)
  assert.equal((await set(NOTHING)).statusCode, 204)
  assert.deepEqual(await settings(), { ...before, set: [] })
})

test('each own link of the footer has a label and an https URL or a path', async () => {
  const wrong = {
    label: ['', ' ', 'two\nlines', 'x'.repeat(41), 'a\u0000b'],
    url: ['', 'mods', '/a b', '//other.example'],
  }
  wrong.url.push('/\\other.example', 'http://plain.example', 'javascript:alert(1)', `/${'x'.repeat(2048)}`)
  for (const [field, values] of Object.entries(wrong))
    for (const value of values) {
      const links = [
        { label: 'x', url: '/x' },
        { label: 'x', url: '/x', [field]: value },
      ]
      assertError(await set({ footer_links: links }), 400, 'validation_error', `footer_links.1.${field}`)
    }
  assert.deepEqual((await instance()).footer_links, [])
})

test('settings are held to their limits, and one that is rejected keeps the others from being saved', async () => {
  const refused: Record<string, unknown[]> = {
    name: ['', 'x'.repeat(65), ' \u200b ', 'two\nlines', 'a\u0000b', 'right\u202eleft', 5],
    accent_hue: [-1, 360, 1.5, '210'],
    home_heading: ['', 'x'.repeat(101), 'two\nlines', ' '],
    home_text: ['', 'x'.repeat(301), 'two\nlines'],
    home_sections: ['trending', true],
    about: ['x'.repeat(20_001), 'a\u0000b', 5],
    rules: ['x'.repeat(50_001), 'a\u0000b'],
    footer_links: [Array.from({ length: 9 }, () => ({ label: 'x', url: '/x' })), 'https://forum.example'],
    announcement: ['x'.repeat(1001), 'a\u202eb', ' '],
    registration: ['perhaps', true],
    read_only: ['true', 1],
    read_only_message: ['x'.repeat(501), 'two\nlines', ''],
  }
  for (const [field, values] of Object.entries(refused))
    await assertRefusedValues((body) => set({ accent_hue: 1, ...body }), { [field]: null }, field, values)
  for (const accent_hue of ['red', 360, -1, 1.5])
    assert.match((await set({ accent_hue })).json().description, /must be an integer from 0 to 359/)
  assert.deepEqual((await settings()).set, [])
  const longest = { name: '🏮'.repeat(64), accent_hue: 359, about: 'x'.repeat(20_000), rules: '\n'.repeat(50_000) }
  assert.equal((await set(longest)).statusCode, 204)
  assert.equal((await instance()).name, longest.name)
  await set(NOTHING)
})

test('a hostile name stays text on pages and in emails', async () => {
  const name = '<script>alert("1")</script>&\'"'
  assert.equal((await set({ name })).statusCode, 204)
  await t.searchable()
  for (const path of ['/account/sign-in', '/account/sign-up', '/']) {
    const page = await t.anyone.get(path, { headers: { accept: 'text/html' } })
    assert.equal(page.statusCode, 200)
    assert.ok(page.body.includes('&lt;script&gt;alert('), path)
    assert.ok(!page.body.includes('<script>alert('), path)
  }
  const person = await t.make.account()
  const session = await t.as(person).patch('/_internal/auth/email', { email: 'another@example.org', password: 'x' })
  assert.ok(session.statusCode < 500)
  await t.as(admin).put(`/_internal/admin/user/${person.id}/suspension`, { reason: 'Testing' })
  const [mail = ''] = await mailsTo(t, person.email, /suspended/)
  assert.ok(!mail.includes('<script>'), mail)
  await set({ name: null })
})

test('registration closes and opens while the service runs', async () => {
  const fields = { username: 'newcomer', email: 'newcomer@example.org', password: 'lantern glass orbit 77' }
  await set({ registration: 'closed' })
  assertError(await t.anyone.post('/_internal/auth/create', fields), 403, 'unauthorized')
  assert.equal((await t.anyone.get('/_internal/globals')).json().registration_open, false)
  assert.ok(!(await t.anyone.get('/account/sign-up')).body.includes('type="password"'))
  await set({ registration: null })
  assert.equal((await t.anyone.post('/_internal/auth/create', fields)).statusCode, 201)
})

test('settings are for operators, and changes are in the audit log', async () => {
  const moderator = await t.make.account({ role: 'moderator' })
  for (const client of [t.anyone, t.as(moderator)]) {
    assertError(await client.get(SETTINGS), 404, 'not_found')
    assertError(await client.patch(SETTINGS, { name: 'Mine' }), 404, 'not_found')
  }
  assert.equal((await t.anyone.patch(SETTINGS, { registration: 'open', about: 'Lanterns' }, KEY)).statusCode, 204)
  const query = { action: 'settings.changed', limit: 1 }
  const [entry] = (await t.as(admin).get('/_internal/admin/audit-log', { query })).json().entries
  assert.deepEqual(
    [entry.actor.kind, entry.details],
    ['operator', { fields: ['about', 'registration'], registration: 'open' }],
  )
  await set(NOTHING)
})

test('concurrent changes are all stored', async () => {
  const answers = await Promise.all([set({ name: 'One' }), set({ accent_hue: 7 }), set({ rules: 'Three' })])
  assert.ok(answers.every(({ statusCode }) => statusCode === 204))
  const { name, accent_hue, rules } = await instance()
  assert.deepEqual([name, accent_hue, rules], ['One', 7, 'Three'])
  await set(NOTHING)
})

test('settings that the environment makes read-only cannot be changed', async () => {
  const shut = await testApp({ env: { READ_ONLY: 'true' } })
  try {
    assert.equal((await shut.anyone.patch(SETTINGS, { read_only: false }, KEY)).statusCode, 204)
    assert.equal((await shut.anyone.get('/_internal/instance')).json().read_only, true)
    const person = await shut.make.account()
    assertError(await shut.as(person).patch(`/v3/user/${person.id}`, { bio: 'x' }), 503, 'service_unavailable')
  } finally {
    await shut.close()
  }
})
