// The pages of a project over HTTP: title, environment, licence, verdict of the scanner, links, gallery, related projects,
// dependencies, dependents, and the comparison of statistics.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId } from '#lib/ids.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertSays, visitor } from '#test/support/http/visitor.ts'

let t: TestApp
let owner: Person
let project: MadeProject
let version: { id: string }
let api: MadeProject
before(async () => {
  t = await testApp()
  owner = await t.make.account({ username: 'keeper' })
  project = await t.make.project({ owner, slug: 'lantern', name: 'Lantern', categories: ['magic'] })
  const fields = { environment: 'client_only' }
  version = await t.make.version({ project, version_number: '2.0.0', fields })
  await t.make.file({ version, project, bytes: Buffer.from('jar'), filename: 'lantern.jar' })
  api = await t.make.project({ owner, slug: 'api', name: 'Lamp API' })
  const apiVersion = await t.make.version({ project: api, version_number: '0.119' })
  const base = await t.make.project({ owner, slug: 'base', name: 'Base Lib' })
  await t.make.version({ project: base, version_number: '7' })
  await depend(version.id, api.id, 'required')
  await depend(apiVersion.id, base.id, 'required')
})
after(() => t?.close())

async function depend(
  dependent: string,
  on: string,
  type: 'required' | 'optional' | 'embedded' | 'incompatible',
): Promise<void> {
  const values = { dependent_id: dependent, project_id: on, dependency_type: type }
  await t.deps.db.insertInto('dependency').values(values).execute()
}

async function page(path: string, who = visitor(t)): Promise<string> {
  const answer = await who.get(path)
  assert.equal(answer.statusCode, 200, `${path} ${answer.body.slice(0, 300)}`)
  assertValidHtml(answer.body, path)
  return answer.body
}

const change = async (of: MadeProject, values: Record<string, unknown>) => {
  await t.deps.db.updateTable('project').set(values).where('id', '=', of.id).execute()
  t.deps.cache.clear()
}

test('the page has a title with its owner, a sentence about the environment, and categories of its type', async () => {
  const body = await page('/mod/lantern')
  assert.match(body, /<title>Lantern, a mod by keeper · Depot<\/title>/)
  assert.ok(body.includes('Only clients need it. Servers do not.'))
  assert.ok(body.includes('href="/mods?c=magic"'))
  const german = visitor(t)
  german.cookies.set('__Host-depot-language', 'de')
  assert.match(await page('/mod/lantern', german), /<title>Lantern, eine Mod von keeper · Depot<\/title>/)
})

test('the table of compatibility has the newest game versions, and a line names the others', async () => {
  const wide = await t.make.project({ owner, slug: 'wide', name: 'Wide Lamp' })
  const game_versions = ['1.20.1', '1.20.2', '1.20.3', '1.20.4', '1.20.5', '1.20.6']
  await t.make.version({ project: wide, game_versions })
  const body = await page('/mod/wide')
  assert.deepEqual(
    [...body.matchAll(/<th scope="col">([\d.]+)<\/th>/g)].map(([, name]) => name),
    game_versions.slice(1),
  )
  assert.ok(body.includes('Also for 1.20.1.'))
})

test('the licence has a link and a summary; expressions and unknown licences have neither', async () => {
  const cases = [
    ['MIT', null, 'https://spdx.org/licenses/MIT.html', /if you name the authors/],
    ['LGPL-3.0-or-later', null, 'https://spdx.org/licenses/LGPL-3.0-or-later.html', /Changes to its files/],
    ['AGPL-3.0-only', null, 'https://spdx.org/licenses/AGPL-3.0-only.html', /under the same licence/],
    ['CC0-1.0', 'https://own.example/licence', 'https://own.example/licence', /without conditions/],
    ['LicenseRef-All-Rights-Reserved', null, undefined, /ask its authors/],
    ['MIT OR Apache-2.0', null, undefined, undefined],
    ['LicenseRef-Mine', null, undefined, undefined],
  ] as const
  for (const [license, license_url, href, summary] of cases) {
    await change(project, { license, license_url })
    const body = await page('/mod/lantern')
    const shown = body.slice(body.indexOf('<dt>Licence</dt>'), body.indexOf('<dt>Categories'))
    assert.equal(/href="([^"]+)"/.exec(shown)?.[1], href, license)
    if (summary === undefined) assert.doesNotMatch(shown, /You can/, license)
    else assert.match(shown, summary, license)
  }
})

