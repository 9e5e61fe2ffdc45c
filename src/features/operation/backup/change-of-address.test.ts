// An instance whose base URL has changed shows everything at the new one, and backups, checks and moves have every file.
import assert from 'node:assert/strict'
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import sharp from 'sharp'
import { seedCatalogue } from '#demo/seed/seed-catalogue.ts'
import { updateFileUrls } from '#features/basics/content-images/update-file-urls.ts'
import { buildApp } from '#main/app.ts'
import { createEntityCache } from '#platform/cache/entity-cache.ts'
import type { Deps } from '#ports/deps.ts'
import { openDiskFiles } from '#ports/files/disk/disk-files.ts'
import { ADMIN_KEY, BYPASS_KEY, type Client, type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { everyAddress, everyAnswer, everyRow } from '#test/support/http/every-response.ts'
import { eventsOfStore } from './events/event-parts.ts'
import { moveFiles } from './move/move-files.ts'
import { restoreBackup } from './restore-backup.ts'
import { verifyInstance } from './verify-instance.ts'
import { writeBackup } from './write-backup.ts'

const BEFORE = 'https://depot.test'
const AFTER = 'https://files.example.org/of/depot'
const folder = mkdtempSync(join(tmpdir(), 'depot-address-'))
after(() => rmSync(folder, { recursive: true, force: true }))

let t: TestApp
let person: Person
let projectId: string
let elsewhere: Awaited<ReturnType<typeof moved>>
before(async () => {
  t = await testApp()
  await updateFileUrls(t.deps)
  await seedCatalogue(t.deps, 4)
  person = await t.make.account({ role: 'admin' })
  const project = await t.make.project({ owner: person })
  projectId = project.id
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const
  const image = await sharp({ create: { width: 160, height: 160, channels: 3, background: '#000', noise } })
    .png()
    .toBuffer()
  const as = t.as(person)
  const send = async (method: 'post' | 'patch', path: string, body: unknown = image, headers = {}) => {
    const sent = await as[method](
      path,
      body,
      Buffer.isBuffer(body) ? { headers: { 'content-type': 'image/png', ...headers } } : {},
    )
    assert.ok(sent.statusCode < 300, `${path}: ${sent.body}`)
    return sent.statusCode === 204 ? undefined : sent.json()
  }
  const { id: collection } = await send('post', '/v3/collection', { name: 'Lights', projects: [projectId] })
  const application = { name: 'Lamp', max_scopes: 1, redirect_uris: ['https://client.example.org/'] }
  const { id: oauth } = await send('post', '/_internal/oauth/app', application)
  for (const path of [`user/${person.id}`, `project/${projectId}`, `collection/${collection}`])
    await send('patch', `/v3/${path}/icon?ext=png`)
  await send('patch', `/_internal/oauth/app/${oauth}/icon?ext=png`)
  await send('patch', '/_internal/admin/settings/mark?ext=png', image, { 'x-admin-key': ADMIN_KEY })
  await send('post', `/v3/project/${projectId}/gallery?ext=png`)
  const { url } = await send('post', `/v3/image?ext=png&context=project&project_id=${projectId}`)
  assert.ok(url.startsWith(`${BEFORE}/data/`))
  const away = 'https://elsewhere.example.org/data/logo.png'
  await send('patch', `/v3/project/${projectId}`, { description: `![A lamp](${url}) ![Theirs](${away})` })
  await t.searchable()
  elsewhere = await moved()
})
after(async () => {
  await elsewhere?.close()
  await t?.close()
})

/** The same instance with another address, as after a restart: nothing is shared but what is stored. */
async function moved(): Promise<{ deps: Deps; client: Client; close(): Promise<void> }> {
  const { config } = t.deps
  const cache = createEntityCache({ maxBytes: 1024 * 1024 })
  cache.enable()
  const address = {
    http: { ...config.http, baseUrl: 'https://new.example.org' },
    files: { ...config.files, baseUrl: AFTER },
    ci: { ...config.ci, audience: 'https://new.example.org' },
  }
  const deps = { ...t.deps, cache, config: { ...config, ...address } }
  await updateFileUrls(deps)
  const app = await buildApp(deps)
  const common = { 'user-agent': 'depot-tests/1.0', 'x-ratelimit-key': BYPASS_KEY, authorization: person.token }
  const get: Client['get'] = (url, { headers } = {}) => app.inject({ url, headers: { ...common, ...headers } })
  return { deps, client: { ...t.anyone, get }, close: () => app.close() }
}

test('every response has the new address, and every image is there', async () => {
  const { client, deps } = elsewhere
  const { rows } = await sql<{ path: string }>`
    select '/mod/' || slug as path from project union select '/user/' || username from account
    union select '/organization/' || slug from organization union select '/collection/' || id from collection
    union select unnest(array['/', '/mods', '/mods.atom', '/search?q=a', '/v2/search?limit=50', '/v3/search?limit=50'])`.execute(
    deps.db,
  )
  const addresses = [...(await everyAddress(deps.db)), ...rows.map(({ path }) => path)]
  const images = new Set<string>()
  for (const [address, answer] of await everyAnswer(client, addresses)) {
    // The audit log has the key of the logo.
    assert.doesNotMatch(answer, address.includes('/audit-log') ? /depot\.test/ : /pictures\/|depot\.test/, address)
    for (const [, path = ''] of answer.matchAll(/of\/depot(\/data\/[\w./-]+_?\w*\.(?:png|webp|jpg))/g)) images.add(path)
  }
  assert.ok(images.size > 25, `only ${images.size}`)
  for (const path of images) assert.equal((await client.get(path)).statusCode, 200, path)
  const { description, gallery } = (await client.get(`/v3/project/${projectId}`)).json()
  assert.match(
    description,
    /!\[A lamp\]\(https:\/\/files\.example\.org\/of\/depot\/data\/.+ !\[Theirs\]\(https:\/\/elsewhere/,
  )
  assert.ok(gallery[0].url.startsWith(`${AFTER}/data/`))
  for (const [table, texts] of await everyRow(deps.db))
    for (const text of texts) assert.ok(!text.includes(BEFORE), `${table}: ${text}`)
})

test('backup, restore, verify and move have every file', async () => {
  const { deps } = elsewhere
  const keys: string[] = []
  for await (const { key } of deps.files.list()) keys.push(key)
  const path = join(folder, 'backup.tar')
  const sink = createWriteStream(path)
  const report = await writeBackup(deps, {
    sink,
    events: eventsOfStore(deps.analytics),
    version: '0.0.0-test',
    since: undefined,
  })
  assert.deepEqual([report.files, report.missing], [keys.length, []])
  const verified = await verifyInstance(deps, { canReadEvents: true })
  assert.deepEqual([verified.files, verified.listed], [keys.length, []])
  const target = await openDiskFiles({ folder: join(folder, 'target') })
  assert.equal((await moveFiles(deps, target)).copied, keys.length)
  const third = await testApp({ env: { BASE_URL: 'https://third.example.org' } })
  try {
    await restoreBackup(third.deps, { source: createReadStream(path) })
    await updateFileUrls(third.deps)
    assert.deepEqual((await verifyInstance(third.deps, { canReadEvents: true })).listed, [])
    const { raw_icon_url, description } = (await third.anyone.get(`/v3/project/${projectId}`)).json()
    assert.ok(raw_icon_url.startsWith('https://third.example.org/data/'))
    assert.match(description, /https:\/\/third\.example\.org\/data\//)
  } finally {
    await third.close()
  }
})

test('an image that a text names at a previous address remains; a gallery image is found by that address', async () => {
  const { deps } = elsewhere
  const image = await deps.db
    .selectFrom('image')
    .select('storage_key')
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow()
  const old = image.storage_key.replace('pictures/', 'https://before.example.org/data/')
  const as = t.as(person)
  assert.equal((await as.patch(`/v3/project/${projectId}`, { description: `![](${old})` })).statusCode, 204)
  assert.equal((await deps.db.selectFrom('image').where('project_id', '=', projectId).selectAll().execute()).length, 1)
  const { url } = (await as.get(`/v3/project/${projectId}`)).json().gallery[0]
  const previous = url.replace(/^.*\/data\//, 'https://before.example.org/data/')
  const removed = await as.delete(`/v3/project/${projectId}/gallery?url=${encodeURIComponent(previous)}`)
  assert.equal(removed.statusCode, 204, removed.body)
})
