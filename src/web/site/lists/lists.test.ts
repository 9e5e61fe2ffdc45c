// The lists of projects: filters with their counts, orders, types, misspelt words and setups.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { releasesOf } from '#features/reading/search/facet-counts.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, type Visitor, visitor } from '#test/support/http/visitor.ts'

let t: TestApp
let owner: Person
let someone: Visitor
let lantern: MadeProject
before(async () => {
  t = await testApp()
  owner = await t.make.account({ username: 'keeper' })
  someone = visitor(t)
  const fields = { environment: 'client_and_server' }
  lantern = await make('lantern', { name: 'Lantern', categories: ['magic'] }, 10, { fields })
  await make('quilted', { name: 'Quilted' }, 30, { loaders: ['quilt'], game_versions: ['1.19.2'] })
  await make('quilted-more', { name: 'Quilted More' }, 20, { loaders: ['quilt'], game_versions: ['1.19.2'] })
  await make('gate', { name: 'Gate' }, 5, { loaders: ['paper'], game_versions: ['1.20.1'] })
  await make('pictures', { name: 'Pictures' }, 5, { loaders: ['minecraft'], game_versions: ['1.20.1'] })
  await t.searchable()
})
after(() => t?.close())

async function make(slug: string, fields: object, downloads: number, version: object = {}): Promise<MadeProject> {
  const project = await t.make.project({ owner, slug, ...fields })
  const { id } = await t.make.version({ project, ...version })
  await t.make.file({ version: { id }, project, bytes: Buffer.from(slug), filename: `${slug}.jar` })
  await t.deps.db.updateTable('project').set({ downloads }).where('id', '=', project.id).execute()
  return project
}

/** Values of a filter with their counts, in the order of the page. */
async function facet(path: string, name: string, by: Visitor = someone): Promise<[string, number][]> {
  const { body } = await by.get(path)
  const pattern = new RegExp(
    `<li><label><input class="in" type="checkbox" name="${name}" value="([^"-][^"]*)"[^>]*>[^<]*<span class="n">([\\d,]+)`,
    'g',
  )
  return [...body.matchAll(pattern)].map(([, value = '', count = '']) => [value, Number(count.replace(',', ''))])
}

const names = (body: string): string[] => [...body.matchAll(/<h2><a[^>]*><bdi>([^<]*)/g)].map(([, name = '']) => name)

async function withSetup(game_version: string, loader: string): Promise<Visitor> {
  const person = visitor(t)
  await person.post('/setup', { game_version, loader, return: '/' }, { 'sec-fetch-site': 'same-origin' })
  return person
}

test('loaders and game versions are open, the most used loaders and the newest releases first, then snapshots', async () => {
  const { body } = await someone.get('/mods')
  for (const label of ['Loader', 'Game version'])
    assert.match(body, new RegExp(`<details class="facet"[^>]* open><summary>${label}`), label)
  assert.deepEqual(await facet('/mods', 'l'), [
    ['quilt', 2],
    ['fabric', 1],
  ])
  const versions = await facet('/mods', 'v')
  assert.deepEqual(versions.at(-1), ['1.19.2', 2])
  assert.equal(versions[0]?.[0], '1.20.1')
  const snapshot = [...(t.deps.taxonomy.fields.get('game_versions')?.enumValues?.values() ?? [])].find(
    ({ metadata }) => metadata?.['type'] === 'snapshot',
  )?.value
  assert.ok(snapshot !== undefined)
  await make('early', {}, 1, { game_versions: [snapshot] })
  await t.searchable()
  t.deps.cache.clear()
  const all = (await facet('/mods?all=v', 'v')).map(([value]) => value)
  assert.deepEqual(all.at(-1), snapshot)
  assert.ok(!(await facet('/mods', 'v')).some(([value]) => value === snapshot))
  assert.match((await someone.get('/mods?all=v')).body, /<p[^>]*>Snapshots of (?:the next release|[\d.]+)<\/p><ul><li>/)
})

test('an excluded value shows how many hits it would have', async () => {
  for (const query of ['c=-magic', 'c=-magic&l=fabric', 'c=-magic&c=mobs']) {
    const expected = query.endsWith('mobs') ? 0 : 1
    assert.deepEqual(
      (await facet(`/mods?${query}`, 'c')).find(([value]) => value === 'magic'),
      ['magic', expected],
      query,
    )
  }
  assert.deepEqual(
    (await facet('/mods?l=-quilt', 'l')).find(([value]) => value === 'quilt'),
    ['quilt', 2],
  )
  assert.doesNotMatch((await someone.get('/mods?l=-quilt')).body, />Quilted</)
})

