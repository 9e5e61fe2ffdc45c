// Saved replies: reading, writing, order, limits, races and permissions.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { newId } from '#lib/ids.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { scopeBits } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { checkReply } from './requests.ts'
import { STARTER_REPLIES } from './starter-replies.ts'

const t = await testApp()
after(() => t.close())
const mira = await t.make.account({ role: 'moderator' })
const user = await t.make.account()
beforeEach(() => t.deps.db.deleteFrom('saved_reply').execute())

const PATH = '/_internal/moderation/replies'
const REPLY = {
  topic: 'Licence',
  language: 'en',
  title: 'Name the licence',
  body: 'Please add a licence to {project}.',
}

async function create(fields: Partial<typeof REPLY> = {}): Promise<string> {
  const answer = await t.as(mira).post(PATH, { ...REPLY, ...fields })
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().id
}
async function list(query: Record<string, string> = {}) {
  const answer = await t.as(mira).get(PATH, { query })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().replies as (typeof REPLY & { id: string; updated: string })[]
}
const idsOf = async (query: Record<string, string> = {}) => (await list(query)).map(({ id }) => id)

test('a reply is created, edited and deleted, and every moderator sees it', async () => {
  const id = await create()
  const [made] = await list()
  assert.deepEqual(made && [made.topic, made.language, made.title, made.body], Object.values(REPLY))
  t.advance(60_000)
  assert.equal((await t.as(mira).patch(`${PATH}/${id}`, { title: 'Add a licence' })).statusCode, 204)
  const jon = await t.make.account({ role: 'admin' })
  const [edited] = (await t.as(jon).get(PATH)).json().replies
  assert.deepEqual([edited.title, edited.body], ['Add a licence', REPLY.body])
  assert.ok(edited.updated > edited.created)
  assert.equal((await t.as(mira).delete(`${PATH}/${id}`)).statusCode, 204)
  assert.deepEqual(await list(), [])
  assertError(await t.as(mira).delete(`${PATH}/${id}`), 404, 'not_found')
  assertError(await t.as(mira).patch(`${PATH}/${id}`, { title: 'Again' }), 404, 'not_found')
  assertError(await t.as(mira).patch(`${PATH}/not-base62`, {}), 400, 'decoding_error', 'id')
})

test('replies have an order, a topic and a language, by which they can be filtered', async () => {
  const [a, b, c] = [await create(), await create({ language: 'de' }), await create({ topic: 'Links' })]
  assert.deepEqual(await idsOf(), [a, b, c])
  assert.equal((await t.as(mira).put(`${PATH}/order`, { ids: [c, a, b] })).statusCode, 204)
  assert.deepEqual(await idsOf(), [c, a, b])
  assert.deepEqual(await idsOf({ topic: 'Licence' }), [a, b])
  assert.deepEqual(await idsOf({ topic: 'Licence', language: 'de' }), [b])
  const last = await create()
  assert.deepEqual(await idsOf(), [c, a, b, last], 'new replies come last')
})

test('an order that does not name exactly the current replies changes nothing', async () => {
  const [a, b] = [await create(), await create()]
  for (const ids of [[b], [b, newId()], [b, a, newId()], []]) {
    const answer = await t.as(mira).put(`${PATH}/order`, { ids })
    assertError(answer, 409, 'conflict')
    assert.deepEqual(answer.json().details.current, [a, b])
  }
  assertError(await t.as(mira).put(`${PATH}/order`, { ids: [a, a] }), 400, 'validation_error', 'ids')
  assert.deepEqual(await idsOf(), [a, b])
})

test('replies that are created and ordered at the same time keep different positions', async () => {
  const first = [await create(), await create()]
  await Promise.all([
    t.as(mira).put(`${PATH}/order`, { ids: first.toReversed() }),
    ...Array.from({ length: 4 }, () => create()),
  ])
  const rows = await t.deps.db.selectFrom('saved_reply').select('position').execute()
  assert.equal(new Set(rows.map(({ position }) => position)).size, 6)
})

