// A mirror of a Depot: the copied content, the IDs of copies, and later changes.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import type { TestApp } from '#test/support/app/test-app.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { listeningApp, type Mirroring, mirroringApp } from '#test/support/factories/mirror-factories.ts'

let source: TestApp
let address: string
let mirror: Mirroring
let owner: Person
before(async () => {
  const listening = await listeningApp()
  source = listening.t
  address = listening.address
  mirror = await mirroringApp(address)
  owner = await source.make.account({ username: 'mira' })
})
after(async () => {
  await mirror?.t.close()
  await source?.close()
})

/** A mod with this text in it. */
const jar = (text: string): Buffer =>
  makeZip([
    { name: 'fabric.mod.json', data: JSON.stringify({ schemaVersion: 1, id: 'lantern', version: '1.0.0' }) },
    { name: 'text.txt', data: text },
  ])

let count = 0
/** A version with a file of random content. */
async function publish(project: MadeProject, fields: object = {}): Promise<{ id: string; bytes: Buffer }> {
  count += 1
  const bytes = jar(`content ${count}`)
  const version = await source.make.version({ project, version_number: `1.0.${count}`, ...fields })
  await source.make.file({ project, version, bytes, filename: `lantern-${count}.jar` })
  return { id: version.id, bytes }
}

const read = async (t: TestApp, path: string) => {
  const answer = await t.anyone.get(path)
  assert.equal(answer.statusCode, 200, `${path}: ${answer.body}`)
  return answer.json()
}

test('copies a project with its version, file, images and dates under the same IDs', async () => {
  const project = await source.make.project({ owner, slug: 'lantern', categories: ['utility'] })
  const version = await publish(project, { date_published: new Date('2020-02-03T04:05:06.007Z'), featured: true })
  const picture = await sharp({ create: { width: 400, height: 200, channels: 3, background: 'teal' } })
    .png()
    .toBuffer()
  const binary = { headers: { 'content-type': 'image/png' } }
  const mine = source.as(owner)
  assert.equal(
    (await mine.patch(`/v3/project/${project.id}/icon`, picture, { ...binary, query: { ext: 'png' } })).statusCode,
    204,
  )
  const gallery = { ext: 'png', featured: true, title: 'View', description: 'From the hill' }
  assert.equal(
    (await mine.post(`/v3/project/${project.id}/gallery`, picture, { ...binary, query: gallery })).statusCode,
    204,
  )

  const report = await mirror.run()
  assert.deepEqual(
    { ...report, requests: 0, cursor: '' },
    { projects: 1, versions: 1, files: 1, skipped: 0, mismatches: 0, failed: 0, requests: 0, cursor: '' },
    mirror.warnings.join(),
  )
  const [there, here] = [await read(source, `/v3/project/${project.id}`), await read(mirror.t, '/v3/project/lantern')]
  assert.equal(here.id, project.id)
  assert.equal(here.organization, mirror.organization.id)
  for (const field of [
    'slug',
    'name',
    'summary',
    'description',
    'published',
    'updated',
    'approved',
    'status',
    'license',
    'categories',
    'versions',
    'loaders',
    'game_versions',
    'project_types',
    'link_urls',
    'color',
  ])
    assert.deepEqual(here[field], there[field], field)
  assert.deepEqual(here.origin, { address, id: project.id, url: `${address}/project/${project.id}`, author: 'mira' })
  const image = here.gallery[0]
  assert.deepEqual([image.title, image.description, image.featured, image.width], ['View', 'From the hill', true, 400])
  assert.ok(here.icon_url.startsWith('https://depot.test/'))
  const copy = await read(mirror.t, `/v3/version/${version.id}`)
  const original = await read(source, `/v3/version/${version.id}`)
  for (const field of [
    'name',
    'version_number',
    'changelog',
    'date_published',
    'version_type',
    'status',
    'featured',
    'loaders',
    'game_versions',
  ])
    assert.deepEqual(copy[field], original[field], field)
  assert.equal(copy.origin.author, 'mira')
  const [file] = copy.files
  assert.deepEqual(
    [file.hashes, file.filename, file.primary],
    [original.files[0].hashes, original.files[0].filename, true],
  )
  const bytes = (await mirror.t.anyone.get(new URL(file.url).pathname)).rawPayload
  assert.deepEqual(bytes, version.bytes)
  assert.equal(createHash('sha512').update(bytes).digest('hex'), file.hashes.sha512)
  // The link to the source leads to its page.
  assert.ok([200, 301, 302].includes((await source.anyone.get(`/project/${project.id}`)).statusCode))
})

test('a run without changes sends a handful of requests and changes nothing', async () => {
  const before = await read(mirror.t, '/v3/project/lantern')
  const report = await mirror.run()
  assert.ok(report.requests <= 3, `${report.requests} requests`)
  assert.deepEqual([report.projects, report.versions, report.files], [0, 0, 0])
  assert.deepEqual(await read(mirror.t, '/v3/project/lantern'), before)
})

