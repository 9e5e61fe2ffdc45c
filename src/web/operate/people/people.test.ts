// The pages about accounts, invitations, rate limits and payouts: every decision is the command of the API.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { makeMember, PASSWORD, signIn } from '#test/support/http/account-steps.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, type Visitor, visitor } from '#test/support/http/visitor.ts'

const HOSTILE = '<script>alert(1)</script>'

let t: TestApp
let admin: Person
let operator: Visitor
let spammer: Person
before(async () => {
  t = await testApp({ env: { ACCOUNT_DELETION_DAYS: '7' } })
  admin = await t.make.account({ role: 'admin', username: 'olga' })
  operator = visitor(t, admin.token)
  spammer = await t.make.account({ username: 'spammer' })
  await t.make.pat(spammer)
  for (const status of ['approved', 'approved', 'draft']) await t.make.project({ owner: spammer, status })
})
after(() => t?.close())

const page = () => `/operator/user/${spammer.id}`
const user = async () => (await t.as(admin).get(`/v3/user/${spammer.id}`)).json()
/** Actions of the newest audit entries. */
async function audited(limit: number): Promise<string[]> {
  const { entries } = (await t.as(admin).get('/_internal/admin/audit-log', { query: { limit } })).json()
  return entries.map(({ action }: { action: string }) => action)
}

test('operators cannot suspend or delete themselves on the page of their account, and can step down', async () => {
  const other = await t.make.account({ role: 'admin' })
  const self = visitor(t, other.token)
  const own = await self.get(`/operator/user/${other.id}`)
  assertSays(own, 200, 'This is your account.')
  assert.doesNotMatch(own.body, new RegExp(`/operator/user/${other.id}/(suspend|delete)"`))
  const path = `/operator/user/${other.id}/role`
  assertLeads(
    await self.sendFrom(await self.get(path), path, { role: 'developer', do: 'confirm' }),
    '/account?done=account-changed',
  )
})

test('the page of an account links its organizations', async () => {
  const person = await t.make.account()
  assertSays(await operator.get(`/operator/user/${person.id}`), 200, /Organizations<\/dt><dd>None/)
  const input = { slug: 'lamp-makers', name: `Lamps ${HOSTILE}`, description: 'They make lamps' }
  assert.equal((await t.as(person).post('/v3/organization', input)).statusCode, 201)
  const shown = await operator.get(`/operator/user/${person.id}`)
  assert.match(shown.body, /href="\/organization\/lamp-makers"><bdi>Lamps &lt;script/)
  assertValidHtml(shown.body)
})

test('only admins see the pages; visitors are led to sign in', async () => {
  const moderator = visitor(t, (await t.make.account({ role: 'moderator' })).token)
  const decisions = [
    'role',
    'badges',
    'suspend',
    'unsuspend',
    'sign-out',
    'password-link',
    'restore',
    'two-factor',
    'email',
    'username',
    'export',
    'limits',
    'delete',
  ]
  const paths = ['users', 'invitations', 'limits', 'payouts', `user/${spammer.id}`]
  for (const path of [...paths, ...decisions.map((name) => `user/${spammer.id}/${name}`)]) {
    assertLeads(
      await visitor(t).get(`/operator/${path}`),
      `/account/sign-in?return=${encodeURIComponent(`/operator/${path}`)}`,
    )
    assert.equal((await moderator.get(`/operator/${path}`)).statusCode, 404, path)
    const shown = await operator.get(`/operator/${path}`)
    assertSays(shown, 200, '</html>')
    assertValidHtml(shown.body)
  }
  assert.equal((await operator.get('/operator/user/nobody')).statusCode, 404)
})

test('accounts are found by name, ID and email address, and listed in the same number of statements', async () => {
  for (const text of ['spam', spammer.id, spammer.email]) {
    const found = await operator.get(`/operator/users?query=${encodeURIComponent(text)}`)
    assertSays(found, 200, 'spammer')
    assert.ok(!found.body.includes(`/operator/user/${admin.id}`))
  }
  assertSays(await operator.get('/operator/users?query=%25'), 200, 'No accounts found')
  assertSays(await operator.get('/operator/users?role=admin'), 200, 'olga')
  const { queries: few } = await t.queriesOf(() => operator.get('/operator/users'))
  await t.make.people(20)
  const { queries: many } = await t.queriesOf(() => operator.get('/operator/users'))
  assert.equal(many.length, few.length)
})

