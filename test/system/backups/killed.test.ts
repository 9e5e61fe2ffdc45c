// A backup and a restore that are killed at random moments: the state is the former or the new one, also if the backup is
// encrypted, and the next run works.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { fileSource, openBackup } from '#features/operation/backup/archive/encryption.ts'
import { emptyDatabase, type TestDatabase } from '#test/support/app/database.ts'
import { commandHere } from '#test/support/processes/command-here.ts'
import { depot, ENTRY, makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'

const KILLS = 8
const { dataDir, remove } = makeDataDir()
const at = (name: string): string => join(dataDir, name)
let database: TestDatabase
let env: Record<string, string>
let identity: string
let sealed: Record<string, string>

before(async () => {
  identity = await generateX25519Identity()
  writeFileSync(at('key.txt'), `${identity}\n`)
  database = await emptyDatabase()
  env = { DATABASE_URL: database.connectionString, BACKUP_TARGET: at('target'), BACKUP_KEEP: '3' }
  sealed = { BACKUP_RECIPIENT: await identityToRecipient(identity) }
  await succeed(['seed', '--projects', '20'])
})
after(async () => {
  await database?.close()
  remove()
})

async function succeed(args: string[], more: Record<string, string> = {}, folder = at('data')) {
  const { code, stdout, stderr } = await commandHere([...args, '--json'], { DATA_DIR: folder, ...env, ...more })
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

function start(args: string[], more: Record<string, string>, folder: string) {
  const child = spawn(process.execPath, [ENTRY, ...args], {
    env: { ...process.env, DATA_DIR: folder, ...env, ...more },
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  child.stdin.on('error', () => undefined)
  let stderr = ''
  child.stderr.on('data', (text) => {
    stderr += text
  })
  return { child, exited: once(child, 'close').then(() => stderr) }
}

const random = (below: number): number => Math.floor(Math.random() * below)
const objects = (): string[] => readdirSync(at('target/objects')).sort()
const archives = (): string[] => objects().filter((name) => /^depot-.*\.tar$/.test(name))

/** Runs a backup, and kills it after a number of changes in the target. Returns how many changes there were. */
async function backUpUntil(changes: number, more: Record<string, string>): Promise<number> {
  let seen = 0
  const { child, exited } = start(['backup'], more, at('data'))
  const watchers = ['objects', 'staging'].map((folder) =>
    watch(at(`target/${folder}`), () => {
      seen += 1
      if (seen === changes) child.kill('SIGKILL')
    }),
  )
  const stderr = await exited
  for (const watcher of watchers) watcher.close()
  assert.ok(child.signalCode === 'SIGKILL' || child.exitCode === 0, stderr)
  return seen
}

/** Reads an archive to its end, and checks that the packs that it needs exist. */
async function assertWhole(name: string): Promise<void> {
  const reader = await openBackup(fileSource(at(`target/objects/${name}`)), [identity])
  try {
    for await (const member of reader.members()) await member.sha256()
    for (const { id } of reader.head.since) {
      assert.ok(
        objects().some((found) => found.startsWith(`files-${id}-`)),
        `${name} needs the pack ${id}`,
      )
    }
  } finally {
    await reader.dispose()
  }
}

test('a killed backup leaves the former backups or one more, and every one of them is whole', async () => {
  await succeed(['backup'])
  const changes = await backUpUntil(Number.POSITIVE_INFINITY, sealed)
  assert.ok(changes > 5, `${changes} changes`)
  const done = { killed: 0, complete: 0 }
  for (let n = 0; n < KILLS; n += 1) {
    const before = archives()
    // Another key, so that packs are stored as well.
    const more = random(2) === 0 ? sealed : {}
    await backUpUntil(1 + Math.floor((changes * (n + Math.random())) / KILLS), more)
    const now = archives()
    const added = now.filter((name) => !before.includes(name))
    assert.ok(added.length <= 1, added.join())
    if (added.length === 0) assert.deepEqual(now, before, 'nothing was deleted')
    for (const name of now) await assertWhole(name)
    done[added.length === 0 ? 'killed' : 'complete'] += 1
  }
  assert.ok(done.killed > 0, JSON.stringify(done))
  const { files } = await succeed(['backup'])
  assert.equal(archives().length, 3)
  assert.deepEqual(readdirSync(at('target/staging')), [])
  const used = new Set<string>()
  for (const name of archives()) {
    const { head, dispose } = await openBackup(fileSource(at(`target/objects/${name}`)), [identity])
    for (const { id } of head.since) used.add(id)
    await dispose()
  }
  const packs = objects().filter((name) => name.startsWith('files-'))
  assert.deepEqual(
    packs.filter((name) => !used.has(name.split('-')[1] ?? '')),
    [],
    'no remains',
  )
  const to = await emptyDatabase()
  try {
    const there = { DATABASE_URL: to.connectionString }
    assert.equal((await succeed(['restore', 'latest'], there, at('last'))).files, files)
    assert.equal((await succeed(['verify'], there, at('last'))).findings, 0)
  } finally {
    await to.close()
  }
})

test('a restore that was killed after its commit is finished at the next start', async () => {
  const { files } = await succeed(['backup', at('unfinished.tar')])
  const place = { ...(await newPlace(KILLS + 2)), archive: at('unfinished.tar') }
  const { pool } = place.database
  const bytes = readFileSync(place.archive)
  const { child, exited } = start(['restore', '-', '--quiet'], place.env, place.folder)
  child.stdin.write(bytes.subarray(0, bytes.length - 8 * 1024))
  // The restore has claimed the files, and waits for the rest of the backup.
  await untilRows(pool, "select 1 where to_regclass('public.upload_claim') is not null")
  await untilRows(pool, 'select 1 from upload_claim')
  // The first step after the commit waits for this lock.
  const lock = await pool.connect()
  try {
    await lock.query('select pg_advisory_lock(7300421)')
    child.stdin.end(bytes.subarray(bytes.length - 8 * 1024))
    await untilRows(pool, "select 1 from account where id <> 'deleted0'")
    child.kill('SIGKILL')
    await exited
  } finally {
    lock.release(true)
  }
  const needsRebase = 'select 1 from download_ledger where needs_rebase'
  assert.equal((await pool.query(needsRebase)).rowCount, 1, 'the restore is not finished')
  const server = await startDepot(place.folder, { ...env, ...place.env })
  try {
    await untilRows(pool, 'select 1 from download_ledger where not needs_rebase')
    await untilRows(pool, `select 1 where not exists (select from graphile_worker.jobs where key = 'finish-restore')`)
    // Not before the first job could have run.
    assert.equal((await pool.query('select 1 from instance_copy where quiet_since is not null')).rowCount, 1)
  } finally {
    await server.stop()
  }
  await assertRestored(place, files)
})

/** Waits until a statement returns rows. */
async function untilRows(pool: TestDatabase['pool'], statement: string): Promise<void> {
  while ((await pool.query(statement)).rows.length === 0) await sleep(20)
}

/** `archive`: an interrupted restore can be repeated with the same backup. */
type Place = { database: TestDatabase; folder: string; env: Record<string, string>; archive: string }

async function newPlace(n: number): Promise<Place> {
  const to = await emptyDatabase()
  after(() => to.close())
  const folder = at(`restored-${n}`)
  mkdirSync(folder)
  const archive = at(n % 2 === 0 ? 'plain.tar' : 'sealed.tar')
  return { database: to, folder, env: { DATABASE_URL: to.connectionString }, archive }
}

/** Whether the instance has rows. Before the first migration, there are no tables. */
async function isRestored({ database: { pool } }: Place): Promise<boolean> {
  const { rows } = await pool.query("select to_regclass('public.account') as name")
  if (rows[0].name === null) return false
  return ((await pool.query("select 1 from account where id <> 'deleted0'")).rowCount ?? 0) > 0
}

async function assertRestored({ folder, env: there, archive }: Place, files: number): Promise<void> {
  const verified = await succeed(['verify'], there, folder)
  assert.deepEqual([verified.findings, verified.files], [0, files])
  const again = await commandHere(['restore', archive, '--identity', at('key.txt')], { DATA_DIR: folder, ...there })
  assert.match(again.stderr, /^This instance is not empty: /)
}

test('a killed restore leaves an empty instance that accepts the backup, or the restored one', async () => {
  const { files } = await succeed(['backup', at('plain.tar')])
  await succeed(['backup', at('sealed.tar')], sealed)
  let place = await newPlace(0)
  const startedAt = performance.now()
  assert.equal((await depot(place.folder, ['restore', at('plain.tar')], place.env)).code, 0)
  const tookMs = performance.now() - startedAt
  await assertRestored(place, files)
  let places = 1
  place = await newPlace(places)
  const done = { empty: 0, restored: 0 }
  for (let n = 0; n < KILLS; n += 1) {
    const bytes = readFileSync(place.archive)
    const { child, exited } = start(['restore', '-', '--identity', at('key.txt')], place.env, place.folder)
    if (n % 4 < 2) {
      // The restore has read a random part of the backup, or is about to, and waits for more.
      await new Promise((resolve) => child.stdin.write(bytes.subarray(0, 1 + random(bytes.length)), resolve))
    } else {
      // After the last byte, there is no event outside the process.
      child.stdin.end(bytes)
      await Promise.race([sleep(random(1.2 * tookMs)), exited])
    }
    child.kill('SIGKILL')
    const stderr = await exited
    assert.ok(child.signalCode === 'SIGKILL' || child.exitCode === 0, stderr)
    // The database notices the end of the connection, and rolls back.
    await place.database.pool.query(
      `select pg_terminate_backend(pid, 10000) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
    )
    if (await isRestored(place)) {
      await assertRestored(place, files)
      done.restored += 1
      places += 1
      place = await newPlace(places)
    } else done.empty += 1
  }
  assert.ok(done.empty > 0, JSON.stringify(done))
  await succeed(['restore', place.archive, '--identity', at('key.txt')], place.env, place.folder)
  await assertRestored(place, files)
  assert.deepEqual(
    readdirSync(place.folder).filter((name) => /^restore-\w{6}$/.test(name)),
    [],
  )
})
