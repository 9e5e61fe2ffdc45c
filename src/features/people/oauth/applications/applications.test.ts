import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import sharp from 'sharp'
import { ALL_SCOPES, GRANTABLE_SCOPES } from '#features/basics/access/scopes.ts'
import { newId } from '#lib/ids.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { ABSENT, assertError, assertRefusedValues } from '#test/support/http/account-steps.ts'
import {
  authorize,
  BASE,
  CALLBACK,
  exchange,
  getCode,
  getToken,
  makeApplication,
  SCOPES,
  statusOf,
} from '#test/support/http/oauth-steps.ts'

const t = await testApp()
after(() => t.close())

const APP = `${BASE}/app`
const valid = { name: 'Chart Maker', max_scopes: SCOPES, redirect_uris: [CALLBACK] }

test('an application is created with a secret that is shown once; its other fields are public', async () => {
  const owner = await t.make.account()
  const fields = { ...valid, description: 'Draws charts', url: 'https://example.org' }
  const made = await t.as(owner).post(APP, fields)
  assert.equal(made.statusCode, 201)
  const { client_secret: secret, ...application } = made.json()
  assert.match(secret, /^[0-9A-Za-z]{32,}$/)
  assert.match(application.id, /^[0-9A-Za-z]{8}$/)
  assert.deepEqual(application.redirect_uris, [
    { id: application.redirect_uris[0].id, client_id: application.id, uri: CALLBACK },
  ])
  assert.deepEqual([application.max_scopes, application.created_by], [SCOPES, owner.id])
  for (const path of [
    `${APP}/${application.id}`,
    `/_internal/oauth/app/${application.id}`,
    `/v3/oauth/app/${application.id}`,
  ]) {
    const read = await t.anyone.get(path)
    assert.deepEqual(read.json(), application)
    assert.ok(read.headers.etag !== undefined)
  }
  const stored = JSON.stringify(await t.deps.db.selectFrom('oauth_client').selectAll().execute())
  assert.ok(!stored.includes(secret))
})

test('each field is checked at its limits', async () => {
  const owner = t.as(await t.make.account())
  const send = (body: Record<string, unknown>) => owner.post(APP, body)
  await assertRefusedValues(send, valid, 'name', ['ab', 'a'.repeat(256), '   ', 5, null, ABSENT])
  await assertRefusedValues(send, valid, 'max_scopes', [
    -1,
    1.5,
    '5',
    null,
    2 ** 50,
    ALL_SCOPES,
    8,
    16,
    2 ** 24,
    2 ** 39,
    ABSENT,
  ])
  await assertRefusedValues(send, valid, 'description', ['a'.repeat(256), 5])
  await assertRefusedValues(send, valid, 'url', [
    'http://example.org',
    'javascript:alert(1)',
    `https://example.org/${'a'.repeat(240)}`,
    5,
  ])
  await assertRefusedValues(send, valid, 'redirect_uris', [null, CALLBACK, Array(21).fill(CALLBACK), ABSENT])
  await assertRefusedValues(send, valid, 'public_client', ['yes', 1])
  assertError(
    await send({ ...valid, redirect_uris: [CALLBACK, 'http://example.org'] }),
    400,
    'validation_error',
    'redirect_uris.1',
  )
  assertError(await send({ ...valid, redirect_uris: [5] }), 400, 'validation_error', 'redirect_uris.0')
  for (const body of [
    { ...valid, name: 'abc', description: null, url: null, max_scopes: 0, redirect_uris: [] },
    { ...valid, name: 'a'.repeat(255), description: 'a'.repeat(255), max_scopes: GRANTABLE_SCOPES },
    { ...valid, max_scopes: 2 ** 30, redirect_uris: Array.from({ length: 20 }, (_, i) => `${CALLBACK}/${i}`) },
  ])
    assert.equal((await send(body)).statusCode, 201)
})

test('applications are managed by sessions only', async () => {
  const owner = await t.make.account()
  const { id } = await makeApplication(t, owner)
  const program = t.as(await t.make.pat(owner, GRANTABLE_SCOPES))
  for (const send of [
    (as: typeof program) => as.post(APP, valid),
    (as: typeof program) => as.patch(`${APP}/${id}`, { name: 'Other' }),
    (as: typeof program) => as.post(`${APP}/${id}/secret`),
    (as: typeof program) => as.delete(`${APP}/${id}`),
    (as: typeof program) => as.delete(`${APP}/${id}/icon`),
    (as: typeof program) => as.get(`/v3/user/${owner.id}/oauth_apps`),
  ]) {
    assert.equal((await send(t.anyone)).statusCode, 401)
    assertError(await send(program), 403, 'unauthorized')
  }
})