test('a suspension states its consequences, and is refused without a reason; lifting it works', async () => {
  const path = `${page()}/suspend`
  const form = await operator.get(path)
  assertSays(form, 200, 'One session ends and one token stops working immediately.')
  assertSays(form, 200, '2 projects stay public.')
  const refused = await operator.sendFrom(form, path, { reason: ' ', days: '3', do: 'confirm' })
  assertSays(refused, 400, 'The reason must not be blank')
  assertSays(await operator.sendFrom(form, path, { reason: 'Ads', days: 'many', do: 'confirm' }), 400, 'many')
  const reason = `Advertising ${HOSTILE}`
  assertLeads(
    await operator.sendFrom(form, path, { reason, days: '3', do: 'confirm' }),
    `${page()}?done=account-suspended`,
  )
  const shown = await operator.get(`${page()}?done=account-suspended`)
  assertSays(shown, 200, 'The account is suspended.')
  assert.ok(!shown.body.includes(HOSTILE))
  assert.equal((await t.as(spammer).get('/v3/user')).statusCode, 401)
  assert.deepEqual(await audited(1), ['account.suspended'])
  const lifted = await operator.send(`${page()}/unsuspend`, `${page()}/unsuspend`, { do: 'confirm' })
  assertLeads(lifted, `${page()}?done=account-unsuspended`)
})

test('the last sign-in and the address of a suspended account are what they were', async () => {
  const member = await makeMember(t, { username: 'seen' })
  assert.equal((await signIn(t, member.username)).statusCode, 200)
  const path = `/operator/user/${member.id}`
  const lastSignIn = async () => /<dt>Last sign-in<\/dt><dd>(.*?)<\/dd>/.exec((await operator.get(path)).body)?.[1]
  assert.match((await lastSignIn()) ?? '', /<time/)
  assertLeads(
    await operator.send(`${path}/suspend`, `${path}/suspend`, { reason: 'Advertising', until: '' }),
    `${path}?done=account-suspended`,
  )
  assert.match((await lastSignIn()) ?? '', /<time/)
  // Without verification, an address is never called verified.
  assert.ok(!/verified/.test((await operator.get(path)).body))
  assertSays(await operator.get(`${path}?done=account-suspended`), 200, 'The user sees the reason when they sign in.')
})

test('role and badges change; the last admin keeps the role', async () => {
  const save = (path: string, fields: Record<string, string | string[]>) =>
    operator.send(path, path, { ...fields, do: 'confirm' })
  assertLeads(await save(`${page()}/role`, { role: 'moderator' }), `${page()}?done=account-changed`)
  assertLeads(await save(`${page()}/badges`, { badges: ['AFFILIATE', 'TRANSLATOR'] }), `${page()}?done=account-changed`)
  const { role, badges } = await user()
  assert.deepEqual([role, badges], ['moderator', 192])
  assertSays(await save(`${page()}/role`, { role: 'emperor' }), 400, 'The role must be one of')
  const own = `/operator/user/${admin.id}/role`
  assertSays(await save(own, { role: 'developer' }), 400, 'only admin')
  await save(`${page()}/role`, { role: 'developer' })
})

test('the name, the email address and the second factor of an account change on its pages', async () => {
  const member = await makeMember(t)
  const path = `/operator/user/${member.id}`
  const save = (part: string, fields: Record<string, string>) =>
    operator.send(`${path}/${part}`, `${path}/${part}`, { ...fields, do: 'confirm' })
  assertSays(await save('username', { username: 'no spaces' }), 400, 'The name')
  assertLeads(await save('username', { username: 'renamed' }), `${path}?done=account-changed`)
  assertSays(await save('email', { email: 'nowhere' }), 400, 'The email address')
  assertLeads(await save('email', { email: 'fresh@example.org', verified: 'true' }), `${path}?done=account-changed`)
  const shown = await operator.get(path)
  assertSays(shown, 200, 'renamed')
  assertSays(shown, 200, 'fresh@example.org')
  assert.ok(!shown.body.includes('Turn off two-factor sign-in'))
  await t.deps.db
    .updateTable('account')
    .set({ totp_secret: 'A'.repeat(32) })
    .where('id', '=', member.id)
    .execute()
  t.deps.cache.clear()
  assertSays(await operator.get(path), 200, 'Turn off two-factor sign-in')
  assertSays(await save('two-factor', { reason: ' ' }), 400, 'The reason must not be blank')
  assertLeads(await save('two-factor', { reason: 'Recognised' }), `${path}?done=account-changed`)
  assert.deepEqual(await audited(3), ['account.two_factor_disabled', 'account.email_changed', 'account.changed'])
})

