// The server side of a modpack: entries of its archive, files of its index, and the list of the text.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'
import { readZip } from '#test/support/factories/read-zip.ts'

let t: TestApp
let library: MadeProject
before(async () => {
  t = await testApp()
  library = await t.make.project({ slug: 'library' })
  const version = await t.make.version({ project: library })
  await t.make.file({ project: library, version, bytes: Buffer.from('known') })
  const hidden = await t.make.version({ project: library, version_number: '2', status: 'draft' })
  await t.make.file({ project: library, version: hidden, bytes: Buffer.from('hidden') })
})
after(() => t?.close())

const hashOf = (name: string, text: string) => createHash(name).update(text).digest('hex')
const listed = (content: string, path: string, env?: object) => ({
  path,
  hashes: { sha1: hashOf('sha1', content), sha512: hashOf('sha512', content) },
  downloads: [`https://github.com/x/${content}.jar`],
  fileSize: content.length,
  ...(env === undefined ? {} : { env }),
})
const FILES = [
  listed('known', 'mods/known.jar'),
  listed('hidden', 'mods/hidden.jar'),
  listed('client', 'mods/client.jar', { client: 'required', server: 'unsupported' }),
  listed('other', 'mods/replaced.jar'),
]

async function makePack(slug: string, entries: { name: string; data: string }[], files: object[] = FILES) {
  const dependencies = { minecraft: '1.20.1', 'fabric-loader': '0.15.11' }
  const index = { game: 'minecraft', formatVersion: 1, versionId: '1', name: 'Evening', files, dependencies }
  const project = await t.make.project({ slug })
  const version = await t.make.version({ project, loaders: ['mrpack'] })
  const bytes = makeZip([{ name: 'modrinth.index.json', data: JSON.stringify(index) }, ...entries])
  await t.make.file({ project, version, bytes, filename: 'pack.mrpack' })
  return { project, version, path: `/v3/version/${version.id}/server.zip` }
}

test('the archive has the override folders of servers and the public files of the index', async () => {
  const { project, path } = await makePack('evening', [
    { name: 'overrides/config/a.txt', data: 'both' },
    { name: 'overrides/config/b.txt', data: 'both' },
    { name: 'server-overrides/config/b.txt', data: 'server' },
    { name: 'client-overrides/options.txt', data: 'client' },
    { name: 'overrides/mods/replaced.jar', data: 'own' },
    { name: 'overrides//etc/passwd', data: 'x' },
    { name: 'overrides/C:/x', data: 'x' },
  ])
  const answer = await t.anyone.get(path)
  assert.equal(answer.statusCode, 200, answer.body)
  assert.match(String(answer.headers['content-disposition']), /filename="evening-1\.0\.0-server\.zip"/)
  assert.equal(Number(answer.headers['content-length']), answer.rawPayload.length)
  const [readme, ...entries] = await readZip(answer.rawPayload)
  assert.deepEqual(
    entries.map(({ name, content }) => [name, String(content)]),
    [
      ['config/a.txt', 'both'],
      ['config/b.txt', 'server'],
      ['mods/known.jar', 'known'],
      ['mods/replaced.jar', 'own'],
    ],
  )
  const text = String(readme?.content)
  assert.match(text, /^Evening \(1\.20\.1, fabric, 0\.15\.11\)\n/)
  assert.match(text, /\nmods\/hidden\.jar: https:\/\/github\.com\/x\/hidden\.jar\n$/)
  assert.doesNotMatch(text, /client\.jar/)
  const known = await t.anyone.get(path, { headers: { 'if-none-match': String(answer.headers.etag) } })
  assert.equal(known.statusCode, 304)
  await t.deps.events.flush()
  for (const { id } of [project, library])
    assert.equal((await t.anyone.get(`/v3/project/${id}`)).json().downloads, 1, id)
  const page = await t.anyone.get('/modpack/evening/version/1.0.0')
  assert.ok(page.body.includes(`href="${path}"`))
  const latest = await t.anyone.get('/modpack/evening/server.zip')
  assert.deepEqual([latest.statusCode, latest.headers.location], [302, path])
  assert.equal((await t.anyone.get('/mod/library/server.zip')).statusCode, 404)
})

test('other files, packs without a server side, large entries and hidden versions have no server side', async () => {
  const only = [listed('client', 'mods/client.jar', { server: 'unsupported' })]
  assert.equal((await t.anyone.get((await makePack('client-side', [], only)).path)).statusCode, 404)
  const { version } = await makePack('no-pack', [])
  await t.deps.db.deleteFrom('file').where('version_id', '=', version.id).execute()
  assert.equal((await t.anyone.get(`/v3/version/${version.id}/server.zip`)).statusCode, 404)
  const large = await makePack('large', [{ name: 'overrides/world.bin', data: 'x'.repeat(65 * 1024 * 1024) }])
  const refused = await t.anyone.get(large.path)
  assert.equal(refused.statusCode, 400)
  assert.match(refused.json().description, /world\.bin, which is larger than 64 MiB/)
  const hidden = await makePack('hidden-pack', [{ name: 'overrides/a.txt', data: 'a' }])
  await t.deps.db.updateTable('version').set({ status: 'draft' }).where('id', '=', hidden.version.id).execute()
  t.deps.cache.clear()
  assert.equal((await t.anyone.get(hidden.path)).statusCode, 404)
  assert.equal((await t.as(hidden.project.owner).get(hidden.path)).statusCode, 200)
})
