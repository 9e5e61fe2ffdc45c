// Publishing from builds over HTTP, with a build service on loopback: the exchange with every wrong token, the rights of
// the token, and the end of a publisher.
import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { ALL_PROJECT_PERMISSIONS } from '#features/basics/access/permissions.ts'
import { newId } from '#lib/ids.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { form, modJar, versionData } from '#test/support/http/forms.ts'
import { type CiIssuer, startCiIssuer } from '#test/support/stand-ins/ci-issuer.ts'

const AUDIENCE = 'https://publish.example'
const EXCHANGE = '/_internal/oidc/token'

let t: TestApp
let ci: CiIssuer
let gitlab: CiIssuer
let owner: Person
let project: MadeProject
let repository: string
let repositoryId = 4711

before(async () => {
  ci = await startCiIssuer()
  gitlab = await startCiIssuer()
  const issuers = [
    { issuer: ci.url, kind: 'generic', name: 'Builds' },
    { issuer: gitlab.url, kind: 'gitlab', name: 'Pipelines' },
  ]
  t = await testApp({ env: { CI_ISSUERS: JSON.stringify(issuers), CI_AUDIENCE: AUDIENCE } })
})
after(async () => {
  ci.close()
  gitlab.close()
  await t.close()
})
beforeEach(async () => {
  owner = await t.make.account()
  project = await t.make.project({ owner, status: 'draft' })
  repository = `lanterns/lamp-${newId().toLowerCase()}`
  repositoryId += 10
})

const path = (id = project.id): string => `/v3/project/${id}/trusted-publisher`
const publisher = (fields: object = {}) => ({ issuer: ci.url, repository, workflow: 'release.yml', ...fields })

async function add(fields: object = {}, id = project.id): Promise<string> {
  const answer = await t.as(owner).post(path(id), publisher(fields))
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().id
}

const seconds = (): number => Math.floor(t.deps.now() / 1000)

function claims(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    aud: AUDIENCE,
    iat: seconds(),
    exp: seconds() + 300,
    repository,
    repository_id: String(repositoryId),
    repository_owner_id: '17',
    workflow_ref: `${repository}/.github/workflows/release.yml@refs/tags/v1`,
    job_workflow_ref: `${repository}/.github/workflows/release.yml@refs/tags/v1`,
    ref: 'refs/tags/v1',
    ref_protected: 'true',
    event_name: 'push',
    sha: 'c0ffee'.padEnd(40, '0'),
    run_id: '99',
    runner_environment: 'github-hosted',
    ...fields,
  }
}

const exchange = (token: unknown, more: object = { project: project.id }) => t.anyone.post(EXCHANGE, { token, ...more })

async function exchanged(fields: Record<string, unknown> = {}): Promise<string> {
  const answer = await exchange(ci.token(claims(fields)))
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().access_token
}

async function assertRefused(token: unknown, code: string, message?: RegExp, more?: object): Promise<void> {
  const answer = await exchange(token, more)
  assertError(answer, 400, 'invalid_input')
  assert.equal(answer.json().details.code, code, answer.body)
  if (message !== undefined) assert.match(answer.json().description, message)
}

async function upload(token: string, fields: object = {}) {
  const data = versionData({ project_id: project.id, ...fields })
  const { payload, headers } = await form(data, [{ name: 'file', bytes: modJar(newId()) }])
  return t.as({ token }).post('/v3/version', payload, { headers })
}

