// Operators edit the tags while the server runs.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { createEntityCache } from '#platform/cache/entity-cache.ts'
import { listenForInvalidations } from '#platform/cache/listen.ts'
import { createTagDirectory } from '#taxonomy/tag-directory.ts'
import { loadTaxonomy } from '#taxonomy/taxonomy.ts'
import { ADMIN_KEY, testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const t = await testApp()
after(() => t.close())

type Row = Record<string, unknown>
type List = { source: string; revision: number; changed: string | null; rows: Row[] }

const TAGS = '/_internal/admin/tags'
const KEY = { headers: { 'x-admin-key': ADMIN_KEY } }
const lists = async (): Promise<Record<string, List>> => (await t.anyone.get(TAGS, KEY)).json()
async function list(name: string): Promise<List> {
  const found = (await lists())[name]
  assert.ok(found)
  return found
}
/** The rows as they can be sent. */
const rowsOf = async (name: string): Promise<Row[]> =>
  (await list(name)).rows.map(({ hidden, uses: _, ...row }) => (hidden === true ? { ...row, hidden } : row))
const replace = (name: string, rows: unknown, more: object = {}) =>
  t.anyone.put(`${TAGS}/${name}`, { rows, ...more }, KEY)
const rename = (name: string, from: string, to: string) => t.anyone.post(`${TAGS}/${name}/rename`, { from, to }, KEY)
async function reset(name: string): Promise<void> {
  const answer = await t.anyone.delete(`${TAGS}/${name}`, undefined, KEY)
  assert.equal(answer.statusCode, 204, answer.body)
}
async function names(path: string, key: string, name = 'name'): Promise<unknown[]> {
  return (await t.anyone.get(path)).json()[key].map((row: Row) => row[name])
}
const categories = () => names('/v3/tag/category', 'categories')
const versions = () => names('/v3/loader_field?loader_field=game_versions', 'values', 'value')

const LANTERNS = { name: 'lanterns', project_type: 'mod', header: 'categories', ordering: 0, icon: '<svg ></svg>' }

test('an added category is listed and usable immediately; the file applies again after a reset', async () => {
  assert.deepEqual((({ source, revision, changed }) => ({ source, revision, changed }))(await list('categories')), {
    source: 'files',
    revision: 0,
    changed: null,
  })
  const before = await categories()
  assert.equal((await replace('categories', [...(await rowsOf('categories')), LANTERNS])).statusCode, 204)
  assert.deepEqual(new Set(await categories()).difference(new Set(before)), new Set(['lanterns']))
  const project = await t.make.project()
  await t.make.version({ project, loaders: ['fabric'] })
  const path = `/v3/project/${project.id}`
  assert.equal((await t.as(project.owner).patch(path, { categories: ['lanterns'] })).statusCode, 204)
  const { source, revision, rows } = await list('categories')
  assert.deepEqual([source, revision], ['operator', 1])
  assert.equal(rows.find(({ name }) => name === 'lanterns')?.['uses'], 1)
  await reset('categories')
  assert.deepEqual(await categories(), before)
  assert.deepEqual((await t.anyone.get(path)).json().categories, ['lanterns'], 'the project keeps its tag')
  const again = await t.as(project.owner).patch(path, { categories: ['lanterns'] })
  assertError(again, 400, 'validation_error', 'categories.0')
})

test('a hidden tag is not offered, and what has it keeps it', async () => {
  const [category, version, loader] = ['cursed', '1.0', 'quilt']
  for (const [name, key, hidden] of [
    ['categories', 'name', category],
    ['game_versions', 'value', version],
    ['loaders', 'name', loader],
  ] as const) {
    const rows = (await rowsOf(name)).map((row) => (row[key] === hidden ? { ...row, hidden: true } : row))
    assert.equal((await replace(name, rows)).statusCode, 204)
  }
  assert.ok(!(await categories()).includes(category))
  assert.ok(!(await versions()).includes(version))
  assert.ok(!(await names('/v3/tag/loader', 'loaders')).includes(loader))
  const project = await t.make.project()
  const made = await t.make.version({ project, loaders: [loader], game_versions: [version] })
  assert.deepEqual((await t.anyone.get(`/v3/version/${made.id}`)).json().project_types, ['mod'])
  assert.equal(
    (await t.as(project.owner).patch(`/v3/project/${project.id}`, { categories: [category] })).statusCode,
    204,
  )
  for (const name of ['categories', 'game_versions', 'loaders']) await reset(name)
  assert.ok((await categories()).includes(category))
})

test('a category of one name is counted per project type', async () => {
  const usesOf = async () =>
    Object.fromEntries(
      (await list('categories')).rows
        .filter(({ name }) => name === 'adventure')
        .map((row) => [row['project_type'], row['uses']]),
    )
  const before = await usesOf()
  const [mod, pack, both] = [await t.make.project(), await t.make.project(), await t.make.project()]
  await t.make.version({ project: mod, loaders: ['fabric'] })
  await t.make.version({ project: pack, loaders: ['mrpack'] })
  await t.make.version({ project: both, loaders: ['fabric'] })
  await t.make.version({ project: both, loaders: ['mrpack'] })
  for (const { id, owner } of [mod, pack, both])
    assert.equal((await t.as(owner).patch(`/v3/project/${id}`, { categories: ['adventure'] })).statusCode, 204)
  t.deps.cache.clear()
  const after = await usesOf()
  const added = Object.fromEntries(
    Object.entries(after).map(([type, uses]) => [type, Number(uses) - Number(before[type])]),
  )
  assert.deepEqual([added['mod'], added['modpack'], added['resourcepack'] ?? 0], [2, 2, 0])
})

test('a renamed category and game version are renamed in what uses them', async () => {
  const project = await t.make.project()
  const { id } = await t.make.version({ project, game_versions: ['1.20.1', '1.20'] })
  await t
    .as(project.owner)
    .patch(`/v3/project/${project.id}`, { categories: ['cursed'], additional_categories: ['magic'] })
  await t.anyone.get(`/v3/version/${id}`)
  assert.equal((await rename('categories', 'cursed', 'odd')).statusCode, 204)
  assert.equal((await rename('categories', 'magic', 'spells')).statusCode, 204)
  assert.equal((await rename('game_versions', '1.20.1', '1.20.1-final')).statusCode, 204)
  const { categories: main, additional_categories: more } = (await t.anyone.get(`/v3/project/${project.id}`)).json()
  assert.deepEqual([main, more], [['odd'], ['spells']])
  assert.deepEqual((await t.anyone.get(`/v3/version/${id}`)).json().game_versions, ['1.20.1-final', '1.20'])
  await t.searchable()
  const facets = JSON.stringify([['categories:odd'], ['versions:1.20.1-final']])
  const { hits } = (await t.anyone.get('/v3/search', { query: { facets } })).json()
  assert.deepEqual(
    hits.map((hit: Row) => hit['project_id']),
    [project.id],
  )
  assertError(await rename('categories', 'cursed', 'other'), 400, 'validation_error', 'from')
  assertError(await rename('categories', 'odd', 'spells'), 400, 'validation_error', 'to')
  assertError(await rename('categories', 'odd', 'Two words'), 400, 'validation_error', 'to')
  await rename('categories', 'spells', 'magic')
  for (const name of ['categories', 'game_versions']) await reset(name)
})

test('a game shows the name and images of the operator', async () => {
  const [java, bedrock] = await rowsOf('games')
  const own = { name: 'Blocks', icon: 'http://images.example/blocks.svg', banner: null }
  assert.equal((await replace('games', [{ ...java, ...own }, bedrock])).statusCode, 204)
  const { games } = (await t.anyone.get('/v3/games')).json()
  assert.deepEqual(games[0], { slug: java?.['slug'], ...own })
  assert.match(games[1].icon, /^https?:.*\/assets\/game-bedrock-icon\.[0-9a-f]{12}\.svg$/)
  for (const icon of [
    'javascript:alert(1)',
    'https://',
    'https://a b',
    '//images.example/x',
    'game-chess-icon.svg',
    '',
  ]) {
    const refused = await replace('games', [{ ...java, icon }, bedrock])
    assertError(refused, 400, 'validation_error', 'rows.0.icon')
    assert.match(refused.json().details.message, /^must be an http or https URL/, icon)
  }
  assertError(await replace('games', [{ ...java, name: '' }, bedrock]), 400, 'validation_error', 'rows.0.name')
  await reset('games')
})

test('lists with errors are refused, naming the place, and change nothing', async () => {
  const before = await lists()
  const [category, ...rest] = await rowsOf('categories')
  for (const [name, rows, field] of [
    ['categories', [{ ...category, name: 'Not a name' }, ...rest], 'rows.0.name'],
    ['categories', [{ ...category, colour: 'red' }], 'rows.0.colour'],
    ['categories', [category, category], 'rows'],
    ['categories', [{ ...category, project_type: 'boat' }], 'rows'],
    ['categories', 'none', 'rows'],
    ['games', [], 'rows'],
    ['games', (await rowsOf('games')).map((game) => ({ ...game, slug: 'another' })), 'rows'],
    ['loaders', (await rowsOf('loaders')).map((loader) => ({ ...loader, fields: ['wings'] })), 'rows'],
    ['game_versions', [{ value: '1.0', created: 'yesterday' }], 'rows.0.created'],
  ] as const)
    assertError(await replace(name, rows), 400, 'validation_error', field)
  assert.deepEqual(await lists(), before)
  assert.equal((await replace('boats', [])).statusCode, 404)
})

test('of two operators who edit a list at the same time, one is refused', async () => {
  const [rows, { revision }] = [await rowsOf('categories'), await list('categories')]
  const edits = ['one', 'two'].map((name) => replace('categories', [...rows, { ...LANTERNS, name }], { revision }))
  const answers = await Promise.all(edits)
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [204, 409])
  const refused = answers.find(({ statusCode }) => statusCode === 409)
  assert.deepEqual([refused?.json().details.field, refused?.json().details.current], ['revision', 1])
  await reset('categories')
})

