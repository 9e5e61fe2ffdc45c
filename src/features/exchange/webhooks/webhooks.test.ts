// Webhooks over HTTP: who may manage them, their limits, and what their routes refuse.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { scopeBitsOf } from '#features/basics/access/scopes.ts'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'

let t: TestApp
let owner: Person
let project: MadeProject
before(async () => {
  t = await testApp()
})
after(() => t.close())
beforeEach(async () => {
  owner = await t.make.account()
  project = await t.make.project({ owner })
})

const PATH = '/v3/webhook'
const DISCORD = 'https://discord.com/api/webhooks/123456/To-Ken_9'
const body = (fields: object = {}) => ({
  owner: { kind: 'project', id: project.id },
  url: 'https://hooks.example.org/depot',
  events: ['version.published'],
  ...fields,
})

async function create(fields: object = {}, as: Person = owner) {
  const answer = await t.as(as).post(PATH, body(fields))
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json() as { id: string; secret: string } & Record<string, unknown>
}

test('a webhook is created with a secret that is shown once, read, edited and deleted', async () => {
  const { secret, ...created } = await create({ loaders: ['fabric', 'fabric'], version_types: ['beta'] })
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.deepEqual(created['owner'], { kind: 'project', id: project.id })
  assert.deepEqual(created['loaders'], ['fabric'])
  assert.deepEqual((await t.as(owner).get(`${PATH}/${created.id}`)).json(), created)
  const edit = { events: ['*'], active: false, url: 'https://other.example.org/' }
  assert.equal((await t.as(owner).patch(`${PATH}/${created.id}`, edit)).statusCode, 204)
  const edited = (await t.as(owner).get(`/v3/project/${project.slug}/webhooks`)).json()
  assert.deepEqual(edited, [{ ...created, ...edit, disabled_reason: 'owner' }])
  assert.equal((await t.as(owner).delete(`${PATH}/${created.id}`)).statusCode, 204)
  assertError(await t.as(owner).get(`${PATH}/${created.id}`), 404, 'not_found')
  const { rows } = await t.deps.pool.query(
    "select action, details from audit_entry where subject_id = $1 and action like 'webhook.%' order by id",
    [created.id],
  )
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['webhook.created', 'webhook.changed', 'webhook.deleted'],
  )
  assert.doesNotMatch(JSON.stringify(rows), /depot"|whsec/)
})

test('addresses that lead into a network, and unknown values, name their field', async () => {
  const refusals: [object, string][] = [
    [{ url: 'http://hooks.example.org/' }, 'url'],
    [{ url: 'https://0x7f.1/' }, 'url'],
    [{ url: 'https://[::ffff:7f00:1]/' }, 'url'],
    [{ url: 'https://[::127.0.0.1]/' }, 'url'],
    [{ url: 'https://localhost./' }, 'url'],
    [{ url: 'https://me:secret@hooks.example.org/' }, 'url'],
    [{ url: 'https://hooks.example.org:5432/' }, 'url'],
    [{ url: 'nonsense' }, 'url'],
    [{ url: 'https://discord.com/channels/1/2', format: 'discord' }, 'url'],
    [{ url: 'https://ptb.discord.com/', format: 'discord' }, 'url'],
    [{ url: 'https://hooks.example.org/…', format: 'discord' }, 'url'],
    [{ url: 'https://10.0.0.1/api/webhooks/1/x', format: 'discord' }, 'url'],
    [{ events: [] }, 'events'],
    [{ events: ['*', 'version.eaten'] }, 'events.1'],
    [{ events: ['report.created'] }, 'events.0'],
    [{ loaders: ['fabric', 'weaver'] }, 'loaders.1'],
    [{ version_types: ['nightly'] }, 'version_types.0'],
    [{ owner: { kind: 'project' } }, 'owner.id'],
    [{ owner: { kind: 'instance', id: project.id } }, 'owner.id'],
    [{ owner: { kind: 'project', id: 'NoSuch00' } }, 'owner.id'],
    [{ owner: { kind: 'organization', id: 'NoSuch00' } }, 'owner.id'],
  ]
  for (const [fields, field] of refusals) {
    const answer = await t.as(owner).post(PATH, body(fields))
    assert.equal(answer.statusCode, 400, JSON.stringify(fields))
    assert.equal(answer.json().details.field, field, answer.body)
  }
  const { id } = await create()
  for (const patch of [
    { url: 'https://127.1/' },
    { url: 'https://discord.com/', format: 'discord' },
    { events: ['x'] },
  ])
    assert.equal((await t.as(owner).patch(`${PATH}/${id}`, patch)).statusCode, 400, JSON.stringify(patch))
})