test('a list without a text is ordered by downloads, and offers no relevance', async () => {
  const list = (await someone.get('/mods')).body
  assert.deepEqual(names(list).slice(0, 3), ['Quilted', 'Quilted More', 'Lantern'])
  assert.match(list, /<option value="downloads" selected>/)
  assert.doesNotMatch(list, /<option value="relevance"/)
  const found = (await someone.get('/mods?q=quilted')).body
  assert.match(found, /<option value="relevance" selected>/)
  assert.match((await someone.get('/mods?sort=relevance')).body, /<option value="downloads" selected>/)
  assert.match((await someone.get('/mods?q=quilted&sort=downloads')).body, /<option value="downloads" selected>/)
})

test('a list has only the filters of its type', async () => {
  for (const [path, expected] of [
    ['/mods', ['c', 'e', 'l', 'o', 'u', 'v']],
    ['/plugins', ['l', 'o', 'u', 'v']],
    ['/resourcepacks', ['o', 'u', 'v']],
  ] as const) {
    const { body } = await someone.get(path)
    const found = [...body.matchAll(/<li><label><input class="in" type="checkbox" name="(\w)"/g)].map(
      ([, name = '']) => name,
    )
    assert.deepEqual(
      [...new Set(found)].sort().filter((name) => name !== 'c'),
      expected.filter((name) => name !== 'c'),
    )
  }
  // A filter of the URL can be removed everywhere.
  assertSays(await someone.get('/resourcepacks?l=fabric'), 200, 'name="l" value="fabric"')
})

test('the first tab leads to the results of all types', async () => {
  const { body } = await someone.get('/mods?q=quilted&c=magic')
  const [, tabs = ''] = /<div class="types">(.*?)<\/div>/s.exec(body) ?? []
  const [first = '', second = ''] = tabs.split('</li>')
  assert.match(first, /href="\/search\?q=quilted&amp;c=magic"/)
  assert.match(first, /All <span class="n">0/)
  assert.match(second, /aria-current="page"/)
  assert.match(
    (await someone.get('/search')).body,
    /aria-current="page"[^>]*><svg[^>]*><use[^>]*><\/svg>All <span class="n">6/,
  )
})

test('results for another text say so, and lead to the text as typed', async () => {
  const answer = await someone.get('/mods?q=lantren&c=magic')
  assertSays(answer, 200, /Showing results for <a href="\/mods\?q=lantern&c=magic"><bdi>lantern<\/bdi><\/a>/)
  assertSays(answer, 200, /Search instead for <a href="\/mods\?q=lantren&c=magic&exact=1"><bdi>lantren<\/bdi>/)
  assertValidHtml(answer.body)
  const exact = await someone.get('/mods?q=lantren&exact=1')
  assertSays(exact, 200, 'No results')
  assert.doesNotMatch(exact.body, /Showing results for|class="hits"/)
  for (const query of ['lantern', 'lant', 'Quilted  MORE', 'quiltedmore', 'lan tern', 'qqqqqqqq', '&', '', 'keeper'])
    assert.doesNotMatch((await someone.get(`/mods?q=${encodeURIComponent(query)}`)).body, /Showing results for/, query)
  const hostile = await someone.get(`/mods?q=${encodeURIComponent('lantren"><script>alert(1)</script>')}`)
  assertValidHtml(hostile.body)
  assert.doesNotMatch(hostile.body, /<script>alert/)
})

test('a setup limits and names only the types that its loader concerns', async () => {
  const fabric = await withSetup('', 'fabric')
  assertSays(await fabric.get('/mods'), 200, 'for Fabric')
  assert.match((await fabric.get('/plugins')).body, /<h1 id="found">One plugin<\/h1>/)
  assert.match((await fabric.get('/resourcepacks')).body, /<h1 id="found">One resource pack<\/h1>/)
  const paper = await withSetup('1.20.1', 'paper')
  assertSays(await paper.get('/plugins'), 200, 'One plugin for 1.20.1 on Paper')
  assertSays(await paper.get('/mods'), 200, 'One mod for 1.20.1')
  assert.doesNotMatch((await paper.get('/mods')).body, /<h1 id="found">[^<]*Paper/)
  const velocity = await withSetup('', 'velocity')
  assertSays(await velocity.get('/plugins'), 200, 'No plugins for Velocity')
  const { body } = await someone.get('/mods')
  assert.match(
    body,
    /<optgroup label="Mods">.*<option value="fabric">.*<optgroup label="Plugins">.*<option value="paper">/s,
  )
  assertValidHtml(body)
})

