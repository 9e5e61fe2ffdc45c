// Projects with similar names and icons: reasons, order, visibility, bad input, and keys that follow changes.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import sharp from 'sharp'
import { testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { scopeBits } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { projectData } from '#test/support/http/forms.ts'

const t = await testApp()
after(() => t.close())
const person = await t.make.account()

const PATH = '/v3/project/similar'
const similar = (who: Person | { token: string }, query: Record<string, string>) => t.as(who).get(PATH, { query })
type Hit = { id: string; name: string; reasons: string[]; ownership: unknown; project_types: string[] }
async function hits(
  name: string,
  { who = person, project_id }: { who?: Person; project_id?: string } = {},
): Promise<Hit[]> {
  const answer = await similar(who, { name, ...(project_id === undefined ? {} : { project_id }) })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().projects
}
const found = async (name: string): Promise<[string, string[]][]> =>
  (await hits(name)).map(({ name: hit, reasons }) => [hit, reasons])

/** A drawing that differs from others in its shapes. */
const drawing = (shift: number, quality = 90): Promise<Buffer> =>
  sharp({ create: { width: 128, height: 128, channels: 3, background: '#203040' } })
    .composite(
      [0, 1, 2, 3].map((n) => ({
        input: { create: { width: 20 + n * 4, height: 18 + n * 9, channels: 3, background: '#e0c090' } },
        left: (n * 31 + shift * 17) % 90,
        top: (n * 23 + shift * 41) % 80,
      })),
    )
    .jpeg({ quality })
    .toBuffer()

const setIcon = async ({ owner, id }: MadeProject, image: Buffer): Promise<void> => {
  const headers = { 'content-type': 'image/jpeg' }
  const answer = await t.as(owner).patch(`/v3/project/${id}/icon`, image, { query: { ext: 'jpg' }, headers })
  assert.equal(answer.statusCode, 204, answer.body)
}

test('names match by letters, by look-alikes, by words in any order, and without the usual additions', async () => {
  await t.make.project({ name: 'Gloamspire' })
  for (const typed of [
    'gloamspire',
    'Gloam-Spire',
    'Gloamspires',
    'Gl0amsp1re',
    'Gloamspier',
    'Gloámspire',
    'Glоamspire',
  ]) {
    const [[name, reasons] = ['', []], ...others] = await found(typed)
    assert.deepEqual([name, reasons.includes('letters'), others.length], ['Gloamspire', true, 0], typed)
  }
  assert.deepEqual(await found('Gloamspire Reborn'), [['Gloamspire', ['words']]])
  assert.deepEqual(await found('The Gloamspires Mod'), [['Gloamspire', ['words']]])
  await t.make.project({ name: 'Towers of Vellichor' })
  assert.deepEqual(await found('Vellichor Tower'), [['Towers of Vellichor', ['words']]])
  assert.deepEqual(await found('Vellichor'), [['Towers of Vellichor', ['words']]])
  assert.deepEqual(await found('Quite another name'), [])
  assert.deepEqual(await found('the mod'), [])
})

test('hits say who owns the project, and a rename changes what is found', async () => {
  const project = await t.make.project({ name: 'Morrowlight' })
  const version = await t.make.version({ project })
  assert.ok(version)
  const [hit] = await hits('Morrowlight')
  assert.deepEqual(hit?.ownership, { kind: 'user', id: project.owner.id, name: project.owner.username })
  assert.deepEqual(hit?.project_types, ['mod'])
  assert.equal((await t.as(project.owner).patch(`/v3/project/${project.id}`, { name: 'Duskhollow' })).statusCode, 204)
  assert.deepEqual(await found('Morrowlight'), [])
  assert.deepEqual((await found('Duskholow'))[0]?.[0], 'Duskhollow')
})

test('the closest name comes first, then the most downloaded, and at most 10 are listed', async () => {
  for (let n = 0; n < 11; n += 1) {
    const { id } = await t.make.project({ name: `Petrichor ${'abcdefghijk'[n]}mber` })
    await t.deps.db.updateTable('project').set({ downloads: n }).where('id', '=', id).execute()
  }
  await t.make.project({ name: 'Petrichor' })
  const list = await found('Petrichor')
  assert.equal(list.length, 10)
  assert.deepEqual(list[0], ['Petrichor', ['letters', 'words']])
  assert.equal(list[1]?.[0], 'Petrichor kmber')
})

test('an icon that looks alike is found with the project, and the project itself is not', async () => {
  const [one, copy, other] = await Promise.all([
    t.make.project({ name: 'Ashen vale' }),
    t.make.project({ name: 'Brineport' }),
    t.make.project({ name: 'Cinderfell' }),
  ])
  await setIcon(one, await drawing(0))
  await setIcon(copy, await drawing(0, 55))
  await setIcon(other, await drawing(3))
  const ofCopy = await hits('Ashen vale', { who: one.owner, project_id: one.id })
  assert.deepEqual(
    ofCopy.map(({ id, reasons }) => [id, reasons]),
    [[copy.id, ['icon']]],
  )
  assert.equal((await t.as(copy.owner).delete(`/v3/project/${copy.id}/icon`)).statusCode, 204)
  assert.deepEqual(await hits('Ashen vale', { who: one.owner, project_id: one.id }), [])
})

test('hidden projects are named to members and moderators only', async () => {
  const draft = await t.make.project({ name: 'Quillmarsh', status: 'draft' })
  const unlisted = await t.make.project({ name: 'Quillmarsh', status: 'unlisted' })
  const moderator = await t.make.account({ role: 'moderator' })
  assert.deepEqual(await hits('Quillmarsh'), [])
  assert.deepEqual(
    (await hits('Quillmarsh', { who: draft.owner })).map(({ id }) => id),
    [draft.id],
  )
  const all = (await hits('Quillmarsh', { who: moderator })).map(({ id }) => id)
  assert.deepEqual(new Set(all), new Set([draft.id, unlisted.id]))
  assertError(await similar(person, { name: 'Quillmarsh', project_id: draft.id }), 400, 'invalid_input', 'project_id')
})

test('bad input names the parameter, and callers need a token with PROJECT_READ', async () => {
  assertError(await t.as(person).get(PATH), 400, 'invalid_input', 'name')
  assertError(await similar(person, { name: '' }), 400, 'invalid_input', 'name')
  assertError(await similar(person, { name: 'x'.repeat(65) }), 400, 'invalid_input', 'name')
  assertError(await similar(person, { name: 'x', project_id: '!' }), 400, 'decoding_error', 'project_id')
  assertError(await similar(person, { name: 'x', project_id: 'Zzzzzzzz' }), 400, 'invalid_input', 'project_id')
  assertError(await t.anyone.get(PATH, { query: { name: 'x' } }), 401, 'unauthorized')
  const narrow = await t.make.pat(person, scopeBits('ALL_BUT', 'PROJECT_READ'))
  assertError(await similar(narrow, { name: 'x' }), 403, 'unauthorized')
  for (const name of ['!!!', "'; drop table project; --", '\u202e', '🏮']) assert.deepEqual(await hits(name), [], name)
})

test('the slug is reserved, and a project that has it is reached by its ID', async () => {
  const create = (slug: string) => t.as(person).post('/v3/project', projectData(slug))
  assertError(await create('Similar'), 409, 'conflict', 'slug')
  const project = await t.make.project({ owner: person })
  const rename = await t.as(person).patch(`/v3/project/${project.id}`, { slug: 'similar' })
  assertError(rename, 409, 'conflict', 'slug')
  const old = await t.make.project({ slug: 'similar' })
  assert.equal((await t.anyone.get(`/v3/project/${old.id}`)).json().slug, 'similar')
})

test('one search takes the same number of statements, whatever it finds', async () => {
  const few = await t.queriesOf(() => hits('Nothing like it'))
  const many = await t.queriesOf(() => hits('Petrichor'))
  assert.equal(few.queries.length, many.queries.length)
})
