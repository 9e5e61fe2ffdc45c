// The new Terms: every page asks users to agree, and their forms wait for it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { makeMember, PASSWORD } from '#test/support/http/account-steps.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const TERMS = '/account/terms'
const ASKS = 'has new Terms.'

const t = await testApp()
after(() => t.close())
const admin = await t.make.account({ role: 'admin' })
const operator = visitor(t, admin.token)

const publish = async (text: string, box: Record<string, string> = {}) => {
  const path = '/operator/pages/terms'
  assertLeads(
    await operator.sendFrom(await operator.get(path), path, { text, do: 'save', ...box }),
    `${path}?done=page-published`,
  )
}

test('without Terms, the page does not exist; Terms that do not ask change nothing', async () => {
  const { token } = await t.make.account()
  const person = visitor(t, token)
  assert.equal((await person.get(TERMS)).statusCode, 404)
  await publish('First')
  assert.ok(!(await person.get('/mods')).body.includes(ASKS))
  assertLeads(await person.send('/account', '/account', { username: 'anna', bio: 'I build' }), '/account?done=profile')
  assertLeads(await visitor(t).get(TERMS), `/account/sign-in?return=${encodeURIComponent(TERMS)}`)
})

test('a version that asks is shown on every page until the user agrees; visitors see nothing', async () => {
  const { token } = await t.make.account()
  const person = visitor(t, token)
  await person.get('/mods')
  await publish('Second', { asks_again: 'yes' })
  for (const path of ['/', '/mods', '/terms', '/account', '/dashboard', '/nothing']) {
    const { body } = await person.get(path)
    assert.ok(body.includes(ASKS), path)
    assert.ok(body.includes(`href="${TERMS}?return=${encodeURIComponent(path)}"`), path)
    assertValidHtml(body, path)
    assert.ok(!(await visitor(t).get(path)).body.includes(ASKS), path)
  }
  const form = await person.get(`${TERMS}?return=%2Fmods`)
  assert.ok(!form.body.includes(ASKS))
  assertSays(form, 200, /Second[\s\S]*Version 2/)
  assertSays(form, 200, /<a class="button" href="\/mods">Not now/)
  assertValidHtml(form.body)
  const unchecked = await person.sendFrom(form, TERMS)
  assertSays(unchecked, 400, 'To agree, select the check box.')
  await publish('Third', { asks_again: 'yes' })
  const changed = await person.sendFrom(unchecked, TERMS, { terms_version: '2' })
  assertSays(changed, 400, /The Terms have changed[\s\S]*value="3"/)
  for (const terms_version of ['4', 'x', '-1', '9'.repeat(30)])
    assert.equal((await person.sendFrom(changed, TERMS, { terms_version })).statusCode, 400, terms_version)
  assertLeads(await person.sendFrom(changed, TERMS, { terms_version: '3' }), '/mods?done=agreed')
  assert.ok(!(await person.get('/mods')).body.includes(ASKS))
  assertSays(await person.get(TERMS), 200, 'You agreed to version 3')
})

test('until they agree, users can read, export and delete, and cannot write; nothing that they typed is lost', async () => {
  const person = await makeMember(t, { username: 'berta' })
  const make = teamFactories(t.deps.db)
  const project = await make.project(person)
  const browser = visitor(t, person.token)
  const profile = await browser.send('/account', '/account', { username: 'berta', bio: 'A long text' })
  assertSays(profile, 403, 'Agree to the new Terms first')
  assertSays(profile, 403, 'A long text')
  assert.match(profile.body, /href="\/account\/terms\?return=%2Faccount" target="_blank"/)
  const report = await browser.send(`/report?item=user&id=${admin.id}`, '/report', {
    reason: 'spam',
    text: 'They advertise',
  })
  assertSays(report, 403, 'They advertise')
  const created = await browser.send('/new/collection', '/new/collection', { name: 'Lamps' })
  assertSays(created, 403, 'value="Lamps"')
  const page = `/project/${project.slug}`
  const { location } = (await browser.get(page)).headers
  const shown = String(location ?? page)
  const followed = await browser.send(shown, `${shown}/follow`)
  assertLeads(followed, `${TERMS}?return=${encodeURIComponent(`${shown}/follow`)}`)
  assert.equal((await t.as(person).get('/v3/user/berta/follows')).json().length, 0)
  // Programs continue to work.
  assert.equal((await t.as(person).post(`/v3/project/${project.id}/follow`)).statusCode, 204)
  const data = '/account/data'
  const exported = await browser.send(data, `${data}/export`)
  assert.deepEqual([exported.statusCode, exported.json().user.username], [200, 'berta'])
  const confirmed = await browser.send(data, data, { do: 'confirm', password: PASSWORD })
  assert.ok(confirmed.statusCode < 400, confirmed.body)
  const gone = await browser.send(data, data, { do: 'delete', username: 'berta' })
  assertLeads(gone, '/account/sign-in?done=account-deleted')
  assert.deepEqual(
    await t.deps.db.selectFrom('terms_consent').selectAll().where('account_id', '=', person.id).execute(),
    [],
  )
})

test('operators and moderators can act before they agree, and Terms without a text ask nobody', async () => {
  assert.ok((await operator.get('/operator/pages')).body.includes(ASKS))
  const shown = await operator.get('/operator/pages')
  assertSays(shown, 200, /\d+ of \d+ active accounts agreed to version 3/)
  await publish('')
  assert.ok(!(await operator.get('/mods')).body.includes(ASKS))
  assert.equal((await operator.get(TERMS)).statusCode, 404)
})
