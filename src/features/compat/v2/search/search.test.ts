import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createEntityCache } from '#platform/cache/entity-cache.ts'
import { hitsOf } from '#ports/search-index/hit.ts'
import { type Call, type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'
import { createHitMemory } from './hit-memory.ts'

let t: TestApp
const made: Record<string, MadeProject> = {}
before(async () => {
  t = await testApp()
  const add = async (name: string, version?: { loaders: string[]; fields?: Record<string, unknown> }) => {
    const project = await t.make.project({ slug: `search-${name}`, name: `Beacon ${name}`, categories: ['magic'] })
    if (version !== undefined) await t.make.version({ project, ...version })
    made[name] = project
  }
  await add('mod', { loaders: ['fabric'], fields: { environment: 'client_only' } })
  await add('plugin', { loaders: ['paper'] })
  await add('pack', { loaders: ['mrpack'], fields: { mrpack_loaders: ['quilt'], environment: 'server_only' } })
  await add('empty')
  await t.searchable()
})
after(() => t?.close())

async function search(query: NonNullable<Call['query']> = {}) {
  const answer = await t.anyone.get('/v2/search', { query })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
const slugs = async (facets: unknown, more: Record<string, string> = {}) =>
  (await search({ facets: JSON.stringify(facets), ...more })).hits.map(({ slug }: { slug: string }) => slug).sort()

test('a hit has every key of its older shape', async () => {
  const { hits, ...page } = await search({ query: 'beacon mod', facets: '[["project_type:mod"]]', limit: '5' })
  const newer = (await t.anyone.get('/v3/search', { query: { query: 'beacon mod' } })).json().hits[0]
  assert.deepEqual(page, { offset: 0, limit: 5, total_hits: 1 })
  assert.deepEqual(hits, [
    {
      project_id: made['mod']?.id,
      project_type: 'mod',
      all_project_types: ['mod'],
      slug: 'search-mod',
      author: made['mod']?.owner.username,
      author_id: made['mod']?.owner.id,
      organization: null,
      organization_id: null,
      title: 'Beacon mod',
      description: 'A project for a test.',
      categories: ['fabric', 'magic'],
      display_categories: ['fabric', 'magic'],
      versions: ['1.20.1'],
      downloads: 0,
      follows: 0,
      icon_url: '',
      date_created: newer.date_created,
      date_modified: newer.date_modified,
      latest_version: newer.version_id,
      license: 'MIT',
      client_side: 'required',
      server_side: 'unsupported',
      environment: ['client_only'],
      disclosure_types: [],
      gallery: [],
      featured_gallery: null,
      color: null,
    },
  ])
})

test('types, loaders and sides follow from the versions', async () => {
  const { hits } = await search({ query: 'beacon' })
  const shown = new Map<string, object>(
    hits.map((hit: Record<string, string>) => [
      hit['slug'],
      [
        hit['project_type'],
        hit['display_categories'],
        hit['client_side'],
        hit['server_side'],
        hit['latest_version'] === '',
      ],
    ]),
  )
  assert.deepEqual(shown.get('search-plugin'), ['mod', ['magic', 'paper'], 'unsupported', 'required', false])
  assert.deepEqual(shown.get('search-pack'), ['modpack', ['magic', 'quilt'], 'unsupported', 'required', false])
  assert.deepEqual(shown.get('search-empty'), ['project', ['magic'], 'unknown', 'unknown', true])
})

test('facets take the older names, in any letter case, with blanks, quotes and empty lists', async () => {
  assert.deepEqual(await slugs([['project_type:Modpack']]), ['search-pack'])
  assert.deepEqual(await slugs([['project_type:PLUGIN']]), ['search-plugin'])
  assert.deepEqual(await slugs([['categories: Fabric'], ['versions: 1.20.1']]), ['search-mod'])
  assert.deepEqual(await slugs([['categories:quilt', 'categories:fabric'], []]), ['search-mod', 'search-pack'])
  assert.deepEqual(await slugs([['license:mit'], ['client_side:REQUIRED']]), ['search-mod'])
  assert.deepEqual(await slugs([['license:mit'], ['client_side != "Required"'], ['categories:Paper']]), [
    'search-plugin',
  ])
  assert.deepEqual(await slugs([["title:'Beacon plugin'"]]), ['search-plugin'])
  assert.deepEqual(await slugs([[['categories:magic', 'categories:fabric']]]), ['search-mod'])
  assert.deepEqual(await slugs([['license:none']]), [])
  assert.deepEqual(await slugs([], { filters: 'categories="Fabric"', version: '' }), ['search-mod'])
})

test('cuts numbers to their limits and ignores empty values', async () => {
  const { offset, limit, hits } = await search({ limit: '100000', offset: '1' })
  assert.deepEqual([offset, limit, hits.length], [1, 100, 3])
  for (const limit of ['0', '-1', '-99999999999999999999']) assert.equal((await search({ limit })).limit, 1, limit)
  assert.equal((await search({ limit: '9'.repeat(30), offset: '-1' })).offset, 0)
  assert.equal((await search({ query: '', facets: '', index: '', offset: '', limit: '', filter: 'x' })).limit, 10)
})

test('rejects unreadable input with its name', async () => {
  for (const [query, field] of [
    [{ limit: '-' }, 'limit'],
    [{ limit: '"5"' }, 'limit'],
    [{ index: 'size' }, 'index'],
    [{ facets: '[[[["categories:magic"]]]]' }, 'facets'],
    [{ facets: '[["colour:red"]]' }, 'facets'],
    [{ facets: 'categories:magic' }, 'facets'],
  ] as const) {
    const answer = await t.anyone.get('/v2/search', { query })
    assert.deepEqual([answer.statusCode, answer.json().details.field], [400, field], JSON.stringify(query))
  }
})

test('a hit is remade when it changes, and only then', async () => {
  const body = Buffer.from((await t.anyone.get('/v3/search', { query: { limit: '100' } })).rawPayload)
  const hits = hitsOf(body)
  assert.deepEqual(
    hits.map(({ bytes }) => JSON.parse(bytes.toString())),
    JSON.parse(body.toString()).hits,
  )
  const memory = createHitMemory(createEntityCache({ maxBytes: 1_000_000 }))
  const [first] = hits
  assert.ok(first !== undefined)
  const shown = memory(first)
  assert.equal(memory({ ...first, bytes: Buffer.from(first.bytes) }), shown)
  const changed = Buffer.from(first.bytes.toString().replace('"downloads":0', '"downloads":7'))
  assert.equal(JSON.parse(memory({ ...first, bytes: changed }).toString()).downloads, 7)
  assert.equal(JSON.parse(memory(first).toString()).downloads, 0)
})
