// The pages of versions over HTTP: the list, one version with its contents and texts for build tools, and the changelog.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertSays, visitor } from '#test/support/http/visitor.ts'

let t: TestApp
let owner: Person
let project: MadeProject
let needed: MadeProject
const versions: Record<string, string> = {}
before(async () => {
  t = await testApp()
  owner = await t.make.account({ username: 'keeper' })
  project = await t.make.project({ owner, slug: 'lantern', name: 'Lantern' })
  needed = await t.make.project({ owner, slug: 'oil', name: 'Oil' })
  await add('old', 1, { version_number: '1.0.0', game_versions: ['1.19.2'] }, [
    { name: 'fabric.mod.json', data: '{}' },
    { name: 'assets/lamp.png', data: 'a' },
    { name: 'assets/gone.png', data: 'b' },
  ])
  await add('forge', 2, { version_number: '2.0.0', loaders: ['forge'] }, [{ name: 'a' }])
  await add('new', 3, { version_number: '2.0.0', version_type: 'beta', changelog: 'Now **dyed**.' }, [
    { name: 'fabric.mod.json', data: '{}' },
    { name: 'assets/lamp.png', data: 'changed' },
    { name: 'assets/sub/deep/<b>.txt', data: 'x' },
    { name: 'assets/hidden\u202Egnp.exe', data: 'x' },
  ])
  await t.deps.db
    .insertInto('dependency')
    .values([
      { dependent_id: versions['new'] ?? '', project_id: needed.id, dependency_type: 'required' },
      { dependent_id: versions['old'] ?? '', project_id: needed.id, dependency_type: 'optional' },
    ])
    .execute()
  await t.searchable()
})
after(() => t?.close())

async function add(
  name: string,
  day: number,
  fields: Record<string, unknown>,
  entries: Parameters<typeof makeZip>[0],
): Promise<void> {
  const date_published = new Date(Date.UTC(2026, 0, day))
  const version = await t.make.version({ project, date_published, ...fields })
  versions[name] = version.id
  const file = await t.make.file({
    version,
    project,
    bytes: makeZip(entries, { comment: name }),
    filename: `${name}.jar`,
  })
  const content = { entry: 'fabric.mod.json', loaders: ['fabric'], id: 'lantern', number: '2.0', dependencies: [] }
  await t.deps.db
    .insertInto('file_manifest')
    .values({ file_id: file.id, entry: content.entry, declared_id: 'lantern', content: JSON.stringify(content) })
    .execute()
}

const get = (path: string, who = visitor(t)) => who.get(`/mod/lantern${path}`)
const page = async (path: string): Promise<string> => {
  const answer = await get(path)
  assert.equal(answer.statusCode, 200, `${path} ${answer.body.slice(0, 300)}`)
  assertValidHtml(answer.body, path)
  return answer.body
}

test('a version offers its own file first, names its channel and links to the versions around it', async () => {
  const body = await page(`/version/${versions['new']}`)
  assert.match(body, /<h1>.*Beta<\/span><\/h1>/)
  const [, first = ''] = /<a class="button main" href="([^"]+)"/.exec(body) ?? []
  assert.match(first, new RegExp(`/versions/${versions['new']}/new\\.jar$`))
  assert.ok(body.includes('This version'))
  assert.ok(body.includes(`href="/mod/lantern/version/1.0.0" rel="prev"`), 'the previous version for the same loader')
  assert.ok(!body.includes('rel="next"'))
  assert.ok(body.includes('href="/mod/lantern/versions"'))
  const old = await page('/version/1.0.0')
  assert.match(old, /Release<\/span><\/h1>/)
  assert.ok(
    old.includes(`href="/mod/lantern/version/${versions['new']}" rel="next"`),
    'by ID, because two have the number',
  )
  for (const name of ['SHA-1', 'SHA-512']) assert.ok(old.includes(`<span class="vh"> ${name}</span></button>`))
  assert.ok(old.includes('data-copy="sha512-0"'))
})

test('versions with the same number have different links', async () => {
  for (const path of ['/versions', '/changelog']) {
    const body = await page(path)
    for (const name of ['forge', 'new']) assert.ok(body.includes(`href="/mod/lantern/version/${versions[name]}"`), path)
    assert.ok(body.includes('href="/mod/lantern/version/1.0.0"'))
  }
  assertSays(await get(`/version/${versions['forge']}`), 200, '/forge.jar"')
})

