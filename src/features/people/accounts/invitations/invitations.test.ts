import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Secret } from '#lib/access/secret.ts'
import { DAY_MS } from '#lib/time.ts'
import { type MailMessage, mailError } from '#ports/mail/mail.ts'
import { ADMIN_KEY, testApp } from '#test/support/app/test-app.ts'
import { assertError, assertRefusedValues, PASSWORD, statuses } from '#test/support/http/account-steps.ts'
import { visitor } from '#test/support/http/visitor.ts'
import type { NewInvitationView } from './views.ts'

const KEY = { headers: { 'x-admin-key': ADMIN_KEY } }
const INVITATIONS = '/_internal/admin/invitations'
const CREATE = '/_internal/auth/create'

const t = await testApp({ env: { REGISTRATION: 'invitation' } })
after(() => t.close())

let count = 0
function fresh(more: Record<string, unknown> = {}) {
  count += 1
  return { username: `guest-${count}`, email: `guest-${count}@example.org`, password: PASSWORD, ...more }
}
const make = async (body: object = {}): Promise<NewInvitationView> => {
  const answer = await t.anyone.post(INVITATIONS, body, KEY)
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json()
}
const signUp = (invitation?: string, more: Record<string, unknown> = {}) =>
  t.anyone.post(CREATE, fresh({ ...(invitation === undefined ? {} : { invitation }), ...more }))
const listed = async (id: string) =>
  (await t.anyone.get(INVITATIONS, KEY)).json().find((each: { id: string }) => each.id === id)

test('an account needs a code that is usable, and a rejected sign-up takes no use', async () => {
  const { id, code, url } = await make({ note: 'For Mira' })
  assert.equal(new URL(url).searchParams.get('invitation'), code)
  const none = await signUp()
  assertError(none, 403, 'unauthorized')
  assert.match(none.json().description, /An invitation is required/)
  for (const wrong of ['unknown', code.toLowerCase(), `${code}x`])
    assertError(await signUp(wrong), 400, 'validation_error', 'invitation')
  assertError(await signUp('x'.repeat(257)), 400, 'validation_error', 'invitation')
  assertError(await signUp(code, { password: '12345678' }), 400, 'validation_error', 'password')
  const valid = await t.anyone.post(`${CREATE}/validate`, fresh({ invitation: code }))
  assert.equal(valid.statusCode, 204)
  assert.equal((await listed(id)).used, 0)
  const made = await signUp(code)
  assert.equal(made.statusCode, 201, made.body)
  assert.deepEqual([(await listed(id)).used, (await listed(id)).note], [1, 'For Mira'])
  assertError(await signUp(code), 400, 'validation_error', 'invitation')
  assertError(
    await t.anyone.post(`${CREATE}/validate`, fresh({ invitation: code })),
    400,
    'validation_error',
    'invitation',
  )
  assert.ok(!JSON.stringify((await t.anyone.get(INVITATIONS, KEY)).json()).includes(code))
  const { entries } = (await t.anyone.get('/_internal/admin/audit-log', KEY)).json()
  const about = entries.map(({ action, subject, details }: Record<string, { id?: string }>) => [
    action,
    subject?.id,
    details,
  ])
  assert.deepEqual(about[0], ['account.created', made.json().user_id, { invitation: id }])
  assert.deepEqual(about.at(-1)?.slice(0, 2), ['invitation.created', id])
})

test('one of many concurrent requests gets the last use', async () => {
  const { id, code } = await make({ uses: 3 })
  const answers = await Promise.all(Array.from({ length: 6 }, () => signUp(code)))
  assert.deepEqual(statuses(answers).toSorted(), [201, 201, 201, 400, 400, 400])
  assert.deepEqual([(await listed(id)).used, (await listed(id)).uses], [3, 3])
})

test('an invitation is for its address, until its time, unless it is revoked', async () => {
  const bound = await make({ email: 'Otto@example.org' })
  assertError(await signUp(bound.code), 400, 'validation_error', 'invitation')
  assert.equal((await signUp(bound.code, { email: 'otto@EXAMPLE.org' })).statusCode, 201)
  const revoked = await make()
  assert.equal((await t.anyone.delete(`${INVITATIONS}/${revoked.id}`, undefined, KEY)).statusCode, 204)
  assertError(await signUp(revoked.code), 400, 'validation_error', 'invitation')
  assertError(await t.anyone.delete(`${INVITATIONS}/${revoked.id}`, undefined, KEY), 404, 'not_found')
  const short = await make({ expires: new Date(t.deps.now() + DAY_MS).toISOString() })
  t.advance(DAY_MS + 1000)
  assertError(await signUp(short.code), 400, 'validation_error', 'invitation')
})

