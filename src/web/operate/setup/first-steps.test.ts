import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { publishPage } from '#features/basics/settings/pages/publish-page.ts'
import { PAGE_KINDS } from '#features/basics/settings/pages/requests.ts'
import { setMark } from '#features/basics/settings/set-mark.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { suspendAccount } from '#features/people/accounts/administration/suspend-account.ts'
import { makeFirstAdminLink } from '#features/people/accounts/sign-up/create-first-admin.ts'
import { DAY_MS } from '#lib/time.ts'
import { ADMIN_KEY, testApp } from '#test/support/app/test-app.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const PATH = '/operator/first-steps'
const LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9z"/></svg>'
const KEY = { headers: { 'x-admin-key': ADMIN_KEY } }
const PASSWORD = 'violet-harbour-lantern-42'

const t = await testApp({ env: { MAIL_FROM: 'Depot <depot@example.org>' } })
after(() => t.close())
const admin = visitor(t)

async function send(step: string, fields: Record<string, string> = {}) {
  const page = await admin.get(PATH)
  const _csrf = /name="_csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? ''
  return admin.post(PATH, { _csrf, do: step, ...fields })
}

test("the first admin's link leads to the first steps, which can be skipped", async () => {
  const secret = await makeFirstAdminLink(t.deps)
  const fields = { username: 'olga', email: 'olga@example.org', password: PASSWORD }
  const answer = await admin.send(`/account/first-admin?flow=${secret}`, '/account/first-admin', fields)
  const page = await admin.get(assertLeads(answer, PATH))
  assertSays(page, 200, 'You can do these steps in any order, skip them, and return to this page.')
  assert.match(page.body, /href="\/operator"/)
})

test('the name and the registration are saved, and a wrong value stays with its error', async () => {
  assertLeads(await send('name', { name: 'Lantern House' }), `${PATH}?done=saved`)
  assertSays(await admin.get(PATH), 200, 'The logo is missing.')
  assertLeads(await send('registration', { registration: 'invitation' }), `${PATH}?done=saved`)
  const { name, registration } = await getSettings(t.deps)
  assert.deepEqual([name, registration], ['Lantern House', 'invitation'])
  const long = 'x'.repeat(65)
  const refused = await send('name', { name: long })
  assertSays(refused, 400, 'The name must')
  assert.ok(refused.body.includes(long))
  assert.equal((await send('registration', { registration: 'sometimes' })).statusCode, 400)
})

test('the URL and the mail server show their value, source and how to change them', async () => {
  const page = await admin.get(PATH)
  assertSays(page, 200, 'https://depot.test')
  assertSays(page, 200, 'No mail server: emails are files in the data folder')
  assertSays(page, 200, 'Depot <depot@example.org>')
  assertSays(page, 200, 'Default value; not set')
  assertSays(
    page,
    200,
    /To change <code>BASE_URL<\/code>, edit the settings file of the server, such as <code>\/etc\/depot.env<\/code>/,
  )
})

test('the demo is written once, and its passwords are shown once', async () => {
  const answer = await send('demo')
  assertSays(answer, 200, 'These are the passwords of its accounts.')
  assert.equal(answer.headers['cache-control'], 'no-store')
  assertSays(await admin.get(PATH), 200, 'The instance already has projects.')
  assertSays(await send('demo'), 409, 'The instance already has projects')
  const entry = await t.deps.db
    .selectFrom('audit_entry')
    .select(['actor_kind', 'details'])
    .where('action', '=', 'demo.written')
    .execute()
  assert.deepEqual(entry, [{ actor_kind: 'account', details: { projects: 40 } }])
})

test('each step is done when the state of the instance says so, and links to its page', async () => {
  const instance = await testApp({ env: { SMTP_URL: 'smtp://mail.example.org', BACKUP_TARGET: '/var/backups/depot' } })
  after(() => instance.close())
  const { deps, make } = instance
  instance.advance(400 * DAY_MS)
  const olga = await make.account({ role: 'admin' })
  const operator = visitor(instance, olga.token)
  const open = async (): Promise<string[]> => {
    const answer = await instance.as(olga).get('/_internal/admin/overview')
    const steps: { step: string; done: boolean }[] = answer.json().first_steps
    return steps.filter(({ done }) => !done).map(({ step }) => step)
  }
  const all = ['branding', 'pages', 'backup', 'mail', 'game_versions', 'moderator', 'two_factor']
  assert.deepEqual(await open(), all)
  const page = await operator.get(PATH)
  assertSays(page, 200, '0 of 7 done')
  for (const path of ['settings', 'pages', 'backups', 'mail', 'tags/game_versions', 'users'])
    assert.match(page.body, new RegExp(`<li class="todo">[^\n]*?<a href="/operator/${path}"`))
  assert.match(page.body, /<a href="\/account\/security">Two-factor/)
  assertSays(await operator.get('/operator'), 200, '0 of 7 done')

  await setMark(deps, COMMAND, { bytes: Buffer.from(LOGO), ext: 'svg' })
  assert.deepEqual(await open(), all.slice(1))
  for (const kind of PAGE_KINDS) await publishPage(deps, COMMAND, { kind, text: 'Be kind.' })
  const backup = { id: 'first', name: 'first.tar', rows: 3, files: 2, events: 1, bytes: 5_000, missing: 0 }
  await recordAudit(deps.db, { action: 'backup.made', actor: COMMAND, details: backup })
  await recordAudit(deps.db, { action: 'mail.tested', actor: COMMAND, details: { sent: true, transport: 'outbox' } })
  assert.deepEqual(await open(), ['mail', 'game_versions', 'moderator', 'two_factor'])
  await recordAudit(deps.db, { action: 'mail.tested', actor: COMMAND, details: { sent: true, transport: 'smtp' } })
  const row = { value: 'new', created: new Date(deps.now()).toISOString() }
  await instance.anyone.post('/_internal/admin/tags/game_versions/values', row, KEY)
  const moderator = await make.account({ role: 'moderator' })
  await suspendAccount(deps, COMMAND, { name: moderator.id, reason: 'Left', until: null })
  assert.deepEqual(await open(), ['moderator', 'two_factor'], 'a suspended moderator does not count')
  await make.account({ role: 'moderator' })
  await deps.db.updateTable('account').set({ totp_secret: 'JBSWY3DPEHPK3PXP' }).where('id', '=', olga.id).execute()
  assert.deepEqual(await open(), [])
  assert.doesNotMatch((await operator.get('/operator')).body, /of 7 done/)
})

test('an operator hides the progress on the overview, and shows it again', async () => {
  const sendTo = async (from: string, to: string) => assertLeads(await admin.send(from, PATH), `${PATH}?done=${to}`)
  const shows = async () => /\d of 7 done/.test((await admin.get('/operator')).body)
  assert.equal(await shows(), true)
  await sendTo('/operator', 'saved')
  assert.equal(await shows(), false)
  assertSays(await admin.get(PATH), 200, /\d of 7 done/)
  assertLeads(await send('recall'), `${PATH}?done=saved`)
  assert.equal(await shows(), true)
  const { first_steps_dismissed: isPublic } = (await t.anyone.get('/_internal/instance')).json()
  assert.equal(isPublic, undefined)
})