test('a build publishes without a stored secret, and the version shows where it was built', async () => {
  const id = await add()
  const answer = await exchange(ci.token(claims()))
  assert.deepEqual(
    { ...(answer.json() as object), access_token: '' },
    {
      access_token: '',
      token_type: 'Bearer',
      expires_in: 900,
      projects: [project.id],
      publisher: { id, repository, workflow: 'release.yml' },
    },
  )
  const token = answer.json().access_token
  assert.match(token, /^dpt_[0-9A-Za-z]{60}$/)
  const made = await upload(token)
  assert.equal(made.statusCode, 201, made.body)
  const { id: versionId, author_id, provenance } = made.json()
  assert.equal(author_id, owner.id)
  assert.deepEqual(provenance, {
    published: 'ci',
    issuer: ci.url,
    repository,
    repository_id: String(repositoryId),
    commit: 'c0ffee'.padEnd(40, '0'),
    ref: 'refs/tags/v1',
    workflow: '.github/workflows/release.yml',
    run_url: null,
    event: 'push',
    runner: 'github-hosted',
  })
  const change = await t.as({ token }).patch(`/v3/version/${versionId}`, { name: 'Better' })
  assert.equal(change.statusCode, 204, change.body)
  const files = await form(undefined, [{ name: 'more', bytes: modJar('more') }])
  const added = await t.as({ token }).post(`/v3/version/${versionId}/file`, files.payload, { headers: files.headers })
  assert.equal(added.statusCode, 204, added.body)
  assert.equal((await t.as({ token }).get(`/v3/version/${versionId}`)).json().provenance.commit, provenance.commit)
  const own = await t.as(owner).get(`/v2/version/${versionId}`)
  const byHand = await form(undefined, [{ name: 'hand', bytes: modJar('hand') }])
  const path = `/v3/version/${versionId}/file`
  assert.equal((await t.as(owner).post(path, byHand.payload, { headers: byHand.headers })).statusCode, 204)
  const mixed = (await t.as(owner).get(`/v3/version/${versionId}`)).json()
  assert.ok(!('provenance' in mixed), 'not all files are of the build')
  assert.ok(!('provenance' in own.json()))
  t.advance(15 * MINUTE_MS)
  assertError(await upload(token), 401, 'unauthorized')
})

test('the token publishes in its project and nowhere else, and does nothing else', async () => {
  await add()
  const other = await t.make.project({ owner, status: 'draft' })
  const token = await exchanged()
  const as = t.as({ token })
  assertError(await upload(token, { project_id: other.id }), 400, 'validation_error', 'project_id')
  assertError(await as.get(`/v3/project/${project.id}`), 404, 'not_found')
  assertError(await as.get('/v3/user'), 403, 'unauthorized')
  assertError(await as.patch(`/v3/project/${project.id}`, { summary: 'Mine' }), 403, 'unauthorized')
  assertError(await as.post(path(), publisher({ workflow: 'more.yml' })), 403, 'unauthorized')
  const { id } = (await upload(token)).json()
  assertError(await as.delete(`/v3/version/${id}`), 403, 'unauthorized')
  const ended = await as.delete(EXCHANGE)
  assert.equal(ended.statusCode, 204)
  assertError(await upload(token), 401, 'unauthorized')
})

test('wrong tokens are rejected, each with its code', async () => {
  await add()
  const valid = claims()
  const { exp } = valid
  const now = seconds()
  await assertRefused('garbage', 'malformed')
  await assertRefused('a.b.c', 'malformed')
  await assertRefused(`${ci.token(valid)}${'a'.repeat(8 * 1024)}`, 'malformed', /8 KiB/)
  for (const header of [{ alg: 'none' }, { alg: 'HS256' }, { kid: undefined }, { jku: 'https://evil.example' }])
    await assertRefused(ci.token(valid, { header }), 'malformed')
  for (const header of [{ x5u: 'https://evil.example' }, { jwk: {} }, { crit: ['exp'] }, { alg: 'ES256' }])
    await assertRefused(ci.token(valid, { header }), 'malformed')
  await assertRefused(signedWithPublicKey(), 'malformed', /HS256/)
  await assertRefused(ci.token({ ...valid, jti: undefined }), 'malformed', /jti/)
  await assertRefused(ci.token({ ...valid, iss: 'https://evil.example' }), 'unknown_issuer')
  await assertRefused(ci.token({ ...valid, iss: `${ci.url}/` }), 'unknown_issuer')
  await assertRefused(ci.token(valid, { kid: 'unknown' }), 'unknown_key')
  await assertRefused(ci.token(valid, { kid: 'strange', header: { kid: 'first' } }), 'signature')
  await assertRefused(`${ci.token(valid).slice(0, -8)}AAAAAAAA`, 'signature')
  for (const wrong of [
    'https://other.example',
    [AUDIENCE],
    [AUDIENCE, 'https://other.example'],
    undefined,
    `${AUDIENCE}/`,
  ])
    await assertRefused(ci.token({ ...valid, aud: wrong }), 'audience')
  await assertRefused(ci.token({ ...valid, exp: now - 40 }), 'expired')
  await assertRefused(ci.token({ ...valid, iat: now - 15 * 60 - 31 }), 'expired', /15 minutes/)
  await assertRefused(ci.token({ ...valid, iat: now, exp: now + 86_401 }), 'expired', /24 hours/)
  await assertRefused(ci.token({ ...valid, iat: now + 90, exp }), 'not_yet_valid')
  await assertRefused(ci.token({ ...valid, nbf: now + 90 }), 'not_yet_valid')
  await assertRefused(ci.token({ ...valid, exp: String(exp) }), 'malformed')
  // 30 seconds of leeway
  assert.equal((await exchange(ci.token({ ...valid, exp: now - 20 }))).statusCode, 200)
})