test('without a compatible version, the nearest one has a quiet button, with a way to be notified', async () => {
  await t.make.version({ project: lantern, version_number: '0.1', game_versions: ['1.16.5'] })
  const near = await t.make.version({ project: lantern, version_number: '0.2', game_versions: ['1.18.2'] })
  await t.make.file({ version: near, project: lantern, bytes: Buffer.from('near'), filename: 'near.jar' })
  await t.make.version({ project: lantern, version_number: '9', loaders: ['forge'], game_versions: ['1.17.1'] })
  const person = await withSetup('1.18.1', 'fabric')
  const page = await person.get('/mod/lantern')
  assertSays(page, 200, 'No version for 1.18.1 on Fabric')
  assertSays(page, 200, 'The nearest version is for 1.18.2 on Fabric:')
  assert.match(page.body, /<a class="button quiet" href="[^"]+near\.jar"/)
  assert.doesNotMatch(page.body, /class="button main" href="[^"]+\.jar"/)
  assertSays(
    page,
    200,
    /<a href="\/account\/sign-in\?return=%2Fmod%2Flantern%3Fdone%3Dcan-follow">.*Notify me of new versions/,
  )
  assertValidHtml(page.body)
  const member = visitor(t, (await t.make.account()).token)
  await member.post('/setup', { game_version: '1.18.1', loader: '', return: '/' }, { 'sec-fetch-site': 'same-origin' })
  const before = await member.get('/mod/lantern')
  assertSays(before, 200, 'Notify me of new versions')
  await member.sendFrom(before, '/mod/lantern/follow')
  assertSays(await member.get('/mod/lantern'), 200, 'You are notified of new versions.')
  // A resource pack runs on every loader.
  const pack = await (await withSetup('1.20.1', 'fabric')).get('/resourcepack/pictures')
  assert.match(pack.body, /class="button main" href="[^"]+pictures\.jar"/)
  assertSays(pack, 200, /For 1\.20\.1</)
})

test('the part of a list for the script is the list of the page with its counts, and is cached', async () => {
  const part = await someone.get('/mods?l=fabric&part=list')
  assertSays(part, 200, /^<section class="sheet" id="live"/)
  assert.doesNotMatch(part.body, /<html|<form|part=list/)
  assert.equal(part.headers['cache-control'], 'public, max-age=0, must-revalidate')
  assert.match(String(part.headers.vary), /accept-language, cookie/)
  const page = await someone.get('/mods?l=fabric')
  assert.ok(names(part.body).length > 0)
  assert.deepEqual(names(part.body), names(page.body))
  assert.match(part.body, /data-url="\/mods\?l=fabric" data-title="[^"]+ · Depot" data-chosen="1 selected"/)
  assert.match(part.body, / data-types="[\d ]+"/)
  const [, values = ''] = / data-values="([^"]+)"/.exec(page.body) ?? []
  assert.match(part.body, new RegExp(`data-values="${values}"`))
  const [, counts = ''] = / data-counts="([^"]+)"/.exec(part.body) ?? []
  const shown = counts.split(/ (?=[a-z])/).find((text) => text.startsWith('l ')) ?? ''
  assert.deepEqual(
    shown.match(/\d+/g)?.map(Number),
    (await facet('/mods?l=fabric', 'l')).map(([, count]) => count),
  )
  assertSays(await someone.get('/mods?page=99&part=list'), 404, 'This page does not exist')
  assertSays(await someone.get('/mods?part=other'), 200, '<!doctype html>')
  const member = visitor(t, (await t.make.account()).token)
  assert.equal((await member.get('/mods?part=list')).headers['cache-control'], 'private, no-cache')
})

test('a new setup applies to a list that ignored the previous one, and its form leads to the part', async () => {
  const person = await withSetup('', 'quilt')
  for (const [from, to] of [
    ['/mods?setup=any', '/mods'],
    ['/mods?setup=any&part=list', '/mods?part=list'],
    ['/mods?l=fabric&setup=any', '/mods?l=fabric'],
    ['/mods?q=setup%3Dany', '/mods?q=setup%3Dany'],
  ] as const) {
    const fields = { game_version: '', loader: 'quilt', return: from }
    const answer = await person.post('/setup', fields, { 'sec-fetch-site': 'same-origin' })
    assert.deepEqual([answer.statusCode, answer.headers.location], [303, to])
  }
  const part = await person.get('/mods?part=list')
  assert.match(part.body, /data-setup="\|quilt"/)
  assert.equal(part.headers['cache-control'], 'private, no-cache')
})

