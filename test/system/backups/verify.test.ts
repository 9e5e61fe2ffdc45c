// `depot backup verify` on real processes: a good backup passes; a cut, changed, incomplete or wrongly encrypted one fails with
// the remedy. Nothing remains of the scratch folder.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { emptyDatabase, type TestDatabase } from '#test/support/app/database.ts'
import { commandHere } from '#test/support/processes/command-here.ts'
import { ENTRY, type Finished, makeDataDir, withoutProgress } from '#test/support/processes/running-depot.ts'

const { dataDir, remove } = makeDataDir()
const at = (name: string): string => join(dataDir, name)
const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0
const noMounts = canMount ? false : 'only root can mount a file system for a test'
let database: TestDatabase
let env: Record<string, string>

before(async () => {
  const [identity, other] = [await generateX25519Identity(), await generateX25519Identity()]
  writeFileSync(at('key.txt'), `${identity}\n`)
  writeFileSync(at('other.txt'), `${other}\n`)
  mkdirSync(at('scratch'))
  chmodSync(at('scratch'), 0o711)
  database = await emptyDatabase()
  env = { DATABASE_URL: database.connectionString, BACKUP_TARGET: at('target') }
  await succeed(['seed', '--projects', '6'])
  await succeed(['backup'])
  await succeed(['backup', at('plain.tar')])
  await succeed(['backup', at('sealed.tar')], { BACKUP_RECIPIENT: await identityToRecipient(identity) })
})
after(async () => {
  await database?.close()
  remove()
})

const run = (args: string[], more: Record<string, string> = {}): Promise<Finished> =>
  commandHere(args, { DATA_DIR: at('data'), ...env, ...more })

