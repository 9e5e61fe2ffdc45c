// Backups that are encrypted for the operator's key: they contain the secrets of the instance, and only the private key
// opens them. Backups that are not encrypted contain no secrets, and the restore says what to renew.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createWriteStream, existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { openSecret, SecretLostError, sealSecret } from '#features/basics/instance-key/seal-secret.ts'
import { type TestDatabase, testDatabase } from '#test/support/app/database.ts'
import { commandHere } from '#test/support/processes/command-here.ts'
import { encryptTo } from './archive/encryption.ts'

let folder: string
let database: TestDatabase
let env: Record<string, string>
let sealed: Buffer
let publicKey: string
const keys = { identity: '', recipient: '', other: '' }
const at = (name: string): string => join(folder, name)
const plain = Buffer.from('the secret of a webhook')

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depot-encrypted-'))
  keys.identity = await generateX25519Identity()
  keys.recipient = await identityToRecipient(keys.identity)
  keys.other = await generateX25519Identity()
  await writeFile(at('key.txt'), `# public key: ${keys.recipient}\n${keys.identity}\n`)
  await writeFile(at('other.txt'), `${keys.other}\n`)
  database = await testDatabase()
  env = { DATABASE_URL: database.connectionString, DATA_DIR: at('data') }
  await run(['seed', '--projects', '2'], env)
  sealed = await sealSecret(database, plain, 'webhook:1')
  await database.pool.query(
    `insert into webhook (id, owner_kind, url, host, format, events, secret, active, disabled_reason)
    select id, 'instance', 'https://receiver.example/hook', 'receiver.example', format, '{*}', $1, reason is null, reason
    from (values ('1', 'standard', null), ('2', 'github', 'owner'), ('3', 'discord', null)) hook (id, format, reason)`,
    [sealed],
  )
  publicKey = (await json(['key', 'show'], env)).keys[0].public_key
  await run(['backup', at('full.age')], { ...env, BACKUP_RECIPIENT: keys.recipient })
})
after(async () => {
  await database?.close()
  await rm(folder, { recursive: true, force: true })
})

async function run(args: string[], using: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await commandHere(args, using)
  assert.equal(code, 0, stderr)
  return stdout
}

async function json(args: string[], using: Record<string, string>): Promise<ReturnType<typeof JSON.parse>> {
  return JSON.parse(await run([...args, '--json'], using))
}

const webhooksOf = async ({ pool }: TestDatabase) =>
  (await pool.query('select id, active, disabled_reason as reason from webhook order by id')).rows

async function failure(args: string[], using: Record<string, string>): Promise<string> {
  const { code, stderr } = await commandHere(args, using)
  assert.equal(code, 1, stderr)
  return stderr
}

/** Runs `act` on a new database and data folder. */
async function withNew<T>(act: (using: Record<string, string>, to: TestDatabase) => Promise<T>): Promise<T> {
  const to = await testDatabase()
  try {
    const data = await mkdtemp(at('to-'))
    return await act({ DATABASE_URL: to.connectionString, DATA_DIR: data }, to)
  } finally {
    await to.close()
  }
}

test('an encrypted backup restores the key of the instance and the stored secrets', async () => {
  const content = await readFile(at('full.age'))
  assert.ok(content.subarray(0, 22).equals(Buffer.from('age-encryption.org/v1\n')))
  assert.ok(!content.includes('rows/account'))
  assert.equal((await stat(at('full.age'))).mode & 0o077, 0)
  await withNew(async (using, to) => {
    const report = await json(['restore', at('full.age'), '--identity', at('key.txt')], using)
    assert.ok(report.rows > 10 && report.files > 0)
    assert.deepEqual(report.renew, [])
    assert.deepEqual(await openSecret(to, sealed, 'webhook:1'), plain)
    assert.deepEqual(await webhooksOf(to), [
      { id: '1', active: true, reason: null },
      { id: '2', active: false, reason: 'owner' },
      { id: '3', active: true, reason: null },
    ])
    assert.equal((await json(['key', 'show'], using)).keys[0].public_key, publicKey)
    assert.match(await run(['verify'], using), /problems: 0/)
  })
})

test('a backup without a key contains no secrets, says so, and its restore lists what to renew', async () => {
  const made = await run(['backup', at('plain.tar')], env)
  assert.match(made, /not encrypted\nThe backup does not contain the secrets of the instance\. Set BACKUP_RECIPIENT/)
  assert.ok(!existsSync(at('plain.tar.index')))
  const { rows } = await database.pool.query('select secret from instance_secret')
  const content = await readFile(at('plain.tar'))
  for (const { secret } of rows) assert.ok(!content.includes(secret))
  assert.ok(!content.includes('rows/instance_secret') && !content.includes('rows/instance_key'))
  await withNew(async (using, to) => {
    const printed = await run(['restore', at('plain.tar')], using)
    assert.match(
      printed,
      /The backup has no secrets of the instance\. Renew:\n {2}The key of the instance\. .+\n {2}Links to unsubscribe/,
    )
    await assert.rejects(openSecret(to, sealed, 'webhook:1'), SecretLostError)
    assert.match(printed, /Secrets of webhooks: 2\. .*rotate the secret/)
    assert.deepEqual(await webhooksOf(to), [
      { id: '1', active: false, reason: 'secret_lost' },
      { id: '2', active: false, reason: 'secret_lost' },
      { id: '3', active: true, reason: null },
    ])
    assert.notEqual((await json(['key', 'show'], using)).keys[0].public_key, publicKey)
  })
})

