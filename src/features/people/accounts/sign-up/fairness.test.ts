// Expensive work is shared fairly between the IP addresses that request it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import { createImages } from '#platform/images/images.ts'
import { BYPASS_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import { PASSWORD } from '#test/support/http/account-steps.ts'

const LOUD = '192.0.2.1'
const QUIET = '192.0.2.2'

let t: TestApp
before(async () => {
  t = await testApp({ deps: () => ({ images: createImages(1) }) })
})
after(() => t.close())

type Sent = { url: string; method?: 'POST' | 'PATCH'; headers?: Record<string, string>; payload: string | object }

const sendFrom = (remoteAddress: string, { url, method = 'POST', headers, payload }: Sent) =>
  t.inject({
    method,
    url,
    remoteAddress,
    headers: { 'user-agent': 'depot-tests/1.0', 'x-ratelimit-key': BYPASS_KEY, ...headers },
    payload,
  })

/** Sends much from one address and then one request from another. */
async function flood(loud: (n: number) => Sent, quiet: Sent, count: number) {
  const done: string[] = []
  const send = async (name: string, from: string, request: Sent): Promise<LightMyRequestResponse> => {
    const answer = await sendFrom(from, request)
    if (answer.statusCode !== 503) done.push(name)
    return answer
  }
  const answers = Array.from({ length: count }, (_, n) => send('loud', LOUD, loud(n)))
  const last = send('quiet', QUIET, quiet)
  const all = await Promise.all([...answers, last])
  return { quiet: await last, statuses: all.map(({ statusCode }) => statusCode), all, done }
}

/** A password that is much more expensive to rate than a usual one, and is rejected at the end. */
const expensive = (n: number) => `${'p4s5w0rd'.repeat(2)}${String(n).padStart(4, '0')}`

const signUp = (username: string, password: string): Sent => ({
  url: '/_internal/auth/create',
  payload: { username, email: `${username}@example.org`, password },
})

test('an IP address that floods sign-up with expensive passwords does not block others', async () => {
  const { quiet, statuses, all, done } = await flood(
    (n) => signUp(`loud-${n}`, expensive(n)),
    signUp('quiet', PASSWORD),
    30,
  )
  assert.equal(quiet.statusCode, 201, quiet.body)
  assert.ok(done.indexOf('quiet') <= 4, `${done.indexOf('quiet')} passwords of the other address came before`)
  assert.deepEqual([...new Set(statuses)].sort(), [201, 400, 503])
  const refused = all.filter(({ statusCode }) => statusCode === 503)
  for (const answer of refused) {
    assert.equal(answer.json().error, 'service_unavailable')
    assert.equal(answer.headers['retry-after'], '1')
  }
})

test('an IP address that floods sign-in does not block others', async () => {
  const attempt = (username: string, password = PASSWORD): Sent => ({
    url: '/_internal/auth/login',
    payload: { username, password },
  })
  const { quiet, statuses, done } = await flood((n) => attempt(`nobody-${n}`), attempt('quiet'), 40)
  assert.equal(quiet.statusCode, 200, quiet.body)
  assert.ok(done.indexOf('quiet') <= 12, `${done.indexOf('quiet')} sign-ins of the other address came before`)
  assert.ok(statuses.every((status) => [200, 401, 503].includes(status)))
})

test('an IP address that floods image uploads does not block others', async () => {
  const { default: sharp } = await import('sharp')
  const picture = await sharp({ create: { width: 500, height: 500, channels: 3, background: '#123456' } })
    .png()
    .toBuffer()
  const upload = ({ id, token }: { id: string; token: string }): Sent => ({
    url: `/v3/user/${id}/icon?ext=png`,
    method: 'PATCH',
    headers: { authorization: token, 'content-type': 'image/png' },
    payload: picture,
  })
  const [loud, quiet] = await t.make.people(2)
  const result = await flood(() => upload(loud), upload(quiet), 80)
  assert.equal(result.quiet.statusCode, 204, result.quiet.body)
  assert.ok(result.statuses.every((status) => [204, 503].includes(status)))
})
