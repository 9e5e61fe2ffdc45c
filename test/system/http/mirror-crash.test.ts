// A mirror that is killed while it copies: nothing is half done, and the next run copies only the rest.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type TestDatabase, testDatabase } from '#test/support/app/database.ts'
import { createFactories } from '#test/support/factories/factories.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { depot, ENTRY, makeDataDir } from '#test/support/processes/running-depot.ts'
import { standInSource } from '#test/support/stand-ins/mirror-source.ts'

const PROJECTS = 30
/** The run is killed when it requests this file. */
const KILLED_AT = 17

const { dataDir, remove } = makeDataDir()
let database: TestDatabase | undefined
after(async () => {
  await database?.close()
  remove()
})

test('kill -9 during a run leaves whole projects, and the next run copies the others', async () => {
  database = await testDatabase()
  const { db, connectionString } = database
  const make = createFactories({ db, files: undefined as never, now: Date.now })
  const { slug } = await teamFactories(db).organization(await make.account())
  const env = { DATABASE_URL: connectionString }
  const source = await standInSource()
  try {
    for (let n = 0; n < PROJECTS; n += 1) source.add(`Kill${n}`, [`KillV${n}`])
    const args = ['mirror', source.address, '--all', '--owner', slug, '--json']
    const child = spawn(process.execPath, [ENTRY, ...args], {
      env: { ...process.env, DATA_DIR: dataDir, ...env },
      stdio: 'ignore',
    })
    let downloads = 0
    source.fault = (req) => {
      if (!req.url?.startsWith('/files/')) return false
      downloads += 1
      if (downloads === KILLED_AT) child.kill('SIGKILL')
      // The killed process never gets this file.
      return downloads >= KILLED_AT
    }
    const [code, signal] = await once(child, 'exit')
    assert.deepEqual([code, signal], [null, 'SIGKILL'])
    const copied = await db.selectFrom('project').select('id').execute()
    const withFiles = await db.selectFrom('file').select('sha512').execute()
    assert.deepEqual([copied.length, withFiles.length], [KILLED_AT - 1, KILLED_AT - 1])

    downloads = 0
    source.fault = (req) => {
      if (req.url?.startsWith('/files/')) downloads += 1
      return false
    }
    const run = async () => {
      const { code: exit, stdout, stderr } = await depot(dataDir, args, env)
      assert.equal(exit, 0, stderr)
      return JSON.parse(stdout)
    }
    const second = await run()
    const rest = PROJECTS - copied.length
    assert.deepEqual([second.projects, second.files, second.skipped, downloads], [rest, rest, 0, rest])
    const files = await db.selectFrom('file').select(['sha512', 'storage_key']).execute()
    assert.equal(files.length, PROJECTS)
    for (const { sha512, storage_key } of files) {
      const bytes = await readFile(join(dataDir, 'files', 'objects', storage_key))
      assert.equal(createHash('sha512').update(bytes).digest('hex'), sha512)
    }
    const third = await run()
    assert.deepEqual([third.projects, third.requests <= 3], [0, true])
  } finally {
    await source.close()
  }
})