/** HS256 with the public key as the secret, which a verifier that trusts `alg` accepts. */
function signedWithPublicKey(): string {
  const [, payload] = ci.token(claims()).split('.')
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'JWT', kid: 'first' })).toString('base64url')
  const mac = createHmac('sha256', ci.publicKey()).update(`${header}.${payload}`).digest('base64url')
  return `${header}.${payload}.${mac}`
}

test('only builds of events and refs whose code members write get a token', async () => {
  await add()
  const ofRef = (ref: string) => ({
    ref,
    workflow_ref: `${repository}/.github/workflows/release.yml@${ref}`,
    job_workflow_ref: `${repository}/.github/workflows/release.yml@${ref}`,
  })
  for (const event_name of ['push', 'workflow_dispatch', 'schedule', 'release']) await exchanged({ event_name })
  await exchanged(ofRef('refs/heads/a@b'))
  for (const event_name of [
    'pull_request',
    'pull_request_target',
    'pull_request_review',
    'pull_request_review_comment',
    'issue_comment',
    'workflow_run',
    'merge_group',
    'an event of the future',
  ])
    await assertRefused(ci.token(claims({ event_name })), 'event', new RegExp(event_name))
  for (const ref of ['refs/pull/7/merge', 'refs/pull/7/head', 'refs/heads/', 'main'])
    await assertRefused(ci.token(claims(ofRef(ref))), 'event', /not a branch or a tag/)
  const workflow = (path: string) => {
    const workflow_ref = `${repository}/.github/workflows/${path}@refs/tags/v1`
    return ci.token(claims({ workflow_ref, job_workflow_ref: workflow_ref }))
  }
  await assertRefused(workflow('release.yml@x.yml'), 'no_publisher', /workflow is `release.yml@x.yml`/)
  await assertRefused(workflow('release.yml@refs/tags/v1'), 'no_publisher', /workflow is/)
  const elsewhere = `${repository}/.github/workflows/release.yml@refs/heads/other`
  await assertRefused(ci.token(claims({ workflow_ref: elsewhere })), 'no_publisher', /not from the ref/)
  const called = (path: string) => ci.token(claims({ job_workflow_ref: path }))
  await add({ workflow: 'release.yml', environment: 'x', called_workflows: ['lanterns/ci/.github/workflows/p.yml'] })
  const other = 'lanterns/ci/.github/workflows/p.yml@x.yml@refs/heads/main'
  await assertRefused(called(other), 'no_publisher', /p\.yml@x\.yml/)
})

test('a stranger who names the repository of somebody else gets none of its builds and breaks none', async () => {
  const stranger = await t.make.account()
  const strange = await t.make.project({ owner: stranger, status: 'draft' })
  const named = await t.as(stranger).post(path(strange.id), publisher())
  assert.equal(named.statusCode, 201, named.body)
  const unnamed = () => exchange(ci.token(claims()), {})
  const refused = await unnamed()
  assertError(refused, 400, 'invalid_input', 'project')
  assert.match(refused.json().description, /Name the project in `project`/)

  const id = await add()
  assertError(await unnamed(), 400, 'invalid_input', 'project')
  const shown = async () => (await t.as(owner).get(path())).json().publishers[0].proven
  assert.equal(await shown(), null)
  await exchanged()
  assert.notEqual(await shown(), null)
  const answer = await unnamed()
  assert.equal(answer.statusCode, 200, answer.body)
  assert.deepEqual([answer.json().publisher.id, answer.json().projects], [id, [project.id]])
  assert.equal((await t.as(stranger).get(path(strange.id))).json().publishers[0].proven, null)
  // A build that names the project of the stranger means it.
  const meant = await exchange(ci.token(claims()), { project: strange.slug })
  assert.deepEqual(meant.json().projects, [strange.id])
})

