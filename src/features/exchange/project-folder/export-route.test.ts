// A project as a ZIP archive over HTTP: the same content as the folder, only for members, in constant memory.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { fromBufferPromise } from 'yauzl'
import type { Files } from '#ports/files/files.ts'
import type { TestApp } from '#test/support/app/test-app.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { exportProject } from './export-project.ts'
import { importProject } from './import-project.ts'

let t: TestApp
/** Opens of the store that have not been closed. */
let open = 0
let folder: string
let project: MadeProject
before(async () => {
  t = await testApp({ deps: ({ files }) => ({ files: watched(files) }) })
  await t.app.listen({ port: 0, host: '127.0.0.1' })
  folder = await mkdtemp(join(tmpdir(), 'depot-export-'))
  project = await t.make.project({ slug: 'lantern' })
  for (let n = 0; n < 3; n += 1) {
    const version = await t.make.version({ project, version_number: `1.0.${n}` })
    const bytes = makeZip([
      { name: 'fabric.mod.json', data: '{}' },
      { name: 'text', data: `content ${n}` },
    ])
    await t.make.file({ project, version, bytes, filename: `lantern-${n}.jar` })
  }
  await t.make.version({ project, version_number: '2.0.0', status: 'draft' })
})
after(async () => {
  await t?.close()
  await rm(folder, { recursive: true, force: true })
})

function watched(files: Files): Files {
  return {
    ...files,
    open: async (key, range) => {
      const opened = await files.open(key, range)
      if (opened === undefined) return undefined
      open += 1
      opened.stream.once('close', () => {
        open -= 1
      })
      return opened
    },
  }
}

const path = () => `/v3/project/${project.id}/export`

async function entriesOf(bytes: Buffer): Promise<Map<string, Buffer>> {
  const zip = await fromBufferPromise(bytes)
  const entries = new Map<string, Buffer>()
  for await (const entry of zip.eachEntry())
    entries.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)))
  return entries
}

test('the archive has the content of the folder, and can be imported', async () => {
  const answer = await t.as(project.owner).get('/v3/project/LANTERN/export')
  assert.equal(answer.statusCode, 200, answer.body)
  assert.equal(answer.headers['content-type'], 'application/zip')
  assert.equal(
    answer.headers['content-disposition'],
    `attachment; filename="lantern.zip"; filename*=UTF-8''lantern.zip`,
  )
  assert.equal(answer.headers['cache-control'], 'private, no-store')
  const entries = await entriesOf(answer.rawPayload)
  const exported = join(folder, 'exported')
  await exportProject(t.deps, { name: project.id, folder: exported })
  const files = (await readdir(exported, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const names = files.map((entry) => join(entry.parentPath, entry.name).slice(exported.length + 1))
  assert.deepEqual([...entries.keys()].sort(), names.sort())
  assert.equal(names.length, 7)
  for (const name of names) assert.deepEqual(entries.get(name), await readFile(join(exported, name)), name)

  const unpacked = join(folder, 'unpacked')
  for (const [name, bytes] of entries) {
    await mkdir(dirname(join(unpacked, name)), { recursive: true })
    await writeFile(join(unpacked, name), bytes)
  }
  const other = await testApp()
  try {
    const { slug: owner } = await teamFactories(other.deps.db).organization(await other.make.account())
    const report = await importProject(other.deps, { folder: unpacked, owner, warn: () => undefined })
    assert.deepEqual([report.slug, report.versions, report.files], ['lantern', 3, 3])
    const [there, here] = await Promise.all(
      [t, other].map(async (one) => (await one.anyone.get('/v3/project/lantern/version')).json()),
    )
    const hashes = (versions: { files: { hashes: object }[] }[]) => versions.map(({ files }) => files[0]?.hashes)
    assert.deepEqual(hashes(here), hashes(there))
  } finally {
    await other.close()
  }
})

test('only members and moderators get it; a hidden project is 404 for others', async () => {
  const stranger = await t.make.account()
  assert.equal((await t.anyone.get(path())).statusCode, 401)
  assert.equal((await t.as(stranger).get(path())).statusCode, 403)
  assert.equal((await t.as(await t.make.account({ role: 'moderator' })).get(path())).statusCode, 200)
  const hidden = await t.make.project({ status: 'private' })
  assert.equal((await t.as(stranger).get(`/v3/project/${hidden.id}/export`)).statusCode, 404)
  assert.equal((await t.as(stranger).get('/v3/project/AAAAAAAA/export')).statusCode, 404)
  const own = await t.as(hidden.owner).get(`/v3/project/${hidden.id}/export`)
  assert.deepEqual([...(await entriesOf(own.rawPayload)).keys()], ['project.json'])
})

/** Opens the export over a socket, which alone shows what becomes of the connection. */
async function request(): Promise<IncomingMessage> {
  const { token } = await t.make.pat(project.owner)
  const { port } = t.app.server.address() as AddressInfo
  const headers = { authorization: token, 'user-agent': 'depot-tests/1.0 (export)' }
  const [answer] = await once(get({ port, path: path(), headers, agent: false }), 'response')
  return answer as IncomingMessage
}

test('a client that leaves closes the open file, and a missing file ends the connection', async () => {
  const large = await t.make.version({ project, version_number: '3.0.0' })
  const bytes = Buffer.alloc(32 * 1024 * 1024)
  const { storageKey } = await t.make.file({ project, version: large, bytes, filename: 'large.jar' })
  const answer = await request()
  while (open === 0) await new Promise(setImmediate)
  assert.equal(answer.complete, false)
  answer.destroy()
  while (open > 0) await new Promise(setImmediate)
  await t.deps.files.remove(storageKey)
  await assert.rejects(buffer(Readable.from(await request())), /aborted/)
  while (open > 0) await new Promise(setImmediate)
})
