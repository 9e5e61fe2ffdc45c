// Addresses that lead to another page: previous names, other sites' paths and queries, slashes; and wrong methods.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { BYPASS_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { type Visitor, visitor } from '#test/support/http/visitor.ts'

let t: TestApp
let owner: Person
let someone: Visitor
before(async () => {
  t = await testApp()
  owner = await t.make.account({ username: 'keeper' })
  someone = visitor(t)
  await t.searchable()
})
after(() => t?.close())

async function assertMoved(path: string, to: string, by: Visitor = someone): Promise<void> {
  const answer = await by.get(path)
  assert.deepEqual([answer.statusCode, answer.headers.location], [301, to], `${path} ${answer.body.slice(0, 300)}`)
}

async function assertMissing(path: string, by: Visitor = someone): Promise<void> {
  assert.equal((await by.get(path)).statusCode, 404, path)
}

const renameProject = async (id: string, slug: string) => {
  const answer = await t.as(owner).patch(`/v3/project/${id}`, { slug })
  assert.equal(answer.statusCode, 204, answer.body)
}

test('each previous slug of a project leads to its present one, on every page, until another project has it', async () => {
  const project = await t.make.project({ owner, slug: 'first.name' })
  await t.make.version({ project, version_number: '1.0' })
  await renameProject(project.id, 'second-name')
  await renameProject(project.id, 'third-name')
  for (const old of ['first.name', 'second-name', 'FIRST.NAME']) {
    await assertMoved(`/mod/${old}`, '/mod/third-name')
    await assertMoved(`/project/${old}/versions?page=1&l=fabric`, '/mod/third-name/versions?page=1&l=fabric')
    await assertMoved(`/mod/${old}/version/1.0`, '/mod/third-name/version/1.0')
    await assertMoved(`/mod/${old}/versions.atom`, '/mod/third-name/versions.atom')
    await assertMoved(`/mod/${old}/settings/general`, '/mod/third-name/settings/general', visitor(t, owner.token))
  }
  assert.equal((await t.anyone.get('/v3/project/first.name')).statusCode, 404)
  await assertMissing('/mod/third-name/version/2.0')
  // The owner uses the first name again.
  await renameProject(project.id, 'first.name')
  assert.equal((await someone.get('/mod/first.name')).statusCode, 200)
  await assertMoved('/mod/third-name', '/mod/first.name')
  // Others use the second name, first hidden, then public, and the third.
  const draft = await t.make.project({ slug: 'second-name', status: 'draft' })
  await assertMissing('/mod/second-name')
  await t.deps.db.updateTable('project').set({ status: 'approved' }).where('id', '=', draft.id).execute()
  const other = await t.make.project({ owner, slug: 'third-name' })
  assert.equal((await someone.get('/project/third-name')).statusCode, 200)
  await renameProject(other.id, 'fourth-name')
  await assertMoved('/mod/third-name', '/project/fourth-name')
})

test('a previous slug reveals no hidden project, and ends with its project', async () => {
  const hidden = await t.make.project({ owner, slug: 'secret-before', status: 'draft' })
  await renameProject(hidden.id, 'secret-after')
  await assertMissing('/mod/secret-before')
  await assertMissing('/mod/secret-before', visitor(t, (await t.make.account()).token))
  await assertMoved('/mod/secret-before', '/project/secret-after', visitor(t, owner.token))
  assert.equal((await t.as(owner).delete(`/v3/project/${hidden.id}`)).statusCode, 204)
  await assertMissing('/mod/secret-before', visitor(t, owner.token))
})

test('previous usernames and organization slugs lead to the present ones', async () => {
  const person = await t.make.account({ username: 'Old-Name' })
  const rename = (username: string) => t.as(person).patch(`/v3/user/${person.id}`, { username })
  assert.equal((await rename('New-Name')).statusCode, 204)
  await assertMoved('/user/old-name', '/user/New-Name')
  await assertMoved('/user/OLD-NAME.atom', '/user/New-Name.atom')
  await assertMoved('/user/old-name/mods', '/user/old-name')
  const texts = { slug: 'old-makers', name: 'Makers', description: 'People who make' }
  assert.equal((await t.as(owner).post('/v3/organization', texts)).statusCode, 201)
  assert.equal((await t.as(owner).patch('/v3/organization/old-makers', { slug: 'new-makers' })).statusCode, 204)
  await assertMoved('/organization/old-makers', '/organization/new-makers')
  await assertMoved('/organization/old-makers.json', '/organization/new-makers.json')
  for (const path of ['/user/%00', '/user/%E0%A4%A', '/organization/%27%3B', '/mod/a%2Fb', '/user/'])
    assert.ok([400, 404].includes((await someone.get(path)).statusCode), path)
})