test('a token works once, also in the same moment, and a rejected token works after a correction', async () => {
  const token = ci.token(claims())
  await assertRefused(token, 'no_publisher', new RegExp(repository))
  await add()
  const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(token)))
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [200, ...Array(7).fill(400)])
  await assertRefused(token, 'replayed')
  assert.ok(
    answers.filter(({ statusCode }) => statusCode === 400).every((answer) => answer.json().details.code === 'replayed'),
  )
})

test('the first difference of the closest publisher is named', async () => {
  await add({
    environment: 'release',
    ref_pattern: 'refs/tags/v*',
    protected_ref_only: true,
    called_workflows: ['lanterns/ci/.github/workflows/publish.yml'],
  })
  const valid = claims({ environment: 'Release' })
  const refuse = (fields: object, message: RegExp) =>
    assertRefused(ci.token({ ...valid, ...fields }), 'no_publisher', message)
  const workflow_ref = `${repository}/.github/workflows/ci.yml@refs/tags/v1`
  await refuse({ workflow_ref, job_workflow_ref: workflow_ref }, /workflow is `ci.yml`, expected `release.yml`/)
  await refuse({ environment: undefined }, /environment is missing, expected `release`/)
  await refuse({ environment: 'test' }, /environment is `test`/)
  const ofBranch = {
    ref: 'refs/heads/main',
    workflow_ref: valid['workflow_ref']?.toString().replace(/@.*/, '@refs/heads/main'),
  }
  await refuse(
    { ...ofBranch, job_workflow_ref: ofBranch.workflow_ref },
    /ref is `refs\/heads\/main`, expected `refs\/tags\/v\*`/,
  )
  await refuse({ ref_protected: 'false' }, /not protected/)
  await refuse({ job_workflow_ref: 'evil/ci/.github/workflows/publish.yml@main' }, /evil\/ci/)
  await refuse({ workflow_ref: 'evil/lamp/.github/workflows/release.yml@refs/tags/v1' }, /not in the repository/)
  await refuse({ workflow_ref: undefined }, /workflow_ref/)
  await refuse(
    { repository: 'fork/lamp', workflow_ref: 'fork/lamp/.github/workflows/release.yml@refs/tags/v1' },
    /fork\/lamp/,
  )
  const called = 'lanterns/ci/.github/workflows/publish.yml@refs/heads/main'
  assert.equal((await exchange(ci.token({ ...valid, job_workflow_ref: called }))).statusCode, 200)
})

test('a renamed repository keeps publishing; one that was created again under the old name does not', async () => {
  await add()
  await exchanged()
  const renamed = `lanterns/torch-${newId().toLowerCase()}`
  await assertRefused(ci.token(claims({ repository_id: '1' })), 'no_publisher', /repository ID is `1`, expected `\d+`/)
  await assertRefused(ci.token(claims({ repository_id: undefined })), 'no_publisher', /repository ID is missing/)
  await assertRefused(ci.token(claims({ repository_owner_id: '18' })), 'no_publisher', /owner ID is `18`/)
  const workflow_ref = `${renamed}/.github/workflows/release.yml@refs/tags/v1`
  await exchanged({ repository: renamed, workflow_ref, job_workflow_ref: workflow_ref })
  const [shown] = (await t.as(owner).get(path())).json().publishers
  assert.deepEqual([shown.repository, shown.repository_id, shown.owner_id], [renamed, String(repositoryId), '17'])
  // The next name is that of another publisher already.
  const taken = `lanterns/taken-${newId().toLowerCase()}`
  await add({ repository: taken, repository_id: newId() })
  const next = `${taken}/.github/workflows/release.yml@refs/tags/v1`
  await exchanged({ repository: taken, workflow_ref: next, job_workflow_ref: next })
})

test('of concurrent first builds of repositories with the same name, one is pinned', async () => {
  const id = await add()
  const build = (index: number) => ci.token(claims({ repository_id: `${newId()}${index}` }))
  const answers = await Promise.all([1, 2, 3, 4, 5, 6].map((index) => exchange(build(index))))
  assert.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1)
  const refused = answers.filter(({ statusCode }) => statusCode === 400)
  assert.deepEqual(
    refused.map((answer) => answer.json().details.code),
    Array(5).fill('no_publisher'),
  )
  const tokens = t.deps.db.selectFrom('publisher_token').select('id').where('publisher_id', '=', id)
  assert.equal((await tokens.execute()).length, 1)
})

