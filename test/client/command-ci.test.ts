// The whole workflow: a build service on loopback issues the identity of a job, the project trusts its repository, and
// depot-publish publishes. Every wrong identity is refused with its reason, and leaves nothing.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import { newId } from '#lib/ids.ts'
import { type CiIssuer, startCiIssuer } from '#test/support/stand-ins/ci-issuer.ts'
import { type Outcome, openPublisher, type Publisher } from './publish-steps.ts'
import { type StandIn, sendJson, standIn } from './stand-in.ts'

const AUDIENCE = 'https://publish.example'
const COMMIT = 'c0ffee'.padEnd(40, '0')

let github: CiIssuer
let gitlab: CiIssuer
let forgejo: CiIssuer
let broken: CiIssuer
let p: Publisher
let slug: string
let repository: string
let repositoryId = 4711
before(async () => {
  ;[github, gitlab, forgejo, broken] = await Promise.all([
    startCiIssuer(),
    startCiIssuer(),
    startCiIssuer(),
    startCiIssuer(),
  ])
  const issuers = [
    { issuer: github.url, kind: 'github', name: 'GitHub' },
    { issuer: gitlab.url, kind: 'gitlab', name: 'GitLab' },
    { issuer: forgejo.url, kind: 'forgejo', name: 'Forgejo' },
    { issuer: broken.url, kind: 'github', name: 'Broken' },
  ]
  p = await openPublisher({ CI_ISSUERS: JSON.stringify(issuers), CI_AUDIENCE: AUDIENCE })
})
async function begin(): Promise<void> {
  p.clear()
  repository = `lanterns/lamp-${newId().toLowerCase()}`
  repositoryId += 10
  slug = await p.newProject()
  p.writeJar('lantern.jar')
}
after(async () => {
  for (const issuer of [github, gitlab, forgejo, broken]) issuer?.close()
  await p?.close()
})

type Claims = Record<string, unknown>

async function trust(fields: Claims = {}): Promise<void> {
  const publisher = { issuer: github.url, repository, workflow: 'release.yml', ...fields }
  const added = await p.t.as(p.person).post(`/v3/project/${slug}/trusted-publisher`, publisher)
  assert.equal(added.statusCode, 201, added.body)
}

const seconds = (): number => Math.floor(p.t.deps.now() / 1000)
const times = () => ({ aud: AUDIENCE, iat: seconds(), exp: seconds() + 300 })

/** Claims of GitHub and Forgejo. */
const claims = (fields: Claims = {}): Claims => ({
  ...times(),
  sub: `repo:${repository}:ref:refs/tags/v1`,
  repository,
  repository_id: String(repositoryId),
  repository_owner_id: '17',
  workflow_ref: `${repository}/.github/workflows/release.yml@refs/tags/v1`,
  ref: 'refs/tags/v1',
  event_name: 'push',
  sha: COMMIT,
  run_id: '99',
  runner_environment: 'github-hosted',
  ...fields,
})

const publish = (env: Record<string, string>, args: readonly string[] = []): Promise<Outcome> =>
  p.publish(['--project', slug, 'lantern.jar', ...args], { CI: 'true', ...env })

/** The runner of GitHub or Forgejo, which issues identities with the claims for the audience that the job requests. */
function startRunner(issuer: CiIssuer, fields: Claims = {}): Promise<StandIn> {
  return standIn((request, response) => {
    const aud = new URL(request.url ?? '', 'http://runner').searchParams.get('audience')
    const isJob = request.headers.authorization === 'bearer of the runner'
    sendJson(response, isJob ? 200 : 403, isJob ? { value: issuer.token(claims({ aud, ...fields })) } : {})
  })
}

async function publishOnRunner(issuer: CiIssuer, fields: Claims = {}): Promise<Outcome> {
  const runner = await startRunner(issuer, fields)
  try {
    return await publish({
      ACTIONS_ID_TOKEN_REQUEST_URL: `${runner.url}/token?api-version=2`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of the runner',
    })
  } finally {
    runner.close()
  }
}

/** Asserts that the version is public, and returns its provenance. */
async function assertPublished({ code, result, notes }: Outcome): Promise<Claims> {
  assert.equal(code, 0, notes)
  assert.equal(result, `${p.url}/mod/${slug}/version/1.2.0`)
  const page = await p.t.anyone.get(new URL(result).pathname, { headers: { accept: 'text/html' } })
  assert.equal(page.statusCode, 200)
  const version = (await p.t.anyone.get(`/v3/project/${slug}/version/1.2.0`)).json()
  assert.equal(version.author_id, p.person.id)
  assert.match(page.body, new RegExp(String(version.provenance.commit).slice(0, 7)))
  return version.provenance
}

const liveTokens = async (): Promise<number> =>
  (await p.t.deps.db.selectFrom('publisher_token').selectAll().execute()).filter(
    ({ expires }) => expires.getTime() > p.t.deps.now(),
  ).length