async function succeed(args: string[], more: Record<string, string> = {}): Promise<ReturnType<typeof JSON.parse>> {
  const { code, stdout, stderr } = await run([...args, '--json'], more)
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

async function verify(words: string[]): Promise<Finished> {
  const finished = await run(['backup', 'verify', ...words, '--scratch', at('scratch')])
  assert.deepEqual(readdirSync(at('scratch')), [], 'the scratch folder was deleted')
  return finished
}

test('a good backup passes: a file, an encrypted one, and the latest of the target', async () => {
  for (const words of [[at('plain.tar')], [at('sealed.tar'), '--identity', at('key.txt')], ['latest']]) {
    const { code, stdout, stderr } = await verify(words)
    assert.equal(code, 0, stdout + stderr)
    assert.match(stdout, /^The backup of 2\S+ is good: \d+ rows, \d+ files, \d+ events\n$/)
  }
})

test('a backup that is cut, changed or for another key fails with what to do', async () => {
  const bytes = readFileSync(at('plain.tar'))
  const middle = bytes.indexOf('files/') + 600
  const changed = Buffer.from(bytes)
  changed[middle] = (changed[middle] ?? 0) ^ 1
  writeFileSync(at('cut.tar'), bytes.subarray(0, bytes.length / 2))
  writeFileSync(at('changed.tar'), changed)
  const [pack = ''] = readdirSync(at('target/objects')).filter((name) => name.startsWith('files-'))
  const packBytes = readFileSync(at(`target/objects/${pack}`))
  const cases: [words: string[], expected: RegExp][] = [
    [[at('cut.tar')], /^The backup is truncated: .* Check how it was stored and copied, and use another backup\.\n$/],
    [[at('changed.tar')], /^The backup is damaged: .* Check how it was stored and copied, and use another backup\.\n$/],
    [[at('sealed.tar')], /is encrypted\. Name the file with the private key/],
    [[at('sealed.tar'), '--identity', at('other.txt')], /another key .* Check which key it was made for\.\n$/],
    [[at('none.tar')], /Cannot open the backup .*none\.tar: ENOENT.* Correct the path, and run the command again\.\n$/],
  ]
  for (const [words, expected] of cases) {
    const { code, stderr } = await verify(words)
    assert.equal(code, 1)
    assert.match(stderr, expected)
  }
  writeFileSync(at(`target/objects/${pack}`), packBytes.subarray(0, packBytes.length - 3_000))
  const cutPack = await verify(['latest'])
  assert.equal(cutPack.code, 1)
  assert.match(cutPack.stderr, new RegExp(`^${pack} of .*target: The backup is (truncated|damaged).*\\n$`))
  rmSync(at(`target/objects/${pack}`))
  const { code, stderr } = await verify(['latest'])
  assert.equal(code, 1)
  assert.match(
    stderr,
    /^The backup depot-.+\.tar of .*target is incomplete, because its packs are missing: files-.{8}-….tar\. .* use another backup\.\n$/,
  )
  writeFileSync(at(`target/objects/${pack}`), packBytes)
})

test('a backup of an instance whose files were missing is not good', async () => {
  const found = readdirSync(at('data/files/objects'), { recursive: true, withFileTypes: true }).find((entry) =>
    entry.isFile(),
  )
  const path = join(found?.parentPath ?? '', found?.name ?? '')
  const content = readFileSync(path)
  rmSync(path)
  const made = await run(['backup', at('lacking.tar')])
  writeFileSync(path, content)
  assert.equal(made.code, 1)
  const { code, stdout } = await verify([at('lacking.tar')])
  assert.equal(code, 1)
  assert.match(stdout, /is not good: .*\nFiles that were missing in the store when the backup was made: 1\n/)
  assert.match(stdout, /\nRun `depot doctor --full` on the instance .*\n$/)
})

test('a full disk and a read-only folder are named with the remedy, and leave no backup', { skip: noMounts }, () => {
  const mounted = (mount: string, script: string) =>
    spawnSync('unshare', ['--mount', 'sh', '-c', `${mount} && ${script}`], {
      env: { ...process.env, ...env, DATA_DIR: at('data'), BACKUP_TARGET: at('mounted') },
      encoding: 'utf8',
    })
  mkdirSync(at('mounted'))
  const backup = `${process.execPath} ${ENTRY} backup; code=$?; ls ${at('mounted')}/objects ${at('mounted')}/staging; exit $code`
  const full = mounted(`mount -t tmpfs -o size=64k tmpfs ${at('mounted')}`, backup)
  assert.equal(full.status, 1, full.stderr)
  assert.match(full.stderr, /Cannot use BACKUP_TARGET .*mounted: ENOSPC.*\. Free space on that disk/)
  assert.doesNotMatch(full.stdout, /\.tar|\.part/)
  const closed = mounted(
    `mount -t tmpfs tmpfs ${at('mounted')} && mkdir ${at('mounted')}/objects ${at('mounted')}/staging && mount -o remount,ro ${at('mounted')}`,
    backup,
  )
  assert.equal(closed.status, 1)
  assert.match(closed.stderr, /Cannot use BACKUP_TARGET .*mounted: EROFS.*\. Mount the file system for writing/)
  const verified = mounted(
    `mount -t tmpfs -o size=4m,mode=711 tmpfs ${at('mounted')}`,
    `${process.execPath} ${ENTRY} backup verify ${at('plain.tar')} --scratch ${at('mounted')}`,
  )
  assert.equal(verified.status, 1)
  assert.match(verified.stderr, /Free space on that disk/)
})

test('a restore onto a full disk or into a read-only folder leaves an empty instance, which accepts the backup later', {
  skip: noMounts,
}, async () => {
  const to = await emptyDatabase()
  const folder = at('restored')
  mkdirSync(folder)
  const restore = `${process.execPath} ${ENTRY} restore ${at('plain.tar')}`
  const script = [
    `mount -t tmpfs -o size=96k,mode=711 tmpfs ${folder}`,
    `{ ${restore}; echo "full $?"; mount -o remount,ro ${folder}; ${restore}; echo "closed $?"; }`,
    `mount -o remount,rw,size=1g ${folder}`,
    `{ ${restore}; echo "again $?"; ${process.execPath} ${ENTRY} verify; echo "verified $?"; }`,
  ].join(' && ')
  try {
    const { stdout, stderr } = spawnSync('unshare', ['--mount', 'sh', '-c', script], {
      env: { ...process.env, DATA_DIR: folder, DATABASE_URL: to.connectionString },
      encoding: 'utf8',
    })
    assert.match(stdout, /^full 1\nclosed 1\nRestored the backup of .*again 0\n.*verified 0\n$/s, stderr)
    const [full = '', closed = ''] = withoutProgress(stderr).trim().split('\n')
    assert.match(full, /ENOSPC.* Free space on that disk, or use a larger one, and run the command again\.$/)
    assert.match(
      closed,
      /its file system is read-only\. Mount the file system for writing, or choose a folder on another one\.$/,
    )
  } finally {
    await to.close()
  }
})