test('a backup that is cut, changed, or encrypted for another key is refused, and nothing is restored', async () => {
  const content = await readFile(at('full.age'))
  const changed = (where: number): Buffer => {
    const copy = Buffer.from(content)
    copy[where] = (copy[where] ?? 0) ^ 1
    return copy
  }
  const cases: [string, Buffer, RegExp][] = [
    ['empty', Buffer.alloc(0), /truncated|not a backup|does not start/],
    ['cut in the header', content.subarray(0, 60), /damaged: its header cannot be decrypted/],
    ['cut after the header', content.subarray(0, 400), /damaged/],
    ['cut in the middle', content.subarray(0, content.length / 2), /damaged: a part of it cannot be decrypted/],
    ['cut at a boundary', content.subarray(0, 200 + 65_552), /damaged/],
    ['cut at the end', content.subarray(0, -1), /damaged: a part of it cannot be decrypted/],
    ['changed header', changed(100), /damaged|another key/],
    ['changed in the middle', changed(Math.floor(content.length / 2)), /damaged: a part of it cannot be decrypted/],
    ['changed at the end', changed(content.length - 1), /damaged: a part of it cannot be decrypted/],
    ['continued', Buffer.concat([content, Buffer.from('more')]), /damaged/],
  ]
  await withNew(async (using, to) => {
    for (const [name, bytes, expected] of cases) {
      await writeFile(at('bad.age'), bytes)
      const printed = await failure(['restore', at('bad.age'), '--identity', at('key.txt')], using)
      assert.match(printed, expected, name)
      assert.doesNotMatch(printed, /^\s+at /m, name)
    }
    const wrong = await failure(['restore', at('full.age'), '--identity', at('other.txt')], using)
    assert.match(wrong, /encrypted for another key than that of --identity\. Nothing was restored/)
    assert.match(
      await failure(['restore', at('full.age')], using),
      /is encrypted\. Name the file with the private key: --identity FILE/,
    )
    assert.match(
      await failure(['restore', at('full.age'), '--identity', at('none')], using),
      /Cannot read the private key/,
    )
    await writeFile(at('wrong.txt'), 'AGE-SECRET-KEY-1QQQ\n')
    const invalid = await failure(['restore', at('full.age'), '--identity', at('wrong.txt')], using)
    assert.match(invalid, /contains a line that is not a private key/)
    assert.doesNotMatch(invalid, /1QQQ/)
    await writeFile(at('wrong.txt'), '# nothing\n')
    assert.match(
      await failure(['restore', at('full.age'), '--identity', at('wrong.txt')], using),
      /contains no private key/,
    )
    await writeFile(at('wrong.txt'), 'age-encryption.org/v1\n')
    assert.match(await failure(['restore', at('full.age'), '--identity', at('wrong.txt')], using), /encrypted itself/)
    // Whatever was refused, the instance is still empty.
    const report = await json(['restore', at('full.age'), '--identity', at('key.txt')], using)
    assert.ok(report.rows > 10)
    assert.deepEqual(await openSecret(to, sealed, 'webhook:1'), plain)
  })
})

test('an incremental backup uses the index of an encrypted one, which it cannot read', async () => {
  const using = { ...env, BACKUP_RECIPIENT: `${keys.recipient},${await identityToRecipient(keys.other)}` }
  const report = await json(['backup', at('second.age'), '--since', at('full.age')], using)
  assert.ok(report.encrypted && report.files > 0 && report.earlier === report.files)
  assert.ok((await stat(at('full.age.index'))).size > 0)
  assert.equal((await stat(at('full.age.index'))).mode & 0o077, 0)
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.includes('.part-')),
    [],
  )
  await withNew(async (to) => {
    const missing = await failure(['restore', at('second.age'), '--identity', at('key.txt')], to)
    assert.match(missing, /This backup is incremental\. .*Missing/)
    // Both keys open it; only one of them opens the earlier backup.
    await failure(['restore', at('second.age'), at('full.age'), '--identity', at('other.txt')], to)
    const restored = await json(['restore', at('second.age'), at('full.age'), '--identity', at('key.txt')], to)
    assert.equal(restored.files, report.files)
    assert.match(await run(['verify'], to), /problems: 0/)
  })
  await rm(at('second.age.index'))
  const refused = await failure(['backup', at('third.age'), '--since', at('second.age')], using)
  assert.match(refused, /its index .*second\.age\.index is missing\. Create a complete backup/)
  assert.ok(!existsSync(at('third.age')) && !existsSync(at('third.age.index')))
})

test('a public key that is not valid is refused before anything is written', async () => {
  const start = await commandHere(['backup', at('x.age')], { ...env, BACKUP_RECIPIENT: 'ssh-ed25519 AAAA' })
  assert.match(start.stderr, /BACKUP_RECIPIENT must be at most 10 public keys of age/)
  const misspelled = `${keys.recipient.slice(0, -1)}${keys.recipient.endsWith('q') ? 'p' : 'q'}`
  const printed = await failure(['backup', at('x.age')], { ...env, BACKUP_RECIPIENT: misspelled })
  assert.match(printed, /BACKUP_RECIPIENT contains age1.+, which is not a public key of age/)
  assert.ok(!existsSync(at('x.age')))
})

test('the program age decrypts a backup', { skip: hasAge() ? false : 'age is not installed' }, async () => {
  const args = ['--decrypt', '--identity', at('key.txt'), at('full.age')]
  const content = execFileSync('age', args, { maxBuffer: 1024 * 1024 * 1024 })
  assert.equal(content.toString('latin1', 0, 18), 'depot-backup.json\0')
})

test('a sink that fails ends the backup with its error', async () => {
  const sink = createWriteStream(at('none/none.age'))
  const stream = await encryptTo([keys.recipient], sink)
  const failed = new Promise((resolve) => stream.once('error', resolve))
  stream.write('a')
  stream.end()
  assert.match(String(await failed), /ENOENT/)
})

function hasAge(): boolean {
  try {
    execFileSync('age', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
