// Secrets of users and of the operator do not appear in error responses or metrics. Backups contain them only as
// hashes.
import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { eventsOfStore } from '#features/operation/backup/events/event-parts.ts'
import { writeBackup } from '#features/operation/backup/write-backup.ts'
import { newId } from '#lib/ids.ts'
import { loadConfig } from '#platform/config/load-config.ts'
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

/** The operator's secrets, by environment variable. */
const OPERATOR = {
  ADMIN_KEY,
  RATE_LIMIT_BYPASS_KEY: BYPASS_KEY,
  METRICS_TOKEN: 'planted-metrics-token-0123456789abcdef',
  AWS_SECRET_ACCESS_KEY: 'planted-key-of-the-object-store',
}
const MAIL_PASSWORD = 'planted-password-of-the-mail-server'

let t: TestApp
let member: Member
/** Secrets that no error, metric or backup contains. */
const secrets: Record<string, string> = { ...OPERATOR, MAIL_PASSWORD, PASSWORD, OTHER_PASSWORD }
/** The key of an authenticator app, which the service has to know: in backups as it is. */
let authenticatorKey: string
let application: { id: string; secret: string }

const send = (options: InjectOptions): Promise<LightMyRequestResponse> =>
  t.inject({
    ...options,
    headers: { 'user-agent': 'depot-tests/1.0', 'x-ratelimit-key': BYPASS_KEY, ...options.headers },
  })

function found(text: string, more: Record<string, string> = {}): string[] {
  const all = Object.entries({ ...secrets, ...more })
  for (const [name, value] of all) assert.ok(value.length >= 6, `${name} is too short to be looked for`)
  return all
    .filter(([, value]) => text.includes(value) || text.includes(encodeURIComponent(value)))
    .map(([name]) => name)
}

before(async () => {
  const env = process.env['AWS_SECRET_ACCESS_KEY']
  process.env['AWS_SECRET_ACCESS_KEY'] = OPERATOR.AWS_SECRET_ACCESS_KEY
  after(() => {
    if (env === undefined) delete process.env['AWS_SECRET_ACCESS_KEY']
    else process.env['AWS_SECRET_ACCESS_KEY'] = env
  })
  const { mail } = loadConfig({ SMTP_URL: `smtp://depot:${MAIL_PASSWORD}@127.0.0.1:1`, MAIL_FROM: 'depot@example.org' })
  t = await testApp({
    env: { METRICS_TOKEN: OPERATOR.METRICS_TOKEN },
    deps: ({ config, files }) => ({
      config: { ...config, mail },
      files: failingFiles(files, { publish: () => new Error('ENOSPC: no space left') }),
    }),
  })
  member = await makeMember(t)
  secrets['session'] = member.token
  secrets['access token'] = (await t.make.pat(member)).token
  application = await makeApplication(t, member)
  secrets['secret of an application'] = application.secret
  const code = await getCode(t, member, { client_id: application.id })
  secrets['token of an application'] = (await exchange(t, application, { code })).json().access_token
  secrets['code of an application'] = await getCode(t, member, { client_id: application.id })
  const { secret, backupCodes } = await enableTwoFactor(t, member)
  authenticatorKey = secret
  secrets['backup code'] = backupCodes[0] ?? ''
  secrets['flow of a sign-in'] = (await signIn(t, member.username)).json().flow
  await t.anyone.post('/_internal/auth/password/reset', { username: member.email })
  secrets['mailed link'] = await mailedFlow(t, member.email, /password/i)
})
after(() => t?.close())

