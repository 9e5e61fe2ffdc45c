import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { mailsTo, makeMember, PASSWORD } from '#test/support/http/account-steps.ts'
import { assertLeads, assertSays, hiddenFields, visitor } from '#test/support/http/visitor.ts'
import { type CaptchaService, startCaptchaService } from '#test/support/stand-ins/captcha-service.ts'

const SIGN_UP = '/account/sign-up'
const SIGN_IN = '/account/sign-in'
const FORGOTTEN = '/account/forgot-password'
const FIELD = 'x-captcha-response'
const FURTHER = 'https://*.captcha.example.org'

let service: CaptchaService
let t: TestApp
before(async () => {
  service = await startCaptchaService()
  t = await testApp({ env: { ...service.env, CAPTCHA_ORIGINS: FURTHER } })
})
after(async () => {
  service.close()
  await t?.close()
})
beforeEach(() => service.asked.splice(0))

const newAccount = (username: string) => ({ username, email: `${username}@example.org`, password: PASSWORD })

test('only the pages of forms that need a captcha load it', async () => {
  const widened = `${service.origin} ${FURTHER}`
  for (const page of [SIGN_UP, SIGN_IN, FORGOTTEN]) {
    const { body, headers } = await visitor(t).get(page)
    assert.ok(body.includes(`<script src="${service.origin}/api.js" defer></script>`), page)
    assert.ok(body.includes('<div class="captcha x-captcha" data-sitekey="captcha-site-key"></div>'), page)
    assert.ok(!body.includes('captcha-secret') && !body.includes('siteverify'), page)
    assert.equal(
      headers['content-security-policy'],
      `default-src 'none'; script-src 'self' ${widened}; style-src 'self' ${widened}; img-src 'self' https://depot.test; font-src 'self'; manifest-src 'self'; connect-src 'self' ${widened}; frame-src ${widened}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
      page,
    )
    assert.equal(headers['referrer-policy'], 'strict-origin-when-cross-origin')
  }
  const member = visitor(t, (await makeMember(t)).token)
  for (const [person, page] of [
    [visitor(t), '/account/reset-password?flow=x'],
    [visitor(t), '/account/verify-email?flow=x'],
    [member, '/account'],
    [member, '/account/tokens'],
    [member, '/account/applications/zzzzzzzz'],
  ] as const) {
    const { body, headers } = await person.get(page)
    assert.ok(!body.includes('captcha'), page)
    assert.ok(!String(headers['content-security-policy']).includes('http://127.0.0.1'), page)
    assert.equal(headers['referrer-policy'], 'same-origin')
  }
})

test('users who solve it can sign up, sign in and get a new password', async () => {
  const solved = { [FIELD]: service.solved }
  const person = visitor(t)
  assertLeads(await person.send(SIGN_UP, SIGN_UP, { ...newAccount('solver'), ...solved }), '/account')
  const again = visitor(t)
  assertLeads(await again.send(SIGN_IN, SIGN_IN, { username: 'solver', password: PASSWORD, ...solved }), '/account')
  const sent = await visitor(t).send(FORGOTTEN, FORGOTTEN, { username: 'solver', ...solved })
  assertSays(sent, 200, 'the operators now have a link for it')
  assert.ok(!sent.body.includes('captcha') && !String(sent.headers['content-security-policy']).includes('frame-src'))
  assert.equal((await mailsTo(t, 'solver@example.org', /Reset/)).length, 1)
  assert.deepEqual(
    service.asked.map((form) => [form.get('response'), form.get('remoteip')]),
    Array.from({ length: 3 }, () => [service.solved, '127.0.0.1']),
  )
})

test('a missing response shows an error, can be repeated, and creates no account, session or email', async () => {
  const member = await makeMember(t)
  const forms = [
    [SIGN_UP, newAccount('unsolved')],
    [SIGN_IN, { username: member.username, password: PASSWORD }],
    [FORGOTTEN, { username: member.username }],
  ] as const
  for (const [page, fields] of forms) {
    const person = visitor(t)
    for (const answer of ['', 'wrong']) {
      const refused = await person.send(page, page, { ...fields, [FIELD]: answer })
      assertSays(refused, 400, 'The captcha was not solved.')
      assertSays(refused, 400, 'data-sitekey')
    }
    const long = await person.send(page, page, { ...fields, [FIELD]: 'x'.repeat(8193) })
    assertSays(long, 400, 'The captcha must have at most 8192 characters.')
    assertSays(await person.send(page, page, { ...fields, [FIELD]: ['a', 'b'] }), 400, 'twice')
    assert.ok(!person.cookies.has('__Host-depot-session'))
  }
  assert.equal(service.asked.length, 3)
  assert.equal((await t.anyone.get('/v3/user/unsolved')).statusCode, 404)
  assert.equal((await mailsTo(t, member.email, /Reset/)).length, 0)
})

test('pages that cannot show it explain this and have no form', async () => {
  const { CAPTCHA_VERIFY_URL = '', CAPTCHA_SECRET = '' } = service.env
  const bare = await testApp({ env: { CAPTCHA_VERIFY_URL, CAPTCHA_SECRET } })
  try {
    const person = visitor(bare)
    for (const [page, text] of [
      [SIGN_UP, 'You cannot sign up on this page'],
      [SIGN_IN, 'You cannot sign in on this page'],
      [FORGOTTEN, 'You cannot request a new password on this page'],
    ] as const) {
      const answer = await person.get(page)
      assertSays(answer, 200, text)
      assert.ok(!answer.body.includes(`<form method="post" action="${page}"`))
      assert.ok(!String(answer.headers['content-security-policy']).includes('frame-src'))
    }
    const reset = '/account/reset-password'
    const { _csrf = '' } = hiddenFields(await person.get(`${reset}?flow=x`), reset)
    const fields = { ...newAccount('barred'), _csrf, [FIELD]: service.solved }
    for (const page of [SIGN_UP, SIGN_IN, FORGOTTEN]) assertSays(await person.post(page, fields), 400, 'was not solved')
    assert.equal(service.asked.length, 0)
  } finally {
    await bare.close()
  }
})
