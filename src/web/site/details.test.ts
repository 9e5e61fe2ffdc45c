// Details on pages: counts, sizes, authors, release channels and scan results.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { BYPASS_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'

let t: TestApp
let owner: Person
let lamp: MadeProject
let needed: MadeProject
let version: { id: string }
before(async () => {
  t = await testApp()
  owner = await t.make.account({ username: 'lamplighter' })
  lamp = await t.make.project({ owner, slug: 'lamp', name: 'Lamp' })
  version = await t.make.version({ project: lamp, version_number: '1.0.0', version_type: 'beta' })
  await t.make.file({ version, project: lamp, bytes: Buffer.alloc(1500, 1), filename: 'lamp.jar' })
  needed = await t.make.project({ owner, slug: 'oil', name: 'Oil' })
  const oil = await t.make.version({ project: needed, version_number: '2.0.0' })
  await t.make.file({ version: oil, project: needed, bytes: Buffer.alloc(500, 2), filename: 'oil.jar' })
  await t.deps.db
    .insertInto('dependency')
    .values({ dependent_id: version.id, project_id: needed.id, dependency_type: 'required' })
    .execute()
  await t.searchable()
})
after(() => t?.close())

async function page(path: string, more: Record<string, string> = {}): Promise<string> {
  const headers = { accept: 'text/html', 'user-agent': 'Mozilla/5.0', 'x-ratelimit-key': BYPASS_KEY, ...more }
  const answer = await t.inject({ method: 'GET', url: path, headers })
  assert.equal(answer.statusCode, 200, answer.body.slice(0, 300))
  return answer.body
}

const tab = (body: string, name: string) => new RegExp(`</svg>${name}( <span class="n">\\d+</span>)?`).exec(body)?.[1]

test('tabs say how many a project needs and how many need it; the search field says how many there are', async () => {
  const lampPage = await page('/mod/lamp')
  assert.match(tab(lampPage, 'Dependencies') ?? '', />1</)
  assert.equal(tab(lampPage, 'Used by'), undefined, 'nothing is not counted')
  const oilPage = await page('/mod/oil')
  assert.match(tab(oilPage, 'Used by') ?? '', />1</)
  assert.equal(tab(oilPage, 'Dependencies'), undefined)
  for (const path of ['/mod/oil', '/mods', '/account/sign-in'])
    assert.match(await page(path), /placeholder="Search 2 projects"/)
})

test('a link to an archive shows the number and size of its files, including indirect dependencies', async () => {
  assert.match(await page('/mod/lamp'), />Both files as one archive, 2 KiB</)
  assert.match(await page('/mod/lamp/version/1.0.0'), />Both files as one archive, 2 KiB</)
  const wick = await t.make.project({ owner, slug: 'wick' })
  const wicks = await t.make.version({ project: wick })
  await t.make.file({ version: wicks, project: wick, bytes: Buffer.alloc(3000, 3), filename: 'wick.jar' })
  const [latest] = (await t.anyone.get('/v3/project/oil')).json().versions as string[]
  const dependencies = [{ project_id: wick.id, dependency_type: 'required' }]
  assert.equal((await t.as(owner).patch(`/v3/version/${latest}`, { dependencies })).statusCode, 204)
  assert.match(await page('/mod/lamp'), />All 3 files as one archive, 5 KiB</)
  assert.equal((await t.as(owner).patch(`/v3/version/${latest}`, { dependencies: [] })).statusCode, 204)
})

test('lists show that a project has no release, until it has one', async () => {
  const badge = /Lamp<\/bdi><\/a> <span class="badge">Beta only</
  assert.match(await page('/mods'), badge)
  assert.match(await page('/mods?view=grid'), badge)
  assert.match(await page('/user/lamplighter'), badge)
  assert.doesNotMatch(await page('/mods'), /Oil<\/bdi><\/a> <span class="badge">/)
  const patch = (version_type: string) => t.as(owner).patch(`/v3/version/${version.id}`, { version_type })
  assert.equal((await patch('release')).statusCode, 204)
  for (const path of ['/mods', '/mods?view=grid', '/user/lamplighter'])
    assert.doesNotMatch(await page(path), /Beta only/, path)
  assert.equal((await patch('alpha')).statusCode, 204)
  assert.match(await page('/mods'), /Alpha only/)
})

test('rows say by whom a project is, also where the search index is not asked; a profile does not repeat its name', async () => {
  const by = /by <a href="\/user\/lamplighter"><bdi>lamplighter</
  assert.match(await page('/mod/oil/used-by'), by)
  assert.doesNotMatch(await page('/user/lamplighter'), by)
  const house = { name: 'Lamp House', slug: 'lamp-house', description: 'Lamps and what they burn' }
  const organization = await t.as(owner).post('/v3/organization', house)
  const moved = await t.as(owner).post(`/v3/organization/${organization.json().id}/projects`, { project_id: lamp.id })
  assert.ok(moved.statusCode < 300, moved.body)
  const byHouse = /by <a href="\/organization\/lamp-house"><bdi>Lamp House</
  assert.match(await page('/mod/oil/used-by'), byHouse)
  assert.doesNotMatch(await page('/organization/lamp-house'), byHouse)
})

test('only members see the scan result of a version, or that it was not scanned', async () => {
  const path = '/mod/lamp/version/1.0.0'
  const cookie = `__Host-depot-session=${owner.token}`
  assert.doesNotMatch(await page(path), /Scanned/)
  assert.match(await page(path, { cookie }), /<dt>Scanned<\/dt><dd> Not scanned</)
  await t.deps.db
    .insertInto('version_scan')
    .values({
      version_id: version.id,
      state: 'warn',
      reason: 'An archive <in> it',
      findings: '[]',
      requested: new Date(),
      finished: new Date(),
      next_attempt: new Date(),
    })
    .execute()
  assert.match(await page(path, { cookie }), /Passed with a warning, .*An archive &lt;in&gt; it/)
  assert.doesNotMatch(await page(path, { cookie: `__Host-depot-session=${(await t.make.account()).token}` }), /Scanned/)
  const moderator = await t.make.account({ role: 'moderator' })
  assert.match(await page(path, { cookie: `__Host-depot-session=${moderator.token}` }), /Passed with a warning/)
})

test('a project of several types runs on the same sides on its page, in lists and in the filter of lists', async () => {
  const beam = await t.make.project({ owner, slug: 'beam', name: 'Beam' })
  const fields = { environment: 'client_only_server_optional' }
  await t.make.version({ project: beam, date_published: new Date('2026-01-01'), fields })
  await t.make.version({ project: beam, date_published: new Date('2026-01-02'), loaders: ['paper'] })
  await t.searchable()
  assert.match(await page('/mod/beam'), />Clients need it. On servers, it is optional.<\/p>/)
  assert.match(await page('/mods'), /<\/svg>Client, optional on servers<\/li>/)
  assert.match(await page('/mods?e=server'), />Beam</)
  assert.doesNotMatch(await page('/mods?e=client-only'), />Beam</)
})
