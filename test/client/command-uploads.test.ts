// The uploads of depot-publish: cut connections, and another run after an interruption or an error.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { makeZip } from '#test/support/factories/archives.ts'
import { startCuttingProxy } from '#test/support/http/tus-steps.ts'
import { MANIFEST, openInstance, openPublisher, type Publisher } from './publish-steps.ts'

let p: Publisher
before(async () => {
  p = await openPublisher()
})
beforeEach(() => p.clear())
after(() => p?.close())

describe('uploads', () => {
  const list = async () => (await p.t.as({ token: p.token }).get('/v3/upload')).json() as { id: string }[]
  const drop = async () => {
    const headers = { 'tus-resumable': '1.0.0' }
    for (const { id } of await list())
      await p.t.as({ token: p.token }).delete(`/v3/upload/${id}`, undefined, { headers })
  }
  afterEach(drop)

  test('a rejected version keeps its upload, which the next run uses', async () => {
    const depot = await openInstance(p, () => false)
    const env = { DEPOT_URL: depot.url, DEPOT_TOKEN: p.token }
    const slug = await p.newProject()
    p.writeJar('lantern.jar')
    const wrong = await p.publish(['--project', slug, 'lantern.jar', '--channel', 'gamma'], env)
    assert.equal(wrong.code, 1)
    assert.equal((await list()).length, 1)
    depot.requests.length = 0
    const right = await p.publish(['--project', slug, 'lantern.jar'], env)
    assert.equal(right.code, 0, right.notes)
    assert.deepEqual(
      depot.requests.filter((request) => request.includes('/v3/upload')).map((request) => request.split('/')[0]),
      ['GET '],
    )
    assert.deepEqual(await list(), [])
    depot.close()
  })

  test('in CI, a rejected version leaves no upload, because nothing remembers it', async () => {
    const slug = await p.newProject()
    p.writeJar('lantern.jar')
    const env = { DEPOT_TOKEN: p.token, CI: 'true' }
    assert.equal((await p.publish(['--project', slug, 'lantern.jar', '--channel', 'gamma'], env)).code, 1)
    assert.deepEqual(await list(), [])
  })

  test('a file that was built again is uploaded again', async () => {
    const slug = await p.newProject()
    p.writeJar('lantern.jar')
    assert.equal((await p.publish(['--project', slug, 'lantern.jar', '--channel', 'gamma'])).code, 1)
    p.writeJar('lantern.jar')
    const { code, result } = await p.publish(['--project', slug, 'lantern.jar', '--json'])
    assert.equal(code, 0)
    const version = (await p.t.anyone.get(`/v3/version/${JSON.parse(result).id}`)).json()
    const sha1 = createHash('sha1')
      .update(readFileSync(join(p.folder, 'lantern.jar')))
      .digest('hex')
    assert.equal(version.files[0].hashes.sha1, sha1)
  })

  test('a dry run, and a version that exists, leave none', async () => {
    const slug = await p.newProject()
    p.writeJar('lantern.jar')
    assert.equal((await p.publish(['--project', slug, 'lantern.jar', '--dry-run'])).code, 0)
    assert.equal((await p.publish(['--project', slug, 'lantern.jar'])).code, 0)
    p.writeJar('lantern.jar')
    const again = await p.publish(['--project', slug, 'lantern.jar', '--skip-existing'])
    assert.deepEqual([again.code, /nothing was published/.test(again.notes)], [0, true])
    assert.deepEqual(await list(), [])
  })

  test('a cut connection is continued', async () => {
    const proxy = await startCuttingProxy([p.url], { cuts: 4, maxBytes: 800_000 })
    const slug = await p.newProject()
    const data = randomBytes(3_000_000)
    writeFileSync(
      join(p.folder, 'lantern.jar'),
      makeZip([
        { name: 'fabric.mod.json', data: JSON.stringify(MANIFEST) },
        { name: 'noise.bin', data, stored: true },
      ]),
    )
    const { code, notes } = await p.publish(['--project', slug, 'lantern.jar'], {
      DEPOT_URL: proxy.url,
      DEPOT_TOKEN: p.token,
    })
    assert.equal(code, 0, notes)
    assert.match(notes, /Trying again in 1 s/)
    await proxy.close()
  })
})
