// Packs of accounts: who sees and changes them, their saves, and the lock of each save.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { DAY_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { makeCatalogue, type TestCatalogue } from '#test/support/factories/resolve-catalogue.ts'
import { scopeBits } from '#test/support/factories/team-factories.ts'
import { PACKS_MAX } from './requests.ts'

let t: TestApp
let made: TestCatalogue
let owner: Person
before(async () => {
  t = await testApp()
  made = await makeCatalogue(t, {
    lantern: { '2': ['required engine'], '1': [] },
    engine: { '1': [] },
    rival: { '1': ['incompatible lantern'] },
    old: { '1': { game_versions: ['1.19.4'] } },
  })
  owner = await t.make.account({ username: 'packer' })
})
after(() => t?.close())

const SETUP = { loader: 'fabric', game_version: '1.20.1', loader_version: '0.15.11' }
const idOf = (slug: string) => made.projects[slug]?.id ?? assert.fail(slug)

async function create(person: Person, fields: object = {}) {
  const body = { name: 'Evening lights', projects: [idOf('lantern')], ...SETUP, ...fields }
  const answer = await t.as(person).post('/v3/pack', body)
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json()
}

const refusal = async (person: Person, fields: object) => {
  const body = { name: 'Evening lights', projects: [idOf('lantern')], ...SETUP, ...fields }
  const answer = await t.as(person).post('/v3/pack', body)
  const { error, details, description } = answer.json()
  return [answer.statusCode, error, details?.field, description]
}

test('a pack has a save with a lock from the start, and each change of its versions is the next save', async () => {
  const pack = await create(owner)
  assert.deepEqual(
    [pack.slug, pack.status, pack.number, pack.projects, pack.user],
    ['evening-lights', 'listed', 1, [idOf('lantern')], owner.id],
  )
  const first = (await t.anyone.get(`/v3/lock/${pack.lock}`)).json()
  assert.deepEqual([first.name, first.chosen.length, first.complete], ['Evening lights', 2, true])
  const path = `/v3/pack/${pack.id}`
  const change = async (body: object) => {
    const answer = await t.as(owner).patch(path, body)
    assert.equal(answer.statusCode, 204, answer.body)
    return (await t.anyone.get(path)).json()
  }
  assert.equal((await change({ status: 'unlisted', slug: 'Evening' })).number, 1)
  const wider = await change({ projects: [made.projects['engine']?.slug, idOf('lantern'), idOf('lantern')] })
  assert.deepEqual([wider.number, wider.projects], [2, [idOf('engine'), idOf('lantern')]])
  assert.notEqual(wider.lock, pack.lock)
  assert.equal((await change({ name: 'Morning' })).number, 3)
  assert.equal((await change({ name: 'Morning' })).number, 3, 'the same versions')
  const saves = (await t.anyone.get(`${path}/saves`)).json()
  assert.deepEqual(
    saves.map(({ number }: { number: number }) => number),
    [3, 2, 1],
  )
  assert.equal(saves[2].lock, pack.lock)
})

test('a newer version of a project becomes a save when the owner saves the pack again', async () => {
  const { projects } = await makeCatalogue(t, { torch: { '1': [] } })
  const project = projects['torch'] ?? assert.fail()
  const pack = await create(owner, { name: 'Torches', projects: [project.id] })
  const same = await t.as(owner).post(`/v3/pack/${pack.id}/saves`)
  assert.deepEqual([same.statusCode, same.json().number], [200, 1])
  const version = await t.make.version({ project, loaders: ['fabric'], game_versions: ['1.20.1'] })
  await t.make.file({ project, version, bytes: Buffer.from('newer torch') })
  const both = await Promise.all([1, 2].map(() => t.as(owner).post(`/v3/pack/${pack.id}/saves`)))
  assert.deepEqual(
    both.map(({ statusCode }) => statusCode).filter((status) => status >= 500),
    [],
  )
  const { number, lock } = (await t.anyone.get(`/v3/pack/${pack.id}`)).json()
  assert.equal(number, 2)
  assert.equal((await t.anyone.get(`/v3/lock/${lock}`)).json().chosen[0].version_id, version.id)
})