test('edits, new versions, hidden and deleted objects follow', async () => {
  const project = await source.make.project({ owner, slug: 'torch' })
  const [first, second] = [await publish(project), await publish(project)]
  await mirror.run()
  const mine = source.as(owner)
  assert.equal(
    (await mine.patch(`/v3/project/${project.id}`, { summary: 'Another summary', slug: 'torches' })).statusCode,
    204,
  )
  assert.equal((await mine.patch(`/v3/version/${first.id}`, { changelog: 'Corrected' })).statusCode, 204)
  assert.equal((await mine.delete(`/v3/version/${second.id}`)).statusCode, 204)
  const third = await publish(project)
  const report = await mirror.run()
  assert.deepEqual([report.projects, report.files], [1, 1], mirror.warnings.join())
  const here = await read(mirror.t, '/v3/project/torches')
  assert.equal(here.summary, 'Another summary')
  assert.deepEqual(here.versions, [first.id, third.id])
  assert.equal((await read(mirror.t, `/v3/version/${first.id}`)).changelog, 'Corrected')
  assert.equal((await read(mirror.t, `/v3/version/${second.id}`)).status, 'unlisted')

  assert.equal((await mine.patch(`/v3/project/${project.id}`, { status: 'unlisted' })).statusCode, 204)
  await mirror.run()
  assert.equal((await read(mirror.t, '/v3/project/torches')).status, 'unlisted')
  const moderator = source.as(await source.make.account({ role: 'moderator' }))
  assert.equal((await moderator.patch(`/v3/project/${project.id}`, { status: 'approved' })).statusCode, 204)
  await mirror.run()
  const again = await read(mirror.t, '/v3/project/torches')
  assert.deepEqual([again.status, again.versions], ['approved', [first.id, third.id]])
  assert.equal((await mine.delete(`/v3/project/${project.id}`)).statusCode, 204)
  await mirror.run()
  assert.equal((await read(mirror.t, '/v3/project/torches')).status, 'withheld')
})

test('a version that is deleted while its project is unlisted does not return with the project', async () => {
  const project = await source.make.project({ owner })
  const [kept, deleted] = [await publish(project), await publish(project)]
  await mirror.run()
  const [mine, moderator] = [source.as(owner), source.as(await source.make.account({ role: 'moderator' }))]
  assert.equal((await mine.patch(`/v3/project/${project.id}`, { status: 'unlisted' })).statusCode, 204)
  await mirror.run()
  assert.equal((await mine.delete(`/v3/version/${deleted.id}`)).statusCode, 204)
  assert.equal((await moderator.patch(`/v3/project/${project.id}`, { status: 'approved' })).statusCode, 204)
  await mirror.run()
  assert.deepEqual((await read(mirror.t, `/v3/project/${project.id}`)).versions, [kept.id])
  assert.equal((await read(mirror.t, `/v3/version/${deleted.id}`)).status, 'unlisted')
})

test('a status that somebody has changed here remains', async () => {
  const project = await source.make.project({ owner, slug: 'candle' })
  await publish(project)
  await mirror.run()
  const admin = mirror.t.as(await mirror.t.make.account({ role: 'admin' }))
  assert.equal((await admin.patch(`/v3/project/${project.id}`, { status: 'withheld' })).statusCode, 204)
  assert.equal((await source.as(owner).patch(`/v3/project/${project.id}`, { name: 'Candles' })).statusCode, 204)
  await mirror.run()
  const here = await read(mirror.t, `/v3/project/${project.id}`)
  assert.deepEqual([here.name, here.status], ['Candles', 'withheld'])
})

test('IDs and slugs that are taken here are never taken over, and dependencies follow the new IDs', async () => {
  const [library, user] = [
    await source.make.project({ owner, slug: 'library' }),
    await source.make.project({ owner, slug: 'user-of-it' }),
  ]
  const required = await publish(library)
  const dependent = await publish(user)
  const dependency = { version_id: required.id, dependency_type: 'required' }
  assert.equal(
    (await source.as(owner).patch(`/v3/version/${dependent.id}`, { dependencies: [dependency] })).statusCode,
    204,
  )
  const local = await mirror.t.make.project({ slug: 'library' })
  const { db } = mirror.t.deps
  const other = await mirror.t.make.project()
  await db
    .updateTable('project')
    .set({ id: library.id })
    .where('id', '=', other.id)
    .execute()
    .catch(() => undefined)
  await db.deleteFrom('project').where('id', '=', other.id).execute()
  const taken = await mirror.t.make.project()
  const version = await mirror.t.make.version({ project: taken })
  await db.updateTable('version').set({ id: required.id }).where('id', '=', version.id).execute()
  await mirror.run()
  const copied = await read(mirror.t, '/v3/project/library-2')
  assert.equal(copied.origin.id, library.id)
  assert.equal((await read(mirror.t, '/v3/project/library')).id, local.id)
  assert.notDeepEqual(copied.versions, [required.id])
  const owned = await read(mirror.t, `/v3/version/${required.id}`)
  assert.equal(owned.project_id, taken.id)
  assert.ok(!('origin' in owned))
  const { dependencies } = await read(mirror.t, `/v3/version/${dependent.id}`)
  assert.deepEqual(dependencies, [
    { project_id: copied.id, version_id: copied.versions[0], file_name: null, dependency_type: 'required' },
  ])
})
