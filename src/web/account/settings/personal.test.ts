// Email settings, the payout address, and the page of data and devices.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { EMAIL_DEFAULTS } from '#features/people/notifications/emails/email-kinds.ts'
import { ADMIN_KEY, testApp } from '#test/support/app/test-app.ts'
import { makeMember } from '#test/support/http/account-steps.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const t = await testApp()
after(() => t.close())

const SETTINGS = '/account/notifications'
const HOSTILE = '"><script>alert(1)</script>'
const key = { headers: { 'x-admin-key': ADMIN_KEY } }

test('the email settings show every kind and store what differs', async () => {
  const member = await makeMember(t)
  const person = visitor(t, member.token)
  const page = await person.get(SETTINGS)
  assertSays(page, 200, 'New versions of projects that you follow')
  assertValidHtml(page.body)
  assert.ok(page.body.includes('value="project_status" checked') && !page.body.includes('value="operator_question"'))
  const chosen = ['project_status', 'project_update', 'operator_question', HOSTILE]
  assertLeads(await person.sendFrom(page, SETTINGS, { email: chosen }), `${SETTINGS}?done=email-settings`)
  const { email } = (await t.as(member).get(`/v3/user/${member.id}/notification-settings`)).json()
  const expected = Object.fromEntries(Object.keys(EMAIL_DEFAULTS).map((kind) => [kind, chosen.includes(kind)]))
  assert.deepEqual(email, expected)
  assertSays(await person.get(`${SETTINGS}?done=email-settings`), 200, 'Your email settings were saved.')
  assertLeads(await person.sendFrom(page, SETTINGS), `${SETTINGS}?done=email-settings`)
  const admin = await t.make.account({ role: 'admin' })
  assertSays(await visitor(t, admin.token).get(SETTINGS), 200, 'Messages of moderators to operators')
  const unverified = await t.make.account({ email_verified: false })
  assertSays(await visitor(t, unverified.token).get(SETTINGS), 200, 'This instance does not send emails.')
})

test('a link of an email asks before it turns off a kind, without a session', async () => {
  const member = await makeMember(t)
  await t.as(member).post('/v3/report', { report_type: 'spam', item_type: 'user', item_id: member.id, body: 'Look' })
  await t.runJobs()
  const mail = (await t.mails()).find((text) => text.includes(`user=${member.id}`)) ?? assert.fail('no email')
  const url = /^https:\/\/depot\.test(\/account\/unsubscribe\S+)/m.exec(mail)?.[1] ?? assert.fail(mail)
  const anyone = visitor(t)
  const page = await anyone.get(url)
  assertSays(page, 200, 'This turns off emails of this kind: Receipts of your reports.')
  assertValidHtml(page.body)
  assertSays(await anyone.post(url, {}), 200, 'You no longer receive these emails.')
  assertSays(await anyone.get(`${url}x`), 400, 'The link is incomplete or was changed')
})

test('the payout address is set and removed after the password, and shown escaped', async () => {
  const member = await makeMember(t)
  const person = visitor(t, member.token)
  const page = '/account/security'
  const send = (payout_handle: string) => person.send(page, page, { do: 'payout', payout_handle })
  assertLeads(await send(HOSTILE), `${page}?done=payout-address`)
  assert.ok(!(await person.get(page)).body.includes('<script>alert'))
  assert.equal((await t.as(member).get('/v3/user')).json().payout_data.payout_handle, HOSTILE)
  assertSays(await send('a'.repeat(161)), 400, 'The payout address must have at most 160 characters.')
  assertLeads(await send(' '), `${page}?done=payout-address`)
  assert.equal((await t.as(member).get('/v3/user')).json().payout_data.payout_handle, null)
  await t.deps.db.updateTable('session').set({ confirmed_at: null }).where('account_id', '=', member.id).execute()
  assertSays(await person.get(page), 200, 'Enter your password again')
})

test('the page of data and devices names what a deletion takes and what stays', async () => {
  const member = await makeMember(t)
  const person = visitor(t, member.token)
  const page = '/account/data'
  const empty = await person.get(page)
  assertSays(empty, 200, 'your profile, email address and notifications')
  assert.ok(!empty.body.includes('your claim to the balance') && !empty.body.includes('remains without your name'))
  await t.make.project({ owner: member })
  await t.make.project({ owner: member, status: 'processing' })
  await t.as(member).post('/v3/collection', { name: 'Lights', projects: [] })
  const day = new Date(t.deps.now() - 400 * 86_400_000).toISOString().slice(0, 10)
  await t.deps.db
    .insertInto('affiliate_conversion')
    .values({
      external_id: 'x',
      affiliate_code_id: 'c',
      account_id: member.id,
      converted: day,
      amount: '20',
      revenue: '12.5',
      available: day,
    })
    .execute()
  await t.anyone.patch('/_internal/admin/settings', { currency: 'EUR' }, key)
  const shown = await person.get(page)
  assertValidHtml(shown.body)
  for (const text of [
    'one collection and',
    '12.50\u00a0EUR is available',
    '2 projects and 0 organizations that you own',
    'One project in review is rejected',
    'one session and',
  ])
    assertSays(shown, 200, text)
  const { queries } = await t.queriesOf(() => person.get(page))
  for (let n = 0; n < 5; n += 1) await t.make.project({ owner: member })
  await person.get(page)
  assert.equal((await t.queriesOf(() => person.get(page))).queries.length, queries.length)
})