describe('a job publishes without a stored secret', () => {
  beforeEach(begin)

  test('on GitHub Actions; its token ends with the job', async () => {
    await trust({ ref_pattern: 'refs/tags/v*' })
    const provenance = await assertPublished(await publishOnRunner(github))
    assert.deepEqual(provenance, {
      published: 'ci',
      issuer: github.url,
      repository,
      repository_id: String(repositoryId),
      commit: COMMIT,
      ref: 'refs/tags/v1',
      workflow: '.github/workflows/release.yml',
      run_url: `${github.url}/${repository}/actions/runs/99`,
      event: 'push',
      runner: 'github-hosted',
    })
    assert.equal(await liveTokens(), 0)
  })

  test('on Forgejo Actions', async () => {
    await trust({ issuer: forgejo.url })
    const workflow_ref = `${repository}/.forgejo/workflows/release.yml@refs/tags/v1`
    const { workflow, run_url } = await assertPublished(await publishOnRunner(forgejo, { workflow_ref }))
    assert.deepEqual(
      [workflow, run_url],
      ['.forgejo/workflows/release.yml', `${forgejo.url}/${repository}/actions/runs/99`],
    )
  })

  test('on GitLab CI', async () => {
    await trust({ issuer: gitlab.url, workflow: '.gitlab-ci.yml' })
    const pipeline = {
      project_path: repository,
      project_id: String(repositoryId),
      namespace_id: '17',
      ci_config_ref_uri: `gitlab.example/${repository}//.gitlab-ci.yml@refs/tags/v1`,
      ref: 'v1',
      ref_type: 'tag',
      pipeline_source: 'push',
      pipeline_id: '7',
      sha: COMMIT,
    }
    const outcome = await publish({ DEPOT_ID_TOKEN: gitlab.token({ ...times(), ...pipeline }) })
    const { workflow, run_url, ref } = await assertPublished(outcome)
    assert.deepEqual(
      [workflow, run_url, ref],
      ['.gitlab-ci.yml', `${gitlab.url}/${repository}/-/pipelines/7`, 'refs/tags/v1'],
    )
  })

  test('also after the repository was renamed', async () => {
    await trust()
    await assertPublished(await publishOnRunner(github))
    repository = `lanterns/torch-${newId().toLowerCase()}`
    p.writeJar('lantern.jar')
    const runner = await startRunner(github)
    const env = { ACTIONS_ID_TOKEN_REQUEST_URL: runner.url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of the runner' }
    const { code, notes } = await publish(env, ['--version-number', '1.3.0'])
    assert.equal(code, 0, notes)
    runner.close()
  })

  test('in a project that waits for its review, and says that the version is not public', async () => {
    slug = await p.newProject({ isPublic: false })
    await trust()
    const { code, result, notes } = await publishOnRunner(github)
    assert.deepEqual([code, result], [4, `${p.url}/mod/${slug}/version/1.2.0`], notes)
    assert.match(notes, /The project is not public/)
  })

  test('a dry run checks everything, and a job that runs again publishes nothing', async () => {
    await trust()
    const dry = await publish({ DEPOT_ID_TOKEN: github.token(claims()) }, ['--dry-run'])
    assert.deepEqual([dry.code, dry.result], [0, 'Version 1.2.0 is valid. Nothing was published.'], dry.notes)
    for (const expected of [/Publishing/, /nothing was published/]) {
      const { code, notes } = await publish({ DEPOT_ID_TOKEN: github.token(claims()) }, ['--skip-existing'])
      assert.equal(code, 0, notes)
      assert.match(notes, expected)
    }
    assert.deepEqual(await p.t.deps.db.selectFrom('upload').select('id').execute(), [])
  })
})

/** HS256 with the public key as the secret, which a verifier that trusts `alg` accepts. */
function signedWithPublicKey(): string {
  const [, payload] = github.token(claims()).split('.')
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'JWT', kid: 'first' })).toString('base64url')
  const mac = createHmac('sha256', github.publicKey()).update(`${header}.${payload}`).digest('base64url')
  return `${header}.${payload}.${mac}`
}

const of = (fields: Claims) => () => github.token(claims(fields))
const workflow = (path: string) => `${path}@refs/tags/v1`