test('an instance has at most 500 replies', async () => {
  const row = (n: number) => ({ id: newId(), ...REPLY, position: n })
  await t.deps.db
    .insertInto('saved_reply')
    .values(Array.from({ length: 499 }, (_, n) => row(n)))
    .execute()
  const answers = await Promise.all([t.as(mira).post(PATH, REPLY), t.as(mira).post(PATH, REPLY)])
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [201, 400])
  assertError(await t.as(mira).post(PATH, REPLY), 400, 'LimitReached')
  assert.equal((await list()).length, 500)
})

test('markup is stored as it is; blank, long and unknown values are rejected with their field', async () => {
  const body = '<script>alert(1)</script> [x](javascript:alert(1)) {project} {unknown}'
  await create({ body })
  assert.equal((await list())[0]?.body, body)
  const refused: [string, unknown][] = [
    ['topic', ''],
    ['topic', ' \u200b'],
    ['topic', 'x'.repeat(65)],
    ['title', ''],
    ['title', 'x'.repeat(129)],
    ['body', '\n '],
    ['body', 'x'.repeat(8193)],
    ['body', 5],
    ['language', 'English'],
    ['language', 'e'],
  ]
  for (const [field, value] of refused)
    assertError(await t.as(mira).post(PATH, { ...REPLY, [field]: value }), 400, 'validation_error', field)
  const id = await create()
  for (const [field, value] of refused)
    assertError(await t.as(mira).patch(`${PATH}/${id}`, { [field]: value }), 400, 'validation_error', field)
})

test('replies are for moderators with THREAD_READ and THREAD_WRITE', async () => {
  const id = await create()
  const writes = (token: { token: string }) => [
    t.as(token).post(PATH, REPLY),
    t.as(token).patch(`${PATH}/${id}`, { title: 'Mine' }),
    t.as(token).delete(`${PATH}/${id}`),
    t.as(token).put(`${PATH}/order`, { ids: [id] }),
  ]
  const reader = await t.make.pat(mira, scopeBits('ALL_BUT', 'THREAD_WRITE'))
  for (const answer of await Promise.all([...writes(user), ...writes(reader), t.as(user).get(PATH)]))
    assertError(answer, 403, 'unauthorized')
  assert.equal((await t.as(reader).get(PATH)).statusCode, 200)
  assertError(await t.anyone.get(PATH), 401, 'unauthorized')
  assert.equal((await list())[0]?.title, REPLY.title)
})

test('the replies to begin with are added once, in two languages, and stay editable', async () => {
  const starter = () => t.as(mira).post(`${PATH}/starter`)
  const own = await create()
  const both = await Promise.all([starter(), starter()])
  const counts = both.map((answer) => answer.json().added as number)
  assert.deepEqual(
    counts.toSorted((a, b) => a - b),
    [0, STARTER_REPLIES.length],
  )
  const replies = await list()
  assert.equal(replies[0]?.id, own, 'they come last')
  assert.deepEqual(new Set(replies.map(({ language }) => language)), new Set(['en', 'de']))
  assert.equal((await list({ language: 'de' })).length, STARTER_REPLIES.length / 2)
  for (const reply of STARTER_REPLIES) assert.deepEqual(checkReply(reply), reply)
  const edited = replies[1]?.id ?? ''
  assert.equal((await t.as(mira).patch(`${PATH}/${edited}`, { title: 'Mine' })).statusCode, 204)
  assert.deepEqual((await starter()).json(), { added: 1 })
  assertError(await t.as(user).post(`${PATH}/starter`), 403, 'unauthorized')
  assertError(await t.anyone.post(`${PATH}/starter`), 401, 'unauthorized')
})

test('the replies to begin with are all added or none', async () => {
  const rows = Array.from({ length: 495 }, (_, n) => ({ id: newId(), ...REPLY, title: `Reply ${n}`, position: n }))
  await t.deps.db.insertInto('saved_reply').values(rows).execute()
  assertError(await t.as(mira).post(`${PATH}/starter`), 400, 'LimitReached')
  assert.equal((await list()).length, 495)
})
