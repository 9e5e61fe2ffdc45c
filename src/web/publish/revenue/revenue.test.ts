// Pages of money: balance, history, revenue of a project, affiliate codes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import { ADMIN_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import { aClick } from '#test/support/factories/analytics-events.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const REVENUE = '/dashboard/revenue'
const HISTORY = `${REVENUE}/history`
const CODES = '/dashboard/affiliates'
const HOSTILE = '"><script>alert(1)</script>'
const AFFILIATE = 128
const key = { headers: { 'x-admin-key': ADMIN_KEY } }

let t: TestApp
before(async () => {
  t = await testApp()
  await t.anyone.patch('/_internal/admin/settings', { currency: 'EUR' }, key)
})
after(() => t?.close())

/** Adds a share of the revenue of a project that becomes available in some days. */
async function earn(person: Person, of: { amount: string; inDays: number; day?: string; project?: MadeProject }) {
  const day = new Date(of.day ?? '2026-01-31')
  const { id } = await t.deps.db
    .insertInto('revenue_part')
    .values({ external_id: newId(), day, amount: of.amount })
    .returning('id')
    .executeTakeFirstOrThrow()
  await t.deps.db
    .insertInto('revenue_share')
    .values({
      part_id: id,
      project_id: of.project?.id ?? 'projectA',
      account_id: person.id,
      day,
      amount: of.amount,
      available: new Date(t.deps.now() + of.inDays * DAY_MS),
    })
    .execute()
}
const pay = (person: Person, amount: string, more: object = {}) =>
  t.anyone.post('/_internal/admin/payout', { external_id: newId(), user_id: person.id, amount, ...more }, key)

async function affiliate(): Promise<Person> {
  const person = await t.make.account()
  await t.deps.db.updateTable('account').set({ badges: AFFILIATE }).where('id', '=', person.id).execute()
  return person
}

test('visitors are led to the sign-in page; the pages of others do not exist', async () => {
  for (const path of [REVENUE, HISTORY, `${HISTORY}.csv`, CODES, `${CODES}/AAAAAAAA`, `${CODES}/AAAAAAAA/delete`])
    assertLeads(await visitor(t).get(path), `/account/sign-in?return=${encodeURIComponent(path)}`)
  const person = await affiliate()
  const { id } = (await t.as(person).post('/_internal/affiliate', { source_name: 'A video' })).json()
  for (const stranger of [await affiliate(), await t.make.account({ role: 'admin' })]) {
    assertSays(await visitor(t, stranger.token).get(`${CODES}/${id}`), 404, 'does not exist')
    assertSays(await visitor(t, stranger.token).get(`${CODES}/${id}/delete`), 404, 'does not exist')
  }
  assertSays(await visitor(t, person.token).get(`${CODES}/nonsense-id`), 400, 'not a base62 identifier')
})

test('the balance has amounts with the currency, release dates and the payout address', async () => {
  const person = await t.make.account()
  const page = visitor(t, person.token)
  const empty = await page.get(REVENUE)
  assertSays(empty, 200, 'You have no payout address.')
  assertSays(empty, 200, 'Nothing is pending.')
  assertValidHtml(empty.body)
  await earn(person, { amount: '1234.5', inDays: -1 })
  await earn(person, { amount: '0.05', inDays: 10 })
  await earn(person, { amount: '2', inDays: 20 })
  assert.equal((await pay(person, '34.5', { fee: '1' })).statusCode, 201)
  await t.deps.db.updateTable('account').set({ payout_handle: HOSTILE }).where('id', '=', person.id).execute()
  const shown = await page.get(REVENUE)
  assertValidHtml(shown.body)
  assert.ok(!shown.body.includes('<script>alert'))
  for (const text of ['1,199.00 <small>EUR', '2.05\u00a0EUR', '34.50 <small>EUR', '2 dates', '>0.05<', 'Amount in EUR'])
    assertSays(shown, 200, text)
  page.cookies.set('__Host-depot-language', 'de')
  assertSays(await page.get(REVENUE), 200, '1.199,00 <small>EUR')
  assertSays(await page.get('/dashboard'), 200, '1.199,00 <small>EUR')
})

