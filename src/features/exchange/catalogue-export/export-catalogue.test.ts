import assert from 'node:assert/strict'
import { createHash, createPublicKey, verify } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { exportCatalogue } from './export-catalogue.ts'

let t: TestApp
let folder: string
before(async () => {
  t = await testApp()
  folder = await mkdtemp(join(tmpdir(), 'depot-export-'))
})
after(async () => {
  await t?.close()
  await rm(folder, { recursive: true, force: true })
})

test('the file has every public object in the order of the changes, and a signature', async () => {
  const owner = await t.make.account()
  const project = await t.make.project({ owner })
  const version = await t.make.version({ project })
  const hidden = await t.make.project({ status: 'unlisted' })
  await t.make.version({ project: hidden })
  await t.make.version({ project, status: 'draft' })
  const { organization } = teamFactories(t.deps.db)
  const [shown] = [await organization(owner), await organization(owner)]
  await t.make.project({ organization_id: shown.id, status: 'private' })
  const shared = await t.make.project({ organization_id: shown.id })
  const collections = []
  for (const status of ['listed', 'private'] as const) {
    const made = await t.as(owner).post('/v3/collection', { name: 'Lanterns', projects: [project.id] })
    assert.equal(made.statusCode, 201, made.body)
    collections.push(made.json().id)
    const { db } = t.deps
    await db.updateTable('collection').set({ status }).where('id', '=', made.json().id).execute()
  }
  const file = join(folder, 'catalogue.jsonl.gz')
  const report = await exportCatalogue(t.deps, file)
  const bytes = await readFile(file)
  const entries: { kind: string; id: string; object: object }[] = gunzipSync(bytes)
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const expected = [
    ['collection', collections[0]],
    ['organization', shown.id],
    ['project', project.id],
    ['project', shared.id],
    ['user', owner.id],
    ['version', version.id],
  ]
  const named = entries.map(({ kind, id }) => [kind, id])
  assert.deepEqual(named.sort(), expected.sort())
  for (const { kind, id, object } of entries)
    assert.deepEqual(object, (await t.anyone.get(`/v3/${kind}/${id}`)).json(), `${kind} ${id}`)
  const { cursor, ...counts } = report
  const one = { versions: 1, users: 1, organizations: 1, collections: 1 }
  assert.deepEqual(counts, { projects: 2, ...one, bytes: bytes.length })
  const { changes } = (
    await t.anyone.get(`/v3/changes?since=${cursor}&kinds=["project","version","user","organization","collection"]`)
  ).json()
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