test('an edit changes what it names; absent keeps, null clears', async () => {
  const owner = await t.make.account()
  const { id } = await makeApplication(t, owner, {
    description: 'Draws',
    url: 'https://example.org',
    redirect_uris: [CALLBACK, 'https://b.test/'],
  })
  const before = (await t.anyone.get(`${APP}/${id}`)).json()
  assert.equal(
    (await t.as(owner).patch(`${APP}/${id}`, { redirect_uris: ['https://c.test/', CALLBACK], url: null })).statusCode,
    204,
  )
  const after = (await t.anyone.get(`${APP}/${id}`)).json()
  assert.deepEqual([after.name, after.description, after.url], ['Chart Maker', 'Draws', null])
  assert.deepEqual(
    after.redirect_uris.map(({ uri }: { uri: string }) => uri),
    ['https://c.test/', CALLBACK],
  )
  assert.equal(after.redirect_uris[1].id, before.redirect_uris[0].id)
  const send = (body: Record<string, unknown>) => t.as(owner).patch(`${APP}/${id}`, body)
  await assertRefusedValues(send, {}, 'redirect_uris', [[], 5])
  await assertRefusedValues(send, {}, 'max_scopes', [16])
  await assertRefusedValues(send, {}, 'name', ['ab', 5])
})

test('other users cannot edit or delete; moderators can; only the owner can get a new secret', async () => {
  const owner = await t.make.account()
  const application = await makeApplication(t, owner)
  const path = `${APP}/${application.id}`
  const stranger = t.as(await t.make.account())
  const moderator = t.as(await t.make.account({ role: 'moderator' }))
  assertError(await stranger.patch(path, { name: 'Mine now' }), 403, 'unauthorized')
  assertError(await stranger.delete(path), 403, 'unauthorized')
  for (const other of [stranger, moderator]) assertError(await other.post(`${path}/secret`), 403, 'unauthorized')
  assert.equal((await moderator.patch(path, { name: 'Renamed' })).statusCode, 204)
  const admin = t.as(await t.make.account({ role: 'admin' }))
  for (const body of [{ redirect_uris: ['https://elsewhere.example.org/back'] }, { max_scopes: 2 }]) {
    assertError(await moderator.patch(path, { name: 'Not saved', ...body }), 403, 'unauthorized')
    assert.equal((await admin.patch(path, body)).statusCode, 204)
  }
  for (const unknown of [`${APP}/zzzzzzzz`, `${APP}/zzzzzzzz/secret`])
    assertError(await t.as(owner).post(unknown), 404, 'not_found')
  assertError(await t.as(owner).patch(`${APP}/zzzzzzzz`, {}), 404, 'not_found')
  assertError(await t.as(owner).delete(`${APP}/zzzzzzzz`), 404, 'not_found')
  assertError(await t.anyone.get(`${APP}/zzzzzzzz`), 404, 'not_found')
  assertError(await t.anyone.get(`${APP}/not-an-id`), 400, 'decoding_error')
  assert.equal((await moderator.delete(path)).statusCode, 204)
  assertError(await t.anyone.get(path), 404, 'not_found')
})

test('a new secret ends the old one', async () => {
  const owner = await t.make.account()
  const application = await makeApplication(t, owner)
  const rotated = await t.as(owner).post(`${APP}/${application.id}/secret`)
  assert.equal(rotated.statusCode, 200)
  const code = await getCode(t, owner, { client_id: application.id })
  assert.equal((await exchange(t, application, { code })).statusCode, 401)
  const secret = rotated.json().client_secret
  assert.equal((await exchange(t, { ...application, secret }, { code })).statusCode, 200)
})

test('deleting an application ends its tokens immediately', async () => {
  const owner = await t.make.account()
  const application = await makeApplication(t, owner)
  const token = await getToken(t, application, await t.make.account())
  assert.equal(await statusOf(t, token), 200)
  assert.equal((await t.as(owner).delete(`${APP}/${application.id}`)).statusCode, 204)
  assert.equal(await statusOf(t, token), 401)
})

test('changed redirect URIs or scopes end authorization requests and codes, but not tokens', async () => {
  const owner = await t.make.account()
  const person = await t.make.account()
  for (const patch of [{ redirect_uris: ['https://new.test/'] }, { max_scopes: 2 }]) {
    const application = await makeApplication(t, owner)
    const token = await getToken(t, application, person)
    const code = await getCode(t, person, { client_id: application.id })
    const asked = await authorize(t, owner, { client_id: application.id, redirect_uri: CALLBACK })
    assert.equal((await t.as(owner).patch(`${APP}/${application.id}`, patch)).statusCode, 204)
    assert.equal((await exchange(t, application, { code })).json().error, 'invalid_grant')
    assertError(await t.as(owner).post(`${BASE}/accept`, { flow: asked.json().flow_id }), 404, 'not_found')
    assert.equal(await statusOf(t, token), 200)
  }
})