test('a session that confirmed its password too long ago asks for it, and keeps the rest of the form', async () => {
  const member = await makeMember(t)
  await t.deps.db.updateTable('account').set({ role: 'admin' }).where('id', '=', member.id).execute()
  t.deps.cache.clear()
  await t.deps.db.updateTable('session').set({ confirmed_at: null }).where('account_id', '=', member.id).execute()
  const second = visitor(t, member.token)
  const path = `${page()}/suspend`
  const form = await second.get(path)
  assertSays(form, 200, /name="password"/)
  assertSays(form, 200, 'Depot asks again only after 10 minutes.')
  assert.doesNotMatch((await operator.get(path)).body, /name="password"/, 'the other session has confirmed it')
  const fields = { reason: 'Advertising', do: 'confirm' }
  const refused = await second.sendFrom(form, path, fields)
  assertSays(refused, 401, 'The password')
  assertSays(refused, 401, '>\nAdvertising</textarea>')
  assertSays(await second.sendFrom(form, path, { ...fields, password: 'wrong' }), 401, 'password')
  assertLeads(await second.sendFrom(form, path, { ...fields, password: PASSWORD }), `${page()}?done=account-suspended`)
  assert.doesNotMatch((await second.get(`${page()}/unsuspend`)).body, /name="password"/)
  await second.send(`${page()}/unsuspend`, `${page()}/unsuspend`, { do: 'confirm' })
})