test('members with EDIT_DETAILS manage the webhooks of projects and organizations; nobody else sees them', async () => {
  const organization = await teamFactories(t.deps.db).organization(owner)
  const member = await t.make.account()
  const stranger = await t.make.account()
  await t.make.member({ teamId: project.teamId, accountId: member.id, permissions: 0 })
  const { id } = await create()
  const ofOrganization = await create({ owner: { kind: 'organization', id: organization.id } })
  const ofUser = await create({ owner: { kind: 'user', id: owner.id }, events: ['*'] })
  for (const person of [member, stranger]) {
    for (const kind of [
      { kind: 'project', id: project.id },
      { kind: 'organization', id: organization.id },
      { kind: 'user', id: owner.id },
      { kind: 'instance' },
    ])
      assertError(await t.as(person).post(PATH, body({ owner: kind })), 403, 'unauthorized')
    for (const each of [id, ofOrganization.id, ofUser.id]) {
      assertError(await t.as(person).get(`${PATH}/${each}`), 404, 'not_found')
      assertError(await t.as(person).patch(`${PATH}/${each}`, { active: false }), 404, 'not_found')
      assertError(await t.as(person).delete(`${PATH}/${each}`), 404, 'not_found')
      assertError(await t.as(person).get(`${PATH}/${each}/deliveries`), 404, 'not_found')
      assertError(await t.as(person).post(`${PATH}/${each}/ping`), 404, 'not_found')
      assertError(await t.as(person).post(`${PATH}/${each}/secret`, {}), 404, 'not_found')
    }
    assertError(await t.as(person).get(`/v3/project/${project.id}/webhooks`), 403, 'unauthorized')
    assertError(await t.as(person).get(`/v3/user/${owner.id}/webhooks`), 403, 'unauthorized')
  }
  const lists = [`/v3/organization/${organization.slug}/webhooks`, `/v3/user/${owner.username}/webhooks`]
  for (const [index, path] of lists.entries()) {
    const found = (await t.as(owner).get(path)).json().map((each: { id: string }) => each.id)
    assert.deepEqual(found, [[ofOrganization.id, ofUser.id][index]])
  }
})

test('scopes decide what a token may do', async () => {
  const { id } = await create()
  const reader = await t.make.pat(owner, scopeBitsOf(['WEBHOOK_READ']))
  assert.equal((await t.as(reader).get(`${PATH}/${id}`)).statusCode, 200)
  assertError(await t.as(reader).delete(`${PATH}/${id}`), 403, 'unauthorized')
  const other = await t.make.pat(owner, scopeBitsOf(['PROJECT_WRITE']))
  assertError(await t.as(other).get(`${PATH}/${id}`), 403, 'unauthorized')
  assertError(await t.anyone.get(`${PATH}/${id}`), 401, 'unauthorized')
})

test('the instance has webhooks of admins, with other events', async () => {
  const admin = await t.make.account({ role: 'admin' })
  const created = await create({ owner: { kind: 'instance' }, events: ['report.created', 'account.created'] }, admin)
  const answer = await t.as(admin).post(PATH, body({ owner: { kind: 'instance' }, events: ['member.invited'] }))
  assert.equal(answer.json().details.field, 'events.0')
  const list = await t.as(admin).get('/_internal/admin/webhooks')
  assert.deepEqual(
    list.json().map((each: { id: string; owner: object }) => [each.id, each.owner]),
    [[created.id, { kind: 'instance', id: null }]],
  )
  assertError(await t.as(owner).get('/_internal/admin/webhooks'), 404, 'not_found')
})

test('an owner can have 20 webhooks, also with parallel requests', async () => {
  const answers = await Promise.all(Array.from({ length: 24 }, () => t.as(owner).post(PATH, body())))
  const statuses = answers.map(({ statusCode }) => statusCode).sort()
  assert.deepEqual(statuses, [...Array(20).fill(201), ...Array(4).fill(400)])
  const refused = answers.find(({ statusCode }) => statusCode === 400)
  assert.equal(refused?.json().error, 'LimitReached')
  const more = await t.make.project({ owner })
  const third = await t.make.project({ owner })
  for (const { id } of [more, third]) {
    for (let count = 0; count < 20; count += 1) {
      const { statusCode } = await t.as(owner).post(PATH, body({ owner: { kind: 'project', id } }))
      assert.equal(statusCode, id === third.id && count >= 10 ? 400 : 201, `${id} ${count}`)
    }
  }
})

test('the token of a Discord webhook is masked', async () => {
  const created = await create({ url: DISCORD, format: 'discord' })
  assert.equal(created['url'], 'https://discord.com/api/webhooks/123456/…')
  assert.doesNotMatch((await t.as(owner).get(`/v3/project/${project.id}/webhooks`)).body, /To-Ken/)
  assert.equal((await t.as(owner).patch(`${PATH}/${created.id}`, { events: ['*'] })).statusCode, 204)
  const { url } = await t.deps.db
    .selectFrom('webhook')
    .select('url')
    .where('id', '=', created.id)
    .executeTakeFirstOrThrow()
  assert.equal(url, DISCORD, 'an edit of something else keeps the token')
})

test('other receivers of Discord messages are accepted, and only their host is shown', async () => {
  const url = 'https://hooks.example.org/api/webhooks/1/To-Ken_9/discord?thread_id=3'
  const created = await create({ url, format: 'discord' })
  assert.equal(created['url'], 'https://hooks.example.org/…')
  assert.equal((await t.as(owner).patch(`${PATH}/${created.id}`, { url: created['url'] })).statusCode, 400)
  const canary = await create({ url: DISCORD.replace('discord', 'canary.discord'), format: 'discord' })
  assert.equal(canary['url'], 'https://canary.discord.com/api/webhooks/123456/…')
})