test('a form that was loaded before a rename still works', async () => {
  const project = await t.make.project({ owner, slug: 'before-form' })
  const follower = visitor(t, (await t.make.account()).token)
  const page = await follower.get('/project/before-form')
  await renameProject(project.id, 'after-form')
  const answer = await follower.sendFrom(page, '/project/before-form/follow')
  assert.deepEqual([answer.statusCode, answer.headers.location], [308, '/project/after-form/follow'])
  const again = await follower.sendFrom(await follower.get('/project/after-form'), '/project/after-form/follow')
  assert.equal(again.statusCode, 303)
})

test('nobody can collect any number of previous names', async () => {
  const project = await t.make.project({ owner, slug: 'many-0' })
  for (let number = 1; number <= 25; number += 1)
    await t.deps.db
      .updateTable('project')
      .set({ slug: `many-${number}` })
      .where('id', '=', project.id)
      .execute()
  await assertMissing('/mod/many-0')
  await assertMissing('/mod/many-4')
  for (const number of [5, 24]) await assertMoved(`/mod/many-${number}`, '/project/many-25')
})

test('a slash at the end leads to the page without it; in the API it does not', async () => {
  await t.make.project({ owner, slug: 'slashed' })
  for (const [path, to] of [
    ['/mods/', '/mods'],
    ['/mods//?q=a&c=b', '/mods?q=a&c=b'],
    ['/project/slashed/gallery/', '/project/slashed/gallery'],
    ['/account/', '/account'],
    ['/user/keeper/?page=1', '/user/keeper?page=1'],
    ['/operator/users/', '/operator/users'],
    ['/robots.txt/', '/robots.txt'],
  ] as const) {
    await assertMoved(path, to)
    const program = await t.anyone.get(path)
    assert.deepEqual([program.statusCode, program.headers.location], [301, to], path)
  }
  for (const path of [
    '/v3/project/slashed/',
    '/nothing/',
    '//evil.example/',
    '///',
    '/mods/x/',
    '/%2f%2fevil.example/',
  ]) {
    assert.equal((await t.anyone.get(path)).statusCode, 404, path)
    const answer = await someone.get(path)
    assert.equal(answer.headers.location, undefined, path)
  }
})

test('the paths of the original service lead to the pages of this site', async () => {
  for (const [path, to] of [
    ['/discover', '/search'],
    ['/discover/plugins?q=a', '/plugins?q=a'],
    ['/settings', '/account'],
    ['/settings/profile', '/account'],
    ['/settings/account', '/account/security'],
    ['/settings/pats', '/account/tokens'],
    ['/settings/sessions', '/account/data'],
    ['/settings/applications', '/account/applications'],
    ['/settings/authorizations', '/account/authorizations'],
    ['/settings/billing/x', '/account'],
    ['/auth/sign-in?x=1', '/account/sign-in?x=1'],
    ['/auth/sign-up', '/account/sign-up'],
    ['/auth/reset-password', '/account/forgot-password'],
    ['/legal/rules', '/rules'],
    ['/legal/terms', '/terms'],
    ['/legal/privacy', '/privacy'],
    ['/user/keeper/plugins', '/user/keeper'],
  ] as const)
    await assertMoved(path, to)
  const change = await someone.get('/.well-known/change-password')
  assert.deepEqual([change.statusCode, change.headers.location], [303, '/account/security'])
  const icon = await t.anyone.get('/favicon.ico')
  assert.deepEqual([icon.statusCode, icon.headers['content-type']], [200, 'image/png'])
  assert.equal((await sharp(icon.rawPayload).metadata()).width, 48)
  const known = await t.anyone.get('/favicon.ico', { headers: { 'if-none-match': String(icon.headers.etag) } })
  assert.equal(known.statusCode, 304)
})