test('the difference from the previous version names dependencies, game versions and files', async () => {
  const body = await page(`/version/${versions['new']}`)
  assert.ok(body.includes('Changes since'))
  assert.match(body, /<li class="added">.*Game versions: 1\.20\.1/)
  assert.match(body, /<li class="removed">.*Game versions: 1\.19\.2/)
  assert.match(body, /<bdi>Oil<\/bdi>: Optional → Required/)
  assert.match(body, /<\/bdi>: <a [^>]*>2 added, 1 removed, 1 changed/)
  const href = /href="([^"]+only=different)"/.exec(body)?.[1] ?? ''
  const entries = await visitor(t).get(href.replaceAll('&amp;', '&'))
  assertValidHtml(entries.body)
  for (const path of ['assets/gone.png', 'assets/lamp.png']) assertSays(entries, 200, path)
  assert.doesNotMatch(entries.body, /<bdi dir="ltr">fabric\.mod\.json/)
  assert.ok(!(await page('/version/1.0.0')).includes('Changes since'))
})

test('the contents are a tree with sizes and manifests, and hostile names are shown by their code', async () => {
  const body = await page(`/version/${versions['new']}`)
  assert.match(body, /assets\/<\/bdi> <span class="soft">3 files<\/span>/)
  assert.match(body, /sub\/deep\/<\/bdi>/)
  assert.ok(body.includes('&lt;b&gt;.txt') && body.includes('hidden\u27E8U+202E\u27E9gnp.exe'))
  assert.match(body, /<code>fabric\.mod\.json<\/code><\/summary>/)
  assert.match(body, /<dt>ID<\/dt><dd><code>lantern<\/code>/)
  const all = `/version/${versions['new']}/files`
  assert.match(await page(all), /4 files/i)
  assert.match(await page(`${all}?in=assets/`), /lamp\.png/)
  assert.doesNotMatch(await page(`${all}?in=assets/`), /<bdi dir="ltr">fabric\.mod\.json/)
  assert.match(await page(`${all}?q=LAMP`), /assets\/lamp\.png/)
  assert.match(await page(`${all}?q=zzz`), /No files match/)
  for (const query of ['in=../', 'in=__proto__/', 'file=nothing', 'page=99&q=a', `q=${'x'.repeat(2000)}`, 'only=x'])
    await page(`${all}?${query}`)
  assert.equal((await get('/version/9/files')).statusCode, 404)
})

test('a large archive is folded into links', async () => {
  const entries = Array.from({ length: 3000 }, (_, index) => ({ name: `data/f${index % 30}/${index}.json` }))
  await add('large', 4, { version_number: '3.0.0' }, entries)
  const body = await page('/version/3.0.0')
  assert.match(body, /3,000 files/)
  assert.match(body, /href="\/mod\/lantern\/version\/3\.0\.0\/files\?in=data%2Ff7%2F"/)
  assert.ok(body.length < 60_000, `${body.length}`)
  assert.match(await page('/version/3.0.0/files?in=data%2Ff7%2F'), />37\.json</)
  assert.match(await page('/version/3.0.0/files?q=data&page=2'), /rel="next"/)
})

test('a file that is no archive, and one that is missing from the store, leave the page complete', async () => {
  const version = await t.make.version({ project, version_number: '0.1', loaders: ['quilt'] })
  const file = await t.make.file({ version, project, bytes: Buffer.from('text'), filename: 'a.txt' })
  assert.doesNotMatch(await page('/version/0.1'), />Contents</)
  await t.deps.files.remove(file.storageKey)
  assert.match(await page('/version/0.1'), /a\.txt/)
  assertSays(await get('/version/0.1/files'), 200, 'contains no archive')
})

