// The migration that replaced URLs of images in rows by keys, and a server that starts with another base URL.
import assert from 'node:assert/strict'
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { restoreBackup } from '#features/operation/backup/restore-backup.ts'
import { verifyInstance } from '#features/operation/backup/verify-instance.ts'
import { writeBackup } from '#features/operation/backup/write-backup.ts'
import { migrate } from '#platform/db/migrate.ts'
import { emptyDatabase, type TestDatabase } from '#test/support/app/database.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { depot, makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'

const FILE = join(import.meta.dirname, '../../../migrations/0009_store_image_keys.sql')
const BEFORE = '0008_create_moderation_claim.sql'
const HASH = 'c3020341e350b150b0cef8c7eeab56a7b710c52b'
const folder = mkdtempSync(join(tmpdir(), 'depot-keys-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** A database with the schema before the keys, with rows of three base URLs. */
async function databaseWithUrls(): Promise<TestDatabase> {
  const database = await emptyDatabase()
  await migrate(database.pool, { through: BEFORE })
  const { pool } = database
  await pool.query(`insert into account (id, username, avatar_url, raw_avatar_url) values
    ('user0001', 'first', 'https://one.test/data/user0001-a/${HASH}_96.webp', 'https://one.test/data/user0001-a/${HASH}.png'),
    ('user0002', 'second', 'http://127.0.0.1:8080/data/x/data/user0002/${HASH}.png', 'http://127.0.0.1:8080/data/x/data/user0002/${HASH}.png'),
    ('user0003', 'third', 'https://elsewhere.test/data/logo.png', null)`)
  await pool.query(`insert into team (id) values ('team0001')`)
  await pool.query(`insert into project (id, slug, name, summary, description, license, status, team_id, icon_url) values
    ('proj0001', 'lamp', 'Lamp', 'A lamp', '![](https://two.test/depot/data/image001/${HASH}.png)', 'MIT', 'approved', 'team0001',
      'https://one.test/data/proj0001/${HASH}.png')`)
  await pool.query(`insert into gallery_item (id, project_id, url, raw_url, content_sha1) values
    ('item0001', 'proj0001', 'https://one.test/data/proj0001/images/${HASH}_350.webp',
      'https://one.test/data/proj0001/images/${HASH}.png', '${HASH}')`)
  await pool.query(`insert into image (id, context, url, storage_key, size_bytes, project_id) values
    ('image001', 'project', 'https://two.test/depot/data/image001/${HASH}.png', 'pictures/image001/${HASH}.png', 1, 'proj0001')`)
  return database
}

async function storedImages({ pool }: TestDatabase): Promise<(string | null)[]> {
  const { rows } = await pool.query<{ url: string | null }>(`select url from (
    select 1 as part, id, avatar_url as url from account where id <> 'deleted0' union all select 2, id, raw_avatar_url from account
    where id <> 'deleted0' union all select 3, id, icon_url from project union all select 4, id, url from gallery_item
    union all select 5, id, raw_url from gallery_item union all select 6, id, url from image) all_of_them order by part, id`)
  return rows.map(({ url }) => url)
}

test('the migration turns URLs at any base URL into keys, leaves other URLs alone, and changes nothing when run again', async () => {
  const database = await databaseWithUrls()
  await migrate(database.pool)
  const keys = [
    `pictures/user0001-a/${HASH}_96.webp`,
    `pictures/user0002/${HASH}.png`,
    'https://elsewhere.test/data/logo.png',
    `pictures/user0001-a/${HASH}.png`,
    `pictures/user0002/${HASH}.png`,
    null,
    `pictures/proj0001/${HASH}.png`,
    `pictures/proj0001/images/${HASH}_350.webp`,
    `pictures/proj0001/images/${HASH}.png`,
    null,
  ]
  assert.deepEqual(await storedImages(database), keys)
  const bases = async () =>
    (await database.pool.query('select url from text_base_url order by 1')).rows.map(({ url }) => url)
  const found = ['http://127.0.0.1:8080/data/x', 'https://one.test', 'https://two.test/depot']
  assert.deepEqual(await bases(), found)
  await database.pool.query(readFileSync(FILE, 'utf8'))
  assert.deepEqual([await storedImages(database), await bases()], [keys, found])
  await database.close()
})

test('a backup from before the migration is restored with every image', async () => {
  const database = await databaseWithUrls()
  // The head of a backup names the copy of the instance, which the schema of that time does not have.
  await database.pool.query(`create view instance as select 'instance' as id;
    create view instance_copy as select 'writer' as writer, false as restored`)
  const from = await testApp()
  const target = await emptyDatabase()
  await migrate(target.pool, { through: BEFORE })
  const to = await testApp({ env: { DATABASE_URL: target.connectionString, BASE_URL: 'https://new.test' } })
  const keys = ['user0001-a/', 'user0002/', 'proj0001/', 'proj0001/images/', 'image001/'].map(
    (path) => `pictures/${path}${HASH}.png`,
  )
  keys.push(`pictures/user0001-a/${HASH}_96.webp`, `pictures/proj0001/images/${HASH}_350.webp`)
  for (const key of keys) await from.deps.files.put(key, Buffer.from('x'), { contentType: 'image/png' })
  const path = join(folder, 'old.tar')
  const sink = createWriteStream(path)
  const report = await writeBackup(
    { ...from.deps, pool: database.pool },
    { sink, events: async function* () {}, version: '0.0.0', since: undefined },
  )
  assert.deepEqual([report.files, report.missing], [keys.length, []])
  await restoreBackup(to.deps, { source: createReadStream(path) })
  assert.deepEqual((await verifyInstance(to.deps, { canReadEvents: true, quick: true })).listed, [])
  const { icon_url } = (await to.anyone.get('/v3/project/lamp')).json()
  assert.equal(icon_url, `https://new.test/data/proj0001/${HASH}.png`)
  for (const each of [to, from, target, database]) await each.close()
})

test('a server that starts with another base URL shows everything at the new one, also in searches of the saved index', async () => {
  const { dataDir, remove } = makeDataDir()
  const first = { BASE_URL: 'https://old.test' }
  assert.equal((await depot(dataDir, ['seed', '--projects', '3'], first)).code, 0)
  const show = async (env: Record<string, string>) => {
    const server = await startDepot(dataDir, env)
    try {
      const read = async (path: string) =>
        (await fetch(server.url + path, { headers: { 'user-agent': 'depot-tests/1.0' } })).text()
      while ((await read('/v3/search')).includes('search_error')) await read('/ready')
      const { hits } = JSON.parse(await read('/v3/search')) as { hits: { project_id: string }[] }
      const projects = await Promise.all(hits.map(({ project_id }) => read(`/v3/project/${project_id}`)))
      return [await read('/v3/search'), await read('/'), ...projects].join('\n')
    } finally {
      await server.stop()
    }
  }
  assert.match(await show(first), /https:\/\/old\.test\/data\//)
  const shown = await show({ BASE_URL: 'https://new.test', FILES_BASE_URL: 'https://files.test/of' })
  // The texts of the demo name images without an address; the pages add the present one.
  assert.match(shown, /\]\(\/data\//)
  assert.match(shown, /"icon_url":"https:\/\/files\.test\/of\/data\//)
  assert.doesNotMatch(shown, /old\.test/)
  remove()
})
