import assert from 'node:assert/strict'
import { createHash, createPublicKey, verify } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { exportCatalogue } from './export-catalogue.ts'

let t: TestApp
let folder: string
before(async () => {
  t = await testApp({ processes: 1 })
  folder = await mkdtemp(join(tmpdir(), 'depot-export-'))
})
after(async () => {
  await t?.close()
  await rm(folder, { recursive: true, force: true })
})

test('the file has every public object in the order of the changes, and a signature', async () => {
  const project = await t.make.project()
  const version = await t.make.version({ project })
  const hidden = await t.make.project({ status: 'unlisted' })
  await t.make.version({ project: hidden })
  await t.make.version({ project, status: 'draft' })
  const file = join(folder, 'catalogue.jsonl.gz')
  const report = await exportCatalogue(t.deps, file)
  const bytes = await readFile(file)
  const entries = gunzipSync(bytes)
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    entries.map(({ kind, id }) => [kind, id]),
    [
      ['project', project.id],
      ['version', version.id],
    ],
  )
  assert.deepEqual(
    entries.map(({ object }) => object),
    [
      (await t.anyone.get(`/v3/project/${project.id}`)).json(),
      (await t.anyone.get(`/v3/version/${version.id}`)).json(),
    ],
  )
  assert.deepEqual([report.projects, report.versions, report.bytes], [1, 1, bytes.length])
  const { changes } = (await t.anyone.get(`/v3/changes?since=${report.cursor}`)).json()
  assert.deepEqual(changes, [])
  const [key] = (await t.anyone.get('/v3/instance/key')).json().keys
  const x = Buffer.from(key.public_key.slice('whpk_'.length), 'base64').toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const signature = Buffer.from(await readFile(`${file}.sig`, 'utf8'), 'base64')
  const digest = (content: Buffer) => createHash('sha512').update(content).digest()
  assert.ok(verify(null, digest(bytes), publicKey, signature))
  assert.ok(!verify(null, digest(bytes.subarray(1)), publicKey, signature))
  await assert.rejects(exportCatalogue(t.deps, file), /exists already/)
  assert.deepEqual((await readdir(folder)).sort(), ['catalogue.jsonl.gz', 'catalogue.jsonl.gz.sig'])
})

test('a folder that does not exist is an error, and nothing remains', async () => {
  await assert.rejects(exportCatalogue(t.deps, join(folder, 'none', 'file.gz')), /ENOENT/)
})