test("checks each field of operators' requests; other users cannot create or see invitations", async () => {
  const send = (body: Record<string, unknown>) => t.anyone.post(INVITATIONS, body, KEY)
  const valid = { uses: 1, email: 'a@example.org', note: 'x', expires: new Date(t.deps.now() + DAY_MS).toISOString() }
  await assertRefusedValues(send, valid, 'uses', [0, 10_001, 1.5, '1', null])
  await assertRefusedValues(send, valid, 'expires', ['soon', new Date(t.deps.now() - 1).toISOString(), 7, null])
  await assertRefusedValues(send, valid, 'expires', [new Date(t.deps.now() + 367 * DAY_MS).toISOString()])
  await assertRefusedValues(send, valid, 'email', ['', 'nobody', 7])
  await assertRefusedValues(send, valid, 'note', ['x'.repeat(201), 7, null, 'a\u0000b'])
  assert.equal((await send(valid)).statusCode, 201)
  const moderator = t.as(await t.make.account({ role: 'moderator' }))
  assertError(await moderator.get(INVITATIONS), 404, 'not_found')
  assertError(await moderator.post(INVITATIONS, {}), 404, 'not_found')
  assert.equal((await t.anyone.get(INVITATIONS, { ...KEY, query: { limit: 1 } })).json().length, 1)
})

test('the page for signing up has a field for the code, which the link fills', async () => {
  const { code, url } = await make()
  const person = visitor(t)
  const path = url.replace('https://depot.test', '')
  const page = await person.get(path)
  assert.ok(page.body.includes(`value="${code}"`))
  const refused = await person.send('/account/sign-up', '/account/sign-up', fresh({ invitation: 'other' }))
  assert.equal(refused.statusCode, 400)
  assert.match(refused.body, /The invitation is unknown/)
  const done = await person.send('/account/sign-up', '/account/sign-up', fresh({ invitation: code }))
  assert.equal(done.statusCode, 303, done.body)
})

test('open registration neither needs nor uses a code; closed registration accepts none', async () => {
  const { id, code } = await make({ uses: 2 })
  const set = (registration: string | null) => t.anyone.patch('/_internal/admin/settings', { registration }, KEY)
  await set('closed')
  assertError(await signUp(code), 403, 'unauthorized')
  await set('open')
  assert.equal((await signUp(code)).statusCode, 201)
  assert.equal((await signUp('unknown')).statusCode, 201)
  await set(null)
  assert.equal((await listed(id)).used, 0)
  assert.equal((await t.anyone.get('/_internal/instance')).json().registration, 'invitation')
})

test('without SMTP, an invitation with an email address reports that it is not sent', async () => {
  assert.equal((await make({ email: 'folder@example.org' })).mailed, false)
  assert.equal((await make()).mailed, false)
  assert.ok(!(await t.mails()).some((mail) => mail.includes('folder@example.org')))
})

test('with SMTP, the link is sent to the email address; a failed email does not prevent the invitation', async () => {
  const sent: MailMessage[] = []
  let isDown = false
  const app = await testApp({
    env: { REGISTRATION: 'invitation' },
    deps: ({ config, mail }) => ({
      config: { ...config, mail: { kind: 'smtp', url: new Secret('smtp://127.0.0.1'), from: 'Depot <a@example.org>' } },
      mail: {
        ...mail,
        async send(message) {
          if (isDown) throw mailError(new Error('connect ECONNREFUSED'))
          sent.push(message)
          return '250 accepted'
        },
      },
    }),
  })
  try {
    const invite = async (body: object) => {
      const answer = await app.anyone.post(INVITATIONS, body, KEY)
      assert.equal(answer.statusCode, 201, answer.body)
      return answer.json() as NewInvitationView
    }
    const { url, mailed, expires } = await invite({ email: 'mira@example.org' })
    assert.equal(mailed, true)
    assert.deepEqual(
      sent.map(({ to }) => to),
      ['mira@example.org'],
    )
    assert.match(sent[0]?.subject ?? '', /^An invitation to /)
    assert.ok(sent[0]?.text.startsWith('Hello,\n\n') && sent[0]?.text.split('\n').includes(url))
    assert.ok(sent[0]?.text.includes(new Date(expires).toUTCString()))
    assert.equal((await invite({})).mailed, false)
    isDown = true
    const { code, ...unsent } = await invite({ email: 'otto@example.org' })
    assert.deepEqual([unsent.mailed, sent.length], [false, 1])
    const account = { username: 'otto', email: 'otto@example.org', password: PASSWORD, invitation: code }
    assert.equal((await app.anyone.post(CREATE, account)).statusCode, 201)
  } finally {
    await app.close()
  }
})
