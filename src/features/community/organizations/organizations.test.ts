// Creating, reading and editing organizations.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { names, scopeBits, teamFactories } from '#test/support/factories/team-factories.ts'
import { ABSENT, assertError, assertRefusedValues, statuses } from '#test/support/http/account-steps.ts'

const t = await testApp({ env: { REQUIRE_VERIFIED_EMAIL: 'true' } })
after(() => t.close())
const make = teamFactories(t.deps.db)

type By = { token: string }
const TEXTS = { name: 'Lantern makers', description: 'We make lanterns' }
const create = (by: By, body: unknown) => t.as(by).post('/v3/organization', body)
const patch = (by: By, id: string, body: unknown) => t.as(by).patch(`/v3/organization/${id}`, body)
const read = async (id: string, by?: By) =>
  (await (by === undefined ? t.anyone : t.as(by)).get(`/v3/organization/${id}`)).json()

test('a new organization answers 201 with its owner as its only member, and is there for everyone', async () => {
  const [owner] = await t.make.people(1)
  const answer = await create(owner, { ...TEXTS, slug: 'Lantern-Makers', icon_url: 'https://evil.example/', color: 7 })
  assert.equal(answer.statusCode, 201, answer.body)
  const { id, team_id, members, revision, ...rest } = answer.json()
  assert.deepEqual(rest, { ...TEXTS, slug: 'lantern-makers', icon_url: null, raw_icon_url: null, color: null })
  assert.equal(revision, 1)
  const [{ user, revision: _, ...member }] = members
  assert.equal(user.username, owner.username)
  assert.deepEqual(member, {
    team_id,
    role: 'Owner',
    is_owner: true,
    permissions: 1023,
    organization_permissions: 255,
    accepted: true,
    payouts_split: 100,
    ordering: 0,
  })
  for (const name of [id, 'lantern-makers', 'LANTERN-makers']) {
    const seen = await read(name)
    assert.deepEqual([seen.id, seen.members[0].permissions], [id, null])
  }
  assert.equal((await read(id, owner)).members[0].permissions, 1023)
  const { statusCode, headers } = await t.anyone.get(`/v3/organization/${id}`)
  const again = await t.anyone.get(`/v3/organization/${id}`, { headers: { 'if-none-match': String(headers['etag']) } })
  assert.deepEqual([statusCode, again.statusCode], [200, 304])
  assertError(await t.anyone.get('/v3/organization/no-such-one'), 404, 'not_found')
  assertError(await t.anyone.get('/v3/organization/no-such-one/members'), 404, 'not_found')
})

test('each text has its limits, when it is made and when it is edited', async () => {
  const [owner] = await t.make.people(1)
  const { id } = await make.organization(owner)
  const valid = { ...TEXTS, slug: 'bounds-of-texts' }
  const bad = {
    slug: [7, '', 'ab', 'x'.repeat(65), 'dotted.slug', 'under_score', 'späti', 'two words', '../up'],
    name: [7, '', 'ab', 'x'.repeat(65), '   ', ' a   ', '\u200b\u200b\u200b', 'ab\u0000', '\ud800ab'],
    description: [7, '', 'ab', 'x'.repeat(257), '     '],
  }
  for (const [field, values] of Object.entries(bad)) {
    await assertRefusedValues((body) => create(owner, body), valid, field, [ABSENT, null, ...values])
    await assertRefusedValues((body) => patch(owner, id, body), {}, field, values)
  }
  const shortest = { slug: 'abc', name: 'abc', description: 'abc' }
  const longest = { slug: 'x'.repeat(64), name: 'x'.repeat(64), description: '🏮'.repeat(256) }
  for (const texts of [shortest, longest]) assert.equal((await create(owner, texts)).statusCode, 201)
  const edited = { slug: 'abcd', name: 'abcd', description: 'abcd' }
  assert.equal((await patch(owner, id, edited)).statusCode, 204)
  assert.equal((await read('abcd')).name, 'abcd')
})

test('a used slug, or a slug that is an ID, is a conflict; the current slug is not', async () => {
  const [owner] = await t.make.people(1)
  const first = await make.organization(owner)
  const second = await make.organization(owner)
  for (const slug of [second.slug, second.slug.toUpperCase(), second.id]) {
    assertError(await create(owner, { ...TEXTS, slug }), 409, 'conflict', 'slug')
    assertError(await patch(owner, first.id, { slug }), 409, 'conflict', 'slug')
  }
  assert.equal((await patch(owner, first.id, { slug: first.slug.toUpperCase() })).statusCode, 204)
  const answers = await Promise.all([1, 2, 3].map(() => create(owner, { ...TEXTS, slug: 'raced-for' })))
  assert.deepEqual(statuses(answers), [201, 409, 409])
  const renames = await Promise.all([first, second].map(({ id }) => patch(owner, id, { slug: 'raced-for-too' })))
  assert.deepEqual(statuses(renames), [204, 409])
})

test('an edit is visible immediately under both names; absent, null and unknown keys change nothing', async () => {
  const [owner] = await t.make.people(1)
  const { id, slug, teamId } = await make.organization(owner)
  const original = await read(slug)
  assert.equal((await patch(owner, slug, { name: '  Trimmed  ', slug: 'renamed-one' })).statusCode, 204)
  const edited = await read('renamed-one')
  assert.deepEqual(edited, { ...original, name: 'Trimmed', slug: 'renamed-one', revision: original.revision + 1 })
  assertError(await t.anyone.get(`/v3/organization/${slug}`), 404, 'not_found')
  const nothing = { name: null, slug: null, description: null, team_id: 'zzzzzzzz', color: 1 }
  assert.equal((await patch(owner, id, nothing)).statusCode, 204)
  assert.equal((await patch(owner, id, {})).statusCode, 204)
  assert.deepEqual(await read(id), edited)
  assert.equal(edited.team_id, teamId)
})