test('a save is complete: the error names the project or the part of the setup', async () => {
  const cases: [object, string, string, RegExp][] = [
    [{ projects: [idOf('engine'), idOf('old')] }, 'validation_error', 'projects.1', /has no version/],
    [{ projects: ['nothing'] }, 'validation_error', 'projects.0', /must be the ID or slug of a public project/],
    [{ projects: [idOf('lantern'), idOf('rival')] }, 'validation_error', 'projects.1', /incompatible/],
    [{ loader: null, loader_version: null }, 'validation_error', 'loader', /must be set/],
    [{ loader_version: null }, 'validation_error', 'loader_version', /must be set/],
    [{ loader: 'sails' }, 'validation_error', 'loader', /not a known loader/],
    [{ game_version: '0.0.0' }, 'validation_error', 'game_version', /must be a value/],
    [{ loader_version: '../x' }, 'validation_error', 'loader_version', /letters/],
    [{ loader_version: 'abc' }, 'validation_error', 'loader_version', /must have a digit/],
    [{ projects: [] }, 'validation_error', 'projects', /./],
    [{ name: '   ' }, 'validation_error', 'name', /./],
    [{ slug: 'a b' }, 'validation_error', 'slug', /./],
  ]
  for (const [fields, kind, field, text] of cases) {
    const [status, error, named, description] = await refusal(owner, fields)
    assert.deepEqual([status, error, named], [400, kind, field], `${JSON.stringify(fields)}: ${description}`)
    assert.match(String(description), text)
  }
  const [status, error] = await refusal(owner, { status: 'rejected' })
  assert.deepEqual([status, error], [403, 'unauthorized'])
})

test('slugs are unique per account: a derived slug gets a number, a chosen one conflicts', async () => {
  const person = await t.make.account()
  const [first, second] = [await create(person), await create(person)]
  assert.deepEqual([first.slug, second.slug], ['evening-lights', 'evening-lights-2'])
  assert.deepEqual((await refusal(person, { slug: 'Evening-Lights' })).slice(0, 3), [409, 'conflict', 'slug'])
  const taken = await t.as(person).patch(`/v3/pack/${second.id}`, { slug: 'evening-lights' })
  assert.deepEqual([taken.statusCode, taken.json().details.field], [409, 'slug'])
  const both = await Promise.all([1, 2].map(() => refusal(person, { name: 'At the same time', slug: 'same' })))
  assert.deepEqual(both.map(([status]) => status).sort(), [201, 409])
})

test('others see public packs only, and cannot change them; moderators change the status', async () => {
  const pack = await create(owner, { name: 'Watched' })
  const path = `/v3/pack/${pack.id}`
  const stranger = await t.make.account()
  const moderator = await t.make.account({ role: 'moderator' })
  assert.equal((await t.as(stranger).patch(path, { name: 'Mine' })).statusCode, 403)
  assert.equal((await t.as(stranger).post(`${path}/saves`)).statusCode, 403)
  assert.equal((await t.as(stranger).delete(path)).statusCode, 403)
  assert.equal((await t.as(moderator).patch(path, { name: 'Mine' })).statusCode, 403)
  const listed = async (someone: Person | undefined) => {
    const client = someone === undefined ? t.anyone : t.as(someone)
    return (await client.get(`/v3/user/${owner.id}/packs`)).json().some(({ id }: { id: string }) => id === pack.id)
  }
  assert.equal(await listed(undefined), true)
  await t.as(owner).patch(path, { status: 'unlisted' })
  assert.deepEqual([await listed(stranger), await listed(owner)], [false, true])
  assert.equal((await t.anyone.get(path)).statusCode, 200)
  assert.equal((await t.as(moderator).patch(path, { status: 'rejected' })).statusCode, 204)
  for (const client of [t.anyone, t.as(stranger)]) {
    assert.equal((await client.get(path)).statusCode, 404)
    assert.equal((await client.get(`${path}/saves`)).statusCode, 404)
    assert.equal((await client.delete(path)).statusCode, client === t.anyone ? 401 : 404)
  }
  assert.equal((await t.as(owner).get(path)).json().status, 'rejected')
  assert.equal((await t.as(owner).patch(path, { status: 'listed' })).statusCode, 403)
  const { token } = await t.make.pat(owner, scopeBits('ONLY', 'USER_READ'))
  assert.equal((await t.as({ token }).get(path)).statusCode, 404)
  assert.equal((await t.as({ token }).delete(path)).statusCode, 403)
})