/** Requests that are rejected or fail, with secrets in every part of the request. */
async function refusedRequests(): Promise<InjectOptions[]> {
  const { token } = member
  const pat = secrets['access token'] ?? ''
  const project = await t.make.project({ owner: member })
  const upload = await form({ ...versionData(), project_id: project.id }, [{ name: 'file', bytes: modJar(newId()) }])
  const json = { 'content-type': 'application/json' }
  const signUp = { username: member.username, email: member.email, password: PASSWORD }
  const post = (url: string, payload: object | string, headers: Record<string, string> = {}): InjectOptions => ({
    method: 'POST',
    url,
    payload,
    headers,
  })
  return [
    post('/_internal/auth/create', signUp),
    post('/_internal/auth/create', { ...signUp, password: [PASSWORD] }),
    post('/_internal/auth/create', `{"username": "x", "password": "${PASSWORD}", "email": `, json),
    post('/_internal/auth/login', { username: member.username, password: OTHER_PASSWORD }),
    post('/_internal/auth/login', { username: PASSWORD, password: [OTHER_PASSWORD] }),
    post('/_internal/auth/login/2fa', { flow: secrets['flow of a sign-in'], code: 'no-code' }),
    post('/_internal/auth/login/2fa', { flow: [secrets['flow of a sign-in']], code: secrets['backup code'] }),
    { method: 'PATCH', url: '/_internal/auth/password', payload: { flow: secrets['mailed link'], new_password: 'x' } },
    {
      method: 'PATCH',
      url: '/_internal/auth/email',
      payload: { email: 'no address', password: PASSWORD },
      headers: { authorization: token },
    },
    { url: `/v3/nothing/${pat}?token=${pat}` },
    { url: '/v3/projects', query: { ids: pat } },
    { url: '/v3/search', query: { facets: token } },
    { url: `/v3/user/${pat}` },
    { method: 'DELETE', url: `/_internal/session/${token}`, headers: { authorization: `${token}x` } },
    { url: '/v3/user', headers: { authorization: `${pat}x` } },
    { url: '/v3/user', headers: { authorization: `Basic ${pat}` } },
    { url: '/account/nothing', headers: { cookie: `${cookieName(t.deps.config, 'session')}=${token}` } },
    { url: '/_internal/admin/nothing', headers: { 'x-admin-key': ADMIN_KEY } },
    { url: '/metrics', headers: { authorization: `${OPERATOR.METRICS_TOKEN}x` } },
    post('/v3/version', upload.payload, { ...upload.headers, authorization: token }),
  ]
}

test('an error response contains no secret, not even the secret in the request', async () => {
  for (const request of await refusedRequests()) {
    const answer = await send(request)
    const place = `${request.method ?? 'GET'} ${String(request.url).slice(0, 40)}: ${answer.statusCode}`
    assert.ok(answer.statusCode >= 400, `${place} is not an error`)
    assert.deepEqual(found(answer.body + JSON.stringify(answer.headers), { authenticatorKey }), [], place)
  }
  for (const fields of [
    { code: 'unknown', client_secret: application.secret },
    { code: secrets['code of an application'], client_secret: `${application.secret}x` },
    {
      code: secrets['code of an application'],
      client_secret: application.secret,
      redirect_uri: 'https://other.example',
    },
  ]) {
    const answer = await postForm(t, 'token', {
      grant_type: 'authorization_code',
      client_id: application.id,
      ...fields,
    })
    assert.ok(answer.statusCode >= 400, answer.body)
    assert.deepEqual(found(answer.body), [])
  }
})

test('metrics contain no secret and no user', async () => {
  const answer = await send({ url: '/metrics', headers: { authorization: OPERATOR.METRICS_TOKEN } })
  assert.equal(answer.statusCode, 200)
  assert.match(answer.body, /http_request/)
  assert.deepEqual(found(answer.body, { authenticatorKey, name: member.username, email: member.email }), [])
})

test('a backup contains secrets only as hashes, except the keys of authenticator apps', async () => {
  const pieces: Buffer[] = []
  const sink = new Writable({
    write: (piece: Buffer, _encoding, done) => {
      pieces.push(piece)
      done()
    },
  })
  await writeBackup(t.deps, { sink, events: eventsOfStore(t.deps.analytics), version: '0.0.0-test', since: undefined })
  const parts = partsOf(Buffer.concat(pieces))
  const text = parts.map((part) => part.toString('latin1')).join('\n')
  assert.ok(text.includes(member.username), 'the scanned text does not contain the rows')
  assert.deepEqual(found(text, { authenticatorKey }), ['authenticatorKey'])
  const rows = await t.deps.db.selectFrom('instance_secret').select('secret').execute()
  for (const { secret } of rows) {
    for (const form of ['hex', 'base64', 'latin1'] as const) assert.ok(!text.includes(secret.toString(form)))
  }
})

const BLOCK = 512

/** The parts of a tar archive, unpacked. */
function partsOf(archive: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0; at + BLOCK <= archive.length && archive[at] !== 0; ) {
    const bytes = Number.parseInt(archive.toString('latin1', at + 124, at + 135), 8)
    const part = archive.subarray(at + BLOCK, at + BLOCK + bytes)
    parts.push(part.readUInt16BE(0) === 0x1f8b ? gunzipSync(part) : part)
    at += BLOCK + Math.ceil(bytes / BLOCK) * BLOCK
  }
  return parts
}
