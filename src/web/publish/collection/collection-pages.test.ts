// The pages of collections: the list, a new collection, the editor and the deletion.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { type Owned, teamFactories } from '#test/support/factories/team-factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, hiddenFields, type Visitor, visitor } from '#test/support/http/visitor.ts'

const HOSTILE = '</textarea><script>alert(1)</script>'
const LIST = '/dashboard/collections'
const t = await testApp({ env: { QUOTA_COLLECTIONS: '3' } })
after(() => t.close())
const make = teamFactories(t.deps.db)

const as = (person: { token: string }): Visitor => visitor(t, person.token)
type Fields = Record<string, string>

async function makeCollection(count = 3) {
  const creator = await t.make.account()
  const projects: Owned[] = []
  while (projects.length < count) projects.push(await make.project(undefined))
  const ids = projects.map(({ id }) => id)
  const made = await t
    .as(creator)
    .post('/v3/collection', { name: 'Lights', description: 'All that shines', projects: ids })
  const { id } = made.json()
  const read = async (by: Person = creator) => (await t.as(by).get(`/v3/collection/${id}`)).json()
  const details = { name: 'Lights', description: 'All that shines', status: 'listed', find: '', lines: '' }
  const places = Object.fromEntries(ids.slice(0, 50).map((each, index) => [`place.${each}`, String(index + 1)]))
  const form = (fields: Fields): Fields => ({ ...details, ...places, ...fields })
  return { creator, projects, ids, id, read, form, path: `/collection/${id}`, edit: `/collection/${id}/edit` }
}

test('the pages are for the creator; moderators change the visibility; for others they are missing', async () => {
  const { creator, read, path, edit } = await makeCollection()
  const stranger = await t.make.account()
  const moderator = await t.make.account({ role: 'moderator' })
  for (const page of [LIST, '/new/collection', edit, `${path}/delete`]) {
    assertLeads(await visitor(t).get(page), `/account/sign-in?return=${encodeURIComponent(page)}`)
    const shown = await as(creator).get(page)
    assertSays(shown, 200, '<h1')
    assertValidHtml(shown.body)
  }
  for (const page of [edit, `${path}/delete`, '/collection/zzzzzzzz/edit', '/collection/not-an-id/edit'])
    assertSays(await as(stranger).get(page), 404, 'does not exist')
  assertSays(await as(moderator).get(`${path}/delete`), 404, 'does not exist')
  for (const [person, isShown] of [
    [creator, true],
    [moderator, true],
    [stranger, false],
  ] as const)
    assert.equal((await as(person).get(path)).body.includes(`href="${edit}"`), isShown)

  const judge = as(moderator)
  const page = await judge.get(edit)
  assertSays(page, 200, 'you can change its visibility only')
  assert.ok(!page.body.includes('name="name"') && !page.body.includes('name="lines"'))
  assertValidHtml(page.body)
  assertLeads(await judge.sendFrom(page, edit, { do: 'save', status: 'rejected' }), `${edit}?done=saved`)
  assert.equal((await read()).status, 'rejected')
  const own = await as(creator).get(edit)
  assertSays(own, 200, 'Moderators have hidden this collection')
  assert.ok(!own.body.includes('value="listed"'), 'the creator cannot change what a moderator has set')
  const other = await judge.sendFrom(page, edit, { do: 'remove.zzzzzzzz' })
  assert.equal(other.statusCode, 409)
})

test('a new collection, its errors and the limit', async () => {
  const maker = await t.make.account()
  const person = as(maker)
  const path = '/new/collection'
  assertSays(await person.get(LIST), 200, 'You have no collections.')
  const page = await person.get(path)
  const short = await person.sendFrom(page, path, { do: 'create', name: 'ab', description: HOSTILE })
  assertSays(short, 400, 'The name')
  assertSays(short, 400, HOSTILE)
  assertValidHtml(short.body)
  for (const name of ['First', 'Second', 'Third']) {
    const made = await person.sendFrom(page, path, { do: 'create', name, description: '' })
    assert.match(String(made.headers.location), /^\/collection\/[0-9A-Za-z]+\/edit\?done=collection-created$/)
  }
  assertSays(await person.get(path), 200, 'You have 3 collections, which is your limit')
  assertSays(await person.sendFrom(page, path, { do: 'create', name: 'Fourth' }), 400, 'limit for collections')
  const list = await person.get(LIST)
  assertSays(list, 200, '3 of 3 collections')
  assertSays(list, 200, 'Second')
  assertValidHtml(list.body)
})