test('everyone sees that the scanner passed the offered version, and only members see other verdicts', async () => {
  assert.doesNotMatch(await page('/mod/lantern'), /Scanned/)
  for (const [state, isPublic] of [
    ['pass', true],
    ['warn', false],
  ] as const) {
    await t.deps.db.deleteFrom('version_scan').execute()
    await t.deps.db
      .insertInto('version_scan')
      .values({
        version_id: version.id,
        state,
        findings: '[]',
        finished: new Date(),
        next_attempt: new Date(),
        requested: new Date(),
        reason: 'secret reason',
      })
      .execute()
    t.deps.cache.clear()
    for (const path of ['/mod/lantern', '/mod/lantern/version/2.0.0']) {
      const body = await page(path)
      assert.equal(/Scanned/.test(body), isPublic, `${path} ${state}`)
      assert.doesNotMatch(body, /secret reason/)
    }
    assert.match(await page('/mod/lantern/version/2.0.0', visitor(t, owner.token)), /secret reason/)
  }
})

test('members have links to their pages about the project and the version, nobody else has', async () => {
  const owner = await t.make.account()
  const project = await t.make.project({ owner, slug: 'managed' })
  const version = await t.make.version({ project })
  const own = visitor(t, owner.token)
  const links = ['/mod/managed/settings/description', '/mod/managed/versions/new', '/mod/managed/settings']
  const edit = `/mod/managed/version/${version.id}/edit`
  for (const path of ['/mod/managed', `/mod/managed/version/${version.id}`]) {
    const { body } = await own.get(path)
    for (const link of links) assert.ok(body.includes(`href="${link}"`), link)
    assert.equal(body.includes(`href="${edit}"`), path !== '/mod/managed')
    for (const link of [...links, edit]) assert.equal((await own.get(link)).statusCode, 200, link)
    const others = [visitor(t), visitor(t, (await t.make.account()).token)]
    for (const other of others)
      for (const link of [...links, edit]) assert.ok(!(await other.get(path)).body.includes(`href="${link}"`), link)
  }
})

test('links have the names of their services', async () => {
  const url = 'https://pay.example'
  const links = { paypal: url, 'ko-fi': url, bmac: url, github: url, other: url, discord: url, source: url }
  await change(project, { link_urls: JSON.stringify(links) })
  const body = await page('/mod/lantern')
  for (const label of [
    'Donate through PayPal',
    'Donate through Ko-fi',
    'Donate through Buy Me a Coffee',
    'Donate through GitHub Sponsors',
    'Donate',
    'Discord',
    'Source code',
  ])
    assert.ok(body.includes(`</svg>${label}</a>`), label)
})

test('the gallery is a viewer of plain links, with an answer for every number', async () => {
  const images = ['dawn', 'noon', 'dusk'].map((name, ordering) => ({
    id: newId(),
    project_id: project.id,
    url: `https://depot.test/data/${name}_350.webp`,
    raw_url: `https://depot.test/data/${name}.png`,
    content_sha1: name,
    name,
    ordering,
  }))
  await t.deps.db.insertInto('gallery_item').values(images).execute()
  t.deps.cache.clear()
  assert.ok((await page('/mod/lantern')).includes('href="/mod/lantern/gallery?image=1#image"'))
  const middle = await page('/mod/lantern/gallery?image=2')
  assert.match(middle, /<title>noon/)
  assert.ok(middle.includes('href="/mod/lantern/gallery?image=1#image" rel="prev"'))
  assert.ok(middle.includes('href="/mod/lantern/gallery?image=3#image" rel="next"'))
  assert.ok(middle.includes('href="/mod/lantern/gallery" rel="up"'))
  assert.doesNotMatch(await page('/mod/lantern/gallery?image=3'), /rel="next"/)
  for (const number of ['0', '4', '-1', '1e9', 'x', '__proto__'])
    assert.equal((await visitor(t).get(`/mod/lantern/gallery?image=${number}`)).statusCode, 404, number)
})

