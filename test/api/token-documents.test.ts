// Runs the commands of the documents about tokens and trusted publishing against a server, in their order.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { DAY_MS } from '#lib/time.ts'
import { loadConfig } from '#platform/config/load-config.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { listening } from '#test/support/http/tus-requests.ts'
import { readBlocks } from '#test/support/processes/documented-steps.ts'
import { type CiIssuer, startCiIssuer } from '#test/support/stand-ins/ci-issuer.ts'

const run = promisify(execFile)

let t: TestApp
let url: string
let ci: CiIssuer
let person: Person
before(async () => {
  ci = await startCiIssuer()
  t = await testApp({ env: { CI_ISSUERS: JSON.stringify([{ issuer: ci.url, kind: 'github', name: 'Builds' }]) } })
  url = await listening(t)
  person = await t.make.account()
})
after(async () => {
  ci.close()
  await t.close()
})

/** Returns what a block prints. `replaced` has texts of the document and the values of this test. */
async function shell(
  block = '',
  replaced: Record<string, string> = {},
  env: Record<string, string> = {},
): Promise<string> {
  const script = Object.entries(replaced).reduce((text, [from, to]) => {
    assert.ok(text.includes(from), `${from} is not in: ${text}`)
    return text.replaceAll(from, to)
  }, block)
  const all = { ...process.env, DEPOT: url, SESSION: person.token, ...env }
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { env: all })
  assert.ok(!stdout.includes('"error"'), stdout)
  return stdout
}

test('docs/api/tokens.md', async () => {
  const [create, service, rate, leaked, ...more] = readBlocks('docs/api/tokens.md')
  assert.deepEqual(more, [])
  const project = await t.make.project({ owner: person })
  const organization = await teamFactories(t.deps.db).organization(person)
  const date = { '2027-01-31T00:00:00Z': new Date(t.deps.now() + 30 * DAY_MS).toISOString() }
  const token = JSON.parse(await shell(create, { ...date, AABBCCDD: project.id })).access_token
  const made = JSON.parse(await shell(service, { ...date, '/harbour/': `/${organization.slug}/` }))
  assert.deepEqual(made.limits.organizations, [organization.id])
  assert.equal(JSON.parse(await shell(rate)).limit > 0, true)
  const works = async () => (await t.as({ token }).get('/v3/user')).statusCode !== 401
  // The address of the document's limit is not that of this test.
  assert.equal(await works(), false)
  await shell(leaked, { 'dpp_…': token })
  assert.deepEqual(
    (await t.as(person).get('/_internal/pat')).json().map(({ name }: { name: string }) => name),
    [],
  )
})

test('docs/publishers/trusted-publishing.md', async () => {
  const [add, exchange, settings, ...more] = readBlocks('docs/publishers/trusted-publishing.md')
  assert.deepEqual(more, [])
  const project = await t.make.project({ owner: person })
  const issuer = { 'https://token.actions.githubusercontent.com': ci.url }
  const added = JSON.parse(await shell(add, { ...issuer, '/lamp/': `/${project.slug}/` }))
  assert.equal(added.workflow, 'release.yml')
  const seconds = Math.floor(t.deps.now() / 1000)
  const value = ci.token({
    aud: t.deps.config.ci.audience,
    iat: seconds,
    exp: seconds + 600,
    repository: added.repository,
    repository_id: '1',
    workflow_ref: `${added.repository}/.github/workflows/release.yml@refs/tags/v1`,
    environment: 'release',
    ref: 'refs/tags/v1',
    event_name: 'push',
    sha: 'ab'.repeat(20),
  })
  ci.answers.set(`/token?api=1&audience=${url}`, (res) => void res.end(JSON.stringify({ value })))
  const build = { ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'secret', ACTIONS_ID_TOKEN_REQUEST_URL: `${ci.url}/token?api=1` }
  assert.match(
    await shell(`${exchange}echo "$TOKEN"`, { '\\"lamp\\"': `\\"${project.slug}\\"` }, build),
    /^dpt_[0-9A-Za-z]{60}\n$/,
  )
  const text = await shell(`${settings}echo "$CI_ISSUERS"`)
  const config = loadConfig({ CI_ISSUERS: text.trim() })
  assert.deepEqual(
    config.ci.issuers.map(({ kind, maxAgeSeconds }) => [kind, maxAgeSeconds]),
    [['forgejo', 3600]],
  )
})