test('saves details and positions; wrong values stay in the form', async () => {
  const { creator, ids, read, form, edit } = await makeCollection()
  const [a = '', b = '', c = ''] = ids
  const person = as(creator)
  const page = await person.get(edit)
  const send = (fields: Fields) => person.sendFrom(page, edit, form({ do: 'save', ...fields }))
  for (const place of ['0', '4', '1.5', '', 'first']) {
    const wrong = await send({ [`place.${c}`]: place, name: 'Lamps' })
    assertSays(wrong, 400, 'The position must be a whole number from 1 to 3.')
    assertSays(wrong, 400, 'value="Lamps"')
    assertValidHtml(wrong.body)
  }
  assertSays(await send({ name: 'ab', description: HOSTILE }), 400, HOSTILE)
  assert.deepEqual((await read()).name, 'Lights')
  const saved = await send({ name: 'Lamps', description: '', status: 'unlisted', [`place.${c}`]: '1' })
  assertSays(await person.get(assertLeads(saved, `${edit}?done=saved`)), 200, 'Your changes are saved.')
  const { name, description, status, projects } = await read()
  assert.deepEqual([name, description, status, projects], ['Lamps', null, 'unlisted', [c, a, b]])
})

test('buttons move and remove projects, with Undo, and save what was entered', async () => {
  const { creator, ids, read, form, edit } = await makeCollection()
  const [a = '', b = '', c = ''] = ids
  const person = as(creator)
  const order = async () => (await read()).projects
  const send = async (fields: Fields) => person.sendFrom(await person.get(edit), edit, { ...form({}), ...fields })
  const at = (...list: string[]) => Object.fromEntries(list.map((id, index) => [`place.${id}`, String(index + 1)]))
  assertLeads(await send({ do: `later.${a}`, name: 'Lamps' }), `${edit}?done=moved#item-${a}`)
  assert.deepEqual([await order(), (await read()).name], [[b, a, c], 'Lamps'])
  const name = 'Lamps'
  assertLeads(await send({ ...at(b, a, c), name, do: `earlier.${b}` }), `${edit}?done=moved#item-${b}`)
  assert.deepEqual(await order(), [b, a, c], 'the first stays first')
  assertLeads(await send({ ...at(b, a, c), name, do: `place.${c}`, place: '0' }), `${edit}?done=moved#item-${c}`)
  assert.deepEqual(await order(), [c, b, a])
  const removed = await send({ ...at(c, b, a), name, do: `remove.${b}` })
  const after = await person.get(assertLeads(removed, `${edit}?done=project-removed&project=${b}&place=1`))
  assertSays(after, 200, 'Undo')
  assertValidHtml(after.body)
  assert.deepEqual(await order(), [c, a])
  const undo = { _csrf: hiddenFields(after, edit)['_csrf'] ?? '', do: 'restore', project: b, place: '1' }
  for (const _twice of [1, 2]) assertLeads(await person.post(edit, undo), `${edit}?done=project-restored`)
  assert.deepEqual(await order(), [c, b, a])
  const gone = await send({ ...at(c, b, a), name, do: 'later.zzzzzzzz' })
  assertSays(gone, 409, 'not in the collection any more')
})

test('pasted lines: recognised lines are added, the others stay in the field', async () => {
  const { creator, ids, read, form, edit } = await makeCollection(1)
  const [first, second] = [await make.project(undefined), await make.project(creator, { status: 'draft' })]
  const hidden = await make.project(undefined, { status: 'draft' })
  const person = as(creator)
  const page = await person.get(edit)
  const lines = [
    `https://depot.test/mod/${first.slug}/versions`,
    '',
    `  ${second.id}  `,
    ids[0],
    first.id,
    hidden.slug,
    'https://elsewhere.test/mod/lantern',
    HOSTILE,
  ].join('\r\n')
  const partly = await person.sendFrom(page, edit, form({ do: 'save', lines, name: 'Lamps' }))
  assertSays(partly, 400, '3 lines name no project that you can see.')
  assertSays(partly, 400, '2 projects were added.')
  assertSays(partly, 400, `${hidden.slug}\nhttps://elsewhere.test/mod/lantern\n${HOSTILE}`)
  assert.ok(!partly.body.includes(`${first.slug}/versions`))
  assertValidHtml(partly.body)
  assert.deepEqual([(await read()).projects, (await read()).name], [[ids[0], first.id, second.id], 'Lamps'])
  // The response is a form that can be sent again.
  const again = form({
    do: 'save',
    name: 'Lamps II',
    lines: first.slug,
    [`place.${first.id}`]: '2',
    [`place.${second.id}`]: '3',
  })
  assertLeads(await person.sendFrom(partly, edit, again), `${edit}?done=projects-added&count=0`)
  assert.equal((await read()).name, 'Lamps II')
  const many = Array.from({ length: 1025 }, (_, index) => `project-${index}`).join('\n')
  assertSays(
    await person.sendFrom(await person.get(edit), edit, form({ do: 'save', lines: many })),
    400,
    'at most 1024 lines',
  )
})