test('a renewed secret overlaps with the previous one for as long as its owner wants', async () => {
  const { id, secret } = await create()
  const until = async () =>
    (await t.deps.db.selectFrom('webhook').select('previous_until').where('id', '=', id).executeTakeFirstOrThrow())
      .previous_until
  t.freeze()
  const renewed = await t.as(owner).post(`${PATH}/${id}/secret`, {})
  assert.equal(renewed.statusCode, 200, renewed.body)
  assert.notEqual(renewed.json().secret, secret)
  assert.equal((await until())?.getTime(), t.deps.now() + DAY_MS)
  await t.as(owner).post(`${PATH}/${id}/secret`, { overlap_hours: 168 })
  assert.equal((await until())?.getTime(), t.deps.now() + 168 * HOUR_MS)
  await t.as(owner).post(`${PATH}/${id}/secret`, { overlap_hours: 0 })
  assert.equal(await until(), null)
  t.thaw()
  assertError(await t.as(owner).post(`${PATH}/${id}/secret`, { overlap_hours: 169 }), 400, 'validation_error')
})

test('a webhook whose secret was lost needs a new one', async () => {
  const { id } = await create()
  await t.deps.db
    .updateTable('webhook')
    .set({ active: false, disabled_reason: 'secret_lost' })
    .where('id', '=', id)
    .execute()
  assertError(await t.as(owner).patch(`${PATH}/${id}`, { active: true }), 409, 'conflict')
  assertError(await t.as(owner).post(`${PATH}/${id}/ping`), 409, 'conflict')
  assert.equal((await t.as(owner).post(`${PATH}/${id}/secret`, {})).statusCode, 200)
  const shown = (await t.as(owner).get(`${PATH}/${id}`)).json()
  assert.deepEqual([shown.active, shown.disabled_reason], [true, null])
})

test('deliveries are listed by state and page; a finished one is sent again', async () => {
  const { id } = await create()
  const queued: string[] = []
  for (let count = 0; count < 3; count += 1) {
    const answer = await t.as(owner).post(`${PATH}/${id}/ping`)
    assert.equal(answer.statusCode, 202, answer.body)
    queued.push(answer.json().delivery_id)
  }
  const list = (query = {}) => t.as(owner).get(`${PATH}/${id}/deliveries`, { query })
  const first = (await list({ limit: 2 })).json()
  assert.deepEqual(
    first.deliveries.map((each: { id: string }) => each.id),
    [queued[2], queued[1]],
  )
  const second = (await list({ limit: 2, cursor: first.next })).json()
  assert.deepEqual([second.deliveries[0].id, second.next], [queued[0], null])
  assert.deepEqual((await list({ state: 'failed' })).json().deliveries, [])
  assertError(await list({ cursor: '0x1' }), 400, 'invalid_input')
  assertError(await list({ state: 'lost' }), 400, 'invalid_input')
  const again = () => t.as(owner).post(`${PATH}/${id}/deliveries/${queued[0]}/redeliver`)
  assertError(await again(), 409, 'conflict')
  const failed = { state: 'failed', next_attempt: null } as const
  await t.deps.db
    .updateTable('webhook_delivery')
    .set(failed)
    .where('id', '=', queued[0] ?? '')
    .execute()
  assert.equal((await again()).statusCode, 202)
  assert.equal((await t.as(owner).get(`${PATH}/${id}/deliveries/${queued[0]}`)).json().state, 'failed')
  assertError(await t.as(owner).get(`${PATH}/${id}/deliveries/NoSuch00`), 404, 'not_found')
  const other = await create()
  assertError(await t.as(owner).get(`${PATH}/${other.id}/deliveries/${queued[0]}`), 404, 'not_found')
})

test('old deliveries are deleted, and a webhook goes with its project', async () => {
  const { id } = await create()
  const old = (await t.as(owner).post(`${PATH}/${id}/ping`)).json().delivery_id
  const fresh = (await t.as(owner).post(`${PATH}/${id}/ping`)).json().delivery_id
  const created = new Date(t.deps.now() - 15 * DAY_MS)
  await t.deps.db.updateTable('webhook_delivery').set({ created }).where('id', '=', old).execute()
  const expire = async () => {
    await t.runJob('webhooks.expire')
  }
  await expire()
  const { deliveries } = (await t.as(owner).get(`${PATH}/${id}/deliveries`)).json()
  assert.deepEqual(
    deliveries.map((each: { id: string }) => each.id),
    [fresh],
  )
  await t.as(owner).delete(`/v3/project/${project.id}`)
  assertError(await t.as(owner).get(`${PATH}/${id}`), 404, 'not_found')
  await t.deps.db.deleteFrom('event').execute()
  await expire()
  assert.equal(await t.deps.db.selectFrom('webhook').select('id').where('id', '=', id).executeTakeFirst(), undefined)
})
