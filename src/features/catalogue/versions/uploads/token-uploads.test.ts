// Uploads of fine-grained tokens and of trusted publishers: each owns its uploads and names only these.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'
import { limitedToken, publisherToken } from '#test/support/factories/token-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { modJar, versionData } from '#test/support/http/forms.ts'
import { listening, tusClient } from '#test/support/http/tus-requests.ts'

let t: TestApp
let url: string
let project: MadeProject
let other: MadeProject
/** The account, a token of it with limits, and builds of two trusted publishers that it has added. */
let owners: Record<'account' | 'limited' | 'build' | 'otherBuild', string>

before(async () => {
  t = await testApp()
  url = await listening(t)
  const owner = await t.make.account()
  project = await t.make.project({ owner })
  other = await t.make.project({ owner })
  owners = {
    account: owner.token,
    limited: await limitedToken(t, owner, { projects: [project.id] }),
    build: await publisherToken(t, owner, project),
    otherBuild: await publisherToken(t, owner, other),
  }
})
after(() => t.close())

const publish = (token: string, part: string, projectId = project.id) => {
  const data = versionData({ project_id: projectId, version_number: part.slice(-8), file_parts: [part] })
  return t.as({ token }).post('/v3/version', data)
}

test('each owner sees, continues and deletes only its uploads', async () => {
  const bytes = modJar('owners')
  const names = Object.keys(owners) as (keyof typeof owners)[]
  for (const name of names) {
    const client = tusClient(t, url, { token: owners[name] })
    const path = await client.create(bytes.length)
    assert.equal((await client.patch(path, 0, bytes.subarray(0, 10))).status, 204)
    for (const foreign of names.filter((each) => each !== name)) {
      const as = { token: owners[foreign] }
      assert.equal((await client.send('HEAD', path, { as })).status, 404, `${foreign} of ${name}`)
      assert.equal((await client.patch(path, 10, bytes.subarray(10), { as })).status, 404)
      assert.equal((await client.send('DELETE', path, { as })).status, 404)
      assert.equal((await t.as(as).get('/v3/upload')).json().length, 0)
    }
    const [listed, ...more] = (await t.as({ token: owners[name] }).get('/v3/upload')).json()
    assert.deepEqual([`/v3/upload/${listed.id}`, more], [path, []])
    assert.equal((await client.send('DELETE', path)).status, 204)
  }
})

test('a version names uploads of the token that publishes it, in a project of the token', async () => {
  for (const name of ['limited', 'build'] as const) {
    const token = owners[name]
    const part = await tusClient(t, url, { token }).uploaded(modJar(name), `${name}.jar`)
    for (const foreign of ['account', name === 'build' ? 'limited' : 'build'] as const)
      assertError(await publish(owners[foreign], part), 400, 'validation_error', 'file_parts.0')
    assertError(await publish(token, part, other.id), 403, 'unauthorized')
    const proposals = await t
      .as({ token })
      .post('/v3/version/proposals', { file_parts: [part], project_id: project.id })
    assert.equal(proposals.statusCode, 200, proposals.body)
    const made = await publish(token, part)
    assert.equal(made.statusCode, 201, made.body)
    assert.equal(made.json().files[0].filename, `${name}.jar`)
    assert.equal(made.json().provenance?.published, name === 'build' ? 'ci' : undefined)
  }
})

test('a later build of the same publisher continues an upload, and all of them count for the account', async () => {
  const account = await t.make.account()
  const own = await t.make.project({ owner: account })
  const token = await publisherToken(t, account, own)
  const client = tusClient(t, url, { token })
  for (let index = 0; index < 20; index += 1) await client.create(3)
  const full = await client.send('POST', '/v3/upload', { headers: { 'upload-length': '3' } })
  assert.equal(JSON.parse(full.body).error, 'LimitReached')
  const person = await client.send('POST', '/v3/upload', { as: account, headers: { 'upload-length': '3' } })
  assert.equal(JSON.parse(person.body).error, 'LimitReached')
  const [{ publisher_id }] = await t.deps.db
    .selectFrom('trusted_publisher')
    .select('id as publisher_id')
    .where('project_id', '=', own.id)
    .execute()
    .then((rows) => rows as [{ publisher_id: string }])
  const later = await publisherToken(t, account, own)
  assert.equal((await t.as({ token: later }).get('/v3/upload')).json().length, 0)
  await t.deps.db.updateTable('publisher_token').set({ publisher_id }).where('project_id', '=', own.id).execute()
  assert.equal((await t.as({ token: later }).get('/v3/upload')).json().length, 20)
})