test('a project is found by search and added; the entered values stay', async () => {
  const { creator, read, form, edit } = await makeCollection(1)
  const made = await t.make.project({ name: 'Glow squid lamp' })
  await t.make.version({ project: made })
  await t.searchable()
  const person = as(creator)
  const page = await person.get(edit)
  const found = await person.sendFrom(page, edit, form({ do: 'search', find: 'glow squid', name: HOSTILE }))
  assertSays(found, 200, `value="add.${made.id}"`)
  assertSays(found, 200, HOSTILE)
  assertValidHtml(found.body)
  assert.equal((await read()).name, 'Lights', 'a search saves nothing')
  const added = await person.sendFrom(found, edit, form({ do: `add.${made.id}`, find: 'glow squid' }))
  const after = await person.get(assertLeads(added, `${edit}?done=project-added&find=glow+squid`))
  assertSays(after, 200, 'In the collection')
  assert.equal((await read()).projects.at(-1), made.id)
  assertSays(await person.sendFrom(page, edit, form({ do: 'search', find: 'qqqqqqqq' })), 200, 'No project matches.')
})

test('projects show whether they fit the setup of the viewer', async () => {
  const { creator, projects, edit } = await makeCollection(2)
  await make.version(projects[0]?.id ?? '', creator)
  const person = as(creator)
  assertSays(await person.get(edit), 200, 'Choose your game version and loader')
  person.cookies.set('__Host-depot-setup', encodeURIComponent('1.20.1|fabric'))
  const page = await person.get(edit)
  assertSays(page, 200, '1.0.0 fits')
  assertSays(page, 200, 'No version fits')
  assertValidHtml(page.body)
})

test('two editors: changes of different fields are merged, a project added elsewhere stays, and conflicts are shown', async () => {
  const { creator, ids, id, read, form, edit } = await makeCollection()
  const [a = '', b = '', c = ''] = ids
  const extra = await make.project(undefined)
  const [first, second] = [as(creator), as(creator)]
  const [page, other] = [await first.get(edit), await second.get(edit)]
  await t.as(creator).patch(`/v3/collection/${id}`, { new_projects: [...ids, extra.id] })
  assertLeads(await first.sendFrom(page, edit, form({ do: 'save', [`place.${c}`]: '1' })), `${edit}?done=saved`)
  assert.deepEqual((await read()).projects, [c, a, b, extra.id])
  assertLeads(await second.sendFrom(other, edit, form({ do: 'save', name: 'Lamps' })), `${edit}?done=saved`)
  assert.deepEqual([(await read()).projects, (await read()).name], [[c, a, b, extra.id], 'Lamps'])
  const conflict = await second.sendFrom(other, edit, form({ do: 'save', name: HOSTILE, [`place.${c}`]: '2' }))
  assertSays(conflict, 409, 'Another user saved a change.')
  assertSays(conflict, 409, `Saved by <bdi>${creator.username}</bdi>, <time`)
  assertSays(conflict, 409, 'Position (Lantern)')
  assertSays(conflict, 409, HOSTILE)
  assertValidHtml(conflict.body)
  assert.equal((await read()).name, 'Lamps')

  const many = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const { id: added } = await make.project(undefined)
      const person = as(creator)
      const opened = await person.get(edit)
      const places = Object.fromEntries(
        (await read()).projects.map((each: string, index: number) => [`place.${each}`, String(index + 1)]),
      )
      return {
        added,
        send: () => person.sendFrom(opened, edit, form({ ...places, name: 'Lamps', do: `add.${added}` })),
      }
    }),
  )
  const answers = await Promise.all(many.map(({ send }) => send()))
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [303, 303, 303],
  )
  const after = (await read()).projects
  for (const { added } of many) assert.ok(after.includes(added))
})

