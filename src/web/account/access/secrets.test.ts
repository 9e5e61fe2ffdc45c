import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createLogTo } from '#platform/telemetry/log.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { makeMember, PASSWORD } from '#test/support/http/account-steps.ts'
import { CALLBACK, exchange } from '#test/support/http/oauth-steps.ts'
import { assertSays, visitor } from '#test/support/http/visitor.ts'

let t: TestApp
const lines: string[] = []
before(async () => {
  const log = createLogTo({ write: (line: string) => void lines.push(line) }, 'debug')
  t = await testApp({ deps: () => ({ log }) })
})
after(() => t.close())

test('no log line holds what opens an account: passwords, sessions, tokens, secrets, codes, links', async () => {
  const member = await makeMember(t)
  const person = visitor(t)
  await person.send('/account/sign-in', '/account/sign-in', { username: member.username, password: PASSWORD })
  const session = person.cookies.get('__Host-depot-session') ?? assert.fail('no session')
  const shown = (body: string) => /id="secret" value="([^"]+)"/.exec(body)?.[1] ?? assert.fail(body)
  const tokens = '/account/tokens'
  const token = shown(
    (await person.send(tokens, tokens, { name: 'logged', days: '7', scope: 'USER_READ', reviewed: 'yes' })).body,
  )
  const page = '/account/applications/new'
  const made = await person.send(page, page, { name: 'Logged', redirect_uris: CALLBACK, scope: 'USER_READ' })
  const secret = shown(made.body)
  const id = /id="client-id" value="([^"]+)"/.exec(made.body)?.[1] ?? assert.fail(made.body)
  const query = new URLSearchParams({ client_id: id, redirect_uri: CALLBACK, state: 'state-of-the-application' })
  const asked = await person.get(`/account/authorize?${query}`)
  const flow = /name="flow" value="([^"]+)"/.exec(asked.body)?.[1] ?? assert.fail(asked.body)
  const back = await person.sendFrom(asked, '/account/authorize', { decision: 'accept' })
  const code = new URL(String(back.headers.location)).searchParams.get('code') ?? assert.fail('no code')
  const allowed = (await exchange(t, { id, secret }, { code })).json().access_token
  assertSays(await person.get('/account/reset-password?flow=secret-of-a-mailed-link'), 200, 'New password')
  assertSays(await person.get('/account/verify-email?flow=secret-of-a-mailed-link'), 200, 'Verify')
  const security = '/account/security'
  const started = await person.send(security, security, { do: 'start' })
  const key = /data-text="([A-Z2-7]{32})"/.exec(started.body)?.[1] ?? assert.fail(started.body)
  const csrf = person.cookies.get('__Host-depot-csrf') ?? assert.fail('no CSRF cookie')
  const text = lines.join('')
  assert.ok(lines.length > 8)
  for (const hidden of [
    PASSWORD,
    session,
    member.token,
    token,
    secret,
    flow,
    code,
    allowed,
    key,
    csrf,
    'secret-of-a-mailed-link',
    'state-of-the-application',
    member.email,
  ])
    assert.ok(!text.includes(hidden), hidden)
})
