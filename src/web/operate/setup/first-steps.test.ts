import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { makeFirstAdminLink } from '#features/people/accounts/sign-up/create-first-admin.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const PATH = '/operator/first-steps'
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