test('a project that is hidden now keeps its position, unlike in a complete list of the API', async () => {
  const { creator, ids, projects, id, read, form, edit } = await makeCollection(4)
  const [a = '', b = '', c = '', d = ''] = ids
  const [, hidden] = projects
  const moderator = await t.make.account({ role: 'moderator' })
  const set = (status: string) => t.as(moderator).patch(`/v3/project/${hidden?.id}`, { status })
  assert.equal((await set('private')).statusCode, 204)
  assert.deepEqual((await read()).projects, [a, c, d])
  const person = as(creator)
  const shown = { [`place.${a}`]: '1', [`place.${c}`]: '2', [`place.${d}`]: '1' }
  const page = await person.get(edit)
  assert.ok(!page.body.includes(b))
  assertLeads(await person.sendFrom(page, edit, form({ do: 'save', ...shown })), `${edit}?done=saved`)
  assert.deepEqual((await read()).projects, [d, a, c])
  assert.equal((await set('approved')).statusCode, 204)
  assert.deepEqual((await read()).projects, [d, b, a, c])
  await set('private')
  await t.as(creator).patch(`/v3/collection/${id}`, { new_projects: [c, a] })
  await set('approved')
  assert.deepEqual((await read()).projects, [c, a])
})

test('a form that was sent after the session ended is filled in again after the sign-in', async () => {
  const { creator, form, edit } = await makeCollection()
  const person = as(creator)
  const page = await person.get(edit)
  person.cookies.delete('__Host-depot-session')
  const kept = await person.sendFrom(page, edit, form({ do: 'save', name: 'Typed while signed out', lines: 'my-list' }))
  const back = new URL(String(kept.headers.location), 'https://depot.test').searchParams.get('return') ?? ''
  person.cookies.set('__Host-depot-session', creator.token)
  const shown = await person.get(back)
  assertSays(shown, 200, 'value="Typed while signed out"')
  assertSays(shown, 200, 'my-list')
})

test('a collection with 1,000 projects has pages, and a project moves between them', async () => {
  const { creator, ids, read, form, edit } = await makeCollection(1000)
  const person = as(creator)
  const small = await makeCollection(2)
  const few = as(small.creator)
  await few.get(small.edit)
  const { queries: fewQueries } = await t.queriesOf(() => few.get(small.edit))
  await person.get(edit)
  const { result: page, queries } = await t.queriesOf(() => person.get(edit))
  assert.equal(queries.length, fewQueries.length)
  assert.equal(page.body.match(/data-item="/g)?.length, 50)
  assertValidHtml(page.body)
  const last = ids.at(-1) ?? ''
  const far = await person.get(`${edit}?page=20`)
  const shown = Object.fromEntries(ids.slice(950).map((id, index) => [`place.${id}`, String(951 + index)]))
  const details = { name: 'Lights', description: 'All that shines', status: 'listed' }
  const address = `${edit}?page=20`
  const moved = await person.sendFrom(far, address, { ...details, ...shown, do: 'save', [`place.${last}`]: '1' })
  assertLeads(moved, `${edit}?done=saved&page=20`)
  assert.deepEqual((await read()).projects, [last, ...ids.slice(0, -1)])
  const later = await person.sendFrom(await person.get(edit), edit, {
    ...form({}),
    ...Object.fromEntries(
      (await read()).projects.slice(0, 50).map((id: string, index: number) => [`place.${id}`, String(index + 1)]),
    ),
    do: `later.${ids[48]}`,
  })
  assertLeads(later, `${edit}?done=moved#item-${ids[48]}`)
  assert.equal((await read()).projects.indexOf(ids[48]), 50)
  const full = Array.from({ length: 25 }, () => make.project(undefined))
  const lines = (await Promise.all(full)).map(({ id }) => id).join('\n')
  const refused = await person.sendFrom(far, address, { ...details, do: 'save', shown: '', lines })
  assertSays(refused, 400, 'at most 1024 projects')
  assert.equal((await read()).projects.length, 1000)
})

test('deleting needs the typed name and offers to unlist the collection first', async () => {
  const { creator, path } = await makeCollection()
  const person = as(creator)
  const page = await person.get(`${path}/delete`)
  assertSays(page, 200, 'Unlist instead')
  assertSays(page, 200, '3 projects')
  const wrong = await person.sendFrom(page, `${path}/delete`, { do: 'confirm', name: 'lights' })
  assertSays(wrong, 400, 'must be Lights')
  assertValidHtml(wrong.body)
  const deleted = await person.sendFrom(page, `${path}/delete`, { do: 'confirm', name: ' Lights ' })
  assertSays(
    await person.get(assertLeads(deleted, `${LIST}?done=collection-deleted`)),
    200,
    'The collection is deleted.',
  )
  assertSays(await person.get(path), 404, 'does not exist')
})
