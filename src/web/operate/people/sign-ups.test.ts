// The page of the protection of the sign-up, and the sentences that visitors see.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { PASSWORD } from '#test/support/http/account-steps.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const t = await testApp()
after(() => t.close())
const olga = await t.make.account({ role: 'admin', username: 'olga' })
const mira = await t.make.account({ role: 'moderator', username: 'mira' })
const path = '/operator/sign-ups'

test('an operator sets limits, pastes a list of blocks, and removes one', async () => {
  const operator = visitor(t, olga.token)
  const shown = await operator.get(path)
  assertSays(shown, 200, 'No blocks')
  assertValidHtml(shown.body)
  const limits = { sign_ups_per_range: '7', first_projects_per_day: '', approve_accounts: 'true' }
  assertLeads(await operator.sendFrom(shown, path, { ...limits, do: 'save' }), `${path}?done=saved`)
  const settings = (await t.as(olga).get('/_internal/admin/settings')).json()
  assert.deepEqual(
    [settings.sign_ups_per_range, settings.first_projects_per_day, settings.approve_accounts],
    [7, null, true],
  )
  assertSays(
    await operator.sendFrom(shown, path, { ...limits, sign_ups_per_range: '0', do: 'save' }),
    400,
    'The number of sign-ups',
  )
  const targets = '# A list\nspam.example\n192.0.2.0/24\n'
  assertSays(
    await operator.sendFrom(shown, path, { targets: 'spam', note: '', days: '', do: 'block' }),
    400,
    '“spam” is neither an email domain, such as spam.example, nor an address range',
  )
  const added = await operator.sendFrom(shown, path, { targets, note: 'A wave', days: '3', do: 'block' })
  assertLeads(added, `${path}?done=blocked&count=2`)
  const listed = await operator.get(`${path}?done=blocked&count=2`)
  assertSays(listed, 200, '2 blocks were saved.')
  assertSays(listed, 200, 'spam.example')
  assertValidHtml(listed.body)
  const [{ id }] = (await t.as(olga).get('/_internal/admin/sign-up-blocks')).json().blocks
  assertLeads(await operator.sendFrom(listed, path, { do: 'unblock', id }), `${path}?done=unblocked`)
  assert.equal((await visitor(t, mira.token).get(path)).statusCode, 404)
})

test('a visitor reads one sentence, a waiting user reads why they cannot publish, and a moderator approves them', async () => {
  await t.as(olga).post('/_internal/admin/sign-up-blocks', { email_domains: ['lamps.example'] })
  const person = visitor(t)
  const form = await person.get('/account/sign-up')
  assertSays(form, 200, 'A moderator approves new accounts.')
  const fields = { username: 'newcomer', email: 'a@lamps.example', password: PASSWORD }
  assertSays(await person.sendFrom(form, '/account/sign-up', fields), 400, 'which the service has blocked')
  const done = await person.sendFrom(form, '/account/sign-up', { ...fields, email: 'newcomer@example.org' })
  assert.equal(done.statusCode, 303, done.body)
  assertSays(await person.get('/account'), 200, 'A moderator must approve your account')
  const moderator = visitor(t, mira.token)
  const list = '/moderation/users?waiting=yes'
  const shown = await moderator.get(list)
  assertSays(shown, 200, 'newcomer')
  const approved = await moderator.sendFrom(shown, list, { do: 'approve', all: 'yes' })
  assertSays(await moderator.get(String(approved.headers.location)), 200, 'One account is approved.')
  assert.ok(!(await person.get('/account')).body.includes('A moderator must approve'))
})
