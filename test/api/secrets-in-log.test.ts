// User secrets do not appear in the log, even at the most verbose level or after a failure.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '#lib/ids.ts'
import { createLogTo } from '#platform/telemetry/log.ts'
import { mailError } from '#ports/mail/mail.ts'
import { ADMIN_KEY, BYPASS_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import {
  enableTwoFactor,
  type Member,
  mailedFlow,
  makeMember,
  OTHER_PASSWORD,
  PASSWORD,
  signIn,
} from '#test/support/http/account-steps.ts'
import { form, modJar, versionData } from '#test/support/http/forms.ts'
import { exchange, getCode, makeApplication, postForm } from '#test/support/http/oauth-steps.ts'
import { failingFiles } from '#test/support/stand-ins/failing-files.ts'
import { cookieName } from '#web/kit/cookies.ts'

const ADDRESS = '203.0.113.77'

let isDiskFull = false
let refusesMail = false
/** The response of a mail server, which the SMTP client passes on. */
const refusal = (to: string): Error =>
  mailError(Object.assign(new Error(`550 5.1.1 <${to}>: Recipient address rejected`), { rejected: [to], response: to }))

const lines: string[] = []
let t: TestApp
/** Names and values that no line may hold. */
const planted = new Map<string, string>()

before(async () => {
  const log = createLogTo({ write: (line) => void lines.push(line) }, 'debug')
  t = await testApp({
    deps: ({ files, mail }) => ({
      log,
      files: failingFiles(files, { publish: () => (isDiskFull ? new Error('ENOSPC: no space left') : undefined) }),
      mail: { ...mail, send: (message) => (refusesMail ? Promise.reject(refusal(message.to)) : mail.send(message)) },
    }),
  })
})
after(() => t?.close())
beforeEach(() => {
  lines.length = 0
  planted.clear()
  plant({ ADMIN_KEY, BYPASS_KEY, ADDRESS, PASSWORD, OTHER_PASSWORD })
})

function plant(values: Record<string, string>): void {
  for (const [name, value] of Object.entries(values)) planted.set(name, value)
}

function plantPerson({ token, email }: { token: string; email: string }): void {
  plant({ [`session of ${email}`]: token, [`address of ${email}`]: email })
}

/** The lines that hold something planted, as it is or percent-encoded. */
function leaks(): string[] {
  return lines.flatMap((line) =>
    [...planted]
      .filter(([, value]) => line.includes(value) || line.includes(encodeURIComponent(value)))
      .map(([name]) => `${name}: ${line}`),
  )
}

/** A request from `ADDRESS`. */
function send(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  url: string,
  options: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
) {
  const { token, body, headers } = options
  return t.inject({
    method,
    url,
    remoteAddress: ADDRESS,
    headers: { 'user-agent': 'depot-tests/1.0', ...(token === undefined ? {} : { authorization: token }), ...headers },
    ...(body === undefined ? {} : { payload: body as object }),
  })
}

async function newMember(): Promise<Member> {
  const member = await makeMember(t)
  plantPerson(member)
  return member
}

describe('in what everyday use writes', () => {
  test('signing up and in, wrong passwords, a second factor', async () => {
    const username = `lantern-${newId().toLowerCase()}`
    const email = `${username}@secret.example`
    const made = await send('POST', '/_internal/auth/create', { body: { username, email, password: PASSWORD } })
    assert.equal(made.statusCode, 201, made.body)
    plantPerson({ token: made.json().session, email })
    assert.equal((await signIn(t, email, 'a wrong guess 4711')).statusCode, 401)
    plant({ guess: 'a wrong guess 4711' })
    const member = await newMember()
    const { secret, backupCodes } = await enableTwoFactor(t, member)
    plant({ secret, code: backupCodes[0] ?? '' })
    const asked = await signIn(t, member.username)
    const { flow } = asked.json()
    plant({ flow })
    const done = await send('POST', '/_internal/auth/login/2fa', { body: { flow, code: backupCodes[0] } })
    assert.equal(done.statusCode, 200, done.body)
    plant({ session: done.json().session })
    await t.runJobs()
    assertClean()
  })

  test('mailed links, changed passwords and addresses', async () => {
    const member = await newMember()
    await send('POST', '/_internal/auth/password/reset', { body: { username: member.email } })
    const flow = await mailedFlow(t, member.email, /password/i)
    plant({ flow, newEmail: 'another@secret.example' })
    await send('GET', `/account/reset-password?flow=${flow}`)
    const body = { flow, new_password: OTHER_PASSWORD }
    assert.equal((await send('PATCH', '/_internal/auth/password', { body })).statusCode, 204)
    const { session } = (await signIn(t, member.username, OTHER_PASSWORD)).json()
    plant({ session })
    const changed = await send('PATCH', '/_internal/auth/email', {
      token: session,
      body: { email: 'another@secret.example' },
    })
    assert.equal(changed.statusCode, 204, changed.body)
    await t.runJobs()
    assertClean()
  })

  test('tokens in headers, paths, queries and cookies, known and unknown', async () => {
    const member = await newMember()
    const { token: pat } = await t.make.pat(member)
    const other = await t.make.session(member.id)
    plant({ pat, other })
    for (const token of [member.token, `Bearer ${pat}`, `${pat.slice(0, -1)}x`])
      await send('GET', '/v3/user', { token })
    const cookie = `${cookieName(t.deps.config, 'session')}=${member.token}`
    for (const url of ['/account', '/v3/user', '/account/data']) await send('GET', url, { headers: { cookie } })
    await send('DELETE', `/_internal/session/${other}`, { token: member.token })
    await send('GET', `/v3/nothing/${pat}?token=${pat}`)
    await send('GET', `/v3/user?access_token=${pat}`)
    await send('GET', `/v3/user_email?email=${encodeURIComponent(member.email)}`, {
      token: (await t.make.account({ role: 'admin' })).token,
    })
    await send('GET', '/_internal/admin/rate-limits', { headers: { 'x-admin-key': ADMIN_KEY } })
    await send('GET', '/v3/games', { headers: { 'x-ratelimit-key': BYPASS_KEY } })
    assertClean()
  })

  test("an application's secret, codes and tokens", async () => {
    const owner = await newMember()
    const application = await makeApplication(t, owner)
    const code = await getCode(t, owner, { client_id: application.id })
    const { access_token: token } = (await exchange(t, application, { code })).json()
    plant({ secret: application.secret, code, token })
    await exchange(t, application, { code })
    const fields = { client_id: application.id, client_secret: application.secret, token }
    for (const path of ['introspect', 'revoke']) await postForm(t, path, fields)
    await postForm(t, 'token', { ...fields, client_secret: `${application.secret}x`, code })
    assertClean()
  })

  test('bodies that are cut off, of the wrong shape, or rejected', async () => {
    const member = await newMember()
    const headers = { 'content-type': 'application/json' }
    const broken = `{"username": "x", "password": "${PASSWORD}", "email": "${member.email}"`
    assert.equal((await send('POST', '/_internal/auth/create', { body: broken, headers })).statusCode, 400)
    for (const body of [
      { username: [member.email], password: PASSWORD },
      { username: member.email, password: [PASSWORD] },
    ])
      assert.equal((await send('POST', '/_internal/auth/login', { body })).statusCode, 400)
    const taken = { username: `other-${newId().toLowerCase()}`, email: member.email, password: PASSWORD }
    assert.equal((await send('POST', '/_internal/auth/create', { body: taken })).statusCode, 409)
    assertClean()
  })
})

describe('in what failures write', () => {
  test('a refusal of the database that quotes a row; the answer has the request ID that the log has', async () => {
    const member = await newMember()
    await sql`alter table account add constraint planted_check check (bio <> 'planted') not valid`.execute(t.deps.db)
    const answer = await send('PATCH', `/v3/user/${member.id}`, { token: member.token, body: { bio: 'planted' } })
    await sql`alter table account drop constraint planted_check`.execute(t.deps.db)
    assertMasked(answer, 'database_error')
    assert.ok(
      lines.some((line) => line.includes('planted_check')),
      'the log names the constraint',
    )
    assertClean()
  })

  test('a store of files that fails in the middle of an upload', async () => {
    const project = await t.make.project()
    plantPerson(project.owner)
    const { payload, headers } = await form({ ...versionData(), project_id: project.id }, [
      { name: 'file', bytes: modJar(newId()) },
    ])
    isDiskFull = true
    const answer = await send('POST', '/v3/version', { token: project.owner.token, body: payload, headers })
    isDiskFull = false
    assertMasked(answer, 'file_hosting_error')
    assertClean()
  })

  test('a mail server that quotes the address it rejects', async () => {
    const member = await newMember()
    await send('POST', '/_internal/auth/password/reset', { body: { username: member.username } })
    refusesMail = true
    await t.runJobs()
    refusesMail = false
    const line = lines.find((each) => each.includes('A job failed'))
    assert.match(String(line), /550 5\.1\.1/)
    assertClean()
  })
})

/** A 5xx tells its kind and the request ID, under which the log has the cause. */
function assertMasked(answer: Awaited<ReturnType<typeof send>>, error: string): void {
  assert.equal(answer.statusCode, 500, answer.body)
  const id = String(answer.headers['x-request-id'])
  const body = answer.json()
  assert.deepEqual(Object.keys(body), ['error', 'description'])
  assert.equal(body.error, error)
  assert.match(body.description, new RegExp(`^[A-Z][a-z ;]+ \\(request ${id}\\)$`))
  const logged = lines.map((line) => JSON.parse(line)).filter((line) => line.request_id === id)
  assert.deepEqual(logged.map(({ level }) => level).sort(), ['error', 'info'])
  const [problem] = logged.filter(({ level }) => level === 'error')
  assert.ok(problem.err.stack.length > 0)
}

function assertClean(): void {
  assert.ok(lines.length > 0, 'nothing was logged: the test does not look at the log')
  assert.deepEqual(leaks(), [])
}
