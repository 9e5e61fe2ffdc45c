// The list of accounts: filters, order, pages, and who sees email addresses.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseScopeNames } from '#features/basics/access/scopes.ts'
import { DAY_MS } from '#lib/time.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const { t } = await teamApp()
const mira = await t.make.account({ role: 'moderator', username: 'mira' })
const olga = await t.make.account({ role: 'admin', username: 'olga' })
const [old, suspended, published, secured, member] = await t.make.people(5)
const place = (person: { id: string }, fields: object = {}) =>
  t.deps.db
    .insertInto('account_origin')
    .values({
      account_id: person.id,
      event: 'sign_up',
      at: new Date(),
      address_range: '203.0.113.0/24',
      user_agent: 'Mozilla/5.0 (X11; Linux) Firefox/140',
      ...fields,
    })
    .execute()
const change = (person: { id: string }, fields: object) =>
  t.deps.db.updateTable('account').set(fields).where('id', '=', person.id).execute()
await change(old, { created: new Date('2020-05-05T10:00:00Z'), email: 'old@spam.example' })
await change(suspended, { suspended_at: new Date(), suspension_reason: 'Ads', username: 'aardvark' })
await change(secured, { totp_secret: 'x' })
const project = await t.make.project({ owner: published })
await t.deps.db.updateTable('project').set({ approved: new Date() }).where('id', '=', project.id).execute()
await place(old)
await place(member, { event: 'sign_in', address_range: '2001:db8:1::/48', at: new Date(Date.now() + DAY_MS) })

const list = (query: Record<string, string | number | boolean> = {}, who: { token: string } = mira) =>
  t.as(who).get('/_internal/moderation/users', { query })
const found = async (query: Record<string, string | number | boolean>, who = mira): Promise<string[]> => {
  const answer = await list(query, who)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().users.map(({ id }: { id: string }) => id)
}

test('each filter finds its accounts', async () => {
  const ids = (...people: { id: string }[]) => people.map(({ id }) => id)
  assert.deepEqual(await found({ suspended: true }), ids(suspended))
  assert.deepEqual(await found({ published: true }), ids(published))
  assert.deepEqual(await found({ two_factor: true }), ids(secured))
  assert.deepEqual(
    (await found({ role: 'developer', published: false, two_factor: false, suspended: false })).sort(),
    ids(old, member).sort(),
  )
  assert.deepEqual(await found({ role: 'admin' }), ids(olga))
  assert.deepEqual(await found({ email_domain: '@SPAM.example' }), ids(old))
  for (const address_range of ['203.0.113.77', '203.0.113.0/24', '203.0.0.0/16'])
    assert.deepEqual(await found({ address_range }), ids(old))
  assert.deepEqual(await found({ address_range: '2001:db8:1:2::3' }), ids(member))
  assert.deepEqual(await found({ address_range: '198.51.100.0/24' }), [])
  assert.deepEqual(await found({ registered_from: '2020-05-05', registered_to: '2020-05-05' }), ids(old))
  assert.deepEqual(await found({ registered_to: '2020-05-05T10:00:00Z' }), [])
  assert.deepEqual(await found({ query: 'AARD' }), ids(suspended))
  assert.deepEqual(await found({ query: old.id }), ids(old))
  assert.deepEqual(await found({ query: '%' }), [])
})

test('the order and the pages', async () => {
  assert.equal((await found({ sort: 'oldest' }))[0], old.id)
  assert.equal((await found({ sort: 'name' }))[0], suspended.id)
  assert.equal((await found({ sort: 'seen' }))[0], member.id)
  assert.equal((await found({})).at(-1), old.id)
  const { total, users } = (await list({ limit: 2, offset: 6 })).json()
  assert.deepEqual([total, users.length], [7, 1])
})

test('an account has its origin and its figures; only operators see email addresses and search for them', async () => {
  const { users } = (await list({ query: old.username })).json()
  const [{ at: _, ...origin }] = users[0].origins
  assert.deepEqual(origin, { event: 'sign_up', address_range: '203.0.113.0/24', device: 'Firefox, Linux' })
  assert.deepEqual([users[0].email, users[0].email_domain, users[0].projects], [null, 'spam.example', 0])
  assert.deepEqual(await found({ query: 'old@spam' }), [])
  const byOperator = (await list({ query: 'old@spam' }, olga)).json().users
  assert.deepEqual(
    byOperator.map(({ email }: { email: string }) => email),
    ['old@spam.example'],
  )
  const weak = await t.make.pat(olga, parseScopeNames('USER_READ').bits)
  assert.equal((await list({ query: old.id }, weak)).json().users[0].email, null)
  const { queries: few } = await t.queriesOf(() => list({ limit: 1 }))
  const { queries: many } = await t.queriesOf(() => list())
  assert.equal(many.length, few.length)
})

test('related accounts have the address range, the device, the email domain or a link in common', async () => {
  const [near, far] = await t.make.people(2)
  await place(near, { address_range: '203.0.113.0/24', user_agent: 'near/1' })
  await place(far, { address_range: '198.51.100.0/24', user_agent: 'far/1' })
  await change(near, { email: 'near@spam.example' })
  await change(far, { email: 'far@other.example' })
  const links = (wiki: string) => JSON.stringify({ wiki })
  const [own, same, other] = [
    await t.make.project({ owner: old }),
    await t.make.project({ owner: far }),
    await t.make.project({ owner: far }),
  ]
  for (const [project, url] of [
    [own, 'https://lamps.example/shop'],
    [same, 'https://lamps.example/SHOP/'],
    [other, 'https://lamps.example/other'],
  ] as const)
    await t.deps.db
      .updateTable('project')
      .set({ link_urls: links(url) })
      .where('id', '=', project.id)
      .execute()
  const answer = await t.as(mira).get(`/_internal/moderation/users/${old.id}/related`)
  assert.equal(answer.statusCode, 200, answer.body)
  const { users, projects } = answer.json()
  assert.deepEqual(
    users.map(({ id, relations, email }: Record<string, unknown>) => [id, relations, email]),
    [
      [near.id, ['address', 'domain'], null],
      [far.id, ['link'], null],
      [member.id, ['device'], null],
    ],
  )
  assert.deepEqual(
    projects.map(({ id, link, owner_id }: Record<string, unknown>) => [id, link, owner_id]),
    [[same.id, 'https://lamps.example/shop', far.id]],
  )
  assertError(await t.as(old).get(`/_internal/moderation/users/${old.id}/related`), 403, 'unauthorized')
  assertError(await t.as(mira).get('/_internal/moderation/users/zzzzzzzz/related'), 404, 'not_found')
})

test('a wrong filter is named, and others see nothing', async () => {
  for (const [field, value] of [
    ['address_range', 'here'],
    ['registered_from', 'yesterday'],
    ['registered_to', '2026-13-40'],
  ] as const)
    assertError(await list({ [field]: value }), 400, 'validation_error', field)
  assertError(await list({ limit: 101 }), 400, 'invalid_input')
  assertError(await list({}, old), 403, 'unauthorized')
  assertError(await t.anyone.get('/_internal/moderation/users'), 401, 'unauthorized')
})
