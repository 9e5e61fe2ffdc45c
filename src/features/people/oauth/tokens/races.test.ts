// Races of codes and tokens.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Person } from '#test/support/factories/factories.ts'
import {
  assertOAuthError,
  BASE,
  CALLBACK,
  exchange,
  getCode,
  makeApplication,
  oauthApp,
  statusOf,
  type TestApplication,
} from '#test/support/http/oauth-steps.ts'

const { t, owner, application } = await oauthApp()

const codeOf = () => getCode(t, owner, { client_id: application.id })

test('rejects a code that is used twice, and revokes its token', async () => {
  const code = await codeOf()
  const token = (await exchange(t, application, { code })).json().access_token
  assert.equal(await statusOf(t, token), 200)
  assertOAuthError(await exchange(t, application, { code }), 400, 'invalid_grant')
  assert.equal(await statusOf(t, token), 401)
})

test('of parallel exchanges at most one succeeds, and its token is ended by the others', async () => {
  const code = await codeOf()
  const answers = await Promise.all(Array.from({ length: 4 }, () => exchange(t, application, { code })))
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [200, 400, 400, 400])
  const token = answers.find(({ statusCode }) => statusCode === 200)?.json().access_token
  assert.equal(await statusOf(t, token), 401)
})

test('an exchange that is concurrent with the end of its basis leaves no valid token', async () => {
  const ends = [
    (person: Person, { id }: TestApplication) => t.as(person).delete(`${BASE}/authorizations?client_id=${id}`),
    (_: Person, { id }: TestApplication) => t.as(owner).delete(`${BASE}/app/${id}`),
    (person: Person) => t.as(person).delete(`/v3/user/${person.id}`),
  ]
  for (const end of ends) {
    for (let i = 0; i < 3; i += 1) {
      const [person, app] = [await t.make.account(), await makeApplication(t, owner)]
      const code = await getCode(t, person, { client_id: app.id })
      const [exchanged, ended] = await Promise.all([exchange(t, app, { code }), end(person, app)])
      assert.equal(ended.statusCode, 204, ended.body)
      if (exchanged.statusCode === 200) assert.equal(await statusOf(t, exchanged.json().access_token), 401)
      else assert.ok([400, 401].includes(exchanged.statusCode), exchanged.body)
    }
  }
})

test('a consent request that is concurrent with the end of the application or account succeeds, or returns 404 or 401', async () => {
  const ends = [
    (_: Person, { id }: TestApplication) => t.as(owner).delete(`${BASE}/app/${id}`),
    (person: Person) => t.as(person).delete(`/v3/user/${person.id}`),
  ]
  for (const end of ends) {
    for (let i = 0; i < 2; i += 1) {
      const [person, app] = [await t.make.account(), await makeApplication(t, owner)]
      await getCode(t, person, { client_id: app.id, scope: 'USER_READ' })
      const query = { client_id: app.id, redirect_uri: CALLBACK }
      const ask = (more: object) => t.as(person).get(`${BASE}/authorize`, { query: { ...query, ...more } })
      const questions = [{}, {}, {}, { scope: 'USER_READ' }, { scope: 'USER_READ' }]
      const [ended, ...answers] = await Promise.all([end(person, app), ...questions.map(ask)])
      assert.equal(ended.statusCode, 204, ended.body)
      for (const answer of answers) assert.ok([200, 401, 404].includes(answer.statusCode), answer.body)
    }
  }
})

// Otherwise each of several parallel requests could lock the authorization while the deletion waits, in turn.
test('a request that waits for the deletion of the application holds no lock that the deletion needs', async () => {
  const [person, app] = [await t.make.account(), await makeApplication(t, owner)]
  await getCode(t, person, { client_id: app.id })
  const asked = await t.deps.db.transaction().execute(async (tx) => {
    await tx.selectFrom('oauth_client').select('id').where('id', '=', app.id).forUpdate().execute()
    const request = t.as(person).get(`${BASE}/authorize`, { query: { client_id: app.id, redirect_uri: CALLBACK } })
    const waiting = sql<{ count: number }>`select count(*)::int as count from pg_locks
      where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))`
    while ((await waiting.execute(tx)).rows[0]?.count !== 1);
    await tx
      .selectFrom('oauth_authorization')
      .select('id')
      .where('client_id', '=', app.id)
      .forUpdate()
      .noWait()
      .execute()
    return { request }
  })
  assert.equal((await asked.request).statusCode, 200)
})

test('consent that is concurrent with a change of the application gives a code for the new state or none', async () => {
  for (let i = 0; i < 3; i += 1) {
    const app = await makeApplication(t, owner)
    const asked = await t.as(owner).get(`${BASE}/authorize`, { query: { client_id: app.id, redirect_uri: CALLBACK } })
    const [answered] = await Promise.all([
      t.as(owner).post(`${BASE}/accept`, { flow: asked.json().flow_id }),
      t.as(owner).patch(`${BASE}/app/${app.id}`, { max_scopes: 0 }),
    ])
    assert.ok([200, 404].includes(answered.statusCode), answered.body)
    if (answered.statusCode === 404) continue
    const code = new URL(answered.body).searchParams.get('code') ?? ''
    assertOAuthError(await exchange(t, app, { code }), 400, 'invalid_grant')
  }
})