test('suggestions are options with links, in the language of the page', async () => {
  const answer = await someone.get('/suggestions?q=lante')
  assertSays(
    answer,
    200,
    /<a role="option" id="suggestion-1" tabindex="-1" aria-selected="false" href="\/mod\/lantern">/,
  )
  assertSays(answer, 200, '<bdi>Lantern</bdi> <span class="n">Mod</span>')
  assertSays(answer, 200, 'data-count="One suggestion"')
  assertSays(await someone.get('/suggestions?q=keep'), 200, 'href="/user/keeper"')
  assertSays(await someone.get('/suggestions?q=fab'), 200, 'href="/search?l=fabric"')
  const german = visitor(t)
  german.cookies.set('__Host-depot-language', 'de')
  assertSays(await german.get('/suggestions?q=lante'), 200, 'Projekte')
  for (const text of ['', '   ', '<script>alert(1)</script>', 'x'.repeat(2000), '%ff'])
    assertSays(await someone.get(`/suggestions?q=${encodeURIComponent(text)}`), 200, 'data-count="No suggestions"')
  const hostile = await t.make.project({ owner, slug: 'hostile', name: '"><img src=x>' })
  await t.make.version({ project: hostile })
  await t.searchable()
  t.deps.cache.clear()
  assert.doesNotMatch((await someone.get('/suggestions?q=hostile')).body, /<img src=x/)
})

test('a list can be limited to projects with a version since the release of the chosen game version', async () => {
  const [newest = '', older = ''] = releasesOf(t.deps.taxonomy)
  const released = Date.parse(t.deps.taxonomy.fields.get('game_versions')?.enumValues?.get(newest)?.created ?? '')
  const old = await t.make.project({ slug: 'ahead', name: 'Ahead of its time' })
  const both = await t.make.project({ slug: 'kept-up', name: 'Kept up' })
  const publish = (project: MadeProject, game_versions: string[], at: number) =>
    t.make.version({ project, game_versions, date_published: new Date(at) })
  await publish(old, [newest, older], released - 86_400_000)
  await publish(old, [older], released + 86_400_000)
  await publish(both, [older, newest], released + 86_400_000)
  await t.searchable()
  const own = async (query: string, as = someone) =>
    names((await as.get(`/mods?${query}`)).body).filter((name) => ['Ahead of its time', 'Kept up'].includes(name))
  assert.deepEqual((await own(`v=${newest}`)).sort(), ['Ahead of its time', 'Kept up'])
  assert.deepEqual(await own(`v=${newest}&u=release`), ['Kept up'])
  assert.deepEqual((await own(`v=${newest}&v=${older}&u=release`)).sort(), ['Ahead of its time', 'Kept up'])
  assert.deepEqual(await own('u=release', await withSetup(newest, '')), ['Kept up'])
  const counts = await facet(`/mods?v=${newest}`, 'u')
  assert.deepEqual(
    counts.find(([value]) => value === 'release'),
    ['release', 1],
  )
  assert.ok(!(await facet('/mods', 'u')).some(([value]) => value === 'release'))
  // Without a game version, the filter does nothing.
  assert.doesNotMatch((await someone.get('/mods?u=release')).body, /value="release" checked/)
  assert.deepEqual((await own('u=release')).sort(), ['Ahead of its time', 'Kept up'])
  assert.deepEqual(
    (await facet(`/mods?v=${newest}&u=release`, 'v')).find(([value]) => value === newest),
    [newest, 1],
  )
  assert.match((await someone.get(`/mods.atom?v=${newest}&u=release`)).body, /Kept up/)
  assert.doesNotMatch((await someone.get(`/mods.atom?v=${newest}&u=release`)).body, /Ahead of its time/)
})

test('a project is found by the initials of its name and by other names, which are not corrected', async () => {
  const project = await make('energistics', { name: 'Applied Energistics 2' }, 50)
  const settings = '/mod/energistics/settings/tags'
  const author = visitor(t, owner.token)
  const page = await author.get(settings)
  const entered = { license_id: 'MIT', other_names: 'Matter Energy, ME Network' }
  assertLeads(await author.sendFrom(page, settings, entered), `${settings}?done=saved`)
  const { other_names } = (await t.anyone.get(`/v3/project/${project.id}`)).json()
  assert.deepEqual(other_names, ['Matter Energy', 'ME Network'])
  assertSays(await author.get(settings), 200, 'value="Matter Energy, ME Network"')
  await t.searchable()
  for (const text of ['AE2', 'menetwork', 'matter energy', 'Me Network']) {
    const found = (await someone.get(`/search?q=${encodeURIComponent(text)}`)).body
    assert.deepEqual(names(found), ['Applied Energistics 2'], text)
    assert.doesNotMatch(found, /exact=1/, text)
  }
  assert.match((await someone.get('/search?q=enregistics')).body, /exact=1/)
  const many = await author.sendFrom(await author.get(settings), settings, {
    ...entered,
    other_names: 'aa,bb,cc,dd,ee,ff',
  })
  assertSays(many, 400, 'The other names')
  const short = await t.as(owner).patch(`/v3/project/${project.id}`, { other_names: ['x'] })
  assertError(short, 400, 'validation_error', 'other_names.0')
})
