// Scheduled backups in a bucket of a real S3 store, and the move of files into it and back.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { emptyDatabase, type TestDatabase } from '#test/support/app/database.ts'
import { type Engine, startEngine } from '#test/support/engines/engine.ts'
import { commandHere } from '#test/support/processes/command-here.ts'

const started = await startEngine('s3')
const skip = typeof started === 'string' ? started : false
const engine = started as Engine

let folder: string
let database: TestDatabase
let env: Record<string, string>
const at = (name: string): string => join(folder, name)

before(async () => {
  if (skip !== false) return
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) process.env[name] = engine.settings[name]
  folder = await mkdtemp(join(tmpdir(), 'depot-bucket-'))
  database = await emptyDatabase()
  env = {
    DATABASE_URL: database.connectionString,
    DATA_DIR: at('data'),
    S3_ENDPOINT: engine.settings['S3_ENDPOINT'] ?? '',
    BACKUP_TARGET: `s3://${engine.settings['S3_BUCKET']}/backups/main`,
    BACKUP_KEEP: '2',
  }
  await json(['migrate'])
  await json(['seed', '--projects', '3'])
})
after(async () => {
  if (skip !== false) return
  await database?.close()
  await engine.remove()
  await rm(folder, { recursive: true, force: true })
})

async function json(args: string[], using = env): Promise<ReturnType<typeof JSON.parse>> {
  const { code, stdout, stderr } = await commandHere([...args, '--json'], using)
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

test('a bucket keeps the newest backups, copies each file once, and restores the latest', { skip }, async () => {
  const identity = await generateX25519Identity()
  await writeFile(at('key.txt'), `${identity}\n`)
  const using = { ...env, BACKUP_RECIPIENT: await identityToRecipient(identity) }
  const made = []
  for (let n = 0; n < 3; n += 1) made.push(await json(['backup'], using))
  const [first, second, third] = made
  assert.ok(first.files > 5)
  assert.deepEqual([first.earlier, second.earlier, third.earlier], [0, first.files, first.files])
  const { backups } = await json(['backup', 'list'], using)
  const names = backups.map(({ name }: { name: string }) => name)
  assert.deepEqual(names.sort(), [second.name, third.name].sort())
  assert.deepEqual(await readdir(at('data/backup-staging')), [])
  const to = await emptyDatabase()
  try {
    const there = { ...using, DATABASE_URL: to.connectionString, DATA_DIR: at('restored') }
    const report = await json(['restore', 'latest', '--identity', at('key.txt')], there)
    assert.equal(report.files, first.files)
    assert.equal((await json(['verify'], there)).findings, 0)
  } finally {
    await to.close()
  }
})

test('files move into a bucket and back with the documented settings: S3_BUCKET= alone', { skip }, async () => {
  const bucket = { ...engine.settings, S3_PREFIX: 'moved/' }
  const settings = Object.entries(bucket).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(at('bucket.env'), settings.join(''))
  const { copied } = await json(['move', 'files', '--to', at('bucket.env')])
  assert.ok(copied > 5)
  await rm(at('data/files/objects'), { recursive: true })
  await writeFile(at('folder.env'), 'S3_BUCKET=\n')
  const back = await json(['move', 'files', '--to', at('folder.env')], { ...env, ...bucket })
  assert.deepEqual([back.copied, back.missing], [copied, []])
  assert.equal((await json(['verify'], { ...env, ...bucket, S3_BUCKET: '' })).findings, 0)
})

test('a bucket that does not exist is named, and the staging folder stays empty', { skip }, async () => {
  const using = { ...env, BACKUP_TARGET: 's3://no-such-bucket/backups' }
  const { code, stderr } = await commandHere(['backup'], using)
  assert.equal(code, 1)
  assert.match(stderr, /BACKUP_TARGET s3:\/\/no-such-bucket\/backups.*the bucket does not exist\. Create it/)
})