test('the texts for build tools name exactly this version', async () => {
  const body = await page(`/version/${versions['new']}`)
  assert.ok(
    body.includes(`modImplementation(&quot;maven.depot:lantern:${versions['new']}&quot;)`),
    'two have the number',
  )
  const old = await page('/version/1.0.0')
  assert.ok(old.includes('<code>repositories'))
  assert.match(old, /&lt;version&gt;1\.0\.0&lt;\/version&gt;/)
  const maven = await t.anyone.get('/maven/maven/depot/lantern/1.0.0/lantern-1.0.0.jar')
  assert.equal(maven.statusCode, 307)
  assert.match(old, /&quot;path&quot;: &quot;mods\/old\.jar&quot;/)
  assert.match(old, /hash-format = &quot;sha512&quot;/)
  const forge = await page(`/version/${versions['forge']}`)
  assert.match(forge, / {4}implementation\(/)
})

test('the list is filtered by game version, loader and channel, with an answer for every value', async () => {
  assert.match(await page('/versions?t=beta'), /One version/)
  assert.match(await page('/versions?l=forge'), /One version/)
  assert.match(await page('/versions?v=1.19.2'), /One version/)
  assert.match(await page('/versions?t=beta&l=forge'), /No versions match/)
  for (const query of ['l=%3Cb%3E', `v=${'x'.repeat(500)}`, 't=__proto__', 'l=a&l=b&l=c'])
    await page(`/versions?${query}`)
  const body = await page('/versions')
  assert.match(body, /<span class="badge good">Release<\/span>/)
  assert.match(body, /<span class="badge">Beta<\/span>/)
})

test('the changelog shows channel, compatibility and download of each version', async () => {
  const body = await page('/changelog')
  const change = body.slice(body.indexOf(`version/${versions['new']}`))
  assert.match(change, /Beta<\/span>.*Fabric, 1\.20\.1.*new\.jar" download/)
})

test('5,000 versions need no more statements than 5', async () => {
  const many = await t.make.project({ owner, slug: 'many', name: '\u{1f9d9}'.repeat(64) })
  const template = await t.make.version({ project: many, version_number: '0' })
  await t.make.file({ version: template, project: many, bytes: makeZip([{ name: 'a' }]) })
  for (const number of ['a', 'b'])
    await t.make.version({ project: many, version_number: number, date_published: new Date('2020-01-01') })
  const count = async () => {
    const found: number[] = []
    for (const path of ['/versions', '/changelog', `/version/${template.id}`]) {
      t.deps.cache.clear()
      const { queries, result } = await t.queriesOf(() => visitor(t).get(`/mod/many${path}`))
      assert.equal(result.statusCode, 200, path)
      assertValidHtml(result.body, path)
      found.push(queries.length)
    }
    return found
  }
  const few = await count()
  await sql`insert into version (id, project_id, author_id, name, version_number, version_type, status, loaders, fields, changelog)
    select 'Mn' || lpad(n::text, 6, '0'), project_id, author_id, name, 'v' || n, version_type, status, loaders, fields, 'x'
    from version, generate_series(1, 4999) n where id = ${template.id}`.execute(t.deps.db)
  const lots = await count()
  // The changelog reads the shown versions, and then the other versions of its form.
  for (const [index, number] of lots.entries())
    assert.ok(number <= (few[index] ?? 0) + 1, `${number} statements instead of ${few[index]}`)
  assert.ok(Math.max(...lots) <= 14, lots.join(' '))
  assertSays(await visitor(t).get('/mod/many/versions?page=100'), 200, 'aria-current="page">100<')
})

test('an address for scripts leads to the newest file for a loader and a game version', async () => {
  const reader = visitor(t)
  const lamp = await t.make.project({ owner, slug: 'torch' })
  const made = async (of: object) => {
    const version = await t.make.version({ project: lamp, ...of })
    await t.make.file({ version, project: lamp, bytes: makeZip([{ name: 'a', data: version.id }]) })
    return (await t.anyone.get(`/v3/version/${version.id}`)).json().files[0].url
  }
  const old = await made({ loaders: ['fabric'], game_versions: ['1.19.2'] })
  const newer = await made({ loaders: ['fabric'], game_versions: ['1.20.1'] })
  const forge = await made({ loaders: ['forge'], game_versions: ['1.20.1'] })
  for (const [query, url] of [
    ['', forge],
    ['?loader=fabric', newer],
    ['?loader=forge', forge],
    ['?game_version=1.19.2', old],
    ['?loader=fabric&game_version=1.20.1', newer],
  ] as const) {
    const answer = await reader.get(`/mod/torch/download${query}`)
    assert.deepEqual([answer.statusCode, answer.headers.location], [302, url], query)
    assert.equal(answer.headers['cache-control'], 'no-cache')
  }
  const none = await reader.get('/mod/torch/download?loader=forge&game_version=1.19.2')
  assert.deepEqual([none.statusCode, none.body], [404, 'No version of this project matches\n'])
  for (const name of ['loader', 'game_version']) {
    const refused = await reader.get(`/mod/torch/download?${name}=x`)
    assert.equal(refused.statusCode, 400)
    assert.match(refused.body, new RegExp(`^${name} must be `))
  }
  const moved = await reader.get('/plugin/torch/download?loader=fabric')
  assert.deepEqual([moved.statusCode, moved.headers.location], [301, '/mod/torch/download?loader=fabric'])
  await t.deps.db.updateTable('project').set({ status: 'draft' }).where('id', '=', lamp.id).execute()
  t.deps.cache.clear()
  assert.equal((await reader.get('/mod/torch/download')).statusCode, 404)
  assert.equal((await visitor(t, owner.token).get('/mod/torch/download')).statusCode, 302)
})