const WRONG: Record<string, { token: () => string; code: string; reason: RegExp }> = {
  'another audience': { token: of({ aud: 'https://other.example' }), code: 'audience', reason: /must be exactly/ },
  'a second audience': { token: of({ aud: [AUDIENCE, 'https://x.example'] }), code: 'audience', reason: /exactly/ },
  'no audience': { token: of({ aud: undefined }), code: 'audience', reason: /exactly https:\/\/publish.example/ },
  'another issuer': { token: of({ iss: 'https://evil.example' }), code: 'unknown_issuer', reason: /issuer is not one/ },
  'an unknown key': {
    token: () => github.token(claims(), { kid: 'unknown' }),
    code: 'unknown_key',
    reason: /GitHub has no key/,
  },
  'the key of somebody else': {
    token: () => github.token(claims(), { kid: 'strange', header: { kid: 'first' } }),
    code: 'signature',
    reason: /signature/,
  },
  'no algorithm': {
    token: () => github.token(claims(), { header: { alg: 'none' } }),
    code: 'malformed',
    reason: /algorithm none is not allowed/,
  },
  HS256: { token: signedWithPublicKey, code: 'malformed', reason: /algorithm HS256 is not allowed/ },
  'an expired token': { token: () => of({ exp: seconds() - 40 })(), code: 'expired', reason: /has expired/ },
  'an old token': { token: () => of({ iat: seconds() - 960 })(), code: 'expired', reason: /more than 15 minutes ago/ },
  'another workflow': {
    token: () => of({ workflow_ref: workflow(`${repository}/.github/workflows/ci.yml`) })(),
    code: 'no_publisher',
    reason: /workflow is `ci.yml`, expected `release.yml`/,
  },
  'a fork': {
    token: () =>
      of({
        repository: 'forks/lamp',
        repository_id: '1',
        workflow_ref: workflow('forks/lamp/.github/workflows/release.yml'),
      })(),
    code: 'no_publisher',
    reason: /forks\/lamp/,
  },
  'a pull request': { token: of({ event_name: 'pull_request' }), code: 'event', reason: /pull_request/ },
  'no token at all': { token: () => 'garbage', code: 'malformed', reason: /three parts/ },
}

async function assertRefused(outcome: Outcome, code: string, reason: RegExp): Promise<void> {
  assert.equal(outcome.code, 1, outcome.notes)
  const { message, details } = JSON.parse(outcome.result)
  assert.equal(details.code, code, outcome.result)
  assert.match(message, reason)
  assert.deepEqual((await p.t.as(p.person).get(`/v3/project/${slug}/version`)).json(), [])
  assert.deepEqual(await p.t.deps.db.selectFrom('upload').select('id').execute(), [])
}

describe('a wrong identity is refused with its reason', () => {
  before(async () => {
    await begin()
    await trust({ repository_id: String(repositoryId) })
  })

  for (const [name, { token, code, reason }] of Object.entries(WRONG)) {
    test(name, async () => {
      await assertRefused(await publish({ DEPOT_ID_TOKEN: token() }, ['--json']), code, reason)
    })
  }

  test('a repository that somebody created again under the old name', async () => {
    const recreated = github.token(claims({ repository_id: '1' }))
    await assertRefused(
      await publish({ DEPOT_ID_TOKEN: recreated }, ['--json']),
      'no_publisher',
      /repository ID is `1`, expected `\d+`: the repository is not the one that published before/,
    )
  })

  test('a project that does not trust the repository; the text names the reason and the request', async () => {
    await begin()
    const { code, result, notes } = await publish({ DEPOT_ID_TOKEN: github.token(claims()) })
    assert.deepEqual([code, result], [1, ''])
    assert.match(notes, /^Error: .*lanterns\/lamp-.*\n {2}Request /)
  })

  test('a token that two jobs use at the same moment', async () => {
    await begin()
    await trust()
    const DEPOT_ID_TOKEN = github.token(claims())
    const outcomes = await Promise.all(
      [1, 2].map((n) => publish({ DEPOT_ID_TOKEN }, ['--version-number', `2.0.${n}`, '--json'])),
    )
    assert.deepEqual(outcomes.map(({ code }) => code).sort(), [0, 1], outcomes.map(({ notes }) => notes).join('\n'))
    const refused = outcomes.find(({ code }) => code === 1)
    assert.equal(JSON.parse(refused?.result ?? '{}').details.code, 'replayed')
  })
})

describe('an issuer that does not work', () => {
  before(begin)

  const cases: Record<string, Parameters<CiIssuer['answers']['set']>> = {
    'lies about its keys': ['/keys', (res) => void res.writeHead(200).end('{"keys": "none"}')],
    redirects: [
      '/.well-known/openid-configuration',
      (res) => void res.writeHead(302, { location: 'https://evil.example/' }).end(),
    ],
  }
  for (const [name, answer] of Object.entries(cases)) {
    test(`it ${name}: the command says so, and the instance is unavailable for it`, async () => {
      broken.answers.clear()
      broken.answers.set(...answer)
      // Failures are remembered for 10 seconds.
      p.t.advance(11_000)
      const { code, notes } = await publish({ DEPOT_ID_TOKEN: broken.token(claims()) })
      assert.equal(code, 3, notes)
      assert.match(notes, /The keys of Broken cannot be read/)
    })
  }
})
