// The description of the instance, and the client that it serves.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { VERSION } from '#platform/config/version.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { makeCatalogue } from '#test/support/factories/resolve-catalogue.ts'

const DESCRIPTION = '/.well-known/depot.json'
const BASE = 'https://depot.test'

let t: TestApp
before(async () => {
  t = await testApp()
})
after(() => t?.close())

/** Expands a URI template (RFC 6570, levels 1 and 3) and returns the path below the public URL. */
function expand(template: string, values: Record<string, string>): string {
  const url = template
    .replace(/\{\?([\w,]+)\}/, (_, names: string) => {
      const query = names.split(',').filter((name) => name in values)
      return query.length === 0 ? '' : `?${query.map((name) => `${name}=${values[name]}`).join('&')}`
    })
    .replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? assert.fail(name)))
  assert.ok(url.startsWith(`${BASE}/`), url)
  return url.slice(BASE.length)
}

test('the description has the name, addresses, limits and launchers, and is revalidated by its ETag', async () => {
  const answer = await t.anyone.get(DESCRIPTION)
  assert.equal(answer.statusCode, 200, answer.body)
  assert.equal(answer.headers['cache-control'], 'public, max-age=0, must-revalidate')
  assert.equal(answer.headers['access-control-allow-origin'], '*')
  const described = answer.json()
  assert.deepEqual(
    [described.software, described.version, described.url, described.logo],
    ['depot', VERSION, BASE, null],
  )
  assert.equal(described.limits.requests_per_minute, Number(answer.headers['x-ratelimit-limit']))
  const [launcher] = described.launchers
  assert.match(launcher.link, /^[a-z]+:.*\{url\}/)
  assert.ok(launcher.project_types.every((type: string) => described.project_types.includes(type)))
  const etag = String(answer.headers.etag)
  const again = await t.anyone.get(DESCRIPTION, { headers: { 'if-none-match': etag } })
  assert.deepEqual([again.statusCode, again.body, again.headers.etag], [304, '', etag])
  // A new name is a new description.
  const admin = await t.make.account({ role: 'admin' })
  const named = await t.as(admin).patch('/_internal/admin/settings', { name: 'Lantern works' })
  assert.equal(named.statusCode, 204, named.body)
  const changed = await t.anyone.get(DESCRIPTION, { headers: { 'if-none-match': etag } })
  assert.deepEqual([changed.statusCode, changed.json().name], [200, 'Lantern works'])
})

test('every address of the description leads somewhere', async () => {
  const { api, files, client, pages } = (await t.anyone.get(DESCRIPTION)).json()
  for (const url of [api.description, api.documentation, api.oauth, api.publishing, client.url])
    assert.equal((await t.anyone.get(url.slice(BASE.length))).statusCode, 200, url)
  const person = await t.make.account({ username: 'packer' })
  const { projects } = await makeCatalogue(t, { lantern: { 1: [] } })
  const { id, slug, project_types } = (await t.anyone.get(`/v3/project/${projects['lantern']?.id}`)).json()
  for (const base of [api.v3, api.v2])
    assert.equal((await t.anyone.get(`${base.slice(BASE.length)}/project/${id}`)).json().slug, slug)
  const [version] = (await t.anyone.get(`/v3/project/${id}/version`)).json()
  assert.ok(version.files[0].url.startsWith(`${files}/`), version.files[0].url)
  const maven = `${api.maven.slice(BASE.length)}/maven/tools/${slug}/maven-metadata.xml`
  assert.equal((await t.anyone.get(maven)).statusCode, 200)
  const setup = { loader: 'fabric', game_version: '1.20.1', loader_version: '0.15.11' }
  const made = await t.as(person).post('/v3/pack', { name: 'Evening lights', projects: [id], ...setup })
  assert.equal(made.statusCode, 201, made.body)
  const html = { headers: { accept: 'text/html' } }
  const project = { type: project_types[0], slug, badge: 'version', style: 'flat', ...setup }
  const pack = { user: 'packer', slug: made.json().slug }
  const statuses: Record<string, number> = {}
  for (const [name, template] of Object.entries<string>(pages)) {
    if (name.startsWith('modpack_')) continue
    const path = expand(template, name.startsWith('pack') ? pack : project)
    statuses[name] = (await t.anyone.get(path, html)).statusCode
  }
  assert.deepEqual(statuses, {
    project: 200,
    download: 302,
    badge: 200,
    pack: 200,
    pack_mrpack: 200,
    pack_packwiz: 200,
    pack_server: 302,
  })
  const any = expand(pages.project, { type: 'project', slug })
  assert.equal((await t.anyone.get(any, html)).headers.location, `/${project_types[0]}/${slug}`)
})

test('the addresses of modpacks are those of the site', async () => {
  const { pages } = (await t.anyone.get(DESCRIPTION)).json()
  const known = t.app.routeTable().map(({ url }) => url)
  for (const name of ['modpack_mrpack', 'modpack_packwiz'])
    assert.ok(known.includes(expand(pages[name], { slug: 'SLUG' }).replace('SLUG', ':slug')), name)
})

test('the client is an npm package with this integrity that contains everything that it needs', async () => {
  const { client } = (await t.anyone.get(DESCRIPTION)).json()
  assert.deepEqual([client.name, client.version], ['depot-hosting-client', VERSION])
  const answer = await t.anyone.get(client.url.slice(BASE.length))
  assert.equal(answer.statusCode, 200)
  assert.equal(answer.headers['content-type'], 'application/gzip')
  assert.equal(client.integrity, `sha512-${createHash('sha512').update(answer.rawPayload).digest('base64')}`)
  const etag = String(answer.headers.etag)
  for (const path of ['/client.tgz', '/client.tgz?v=any', '/client.tgz?unknown=1']) {
    const again = await t.anyone.get(path, { headers: { 'if-none-match': etag } })
    assert.deepEqual([again.statusCode, again.body], [304, ''], path)
  }
  const tooLong = await t.anyone.get(`/client.tgz?v=${'x'.repeat(65)}`)
  assert.deepEqual([tooLong.statusCode, tooLong.json().details.field], [400, 'v'])
  const folder = mkdtempSync(join(tmpdir(), 'depot-client-'))
  try {
    writeFileSync(join(folder, 'client.tgz'), answer.rawPayload)
    execFileSync('tar', ['-xzf', 'client.tgz'], { cwd: folder })
    const read = [
      '--input-type=module',
      '--eval',
      `import * as client from ${JSON.stringify(join(folder, 'package/dist/index.js'))}; console.log(typeof client.createDepot)`,
    ]
    assert.equal(execFileSync(process.execPath, read, { encoding: 'utf8' }), 'function\n')
    const command = [join(folder, 'package/dist/command/main.js'), '--version']
    assert.equal(execFileSync(process.execPath, command, { encoding: 'utf8' }), `${VERSION}\n`)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('with a path in the public URL and without the site, all addresses begin with the URL, and there are no pages', async () => {
  const other = await testApp({ env: { BASE_URL: 'https://depot.test/mods', SITE: 'off' } })
  try {
    const { url, api, client, pages } = (await other.anyone.get(DESCRIPTION)).json()
    assert.equal(pages, null)
    for (const address of [...Object.values<string>(api), client.url]) assert.ok(address.startsWith(`${url}/`), address)
    assert.equal(client.url, `https://depot.test/mods/client.tgz?v=${VERSION}`)
    assert.equal((await other.anyone.get('/client.tgz')).statusCode, 200)
    const publishing = (await other.anyone.get('/.well-known/depot-publishing')).json()
    assert.deepEqual(publishing.client, client)
  } finally {
    await other.close()
  }
})