test('the history has earnings and payouts, newest first, in pages and as CSV', async () => {
  const person = await t.make.account()
  const page = visitor(t, person.token)
  assertSays(await page.get(HISTORY), 200, 'There is no revenue yet.')
  for (let day = 1; day <= 52; day += 1) await earn(person, { amount: '10', inDays: -day })
  await t.deps.db.updateTable('account').set({ payout_handle: '=1+1' }).where('id', '=', person.id).execute()
  const { id } = (await pay(person, '20', { fee: '0.5', status: 'in-transit' })).json()
  const first = await page.get(HISTORY)
  assertSays(first, 200, '53 entries')
  assertSays(first, 200, 'In transit')
  assertSays(first, 200, '−20.00\u00a0EUR')
  assertValidHtml(first.body)
  assert.ok(first.body.indexOf('−20.00') < first.body.indexOf('+10.00'), 'newest first')
  assert.equal((await page.get(`${HISTORY}?page=2`)).body.split('+10.00').length, 4)
  assert.equal((await page.get(`${HISTORY}?page=99`)).body.split('+10.00').length, 4)
  await t.anyone.patch(`/_internal/admin/payout/${id}`, { status: 'failed' }, key)
  assertSays(await page.get(HISTORY), 200, 'Failed')
  const csv = await page.get(`${HISTORY}.csv`)
  const lines = csv.body.split('\r\n')
  assert.equal(csv.headers['content-type'], 'text/csv; charset=utf-8')
  assert.deepEqual(
    [lines.length, lines[0]],
    [55, 'created,type,payout_source,amount,fee,status,method_address,currency'],
  )
  assert.match(lines[1] ?? '', /^2\d{3}-.*Z,withdrawal,,20\.00,0\.50,failed,'=1\+1,EUR$/)
  assert.match(lines[2] ?? '', /,payout_available,creator_rewards,10\.00,,,,EUR$/)
})

test('members with VIEW_PAYOUTS see the revenue of a project; others see whom to ask', async () => {
  const owner = await t.make.account({ username: 'ida-marsh' })
  const project = await t.make.project({ owner, slug: 'tide-lamps' })
  await t.make.version({ project })
  const path = '/mod/tide-lamps/settings/revenue'
  const page = visitor(t, owner.token)
  assertSays(await page.get(path), 200, 'This project has no revenue yet.')
  await earn(owner, { amount: '3.5', inDays: 9, day: '2026-01-31', project })
  await earn(owner, { amount: '4', inDays: 9, day: '2026-02-01', project })
  await earn(owner, { amount: '1', inDays: 9, day: '2026-02-28', project })
  const shown = await page.get(path)
  assertValidHtml(shown.body)
  assertSays(shown, 200, 'The project earned 8.50\u00a0EUR in 2 months.')
  assertSays(shown, 200, 'February 2026')
  assertLeads(await visitor(t).get(path), `/account/sign-in?return=${encodeURIComponent(path)}`)
  assertSays(await visitor(t, (await t.make.account()).token).get(path), 404, 'does not exist')
  const member = await t.make.account()
  await t.make.member({ teamId: project.teamId, accountId: member.id, permissions: 256 })
  const refused = await visitor(t, member.token).get(path)
  assertSays(refused, 200, 'To see this, ask')
  assert.ok(!refused.body.includes('8.50'))
  assertSays(await page.get('/mod/tide-lamps/settings'), 200, `href="${path}"`)
  assert.equal((await page.get(`/plugin/tide-lamps/settings/revenue`)).statusCode, 301)
})

test('an affiliate creates, renames and deletes codes, which have clicks, conversions and revenue', async () => {
  const person = await affiliate()
  const page = visitor(t, person.token)
  assertSays(await page.get(CODES), 200, 'You have no affiliate codes.')
  assertSays(await page.send(CODES, CODES, { do: 'create', source_name: ' ' }), 400, 'The name must not be blank.')
  page.cookies.set('__Host-depot-language', 'de')
  const german = await page.send(CODES, CODES, { do: 'create', source_name: ' ' })
  assertSays(german, 400, 'Fülle dieses Feld aus.')
  assert.ok(!german.body.includes('must not be blank') && !german.body.includes('<li lang='))
  page.cookies.delete('__Host-depot-language')
  assertLeads(await page.send(CODES, CODES, { do: 'create', source_name: HOSTILE }), `${CODES}?done=affiliate-created`)
  const [code] = (await t.as(person).get('/_internal/affiliate')).json()
  t.deps.events.add('affiliate_click', aClick({ affiliate_code_id: code.id, recorded_at: t.deps.now() }))
  t.deps.events.add('affiliate_click', aClick({ affiliate_code_id: code.id, recorded_at: t.deps.now() }))
  await t.deps.events.flush()
  const sale = { external_id: newId(), affiliate_code_id: code.id, amount: '40' }
  const { revenue } = (await t.anyone.post('/_internal/admin/affiliate-conversion', sale, key)).json()
  const list = await page.get(CODES)
  assertValidHtml(list.body)
  assert.ok(!list.body.includes('<script>alert'))
  for (const text of ['2 clicks', 'One conversion', `${revenue}\u00a0EUR`, code.id]) assertSays(list, 200, text)

  const path = `${CODES}/${code.id}`
  assertValidHtml((await page.get(path)).body)
  assertLeads(await page.send(path, path, { source_name: 'A blog' }), `${CODES}?done=affiliate-renamed`)
  assertSays(await page.get(CODES), 200, 'A blog')
  assertSays(await page.send(path, path, { source_name: '' }), 400, 'The name')
  const deletion = await page.get(`${path}/delete`)
  assertSays(deletion, 200, 'Delete A blog?')
  assertValidHtml(deletion.body)
  assertLeads(await page.sendFrom(deletion, `${path}/delete`, { do: 'confirm' }), `${CODES}?done=affiliate-deleted`)
  assertSays(await page.get(CODES), 200, 'You have no affiliate codes.')
})

test('without the badge, the page says who can have codes, and a form is refused with its text', async () => {
  const person = await t.make.account()
  const page = visitor(t, person.token)
  const shown = await page.get(CODES)
  assertSays(shown, 200, 'Accounts with the affiliate badge can create codes.')
  assert.ok(!shown.body.includes('name="source_name"'))
  const other = await affiliate()
  const browser = visitor(t, other.token)
  const form = await browser.get(CODES)
  await t.deps.db.updateTable('account').set({ badges: 0 }).where('id', '=', other.id).execute()
  const refused = await browser.sendFrom(form, CODES, { do: 'create', source_name: 'My video' })
  assertSays(refused, 403, 'affiliate badge')
  assertSays(refused, 403, 'My video')
})

test('the number of statements does not grow with entries and codes', async () => {
  const person = await affiliate()
  const page = visitor(t, person.token)
  const add = async () => {
    await earn(person, { amount: '1', inDays: -3 })
    await earn(person, { amount: '1', inDays: 3 })
    await t.as(person).post('/_internal/affiliate', { source_name: 'A video' })
  }
  await add()
  for (const path of [REVENUE, HISTORY, CODES]) {
    await page.get(path)
    const { queries } = await t.queriesOf(() => page.get(path))
    for (let n = 0; n < 5; n += 1) await add()
    assert.equal((await t.queriesOf(() => page.get(path))).queries.length, queries.length, path)
  }
})
