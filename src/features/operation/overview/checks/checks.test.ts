import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { VERSION } from '#platform/config/version.ts'
import { ADMIN_KEY, testApp } from '#test/support/app/test-app.ts'
import { makeCertificate } from '#test/support/stand-ins/public-host.ts'
import { startReceiver } from '#test/support/stand-ins/receiver.ts'
import type { OverviewView } from '../views.ts'
import { checkCertificate } from './check-certificate.ts'

const service = await startReceiver()
const folder = mkdtempSync(join(tmpdir(), 'depot-certificate-'))
const host = createServer(makeCertificate('localhost', folder)).listen(0, '127.0.0.1')
await once(host, 'listening')
const { port } = host.address() as AddressInfo
const t = await testApp({ env: { RELEASES_URL: `${service.url}/releases`, BASE_URL: `https://localhost:${port}` } })
after(async () => {
  await t.close()
  service.close()
  host.close()
  rmSync(folder, { recursive: true })
})

const overview = async (): Promise<OverviewView> => {
  const answer = await t.anyone.get('/_internal/admin/overview', { headers: { 'x-admin-key': ADMIN_KEY } })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
const problem = async (code: string) => (await overview()).problems.find((found) => found.code === code)
const release = (tag: string, more: object = {}) => ({
  tag_name: tag,
  html_url: `https://code.example.org/${tag}`,
  ...more,
})
const answer = (body: unknown, status = 200) =>
  service.answer((_received, res) => void res.writeHead(status).end(JSON.stringify(body)))

test('the newest release of the feed is reported until it runs here, without drafts and previews', async () => {
  answer([release('v98.0.0'), release('v99.1.0'), release('v99.0.9'), release('v99.2.0', { draft: true })])
  await t.runJob('overview.read-releases')
  const newest = { version: '99.1.0', url: 'https://code.example.org/v99.1.0' }
  assert.deepEqual(await problem('release_available'), {
    code: 'release_available',
    severity: 'warning',
    values: newest,
  })
  assert.deepEqual((await overview()).new_release, newest)
  answer([release('99.3.0-rc.1', { prerelease: true }), release('tomorrow'), release(`v${VERSION}`), 'nothing'])
  await t.runJob('overview.read-releases')
  assert.equal((await overview()).new_release, null)
  // The latest release alone.
  answer(release('v99.4.0'))
  await t.runJob('overview.read-releases')
  assert.equal((await overview()).new_release?.version, '99.4.0')
})

test('a feed that cannot be read keeps the last result, which ends after two days', async () => {
  for (const [body, status] of [
    [{ message: 'Not found' }, 404],
    [[], 200],
    [[{ tag_name: 'v99.9.0', html_url: 'javascript:alert(1)' }], 200],
  ] as const) {
    answer(body, status)
    await assert.rejects(t.runJob('overview.read-releases'))
    assert.equal((await overview()).new_release?.version, '99.4.0')
  }
  t.advance(2 * DAY_MS + HOUR_MS)
  assert.equal((await overview()).new_release, null)
})

test('the end of the certificate of BASE_URL is known and becomes a problem', async () => {
  assert.equal((await overview()).certificate_until, null)
  await t.runJob('overview.check-certificate')
  // The clock of this test is ahead, and the certificate is valid for a day.
  assert.deepEqual(await problem('certificate_ending'), {
    code: 'certificate_ending',
    severity: 'error',
    values: { days: 0 },
  })
  const until = Date.parse((await overview()).certificate_until ?? '')
  assert.ok(Math.abs(until - Date.now() - DAY_MS) < HOUR_MS, String(until))
})

test('an address without TLS has no certificate, and an unreachable one changes nothing', async () => {
  const before = (await overview()).certificate_until
  for (const baseUrl of ['http://localhost:1', 'https://127.0.0.1:1']) {
    const config = { ...t.deps.config, http: { ...t.deps.config.http, baseUrl } }
    await checkCertificate({ ...t.deps, config }, AbortSignal.timeout(60_000))
  }
  assert.equal((await overview()).certificate_until, before)
})