test('editing takes EDIT_DETAILS; moderators have it', async () => {
  const [owner, editor, member, invitee, stranger] = await t.make.people(5)
  const moderator = await t.make.account({ role: 'moderator' })
  const { id, teamId } = await make.organization(owner)
  await make.member(teamId, editor, { organization_permissions: 1 })
  await make.member(teamId, member, { organization_permissions: 254 })
  await make.member(teamId, invitee, { organization_permissions: 255, accepted: false })
  for (const by of [editor, moderator]) assert.equal((await patch(by, id, { name: 'New name' })).statusCode, 204)
  for (const by of [member, invitee, stranger]) {
    assertError(await patch(by, id, { name: 'Other name' }), 403, 'unauthorized')
    assertError(await patch(by, id, {}), 403, 'unauthorized')
  }
  assertError(await patch(owner, 'no-such-one', {}), 404, 'not_found')
  assertError(await t.anyone.patch(`/v3/organization/${id}`, {}), 401, 'unauthorized')
  assert.equal((await read(id)).name, 'New name')
})

test('each write requires its scope and names it; creating also requires a verified email address', async () => {
  const [owner] = await t.make.people(1)
  const { id } = await make.organization(owner)
  const calls = {
    ORGANIZATION_CREATE: (by: By) => create(by, { ...TEXTS, slug: 'never-made' }),
    ORGANIZATION_WRITE: (by: By) => patch(by, id, { name: 'Never' }),
    ORGANIZATION_DELETE: (by: By) => t.as(by).delete(`/v3/organization/${id}`),
  } as const
  for (const [scope, call] of Object.entries(calls)) {
    const answer = await call(await t.make.pat(owner, scopeBits('ALL_BUT', scope)))
    assertError(answer, 403, 'unauthorized')
    assert.match(answer.json().description, new RegExp(scope))
  }
  const unverified = await t.make.account({ email_verified: false })
  assertError(await create(unverified, { ...TEXTS, slug: 'never-made' }), 403, 'unauthorized')
  assertError(await create(unverified, {}), 400, 'validation_error')
  assertError(await t.anyone.get('/v3/organization/never-made'), 404, 'not_found')
  const reader = await t.make.pat(owner, scopeBits('ONLY', 'ORGANIZATION_READ'))
  const blind = await t.make.pat(owner, scopeBits('ALL_BUT', 'ORGANIZATION_READ'))
  assert.equal((await read(id, reader)).members[0].permissions, 1023)
  assert.equal((await read(id, blind)).members[0].permissions, null)
})

test('members of organizations: pending members are visible to members and themselves; lists are in request order', async () => {
  const [owner, invitee, stranger] = await t.make.people(3)
  const [one, two] = [await make.organization(owner), await make.organization(owner)]
  await make.member(one.teamId, invitee, { accepted: false })
  const list = async (by: By, path: string) => (await t.as(by).get(path)).json()
  const path = `/v3/organization/${one.slug}/members`
  assert.deepEqual(names(await list(owner, path)), [owner.username, invitee.username])
  assert.deepEqual(names(await list(invitee, path)), [owner.username, invitee.username])
  assert.deepEqual(names(await list(stranger, path)), [owner.username])
  const ids = encodeURIComponent(JSON.stringify([two.slug, 'no-such-one', one.id, two.id]))
  const both = await list(invitee, `/v3/organizations?ids=${ids}`)
  assert.deepEqual(
    both.map(({ id, members }: { id: string; members: [] }) => [id, members.length]),
    [
      [two.id, 1],
      [one.id, 2],
    ],
  )
  assertError(await t.anyone.get('/v3/organizations', { query: { ids: '{}' } }), 400, 'invalid_input', 'ids')
  assertError(await t.anyone.get('/v3/organizations'), 400, 'invalid_input', 'ids')
})

test('reading one or many organizations costs a constant number of statements, and none when warm', async () => {
  const counts: number[][] = []
  for (const size of [2, 50]) {
    const crowd = await t.make.people(size)
    const organizations = await Promise.all(crowd.map((owner) => make.organization(owner)))
    const [first] = organizations
    if (first === undefined) throw new Error('unreachable: there are at least two')
    for (const person of crowd.slice(1)) await make.member(first.teamId, person)
    const many = () =>
      t.anyone.get('/v3/organizations', { query: { ids: JSON.stringify(organizations.map(({ id }) => id)) } })
    const one = () => t.anyone.get(`/v3/organization/${first.slug}`)
    const [cold, all, warm] = [await t.queriesOf(one), await t.queriesOf(many), await t.queriesOf(many)]
    assert.equal(cold.result.json().members.length, size)
    assert.equal(all.result.json().length, size)
    assert.deepEqual([...warm.queries, ...(await t.queriesOf(one)).queries], [])
    counts.push([cold.queries.length, all.queries.length])
  }
  assert.deepEqual(counts[0], [3, 2])
  assert.deepEqual(counts[1], counts[0])
})
