// Suggestions while typing: what they contain, what they never show, and how long they are cached.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'

const t = await testApp()
after(() => t.close())

type Found = {
  projects: { slug: string; name: string; project_types: string[]; icon_url: string | null }[]
  users: { username: string }[]
  tags: { name: string; kind: string }[]
}

async function suggest(query: string): Promise<Found> {
  await t.searchable()
  t.deps.cache.clear()
  const answer = await t.anyone.get('/v3/search/suggestions', { query: { query } })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

test('projects, users and tags come from one request', async () => {
  const owner = await t.make.account({ username: 'Fabrizia' })
  const project = await t.make.project({ owner, slug: 'fabrication', name: 'Fabrication' })
  await t.make.version({ project })
  const found = await suggest('fabri')
  assert.deepEqual(
    found.projects.map(({ slug, name, project_types }) => ({ slug, name, project_types })),
    [{ slug: 'fabrication', name: 'Fabrication', project_types: ['mod'] }],
  )
  assert.deepEqual(
    found.users.map(({ username }) => username),
    ['Fabrizia'],
  )
  assert.deepEqual(found.tags[0], { name: 'fabric', kind: 'loader' })
  assert.ok((await suggest('1.21')).tags.some(({ name, kind }) => kind === 'game_version' && name === '1.21'))
  assert.ok((await suggest('magi')).tags.some(({ name, kind }) => kind === 'category' && name === 'magic'))
})

test('hidden projects and users who are leaving are never suggested', async () => {
  for (const status of ['draft', 'processing', 'private', 'unlisted', 'withheld', 'rejected'] as const) {
    const project = await t.make.project({ slug: `veiled-${status}`, name: `Veiled ${status}`, status })
    await t.make.version({ project })
  }
  const leaving = await t.make.account({ username: 'veiledperson' })
  await t.deps.db.updateTable('account').set({ deletion_due: new Date() }).where('id', '=', leaving.id).execute()
  assert.deepEqual(await suggest('veiled'), { projects: [], users: [], tags: [] })
})

test('texts without letters and patterns find nothing, and long texts are refused', async () => {
  assert.deepEqual(await suggest('  '), { projects: [], users: [], tags: [] })
  for (const text of ['%', '_', '\\', "'; drop table account; --", '&', '漢字', '\u202e', '<script>'])
    assert.deepEqual((await suggest(text)).users, [], text)
  for (const [query, field] of [
    [{ query: 'x'.repeat(257) }, 'query'],
    [{}, 'query'],
  ] as const) {
    const answer = await t.anyone.get('/v3/search/suggestions', { query })
    assert.equal(answer.statusCode, 400)
    assert.match(answer.json().description, new RegExp(field))
  }
})

test('the same text is answered from the cache, and revalidated by browsers', async () => {
  await suggest('cached')
  const project = await t.make.project({ slug: 'cached-later', name: 'Cached Later' })
  await t.make.version({ project })
  await t.searchable()
  const read = (headers = {}) => t.anyone.get('/v3/search/suggestions', { query: { query: ' CACHED ' }, headers })
  const answer = await read()
  assert.deepEqual(answer.json().projects, [])
  assert.equal(answer.headers['cache-control'], 'public, max-age=0, must-revalidate')
  assert.equal((await read({ 'if-none-match': String(answer.headers.etag) })).statusCode, 304)
})
