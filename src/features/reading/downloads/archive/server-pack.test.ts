// Server packs: the files of a lock that a server needs, with a text about the start.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { readZip } from '#test/support/factories/read-zip.ts'
import { makeCatalogue, type TestCatalogue } from '#test/support/factories/resolve-catalogue.ts'

let t: TestApp
let made: TestCatalogue
before(async () => {
  t = await testApp()
  made = await makeCatalogue(t, { lantern: { '1': ['required engine'] }, engine: { '1': [] }, map: { '1': [] } })
  const fields = JSON.stringify({ game_versions: ['1.20.1'], environment: 'client_only' })
  await t.deps.db
    .updateTable('version')
    .set({ fields })
    .where('id', '=', made.versions['map/1'] ?? '')
    .execute()
  t.deps.cache.clear()
})
after(() => t?.close())

const idOf = (slug: string) => made.projects[slug]?.id ?? assert.fail(slug)

async function lockOf(slugs: string[], setup: object = {}): Promise<string> {
  const body = {
    items: slugs.map((slug) => ({ project: idOf(slug) })),
    loaders: ['fabric'],
    game_versions: ['1.20.1'],
    loader_version: '0.15.11',
    name: 'Evening',
    ...setup,
  }
  const answer = await t.anyone.post('/v3/resolve?store=true', body)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().lock
}

test('a server pack has the files of the server side in their folders, and says how to start', async () => {
  const answer = await t.anyone.get(`/v3/lock/${await lockOf(['lantern', 'map'])}/server.zip`)
  assert.equal(answer.statusCode, 200, answer.body)
  assert.match(String(answer.headers['content-disposition']), /filename="Evening-server\.zip"/)
  assert.equal(Number(answer.headers['content-length']), answer.rawPayload.length)
  const entries = await readZip(answer.rawPayload)
  assert.deepEqual(
    entries.map(({ name }) => name),
    ['README.txt', 'mods/engine-1.jar', 'mods/lantern-1.jar'],
  )
  assert.equal(String(entries[2]?.content), `${idOf('lantern')} 1`)
  const text = String(entries[0]?.content)
  assert.match(text, /^Evening \(1\.20\.1, fabric, 0\.15\.11\)\n/)
  assert.match(text, /server -mcversion 1\.20\.1 -loader 0\.15\.11/)
  assert.match(text, /eula=true/)
})

test('it is counted, conditional and streamed as other archives are', async () => {
  const path = `/v3/lock/${await lockOf(['lantern'])}/server.zip`
  const head = await t.inject({
    method: 'HEAD',
    url: path,
    headers: { 'user-agent': 'server/1.0', 'x-ratelimit-key': '' },
  })
  const first = await t.anyone.get(path)
  assert.equal(head.headers['content-length'], first.headers['content-length'])
  const known = await t.anyone.get(path, { headers: { 'if-none-match': String(first.headers.etag) } })
  assert.deepEqual([known.statusCode, known.body], [304, ''])
  await t.deps.events.flush()
  // The first test has downloaded the pack as well. Neither HEAD nor 304 counts.
  for (const slug of ['lantern', 'engine'])
    assert.equal((await t.anyone.get(`/v3/project/${idOf(slug)}`)).json().downloads, 2, slug)
})

test('without a file for the server, or with a file that is no longer public, there is no server pack', async () => {
  assert.equal((await t.anyone.get(`/v3/lock/${await lockOf(['map'])}/server.zip`)).statusCode, 404)
  assert.equal((await t.anyone.get(`/v3/lock/${'0'.repeat(22)}/server.zip`)).statusCode, 404)
  const { projects, versions } = await makeCatalogue(t, { fading: { '1': [] } })
  const answer = await t.anyone.post('/v3/lock', { versions: [versions['fading/1']], loaders: ['fabric'] })
  await t.deps.db
    .updateTable('project')
    .set({ status: 'draft' })
    .where('id', '=', projects['fading']?.id ?? '')
    .execute()
  t.deps.cache.clear()
  assert.equal((await t.anyone.get(`/v3/lock/${answer.json().lock}/server.zip`)).statusCode, 409)
})