test('dependencies have summary, version and their own dependencies, by kind', async () => {
  const extra = await t.make.project({ owner, slug: 'extra', name: '\u{1f9d9}'.repeat(64) })
  await depend(version.id, extra.id, 'optional')
  const enemy = await t.make.project({ owner, slug: 'enemy', name: 'Enemy' })
  await depend(version.id, enemy.id, 'incompatible')
  const secret = await t.make.project({ owner, slug: 'secret', name: 'Secret', status: 'draft' })
  await depend(version.id, secret.id, 'embedded')
  t.deps.cache.clear()
  const body = await page('/mod/lantern/dependencies')
  assert.deepEqual(
    [...body.matchAll(/<h2>([A-Z][a-z]+ \(\d\))<\/h2>/g)].map(([, heading]) => heading),
    ['Required (1)', 'Optional (1)', 'Incompatible (1)'],
  )
  assert.match(body, /<bdi>Lamp API<\/bdi><\/a> <a class="soft" href="[^"]+"><bdi>0\.119<\/bdi>/)
  assert.match(body, /class="below">.*<bdi>Base Lib<\/bdi><\/a> <a class="soft" href="[^"]+"><bdi>7<\/bdi>/)
  assert.doesNotMatch(body, /Secret/)
  assert.match(await page('/mod/lantern/version/2.0.0'), /<h3>Required \(1\)<\/h3>/)
})

test('a tree of many dependencies needs no more statements than a small one', async () => {
  const count = async () => {
    t.deps.cache.clear()
    return (await t.queriesOf(() => visitor(t).get('/mod/lantern/dependencies'))).queries.length
  }
  const few = await count()
  for (let index = 0; index < 8; index += 1) {
    const each = await t.make.project({ owner, slug: `part-${index}` })
    const made = await t.make.version({ project: each })
    await depend(version.id, each.id, 'required')
    await depend(made.id, api.id, 'required')
  }
  const lots = await count()
  assert.ok(lots <= few, `${lots} statements instead of ${few}`)
})

test('dependents are counted by the type of their versions, and listed by type', async () => {
  const used = await t.make.project({ owner, slug: 'used', name: 'Used' })
  await t.make.version({ project: used })
  const make = async (slug: string, loaders: string[], status = 'approved') => {
    const made = await t.make.project({ owner, slug, name: `Name of ${slug}`, status })
    const one = await t.make.version({ project: made, loaders })
    await depend(one.id, used.id, 'optional')
  }
  await make('first-mod', ['fabric', 'forge'])
  await make('second-mod', ['quilt'])
  await make('a-pack', ['mrpack'])
  await make('hidden-mod', ['fabric'], 'draft')
  const body = await page('/mod/used/used-by')
  assert.match(body, /<h1>Used by 3 projects<\/h1>/)
  assert.match(body, /aria-current="true">All 3</)
  assert.match(body, /href="\/mod\/used\/used-by\?type=mod">Mods 2</)
  assert.match(body, /href="\/mod\/used\/used-by\?type=modpack">Modpacks 1</)
  const packs = await page('/mod/used/used-by?type=modpack')
  assert.ok(packs.includes('Name of a-pack') && !packs.includes('Name of first-mod'))
  for (const type of ['shader', '__proto__', '%00'])
    assert.match((await visitor(t).get(`/mod/used/used-by?type=${type}`)).body, /Name of first-mod|<h1>/, type)
  assert.equal((await visitor(t).get('/mod/used/used-by?type=modpack&page=2')).statusCode, 404)
})