test('the query of the search pages of the original service is understood', async () => {
  for (const [query, to] of [
    ['f=categories:magic', 'c=magic'],
    ["f='categories':'magic'&q=x", 'q=x&c=magic'],
    ['f=categories!=magic&f=categories:mobs', 'c=-magic&c=mobs'],
    ['nf=categories:magic', 'c=-magic'],
    ['g=categories:fabric&g=categories!=forge', 'l=fabric&l=-forge'],
    ['g=categories:16x', 'c=16x'],
    ['f=categories:fabric&v=1.20.1', 'l=fabric&v=1.20.1'],
    ['v=versions:1.20.1&e=client', 'v=1.20.1&e=client'],
    ['s=downloads&l=true', 'o=open'],
    ['s=downloads&q=a', 'q=a&sort=downloads'],
    ['l=open_source:true', 'o=open'],
    ['l=open_source!=true', 'o=closed'],
    ['o=40', 'page=3'],
    ['o=100&m=50', 'page=6'],
    ['page=3&m=50', 'page=6'],
    ['page=2&s=newest', 'sort=newest&page=2'],
    ['h=all_versions', 'all=v'],
    ['s=relevance', ''],
    ['s=nonsense&m=x&o=-1', ''],
    ['pid=AAAAAAAA', ''],
    ['f=', ''],
    ['f=client_side:required', ''],
    [`f=${'x'.repeat(200)}`, ''],
    ['o=99999999999999999999999&m=0', ''],
    ['e=environment:nothing', ''],
  ] as const)
    await assertMoved(`/mods?${query}`, to === '' ? '/mods' : `/mods?${to}`)
  await assertMoved('/discover/mods?g=categories:fabric', '/mods?g=categories:fabric')
  await assertMoved('/search?s=updated', '/search?sort=updated')
  for (const query of ['l=fabric', 'o=open', 'e=client', 'v=1.20.1', 'page=1', 'sort=downloads'])
    assert.equal((await someone.get(`/mods?${query}`)).statusCode, 200, query)
})

test('a page names the methods that it accepts; the API answers 404', async () => {
  await t.make.project({ owner, slug: 'methods' })
  const send = (method: string, url: string, accept = 'text/html') =>
    t.inject({ method: method as 'PUT', url, headers: { accept, 'user-agent': 'x', 'x-ratelimit-key': BYPASS_KEY } })
  for (const [method, path, allow] of [
    ['PUT', '/mods', 'GET, HEAD'],
    ['POST', '/mods?q=a', 'GET, HEAD'],
    ['DELETE', '/project/methods', 'GET, HEAD'],
    ['PATCH', '/report', 'GET, HEAD, POST'],
    ['PROPFIND', '/user/keeper', 'GET, HEAD'],
    ['PUT', '/account', 'GET, HEAD, POST'],
    ['POST', '/sitemap.xml', 'GET, HEAD'],
    ['POST', '/', 'GET, HEAD'],
  ] as const) {
    const answer = await send(method, path)
    assert.deepEqual([answer.statusCode, answer.headers.allow], [405, allow], `${method} ${path}`)
    assert.equal(answer.json().error, 'invalid_input')
  }
  for (const [method, path] of [
    ['PUT', '/nothing'],
    ['PUT', '/v3/project/methods/follow'],
    ['POST', '/v3/games'],
    ['PUT', '/settings'],
  ] as const)
    assert.equal((await send(method, path)).statusCode, path === '/settings' ? 405 : 404, path)
  assert.equal((await send('POST', '/', '*/*')).statusCode, 404)
})

test('a previous username leads to the present one after its reservation has ended, until another user has it', async () => {
  const person = await t.make.account({ username: 'reserved-name' })
  assert.equal((await t.as(person).patch(`/v3/user/${person.id}`, { username: 'present-name' })).statusCode, 204)
  t.advance(31 * 86_400_000)
  await t.runJobs()
  await assertMoved('/user/reserved-name?page=2', '/user/present-name?page=2')
  const other = await t.make.account()
  assert.equal((await t.as(other).patch(`/v3/user/${other.id}`, { username: 'Reserved-Name' })).statusCode, 204)
  assert.equal((await someone.get('/user/Reserved-Name')).statusCode, 200)
})
