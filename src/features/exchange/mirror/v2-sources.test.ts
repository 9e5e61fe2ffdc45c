// A source that has only /v2: a Depot behind a proxy that knows nothing else.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'
import { listeningApp, type Mirroring, mirroringApp } from '#test/support/factories/mirror-factories.ts'

let source: TestApp
let proxy: Server
let mirror: Mirroring
/** Paths of the requests to the proxy. */
const paths: string[] = []
/** Changes a response of the source. */
let altered = (_path: string, json: Json[]): Json[] => json

type Json = Record<string, unknown>

before(async () => {
  const listening = await listeningApp()
  source = listening.t
  proxy = createServer(async (req, res) => {
    const path = req.url ?? ''
    paths.push(path.split('?')[0] ?? '')
    const answer = path.startsWith('/v2/') ? await fetch(`${listening.address}${path}`) : undefined
    const json = answer?.status === 200 ? await answer.json() : { error: 'not_found' }
    res.writeHead(answer?.status ?? 404, { 'content-type': 'application/json' })
    res.end(JSON.stringify(Array.isArray(json) ? altered(path, json) : json))
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  // Files are at another host, as those of a CDN.
  mirror = await mirroringApp(address, await testApp({ env: { OUTGOING_ALLOW: '127.0.0.1' } }))
})
after(async () => {
  await mirror?.t.close()
  proxy?.closeAllConnections()
  proxy?.close()
  await source?.close()
})

async function run() {
  await source.searchable()
  paths.length = 0
  mirror.warnings.length = 0
  return mirror.run()
}

const read = async (t: TestApp, path: string) => {
  const answer = await t.anyone.get(path)
  assert.equal(answer.statusCode, 200, `${path}: ${answer.body}`)
  return answer.json()
}

const INDEX = {
  ...{ game: 'minecraft', formatVersion: 1, versionId: '1', name: 'Pack', files: [] },
  dependencies: { minecraft: '1.20.1', 'quilt-loader': '0.20.0' },
}

let count = 0
async function publish(project: MadeProject, fields: object = {}): Promise<{ id: string; bytes: Buffer }> {
  count += 1
  const bytes = makeZip([
    { name: 'fabric.mod.json', data: '{}' },
    { name: 'text.txt', data: String(count) },
  ])
  const version = await source.make.version({ project, version_number: `1.0.${count}`, ...fields })
  await source.make.file({ project, version, bytes, filename: `part-${count}.jar` })
  return { id: version.id, bytes }
}

const PROJECT = ['slug', 'name', 'summary', 'description', 'published', 'updated', 'status', 'license'] as const
const LISTS = ['categories', 'versions', 'loaders', 'game_versions', 'project_types', 'link_urls', 'color'] as const
const VERSION = ['name', 'version_number', 'changelog', 'date_published', 'version_type', 'status', 'featured'] as const
const FIELDS = ['loaders', 'game_versions', 'environment', 'mrpack_loaders', 'dependencies'] as const

test('projects, versions, files, images and dependencies are copied, later only changes, and removals by comparison', async () => {
  const owner = await source.make.account({ username: 'vera' })
  const lamp = await source.make.project({ owner, slug: 'lamp', categories: ['utility'] })
  const library = await source.make.project({ owner, slug: 'library' })
  const [first, base] = [await publish(lamp, { fields: { environment: 'client_only' } }), await publish(library)]
  const pack = await source.make.project({ owner, slug: 'pack' })
  const inside = { loaders: ['mrpack'], fields: { mrpack_loaders: ['quilt'], environment: 'server_only' } }
  const packed = await source.make.version({ project: pack, ...inside })
  await source.make.file({
    project: pack,
    version: packed,
    bytes: makeZip([
      { name: 'modrinth.index.json', data: JSON.stringify(INDEX) },
      { name: 'overrides/options.txt', data: 'lang:de_de' },
    ]),
    filename: 'pack.mrpack',
  })
  const dependency = { file_name: null, declared_id: null, dependency_type: 'required' as const }
  const exact = { ...dependency, dependent_id: first.id, project_id: library.id, version_id: base.id }
  await source.deps.db.insertInto('dependency').values(exact).execute()
  const binary = { headers: { 'content-type': 'image/png' } }
  const mine = source.as(owner)
  const picture = await sharp({ create: { width: 400, height: 200, channels: 3, background: 'teal' } })
    .png()
    .toBuffer()
  const query = { ext: 'png', featured: true, title: 'View', description: 'From the hill' }
  const links = { link_urls: { issues: 'https://example.org/issues', patreon: 'https://example.org/give' } }
  for (const answer of [
    await mine.patch(`/v3/project/${lamp.id}/icon`, picture, { ...binary, query: { ext: 'png' } }),
    await mine.post(`/v3/project/${lamp.id}/gallery`, picture, { ...binary, query }),
    await mine.patch(`/v3/project/${lamp.id}`, links),
  ])
    assert.equal(answer.statusCode, 204, answer.body)

  const report = await run()
  const counts = [report.projects, report.versions, report.files, report.skipped, report.cursor]
  assert.deepEqual(counts, [3, 3, 3, 0, null], mirror.warnings.join())
  const [there, here] = [await read(source, '/v3/project/lamp'), await read(mirror.t, '/v3/project/lamp')]
  for (const field of [...PROJECT, ...LISTS]) assert.deepEqual(here[field], there[field], field)
  assert.equal(here.origin.author, 'vera')
  const [image] = here.gallery
  assert.deepEqual([image.title, image.description, image.featured, image.width], ['View', 'From the hill', true, 400])
  assert.ok(here.icon_url.startsWith('https://depot.test/'))
  for (const id of [first.id, base.id, packed.id]) {
    const [original, copy] = [await read(source, `/v3/version/${id}`), await read(mirror.t, `/v3/version/${id}`)]
    for (const field of [...VERSION, ...FIELDS]) assert.deepEqual(copy[field], original[field], `${id} ${field}`)
    assert.deepEqual(copy.files[0].hashes, original.files[0].hashes)
  }

  const second = await run()
  assert.deepEqual([second.projects, second.versions, second.skipped], [0, 0, 0], mirror.warnings.join())
  assert.deepEqual(paths, ['/v3/instance/key', '/v3/changes', '/v3/search', '/v2/search'])

  assert.equal((await mine.patch(`/v3/project/${library.id}`, { summary: 'Another summary' })).statusCode, 204)
  const added = await publish(library)
  const third = await run()
  assert.deepEqual([third.projects, third.versions, third.files], [1, 1, 1], mirror.warnings.join())
  const library2 = await read(mirror.t, '/v3/project/library')
  assert.deepEqual([library2.summary, library2.versions], ['Another summary', [base.id, added.id]])

  assert.equal((await mine.delete(`/v3/version/${added.id}`)).statusCode, 204)
  assert.equal((await mine.delete(`/v3/project/${pack.id}`)).statusCode, 204)
  await mirror.t.deps.pool.query('update mirror set runs = 10')
  await run()
  assert.equal((await read(mirror.t, '/v3/project/pack')).status, 'withheld')
  assert.equal((await read(mirror.t, `/v3/version/${added.id}`)).status, 'unlisted')
})

test('a wrong hash skips its version, and an object of an unknown form only itself', async () => {
  const project = await source.make.project({ slug: 'liar' })
  const [good, bad] = [await publish(project), await publish(project)]
  const strange = await source.make.project({ slug: 'strange' })
  const wrong = createHash('sha512').update('other').digest('hex')
  altered = (path, json) =>
    json.map((one) => {
      if (path.startsWith('/v2/versions') && one['id'] === bad.id) {
        const [file] = one['files'] as Json[]
        return { ...one, files: [{ ...file, hashes: { sha512: wrong } }] }
      }
      return one['id'] === strange.id ? { id: strange.id, gallery: 7, donation_urls: 'none' } : one
    })
  const report = await run()
  assert.deepEqual([report.versions, report.skipped, report.mismatches], [1, 2, 1], mirror.warnings.join())
  assert.match(mirror.warnings.join(), /the source describes it in an unknown form/)
  assert.equal((await mirror.t.anyone.get(`/v3/version/${good.id}`)).statusCode, 200)
  assert.equal((await mirror.t.anyone.get(`/v3/version/${bad.id}`)).statusCode, 404)
  altered = (_path, json) => json
  const next = await run()
  assert.deepEqual([next.versions, next.skipped], [1, 0], mirror.warnings.join())
})

test('a version without an environment has that of its project', async () => {
  const project = await source.make.project({ slug: 'sides' })
  const { id } = await publish(project, { fields: { environment: 'server_only' } })
  altered = (path, json) =>
    path.startsWith('/v2/versions') ? json.map(({ environment: _, ...version }) => version) : json
  await run()
  assert.equal((await read(mirror.t, `/v3/version/${id}`)).environment, 'server_only', mirror.warnings.join())
})