test('an outdated revision is a conflict, and two edits at the same time keep one of them', async () => {
  const pack = await create(owner, { name: 'Raced' })
  const path = `/v3/pack/${pack.id}`
  const headers = { 'if-match': `"${pack.revision}"` }
  const answers = await Promise.all(
    ['One more', 'Two more'].map((name) => t.as(owner).patch(path, { name }, { headers })),
  )
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [204, 409])
  const conflict = answers.find(({ statusCode }) => statusCode === 409)
  assert.equal(conflict?.json().details.current.number, 2)
})

test('the lock of a save is never forgotten; that of a deleted pack is', async () => {
  const pack = await create(owner, { name: 'Kept' })
  const loose = (await t.anyone.post('/v3/lock', { versions: [made.versions['engine/1']] })).json().lock
  t.advance(91 * DAY_MS)
  await t.runJob('locks.forget')
  assert.equal((await t.anyone.get(`/v3/lock/${pack.lock}`)).statusCode, 200)
  assert.equal((await t.anyone.get(`/v3/lock/${loose}`)).statusCode, 404)
  const fresh = await t.make.account({ username: 'packer-later' })
  const last = await create(fresh, { name: 'Deleted later' })
  assert.equal((await t.as(fresh).delete(`/v3/pack/${last.id}`)).statusCode, 204)
  assert.equal((await t.as(fresh).get(`/v3/pack/${last.id}`)).statusCode, 404)
  t.advance(91 * DAY_MS)
  await t.runJob('locks.forget')
  assert.equal((await t.anyone.get(`/v3/lock/${last.lock}`)).statusCode, 404)
})

test('an account has a limited number of packs, also with requests at the same time', async () => {
  const person = await t.make.account()
  await create(person)
  const { db } = t.deps
  const rows = Array.from({ length: PACKS_MAX - 2 }, (_, n) => ({
    slug: `filler-${n}`,
    id: `${person.id.slice(0, 5)}${n}`,
  }))
  const fields = { account_id: person.id, name: 'Filler', game_version: '1.20.1' }
  await db
    .insertInto('pack')
    .values(rows.map((row) => ({ ...row, ...fields })))
    .execute()
  const both = await Promise.all([1, 2].map((n) => refusal(person, { name: `Number ${n}` })))
  assert.deepEqual(both.map(([status]) => status).sort(), [201, 400])
  assert.equal(both.find(([status]) => status === 400)?.[1], 'LimitReached')
})

test('a deleted account has no public packs, and none once the deletion is final', async () => {
  const person = await t.make.account()
  const pack = await create(person)
  const exported = (await t.as(person).post('/_internal/gdpr/export')).json()
  assert.deepEqual([exported.packs?.[0]?.id, exported.pack_saves?.[0]?.number], [pack.id, 1])
  await t.deps.db
    .updateTable('account')
    .set({ deletion_due: new Date(t.deps.now() + DAY_MS) })
    .where('id', '=', person.id)
    .execute()
  assert.equal((await t.anyone.get(`/v3/pack/${pack.id}`)).statusCode, 404)
  await t.deps.db.deleteFrom('account').where('id', '=', person.id).execute()
  assert.equal((await t.deps.db.selectFrom('pack').select('id').where('id', '=', pack.id).execute()).length, 0)
})

test('a cleanup hides the packs of an account, and undoing it brings them back', async () => {
  const person = await t.make.account()
  const moderator = await t.make.account({ role: 'moderator' })
  const pack = await create(person)
  const body = { action: 'spam', users: [person.id], message: 'Spam' }
  const cleaned = await t.as(moderator).post('/_internal/moderation/cleanups', body)
  assert.ok(cleaned.statusCode < 300, cleaned.body)
  assert.equal((await t.anyone.get(`/v3/pack/${pack.id}`)).statusCode, 404)
  const undone = await t.as(moderator).post(`/_internal/moderation/cleanups/${cleaned.json().id}/undo`)
  assert.ok(undone.statusCode < 300, undone.body)
  assert.equal((await t.anyone.get(`/v3/pack/${pack.id}`)).statusCode, 200)
})