test('pipelines of GitLab have their own claims', async () => {
  const group = `lanterns/tools/lamp-${newId().toLowerCase()}`
  await add({ issuer: gitlab.url, repository: group, workflow: '.gitlab-ci.yml', ref_pattern: 'refs/tags/*' })
  const own = (fields: object = {}) =>
    gitlab.token({
      aud: AUDIENCE,
      iat: seconds() - 50 * 60,
      exp: seconds() + 300,
      project_path: group,
      project_id: 1,
      namespace_id: 2,
      ci_config_ref_uri: `gitlab.example/${group}//.gitlab-ci.yml@refs/tags/v1`,
      ref: 'v1',
      ref_type: 'tag',
      pipeline_source: 'push',
      pipeline_id: 7,
      sha: 'ab'.repeat(20),
      ...fields,
    })
  const onBranch = { ref_type: 'branch', ci_config_ref_uri: `gitlab.example/${group}//.gitlab-ci.yml@refs/heads/v1` }
  await assertRefused(own(onBranch), 'no_publisher', /refs\/heads\/v1/)
  const events = ['merge_request_event', 'external_pull_request_event', 'parent_pipeline', 'pipeline', 'chat']
  for (const pipeline_source of events) await assertRefused(own({ pipeline_source }), 'event')
  const ref_path = 'refs/merge-requests/3/head'
  const proposed = { ref_path, ci_config_ref_uri: `gitlab.example/${group}//.gitlab-ci.yml@${ref_path}` }
  await assertRefused(own(proposed), 'no_publisher', /refs\/merge-requests\/3\/head/)
  const answer = await exchange(own({ ref_path: 'refs/tags/v1' }))
  assert.equal(answer.statusCode, 200, answer.body)
  const { provenance } = (await upload(answer.json().access_token)).json()
  assert.equal(provenance.run_url, `${gitlab.url}/${group}/-/pipelines/7`)
})

test('a build for several projects names the one, and the token of an organization covers its projects', async () => {
  const other = await t.make.project({ owner, status: 'draft' })
  await add()
  await add({}, other.id)
  await exchanged()
  const named = await exchange(ci.token(claims()), { project: other.slug })
  const ambiguous = await exchange(ci.token(claims()), {})
  assertError(ambiguous, 400, 'invalid_input', 'project')
  assert.deepEqual(named.json().projects, [other.id])
  await assertRefused(ci.token(claims()), 'no_publisher', undefined, { project: 'no-such-project' })

  const organization = await teamFactories(t.deps.db).organization(owner)
  const inside = await t.make.project({ organization_id: organization.id, status: 'draft' })
  repository = `lanterns/all-${newId().toLowerCase()}`
  repositoryId += 10
  const added = await t.as(owner).post(`/v3/organization/${organization.id}/trusted-publisher`, publisher())
  assert.equal(added.statusCode, 201, added.body)
  assertError(await exchange(ci.token(claims()), {}), 400, 'invalid_input', 'project')
  assert.deepEqual((await exchange(ci.token(claims()), { project: inside.id })).json().projects, [inside.id])
  const answer = (await exchange(ci.token(claims()), {})).json()
  assert.deepEqual(answer.projects, [inside.id])
  assert.equal((await upload(answer.access_token, { project_id: inside.id })).statusCode, 201)
  assertError(await upload(answer.access_token), 400, 'validation_error', 'project_id')
})

test('a publisher stops when the account that added it leaves, and the members are notified', async () => {
  const member = await t.make.account()
  const row = { teamId: project.teamId, accountId: member.id, permissions: ALL_PROJECT_PERMISSIONS }
  await t.make.member(row)
  const added = await t.as(member).post(path(), publisher())
  assert.equal(added.statusCode, 201, added.body)
  const token = await exchanged()
  assert.equal((await upload(token)).json().author_id, member.id)
  assert.equal((await t.as(member).delete(`/v3/team/${project.teamId}/members/${member.id}`)).statusCode, 204)
  assertError(await upload(token), 401, 'unauthorized')
  await assertRefused(ci.token(claims()), 'no_publisher', /not a member any more/)
  const list = (await t.as(owner).get(`/v3/user/${owner.id}/notifications`)).json() as { body: { type: string } }[]
  const types = list.map(({ body }) => body.type)
  assert.deepEqual(types.filter((type) => type.startsWith('publisher_')).toSorted(), [
    'publisher_added',
    'publisher_stopped',
  ])
  const shown = (await t.as(owner).get(path())).json()
  assert.equal(shown.publishers[0].works, false)
  assert.equal(shown.warnings.length, 1)
  // Joining again does not start it again.
  await t.make.member(row)
  await assertRefused(ci.token(claims()), 'no_publisher')
})