test('another loader gives projects another type, also in search', async () => {
  const project = await t.make.project()
  const { id } = await t.make.version({ project, loaders: ['fabric'] })
  const find = async () => {
    await t.searchable()
    const facets = JSON.stringify([['project_types:plugin'], [`project_id:${project.id}`]])
    return (await t.anyone.get('/v3/search', { query: { facets } })).json().total_hits
  }
  assert.equal(await find(), 0)
  const rows = await rowsOf('loaders')
  const edited = rows.map((row) => (row['name'] === 'fabric' ? { ...row, project_types: ['plugin'] } : row))
  assert.equal((await replace('loaders', edited)).statusCode, 204)
  assert.deepEqual((await t.anyone.get(`/v3/version/${id}`)).json().project_types, ['plugin'])
  assert.equal(await find(), 1)
  await reset('loaders')
  assert.equal(await find(), 0)
})

test('tags are for operators, and changes are in the audit log', async () => {
  const moderator = await t.make.account({ role: 'moderator' })
  for (const client of [t.anyone, t.as(moderator)]) {
    assertError(await client.get(TAGS), 404, 'not_found')
    assertError(await client.put(`${TAGS}/categories`, { rows: [] }), 404, 'not_found')
  }
  await rename('categories', 'cursed', 'odd')
  await replace('categories', [...(await rowsOf('categories')), LANTERNS])
  await reset('categories')
  const { entries } = (await t.anyone.get('/_internal/admin/audit-log', { ...KEY, query: { limit: 3 } })).json()
  assert.deepEqual(
    entries.map(({ action, details }: Row) => ({ action, details })),
    [
      { action: 'tags.changed', details: { list: 'categories', added: ['cursed'], removed: ['odd', 'lanterns'] } },
      { action: 'tags.changed', details: { list: 'categories', added: ['lanterns'], removed: [] } },
      { action: 'tags.renamed', details: { list: 'categories', from: 'cursed', to: 'odd', count: 0 } },
    ],
  )
})

test('another process applies an edit when it receives the notice', async () => {
  const { db, log, pool } = t.deps
  const cache = createEntityCache({ maxBytes: 1024 * 1024 })
  const loaded = loadTaxonomy()
  const directory = createTagDirectory({ db, cache, log, ...loaded })
  const listener = listenForInvalidations({
    connect: async () => {
      const client = new pg.Client(pool.options)
      await client.connect()
      return client
    },
    pool,
    cache,
    log,
    subscribers: directory.subscribers,
  })
  await listener.ready
  await replace('categories', [...(await rowsOf('categories')), LANTERNS])
  while (!loaded.taxonomy.categoryNames.has('lanterns')) await sleep(20)
  await reset('categories')
  while (loaded.taxonomy.categoryNames.has('lanterns')) await sleep(20)
  await listener.stop()
})