test('applications are listed by ID in two forms, and by their owner', async () => {
  const owner = await t.make.account()
  const first = await makeApplication(t, owner, { name: 'First' })
  t.advance(1000)
  const second = await makeApplication(t, owner, { name: 'Second' })
  const ids = [second.id, 'zzzzzzzz', first.id, second.id]
  for (const text of [JSON.stringify(ids), ids.join(',')]) {
    const { result, queries } = await t.queriesOf(() => t.anyone.get(`${BASE}/apps`, { query: { ids: text } }))
    assert.deepEqual(
      result.json().map(({ name }: { name: string }) => name),
      ['Second', 'First'],
    )
    assert.equal(queries.length, 1)
  }
  assertError(await t.anyone.get(`${BASE}/apps`), 400, 'invalid_input')
  assertError(await t.anyone.get(`${BASE}/apps`, { query: { ids: '[1]' } }), 400, 'invalid_input')
  assertError(await t.anyone.get(`${BASE}/apps`, { query: { ids: 'a-b' } }), 400, 'decoding_error')
  const own = `/v3/user/${owner.username}/oauth_apps`
  assert.deepEqual(
    (await t.as(owner).get(own)).json().map(({ name }: { name: string }) => name),
    ['Second', 'First'],
  )
  assertError(await t.as(await t.make.account()).get(own), 403, 'unauthorized')
  assert.equal((await t.as(await t.make.account({ role: 'admin' })).get(own)).json().length, 2)
  assertError(await t.as(owner).get('/v3/user/nobody-there/oauth_apps'), 404, 'not_found')
})

test('an application gets an icon and loses it', async () => {
  const owner = await t.make.account()
  const { id } = await makeApplication(t, owner)
  const payload = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'teal' } })
    .png()
    .toBuffer()
  const headers = { 'content-type': 'image/png' }
  const set = await t.as(owner).patch(`${APP}/${id}/icon`, payload, { query: { ext: 'png' }, headers })
  assert.equal(set.statusCode, 204, set.body)
  const { icon_url, raw_icon_url } = (await t.anyone.get(`${APP}/${id}`)).json()
  for (const url of [icon_url, raw_icon_url]) assert.match(url, /^https:\/\/depot\.test\/data\//)
  const absent = await t.as(owner).patch(`${APP}/${newId()}/icon`, payload, { query: { ext: 'png' }, headers })
  assertError(absent, 404, 'not_found')
  const other = await t
    .as(await t.make.account())
    .patch(`${APP}/${id}/icon`, payload, { query: { ext: 'png' }, headers })
  assertError(other, 403, 'unauthorized')
  assert.equal((await t.as(owner).delete(`${APP}/${id}/icon`)).statusCode, 204)
  const without = (await t.anyone.get(`${APP}/${id}`)).json()
  assert.deepEqual([without.icon_url, without.raw_icon_url], [null, null])
  await t.runJobs()
})

test('of parallel creations at the limit none passes it', async () => {
  const owner = await t.make.account()
  const row = (i: number) => ({
    id: `${owner.id.slice(0, 5)}${i + 100}`,
    account_id: owner.id,
    name: 'Many',
    max_scopes: 0,
  })
  await t.deps.db
    .insertInto('oauth_client')
    .values(Array.from({ length: 98 }, (_, i) => row(i)))
    .execute()
  const answers = await Promise.all(Array.from({ length: 4 }, () => t.as(owner).post(APP, valid)))
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [201, 201, 400, 400])
  assertError(await t.as(owner).post(APP, valid), 400, 'LimitReached')
})

test('the applications of a deleted account go to the placeholder, and its own tokens end', async () => {
  const owner = await t.make.account()
  const application = await makeApplication(t, owner)
  const token = await getToken(t, application, await t.make.account())
  const own = await getToken(t, application, owner)
  assert.equal(await statusOf(t, own), 200)
  assert.equal((await t.as(owner).delete(`/v3/user/${owner.id}`)).statusCode, 204)
  assert.equal((await t.anyone.get(`${APP}/${application.id}`)).json().created_by, 'deleted0')
  assert.deepEqual([await statusOf(t, token), await statusOf(t, own)], [200, 401])
})