test('a password link is shown once and not stored; sessions end', async () => {
  const path = `${page()}/password-link`
  const shown = await operator.send(path, path, { do: 'confirm' })
  assertSays(shown, 200, /https:\/\/depot\.test\/account\/reset-password[^<"]+/)
  assert.equal(shown.headers['cache-control'], 'no-store')
  assertValidHtml(shown.body)
  assert.ok(!(await operator.get(page())).body.includes('reset-password'))
  const signOut = `${page()}/sign-out`
  assertLeads(
    await operator.send(signOut, signOut, { tokens: 'true', do: 'confirm' }),
    `${page()}?done=account-signed-out`,
  )
  assert.deepEqual(await audited(2), ['account.signed_out', 'account.password_link_made'])
})

test('the page of an account lists its sessions, and one of them ends', async () => {
  const member = await makeMember(t)
  assert.equal((await signIn(t, member.username)).statusCode, 200)
  const path = `/operator/user/${member.id}`
  const shown = await operator.get(path)
  assertSays(shown, 200, 'Addresses are shortened.')
  const [, end = ''] = /href="([^"]+\/sessions\/[^"]+)"/.exec(shown.body) ?? []
  const form = await operator.get(end)
  assertSays(form, 200, 'is signed out immediately.')
  assertValidHtml(form.body)
  assertLeads(await operator.sendFrom(form, end, { do: 'confirm' }), `${path}?done=user-session-ended`)
  assert.deepEqual(await audited(1), ['session.ended'])
  assert.equal((await operator.sendFrom(form, end, { do: 'confirm' })).statusCode, 404)
  assert.ok(!(await operator.get(path)).body.includes(end))
})

test('the page of an account has the record of moderators, the shared note, and links to the audit log', async () => {
  const author = await t.make.account({ username: 'author' })
  await t.make.project({ owner: author, name: 'Reported lamp' })
  const moderator = await t.make.account({ role: 'moderator' })
  const report = { report_type: 'spam', item_type: 'user', item_id: author.id, body: 'Advertising' }
  assert.equal((await t.as(moderator).post('/v3/report', report)).statusCode, 201)
  const path = `/operator/user/${author.id}`
  const shown = await operator.get(path)
  assertSays(shown, 200, 'Reported lamp')
  assertSays(shown, 200, 'Reports about the user')
  assertValidHtml(shown.body)
  const log = `/operator/audit-log?subject_kind=user&subject_id=${author.id}`
  assertSays(shown, 200, log)
  assertSays(await operator.get(log), 200, 'Audit log')
  assertLeads(
    await operator.sendFrom(shown, path, { body: 'Knows the rules', revision: '0', do: 'note' }),
    `${path}?done=note-saved`,
  )
  assertSays(await visitor(t, moderator.token).get(`/moderation/user/${author.id}`), 200, 'Knows the rules')
  const conflict = await operator.sendFrom(shown, path, { body: 'Does not', revision: '0', do: 'note' })
  assertSays(conflict, 409, 'Another moderator has changed the note.')
  assertSays(conflict, 409, 'Does not')
})

test('the limits of an account are shown with its numbers, and changed', async () => {
  const member = await t.make.account()
  await t.make.project({ owner: member })
  const path = `/operator/user/${member.id}`
  assertSays(await operator.get(path), 200, '1 of at most 256')
  const form = await operator.get(`${path}/limits`)
  assertValidHtml(form.body)
  const fields = { projects: 'many', organizations: '', collections: '', do: 'confirm' }
  assertSays(await operator.sendFrom(form, `${path}/limits`, fields), 400, 'The limit of projects')
  assertLeads(
    await operator.sendFrom(form, `${path}/limits`, { ...fields, projects: '1' }),
    `${path}?done=account-changed`,
  )
  assertSays(await operator.get(path), 200, '1 of at most 1')
  assert.deepEqual((await t.as(member).get('/v3/limits/projects')).json(), { current: 1, max: 1 })
  assert.deepEqual(await audited(1), ['account.limits_changed'])
})

test('the data of a user is exported with a reason', async () => {
  const member = await makeMember(t)
  const path = `/operator/user/${member.id}/export`
  const form = await operator.get(path)
  assertSays(form, 200, 'Download data')
  assertSays(await operator.sendFrom(form, path, { reason: ' ', do: 'confirm' }), 400, 'The reason must not be blank')
  const sent = await operator.sendFrom(form, path, { reason: 'Asked by letter', do: 'confirm' })
  assert.equal(sent.statusCode, 200, sent.body)
  assert.match(String(sent.headers['content-disposition']), new RegExp(`depot-account-${member.id}.json`))
  assert.match(String(sent.headers['cache-control']), /no-store/)
  assert.equal(sent.json().user.email, member.email)
  assert.deepEqual(await audited(1), ['account.data_exported'])
})

test('the deletion of an account shows what it does, asks for a reason, and can be undone', async () => {
  const member = await makeMember(t, { username: 'doomed' })
  await t.make.project({ owner: member, name: 'Doomed lamp' })
  const account = `/operator/user/${member.id}`
  const path = `${account}/delete`
  const form = await operator.get(path)
  assertSays(
    form,
    200,
    'One project loses its owner. Versions, files and the other members stay: <bdi>Doomed lamp</bdi>',
  )
  assertSays(form, 200, 'One session and 0 access tokens end.')
  assertValidHtml(form.body)
  assertSays(await operator.sendFrom(form, path, { reason: '', do: 'confirm' }), 400, 'The reason')
  assert.equal((await t.as(member).get('/v3/user')).statusCode, 200)
  const deleted = await operator.sendFrom(form, path, { reason: 'Asked by letter', do: 'confirm' })
  assertLeads(deleted, `${account}?done=user-leaving`)
  assertSays(await operator.get(account), 200, 'This account will be deleted on')
  assert.equal((await t.as(member).get('/v3/user')).statusCode, 401)
  const { entries } = (await t.as(admin).get('/_internal/admin/audit-log', { query: { limit: 1 } })).json()
  assert.deepEqual([entries[0].action, entries[0].details.reason], ['account.deletion_requested', 'Asked by letter'])
  assertSays(await operator.get(`/operator/audit-log?actor=${member.id}`), 200, 'Audit log')
})

test('a pending deletion is shown and undone', async () => {
  const leaving = await t.make.account({ username: 'leaving' })
  assert.equal((await t.as(leaving).delete(`/v3/user/${leaving.id}`)).statusCode, 204)
  const path = `/operator/user/${leaving.id}`
  assertSays(await operator.get(path), 200, 'This account will be deleted on')
  assertLeads(
    await operator.send(`${path}/restore`, `${path}/restore`, { do: 'confirm' }),
    `${path}?done=account-restored`,
  )
  assertSays(await operator.get(path), 200, 'Active')
})

test('an invitation is created, its link is shown once, and it is revoked', async () => {
  const path = '/operator/invitations'
  const form = await operator.get(path)
  const fields = { email: 'mira@example.org', uses: '2', days: '5', note: HOSTILE, do: 'create' }
  for (const [wrong, message] of [
    [{ uses: 'many' }, 'The number of accounts must be an integer from 1 to 10000'],
    [{ days: '400' }, 'The number of days must be in the future'],
    [{ days: 'soon' }, 'The number of days must be a whole number, such as 30'],
  ] as const) {
    const refused = await operator.sendFrom(form, path, { ...fields, ...wrong })
    assertSays(refused, 400, message)
    assertSays(refused, 400, 'value="mira@example.org"')
  }
  const made = await operator.sendFrom(form, path, fields)
  assertSays(made, 200, /https:\/\/depot\.test\/account\/sign-up\?[^<"]+/)
  assertValidHtml(made.body)
  assert.ok(!made.body.includes(HOSTILE))
  const shown = await operator.get(path)
  assertSays(shown, 200, 'mira@example.org')
  assert.ok(!shown.body.includes('sign-up?'))
  const asked = await operator.sendFrom(shown, path)
  assertSays(asked, 200, 'Revoke the invitation for mira@example.org?')
  assertValidHtml(asked.body)
  assertSays(await operator.get(path), 200, 'mira@example.org')
  assertLeads(await operator.sendFrom(asked, path, { do: 'revoke' }), `${path}?done=invitation-revoked`)
  assert.ok(!(await operator.get(path)).body.includes('mira@example.org'))
})

test('a rate limit is granted, refused twice, and revoked', async () => {
  const path = '/operator/limits'
  const form = await operator.get(path)
  const fields = {
    address_range: '203.0.113.0/24',
    token_id: '',
    requests_per_minute: '900',
    note: 'A mirror',
    do: 'create',
  }
  assertSays(await operator.sendFrom(form, path, { ...fields, requests_per_minute: 'fast' }), 400, 'from 1 to 1000000')
  assertSays(await operator.sendFrom(form, path, { ...fields, address_range: '' }), 400, 'The ID of the token')
  assertLeads(await operator.sendFrom(form, path, fields), `${path}?done=rate-granted`)
  assertSays(await operator.sendFrom(form, path, fields), 409, 'is taken')
  const shown = await operator.get(path)
  assertSays(shown, 200, '203.0.113.0/24')
  const asked = await operator.sendFrom(shown, path)
  assertSays(asked, 200, 'Revoke the rate limit of 203.0.113.0/24?')
  assertLeads(await operator.sendFrom(asked, path, { do: 'revoke' }), `${path}?done=rate-revoked`)
})

test('a payout is recorded once, at most the balance, and its status changes; revenue is distributed', async () => {
  const path = '/operator/payouts'
  const code = (await t.as(admin).post('/_internal/affiliate', { source_name: 'Shop', affiliate: admin.id })).json()
  const sale = { external_id: 'sale', affiliate_code_id: code.id, at: '2024-01-01T00:00:00Z', amount: '100' }
  assert.equal((await t.as(admin).post('/_internal/admin/affiliate-conversion', sale)).statusCode, 201)
  assertSays(await operator.get(`${path}?user=olga`), 200, '10.00')
  const form = await operator.get(path)
  const fields = { username: 'olga', amount: '4', fee: '', external_id: 'p-1', status: 'success', do: 'payout' }
  assertSays(await operator.sendFrom(form, path, { ...fields, amount: '11' }), 400, 'Only 10.00 is available')
  assertSays(await operator.sendFrom(form, path, { ...fields, username: 'nobody' }), 400, 'The username')
  assertLeads(await operator.sendFrom(form, path, fields), `${path}?done=payout-recorded&user=olga`)
  assertLeads(await operator.sendFrom(form, path, fields), `${path}?done=payout-known&user=olga`)
  const shown = await operator.get(`${path}?user=olga`)
  assertSays(shown, 200, '6.00')
  const [{ id }] = (await t.deps.db.selectFrom('payout').select('id').execute()) as [{ id: string }]
  assertLeads(
    await operator.sendFrom(shown, path, { do: 'status', id, status: 'failed' }),
    `${path}?done=payout-changed`,
  )
  assertSays(await operator.get(`${path}?user=olga`), 200, '10.00')
  const revenue = { day: '2024-01-02', amount: '5', external_id: 'r-1', do: 'revenue' }
  assertSays(
    await operator.sendFrom(form, path, { ...revenue, day: '2099-01-01' }),
    400,
    'The day must not be in the future',
  )
  assertLeads(await operator.sendFrom(form, path, revenue), `${path}?done=revenue-distributed&sum=0.00&projects=0`)
  assertLeads(await operator.sendFrom(form, path, revenue), `${path}?done=revenue-known`)
  const german = visitor(t, admin.token)
  german.cookies.set('__Host-depot-language', 'de')
  const page = await german.get(path)
  const local = { ...fields, external_id: 'p-2', amount: '1,50' }
  assertSays(await german.sendFrom(page, path, { ...local, amount: 'viel' }), 400, 'zum Beispiel 1.234,50')
  assertLeads(await german.sendFrom(page, path, local), `${path}?done=payout-recorded&user=olga`)
  const { amount } = await t.deps.db
    .selectFrom('payout')
    .select('amount')
    .where('external_id', '=', 'p-2')
    .executeTakeFirstOrThrow()
  assert.equal(Number(amount), 1.5)
  const day = await german.sendFrom(page, path, { ...revenue, day: '3.1.2024', external_id: 'r-2' })
  assertLeads(day, `${path}?done=revenue-distributed&sum=0.00&projects=0`)
  assertSays(await operator.sendFrom(form, path, { ...fields, amount: '1.2.3' }), 400, 'such as 1,234.50')
})