test('a project can accept trusted publishers only', async () => {
  const set = (publishing: string) => t.as(owner).patch(`/v3/project/${project.id}`, { publishing })
  assert.equal((await set('trusted_only')).statusCode, 204)
  assertError(await set('nobody'), 400, 'validation_error', 'publishing')
  const shown = (await t.as(owner).get(path())).json()
  assert.equal(shown.publishing, 'trusted_only')
  assert.match(shown.warnings[0], /Nobody can publish/)
  for (const token of [owner.token, (await t.make.pat(owner)).token]) {
    const refused = await upload(token)
    assertError(refused, 403, 'unauthorized')
    assert.match(refused.json().description, /trusted_only/)
  }
  await add()
  assert.deepEqual((await t.as(owner).get(path())).json().warnings, [])
  assert.equal((await upload(await exchanged())).statusCode, 201)
})

test('only members with both permissions add publishers, after they confirmed their password', async () => {
  const member = await t.make.account()
  await t.make.member({ teamId: project.teamId, accountId: member.id, permissions: 1 })
  const admin = await t.make.account({ role: 'admin' })
  assertError(await t.as(member).post(path(), publisher()), 403, 'unauthorized')
  assertError(await t.as(admin).post(path(), publisher()), 403, 'unauthorized')
  assertError(await t.as(await t.make.account()).post(path(), publisher()), 404, 'not_found')
  await t.deps.db.updateTable('session').set({ confirmed_at: null }).where('account_id', '=', owner.id).execute()
  assertError(await t.as(owner).post(path(), publisher()), 401, 'unauthorized', 'password')
  await t.deps.db
    .updateTable('session')
    .set({ confirmed_at: new Date(t.deps.now()) })
    .where('account_id', '=', owner.id)
    .execute()
  for (const [fields, field] of [
    [{ issuer: 'https://evil.example' }, 'issuer'],
    [{ repository: 'lamp' }, 'repository'],
    [{ repository: 'lanterns/lamp/more' }, 'repository'],
    [{ workflow: '' }, 'workflow'],
    [{ workflow: 'release' }, 'workflow'],
    [{ environment: ' release' }, 'environment'],
    [{ ref_pattern: 'main' }, 'ref_pattern'],
    [{ called_workflows: Array(11).fill('a') }, 'called_workflows'],
  ] as const)
    assertError(await t.as(owner).post(path(), publisher(fields)), 400, 'validation_error', field)
  const id = await add()
  assertError(await t.as(owner).post(path(), publisher()), 409, 'conflict')
  const token = await exchanged()
  assertError(await t.as(member).delete(`${path()}/${id}`), 403, 'unauthorized')
  assert.equal((await t.as(owner).delete(`${path()}/${id}`)).statusCode, 204)
  assertError(await t.as(owner).delete(`${path()}/${id}`), 404, 'not_found')
  assertError(await upload(token), 401, 'unauthorized')
})

test('every exchange is in the audit log, never with the token', async () => {
  await add()
  const bad = ci.token(claims({ ref: undefined }))
  await assertRefused(bad, 'no_publisher')
  const token = await exchanged()
  const entries = await t.deps.db
    .selectFrom('audit_entry')
    .select(['action', 'details'])
    .where('action', 'in', ['publishing.exchanged', 'publishing.refused'])
    .orderBy('id', 'desc')
    .limit(2)
    .execute()
  const [done, refused] = entries as { action: string; details: Record<string, string> }[]
  assert.deepEqual(
    [done?.action, done?.details['repository'], done?.details['run']],
    ['publishing.exchanged', repository, '99'],
  )
  assert.deepEqual([refused?.action, refused?.details['code']], ['publishing.refused', 'no_publisher'])
  assert.ok(![bad, token].some((secret) => JSON.stringify(entries).includes(secret)))
})

test('the metadata names the audience, the endpoint and the client of the instance', async () => {
  const answer = (await t.anyone.get('/.well-known/depot-publishing')).json()
  assert.equal(answer.audience, AUDIENCE)
  assert.ok(answer.token_endpoint.endsWith(EXCHANGE))
  const { rawPayload } = await t.anyone.get('/client.tgz')
  assert.equal(answer.client.integrity, `sha512-${createHash('sha512').update(rawPayload).digest('base64')}`)
})
