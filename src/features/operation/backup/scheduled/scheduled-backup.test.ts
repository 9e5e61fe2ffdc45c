// Backups at BACKUP_TARGET: what they store, what they delete, how a restore finds everything, and what is refused. The same
// statements hold for a bucket: scheduled-backup.engine.test.ts.
import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { emptyDatabase, type TestDatabase, testDatabase } from '#test/support/app/database.ts'
import { commandHere } from '#test/support/processes/command-here.ts'
import { LOCK } from '../write-backup.ts'
import { reusablePacks } from './packs.ts'

let folder: string
let database: TestDatabase
let env: Record<string, string>
const at = (name: string): string => join(folder, name)

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depot-scheduled-'))
  database = await testDatabase()
  env = { DATABASE_URL: database.connectionString, DATA_DIR: at('data'), BACKUP_TARGET: at('target') }
  await json(['seed', '--projects', '3'])
})
after(async () => {
  await database?.close()
  await rm(folder, { recursive: true, force: true })
})

async function json(args: string[], using = env): Promise<ReturnType<typeof JSON.parse>> {
  const { code, stdout, stderr } = await commandHere([...args, '--json'], using)
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

async function failure(args: string[], using: Record<string, string>): Promise<string> {
  const { code, stderr } = await commandHere(args, using)
  assert.equal(code, 1, stderr)
  return stderr
}

/** Restores into a new instance and checks everything in it. */
async function restored(words: string[], using = env): Promise<{ rows: number; files: number }> {
  const to = await testDatabase()
  try {
    const data = await mkdtemp(at('to-'))
    const there = { ...using, DATABASE_URL: to.connectionString, DATA_DIR: data }
    const report = await json(['restore', ...words], there)
    assert.equal((await json(['verify'], there)).findings, 0)
    return report
  } finally {
    await to.close()
  }
}

const namesIn = async (target: string): Promise<string[]> => (await readdir(join(target, 'objects'))).sort()
const packsIn = async (target: string): Promise<string[]> =>
  (await namesIn(target)).filter((name) => name.startsWith('files-'))

const backupsIn = async (target: string): Promise<string[]> =>
  (await namesIn(target)).filter((name) => /^depot-.*tar$/.test(name)).map((name) => name.replace('.tar', ''))

/** Deletes all versions of a project, so that the instance does not need their files. */
async function forgetFiles(): Promise<number> {
  const { rowCount } = await database.pool.query(
    'delete from file where version_id in (select id from version limit 4)',
  )
  return rowCount ?? 0
}

test('the second backup stores no file again, and each of them is restored by its name or its path', async () => {
  const target = at('twice')
  const using = { ...env, BACKUP_TARGET: target }
  const first = await json(['backup'], using)
  assert.ok(first.files > 5 && first.earlier === 0, JSON.stringify(first))
  assert.equal((await packsIn(target)).length, 1)
  const second = await json(['backup'], using)
  assert.deepEqual([second.files, second.earlier], [first.files, first.files])
  assert.equal((await packsIn(target)).length, 1)
  const { backups, files_bytes } = await json(['backup', 'list'], { ...using, DATA_DIR: at('none') })
  assert.deepEqual(
    backups.map(({ name }: { name: string }) => name),
    [second.name, first.name].sort().reverse(),
  )
  assert.ok(files_bytes > 0 && files_bytes < first.bytes)
  assert.ok(second.bytes < first.bytes)
  assert.equal((await restored([first.name], using)).files, first.files)
  // A copy of the folder is enough.
  const path = join(target, 'objects', `${second.name}.tar`)
  assert.equal((await restored([path], { ...using, BACKUP_TARGET: at('elsewhere') })).rows, second.rows)
  const { rows } = await database.pool.query(
    `select details ->> 'name' as name from audit_entry where action = 'backup.made' order by id desc limit 2`,
  )
  assert.deepEqual(rows, [{ name: second.name }, { name: first.name }])
  for (const name of await namesIn(target))
    assert.equal((await stat(join(target, 'objects', name))).mode & 0o077, 0, `${name} is for its owner only`)
})

test('only the newest BACKUP_KEEP backups remain, and a pack goes with the last backup that needs it', async () => {
  const target = at('kept')
  const using = { ...env, BACKUP_TARGET: target, BACKUP_KEEP: '2' }
  const made = [await json(['backup'], using)]
  // A killed backup leaves such files.
  const leftovers = ['files-AAAAAAAA-plain.tar', 'depot-20200101T000000Z-AAAAAAAA.index']
  for (const name of leftovers) await writeFile(join(target, 'objects', name), 'x')
  await writeFile(join(target, 'staging', 'killed.part'), 'x')
  const [pack] = (await packsIn(target)).filter((name) => !leftovers.includes(name))
  assert.ok((await forgetFiles()) > 0)
  await json(['seed', '--projects', '9'])
  for (let n = 0; n < 3; n += 1) made.push(await json(['backup'], using))
  const names = await namesIn(target)
  const expected = made.slice(-2).flatMap(({ name }) => [`${name}.index`, `${name}.tar`])
  assert.deepEqual(
    names.filter((name) => name.startsWith('depot-')),
    expected.sort(),
  )
  assert.deepEqual(await readdir(join(target, 'staging')), [])
  assert.ok(!leftovers.some((name) => names.includes(name)))
  assert.ok(names.includes(pack ?? ''), 'most of the first pack is still in use')
  assert.equal((await packsIn(target)).length, 2)
  assert.equal((await restored([made[2].name], using)).files, made[2].files)
})

test('a file is stored again if its pack is lost or mostly unused, or if there are too many packs', async () => {
  const target = at('lost')
  const using = { ...env, BACKUP_TARGET: target, BACKUP_KEEP: '1' }
  const first = await json(['backup'], using)
  const [lost = ''] = await packsIn(target)
  await rm(join(target, 'objects', lost))
  const second = await json(['backup'], using)
  assert.deepEqual([second.files, second.earlier], [first.files, 0])
  assert.equal((await restored(['latest'], using)).files, first.files)

  const pack = (id: string, sizeBytes: number, recipients = 'plain') => ({ id, key: id, recipients, sizeBytes })
  const used = new Map([
    ['half', 50],
    ['less', 49],
    ['other', 100],
  ])
  const some = [pack('half', 100), pack('less', 100), pack('other', 100, 'abcdef01'), pack('unused', 100)]
  assert.deepEqual([...reusablePacks(some, 'plain', used)], ['half'])
  const many = Array.from({ length: 33 }, (_, n) => pack(String(n), 100 + n))
  const all = new Map(many.map(({ id, sizeBytes }) => [id, sizeBytes]))
  assert.deepEqual([...reusablePacks(many.slice(1), 'plain', all)].length, 32)
  const merged = reusablePacks(many, 'plain', all)
  assert.ok(merged.size === 16 && merged.has('32') && !merged.has('0'))
})

test('with BACKUP_RECIPIENT, everything but the lists of files is encrypted, also what was stored before', async () => {
  const target = at('sealed')
  const plain = await json(['backup'], { ...env, BACKUP_TARGET: target })
  const [identity, other] = [await generateX25519Identity(), await generateX25519Identity()]
  await writeFile(at('key.txt'), `${identity}\n`)
  await writeFile(at('other.txt'), `${other}\n`)
  const using = {
    ...env,
    BACKUP_TARGET: target,
    BACKUP_KEEP: '2',
    BACKUP_RECIPIENT: await identityToRecipient(identity),
  }
  const first = await json(['backup'], using)
  assert.ok(first.encrypted && first.earlier === 0 && first.files === plain.files)
  const second = await json(['backup'], using)
  assert.equal(second.earlier, first.files)
  for (const name of await namesIn(target)) {
    if (!name.endsWith('.tar')) continue
    const start = (await readFile(join(target, 'objects', name))).toString('latin1', 0, 21)
    assert.equal(start, 'age-encryption.org/v1', name)
  }
  assert.equal((await restored(['latest', '--identity', at('key.txt')], using)).files, first.files)
  const to = { ...using, DATA_DIR: at('refused'), DATABASE_URL: 'postgres://127.0.0.1:1/none' }
  assert.match(await failure(['restore', 'latest'], to), /is encrypted\. Name the file with the private key/)
  const wrong = await failure(['restore', 'latest', '--identity', at('other.txt')], to)
  assert.match(wrong, /encrypted for another key than that of --identity/)
  // A new key must open everything on its own.
  const rotated = await json(['backup'], { ...using, BACKUP_RECIPIENT: await identityToRecipient(other) })
  assert.equal(rotated.earlier, 0)
  assert.equal((await restored(['latest', '--identity', at('other.txt')], using)).files, first.files)
})

test('a restored copy is another writer: it refuses the target, takes it over if told, and deletes only its own backups', async () => {
  const target = at('copies')
  const using = { ...env, BACKUP_TARGET: target, BACKUP_KEEP: '1' }
  const first = await json(['backup'], using)
  // As 1.0 left it: no writer in the target and in its backups.
  const owner = JSON.parse(await readFile(join(target, 'objects/instance.json'), 'utf8'))
  assert.match(owner.writer, /^\w{16}$/)
  await writeFile(join(target, 'objects/instance.json'), `${JSON.stringify({ instance: owner.instance })}\n`)
  const to = await emptyDatabase()
  try {
    const there = { ...using, DATABASE_URL: to.connectionString, DATA_DIR: at('copy') }
    const { stdout } = await commandHere(['restore', 'latest'], there)
    assert.match(stdout, /\nBackups of this copy need another BACKUP_TARGET\. .* `depot backup --take-over` once\.\n$/)
    const refused = /Another copy of this instance made the last backup .* run `depot backup --take-over`; otherwise/
    assert.match(await failure(['backup'], there), refused)
    // The original is the writer of a target of 1.0.
    const second = await json(['backup'], using)
    assert.deepEqual(await backupsIn(target), [second.name])
    assert.match(await failure(['backup'], there), refused)
    const taken = [await json(['backup', '--take-over'], there), await json(['backup'], there)]
    assert.deepEqual(await backupsIn(target), [second.name, taken[1].name].sort())
    assert.match(await failure(['backup'], using), refused)
    assert.deepEqual((await json(['backup', '--dry-run'], there)).backups, [taken[1].name])
    assert.equal((await restored([second.name], using)).files, first.files)
    const back = await json(['backup', '--take-over'], using)
    assert.deepEqual(await backupsIn(target), [taken[1].name, back.name].sort())
  } finally {
    await to.close()
  }
  assert.equal((await commandHere(['backup', at('x.tar'), '--take-over'], using)).code, 2)
})

test('another instance, a second backup at the same time, and a target that cannot be used are refused', async () => {
  const target = at('owned')
  const using = { ...env, BACKUP_TARGET: target }
  await json(['backup'], using)
  const other = await testDatabase()
  try {
    const there = { ...using, DATABASE_URL: other.connectionString, DATA_DIR: at('other') }
    await json(['migrate'], there)
    await other.pool.query('update instance set id = random_base62(16)')
    assert.match(
      await failure(['backup'], there),
      /contains the backups of another instance\. Choose another folder or prefix/,
    )
  } finally {
    await other.close()
  }
  const client = await database.pool.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK])
    assert.match(await failure(['backup'], using), /Another backup of this instance is running\. Run the command again/)
  } finally {
    await client.query('select pg_advisory_unlock($1)', [LOCK])
    client.release()
  }
  const before = await namesIn(target)
  await writeFile(at('a-file'), '')
  const onFile = await failure(['backup'], { ...using, BACKUP_TARGET: at('a-file') })
  assert.match(onFile, /Cannot use BACKUP_TARGET .*a-file: ENOTDIR.*Correct the path|Cannot use BACKUP_TARGET .*EEXIST/)
  const unset = await failure(['backup'], { ...using, BACKUP_TARGET: '' })
  assert.match(unset, /BACKUP_TARGET is not set\. Set it to a folder or a bucket/)
  const none = await failure(['restore', 'latest'], { ...using, BACKUP_TARGET: at('empty') })
  assert.match(none, /contains no backup\. Check the list of `depot backup list`/)
  const unknown = await failure(['restore', 'depot-20200101T000000Z-AAAAAAAA'], using)
  assert.match(unknown, /contains no backup depot-20200101T000000Z-AAAAAAAA\. Check/)
  assert.deepEqual(await namesIn(target), before)
  assert.equal((await commandHere(['backup', '--since', 'x'], using)).code, 2)
  assert.equal((await commandHere(['restore', 'latest', 'x'], using)).code, 2)
})

test('a folder that nobody may write to is named with the remedy', {
  skip: process.getuid?.() === 0 ? 'root may write everywhere; the test of every command covers it' : false,
}, async () => {
  await mkdir(at('closed'))
  await chmod(at('closed'), 0o500)
  const using = { ...env, BACKUP_TARGET: at('closed') }
  assert.match(await failure(['backup'], using), /Cannot use BACKUP_TARGET .*closed: EACCES.*permission/)
})