test('related projects share dependencies or at least 3 followers, and are public', async () => {
  const lamp = await t.make.project({ owner, slug: 'lamp', name: 'Lamp' })
  const library = await t.make.project({ owner, slug: 'library', name: 'Library' })
  const kin = await t.make.project({ owner, slug: 'kin', name: 'Kin' })
  for (const each of [lamp, kin]) await depend((await t.make.version({ project: each })).id, library.id, 'required')
  const make = async (name: string, status = 'approved') => {
    const made = await t.make.project({ owner, slug: name.toLowerCase(), name, status })
    await t.make.version({ project: made })
    return made
  }
  const [liked, barely, draft] = [await make('Liked'), await make('Barely'), await make('Unseen', 'draft')]
  for (let index = 0; index < 3; index += 1) {
    const { id } = await t.make.account()
    const follows = [lamp, liked, draft, ...(index < 2 ? [barely] : [])]
    await t.deps.db
      .insertInto('follow')
      .values(follows.map((each) => ({ account_id: id, project_id: each.id })))
      .execute()
  }
  const body = await page('/mod/lamp')
  const panel = body.slice(body.indexOf('Related projects'))
  assert.ok(panel.includes('<bdi>Kin</bdi>'), 'it needs the same library')
  assert.ok(panel.includes('<bdi>Liked</bdi>'))
  for (const name of ['Barely', 'Unseen', 'Library']) assert.ok(!panel.includes(`<bdi>${name}</bdi>`), name)
  await change(liked, { status: 'private' })
  assert.doesNotMatch(await page('/mod/lamp'), /<bdi>Liked<\/bdi>/)
})

test('statistics compare up to three projects of the owner that show theirs', async () => {
  const body = await page('/mod/lantern/statistics')
  assert.match(body, /name="with" value="api"/)
  const compared = await page('/mod/lantern/statistics?d=30&with=api&with=base&with=enemy&with=nothing')
  assert.match(compared, /<li class="series-1">Lantern<\/li><li class="series-2">/)
  assert.doesNotMatch(compared, /series-4/)
  assert.match(compared, /<th scope="row">Downloads in 30 days<\/th>/)
  await change(api, { public_statistics: false })
  assert.doesNotMatch(await page('/mod/lantern/statistics?with=api'), /value="api"|>Lamp API</)
  const stranger = await t.make.project({ slug: 'stranger' })
  await t.make.version({ project: stranger })
  assert.doesNotMatch(await page('/mod/lantern/statistics?with=stranger'), /series-2/)
})

test('pages below a project begin with their own heading', async () => {
  for (const [path, heading] of [
    ['gallery', 'Gallery'],
    ['versions', 'Versions'],
    ['changelog', 'Changelog'],
    ['dependencies', 'Dependencies of'],
    ['used-by', 'Used by'],
    ['statistics', 'Statistics'],
  ] as const) {
    const body = await page(`/mod/lantern/${path}`)
    assert.equal(body.match(/<h1/g)?.length, 1, path)
    assert.match(body, new RegExp(`<h1>${heading}`))
    assert.match(body, /<p class="name" dir="auto"><a href="\/mod\/lantern">Lantern<\/a><\/p>/)
  }
  assertSays(await visitor(t).get('/mod/lantern'), 200, '<h1 dir="auto">Lantern</h1>')
})

test('a project page without code does not load the font of code', async () => {
  const project = await t.make.project({ slug: 'plain-page' })
  const version = await t.make.version({ project })
  await t.make.file({ project, version, bytes: Buffer.from('plain page') })
  const { body } = await visitor(t).get('/mod/plain-page')
  assert.ok(body.includes(project.id))
  assert.doesNotMatch(body, /<(?:code|pre)\b/)
})
