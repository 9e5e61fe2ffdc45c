// Every command of the table, with a full disk, a read-only folder, a stopped database and a foreign owner: it works, or it
// ends with one line that names the problem and the remedy.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { COMMANDS } from '#cli/commands.ts'
import { findCommand } from '#cli/usage.ts'
import { privateKeyText } from '#features/basics/instance-key/key-texts.ts'
import { emptyDatabase, type TestDatabase, testDatabase } from '#test/support/app/database.ts'
import { commandHere } from '#test/support/processes/command-here.ts'
import { ENTRY, type Finished, makeDataDir, startDepotBy } from '#test/support/processes/running-depot.ts'

const CHILD = join(import.meta.dirname, 'every-command.ts')
const OWNER = 65533
const NOBODY = '65534'
/** Nothing listens on port 1. */
const STOPPED = 'postgres://depot:depot@127.0.0.1:1/depot'
const REMEDY = /\. (Free|Mount|Run|Check|Correct|Set|Restore) .*\.\)?$/
/** A finding is one sentence, whose last part is the remedy. */
const REMEDY_OF_FINDING = /[.;] (free|mount|run|check|correct|close|set|restore|start) .*\.\)?$/i

const isRoot = process.getuid?.() === 0
const canMount = isRoot && spawnSync('unshare', ['--mount', 'true']).status === 0
const noMounts = canMount ? false : 'only root can mount a file system for a test'
const noUsers = isRoot ? false : 'only root can run a command as another user'

const NAMES = COMMANDS.map(({ name }) => name)
/** These need neither the data folder nor the database. */
const WITHOUT_INSTANCE = ['backup list', 'backup verify', 'settings list', 'completion', 'manual']
const WITH_INSTANCE = NAMES.filter((name) => !WITHOUT_INSTANCE.includes(name))

type Outcome = Finished & { args: string[] }
type Surroundings = {
  dataDir: string
  env: Record<string, string>
  /** Commands of a shell in a mount namespace. */
  prepare?: string[]
  user?: string
}
type Case = { name: string; skip: string | false; surroundings(): Surroundings; mustFail: readonly string[] }

const { dataDir: base, remove } = makeDataDir()
/** An instance whose database is elsewhere, and one with its own. */
const [instance, embedded, backup] = ['instance', 'embedded', 'instance.backup'].map((name) => join(base, name)) as [
  string,
  string,
  string,
]
let database: TestDatabase
let [token, invitation] = ['', '']

before(async () => {
  database = await testDatabase()
  const succeed = async (...args: string[]) => {
    const { code, stdout, stderr } = await commandHere([...args, '--json'], { DATA_DIR: instance, ...elsewhere() })
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
  await succeed('seed', '--projects', '6')
  await succeed('user', 'create', '--username', 'mira', '--email', 'm@example.org', '--password', 'violet-harbour-42x')
  await succeed('token', 'create', '--user', 'mira', '--scopes', 'USER_READ')
  token = (await succeed('token', 'list', '--user', 'mira')).tokens[0].id
  await succeed('invitation', 'create')
  invitation = (await succeed('invitation', 'list')).invitations[0].id
  await succeed('backup', backup)
  const made = await commandHere(['migrate'], { DATA_DIR: embedded })
  assert.equal(made.code, 0, made.stderr)
})
after(async () => {
  await database?.close()
  remove()
})

const elsewhere = () => ({ DATABASE_URL: database.connectionString, ACCOUNT_DELETION_DAYS: '7' })

function copyOfInstance(name: string): string {
  const path = join(base, name)
  cpSync(instance, path, { recursive: true })
  return path
}

/** Mounts a new file system with a copy of the instance, and fills it. */
function fullDisk(of: string, name: string, size: string): Pick<Surroundings, 'dataDir' | 'prepare'> {
  const dataDir = join(base, name)
  mkdirSync(dataDir)
  const prepare = [
    `mount -t tmpfs -o mode=711,size=${size} tmpfs ${dataDir}`,
    `cp -a ${of}/. ${dataDir}/`,
    `{ dd if=/dev/zero of=${dataDir}/filler bs=4096 2>/dev/null || true; }`,
  ]
  return { dataDir, prepare }
}

function readOnly(name: string): Pick<Surroundings, 'dataDir' | 'prepare'> {
  const dataDir = copyOfInstance(name)
  return { dataDir, prepare: [`mount --bind ${dataDir} ${dataDir}`, `mount -o remount,bind,ro ${dataDir}`] }
}

const CASES: readonly Case[] = [
  {
    name: 'a stopped database',
    skip: false,
    surroundings: () => ({ dataDir: copyOfInstance('stopped'), env: { DATABASE_URL: STOPPED } }),
    mustFail: WITH_INSTANCE,
  },
  {
    name: 'a full disk, and a database elsewhere',
    skip: noMounts,
    surroundings: () => ({ ...fullDisk(instance, 'full', '16m'), env: elsewhere() }),
    mustFail: ['serve', 'backup', 'seed', 'move files', 'reindex', 'analytics set-aside', 'doctor'],
  },
  {
    name: 'a full disk that contains the database',
    skip: noMounts,
    surroundings: () => ({ ...fullDisk(embedded, 'all-full', '256m'), env: {} }),
    mustFail: WITH_INSTANCE,
  },
  {
    name: 'a read-only folder',
    skip: noMounts,
    surroundings: () => ({ ...readOnly('read-only'), env: elsewhere() }),
    mustFail: WITH_INSTANCE,
  },
  {
    name: 'a foreign owner',
    skip: noUsers,
    surroundings: () => {
      const dataDir = copyOfInstance('foreign')
      chmodSync(dataDir, 0o700)
      chownSync(dataDir, OWNER, OWNER)
      return { dataDir, env: elsewhere(), user: NOBODY }
    },
    mustFail: WITH_INSTANCE,
  },
]

for (const { name, skip, surroundings, mustFail } of CASES) {
  test(`with ${name}, every command that fails names the problem and the remedy`, { skip }, async () => {
    const place = surroundings()
    // Each case turns it off, and changes the name.
    await database.pool.query('update account set totp_secret = $1, username = $2 where lower(username) = $2', [
      'A'.repeat(32),
      'mira',
    ])
    const outcomes = [...(await runAll(place, commandLines(place.dataDir))), await serve(place)]
    for (const outcome of outcomes) assertExplained(outcome)
    const worked = outcomes.filter(({ code }) => code === 0).map(({ args }) => findCommand(args)?.command.name ?? '')
    assert.deepEqual(
      mustFail.filter((command) => worked.includes(command)),
      [],
    )
  })
}

test('a restore onto a disk that fills up names the problem and the remedy', { skip: noMounts }, async () => {
  const empty = await emptyDatabase()
  try {
    const env = { DATABASE_URL: empty.connectionString }
    const files = await restoreOnto('256k', env)
    assert.equal(files.code, 1, files.stdout)
    assertExplained(files)
  } finally {
    await empty.close()
  }
  // The disk fills up while PostgreSQL creates its database, its schema, and rows.
  for (const size of ['20m', '47m', '50m']) assertExplained(await restoreOnto(size, {}))
})

async function restoreOnto(size: string, env: Record<string, string>): Promise<Outcome> {
  const dataDir = join(base, `restored-${size}`)
  mkdirSync(dataDir, { mode: 0o711 })
  const prepare = [`mount -t tmpfs -o mode=711,size=${size} tmpfs ${dataDir}`]
  const [outcome] = await runAll({ dataDir, env, prepare }, [['restore', backup]])
  assert.ok(outcome !== undefined)
  return outcome
}

type Three = [string, string, string]

/** Every command except `serve`, with arguments with which it would succeed. `dataDir` is the folder with the fault. */
function commandLines(dataDir: string): string[][] {
  const [files, analytics, moved] = ['files.env', 'analytics.env', 'moved.env'].map((name) => join(base, name)) as Three
  writeFileSync(files, `DATA_DIR=${join(dataDir, 'other')}\n`)
  writeFileSync(moved, `DATA_DIR=${join(dataDir, 'moved')}\nDATABASE_URL=\n`)
  const key = join(base, 'key')
  writeFileSync(key, privateKeyText(Buffer.alloc(32, 7)))
  writeFileSync(analytics, 'CLICKHOUSE_URL=http://depot:depot@127.0.0.1:1/depot\n')
  const words: Record<string, string[]> = {
    migrate: [],
    'user create': ['--username', 'nora', '--email', 'n@example.org'],
    'user list': [],
    'user show': ['mira'],
    'user password': ['mira'],
    'user delete': ['mira', '--yes'],
    'user restore': ['mira'],
    'user role': ['mira', 'moderator'],
    'user suspend': ['mira', '--reason', 'A test'],
    'user unsuspend': ['mira'],
    'user sign-out': ['mira'],
    'user password-link': ['mira'],
    'user two-factor-reset': ['mira', '--reason', 'A test'],
    'user email': ['mira', 'mira@example.org'],
    'user rename': ['mira', 'Mira'],
    'user limits': ['mira', '--projects', '3'],
    'user sessions': ['mira'],
    'user export': ['mira'],
    'invitation create': [],
    'invitation list': [],
    'invitation revoke': [invitation],
    'token create': ['--user', 'mira', '--scopes', 'USER_READ'],
    'token list': ['--user', 'mira'],
    'token revoke': [token, '--user', 'mira'],
    'settings get': [],
    'settings set': ['name', 'Lantern'],
    'settings list': [],
    jobs: [],
    'audit list': [],
    backup: [join(dataDir, 'new.backup')],
    'backup list': [],
    'backup verify': [backup],
    restore: [backup],
    completion: ['bash'],
    'move files': ['--to', files],
    'move analytics': ['--to', analytics],
    'move database': ['--to', moved],
    resume: [],
    reindex: [],
    seed: ['--projects', '20'],
    doctor: [],
    storage: [],
    clean: [],
    manual: [],
    'analytics set-aside': [],
    'key show': [],
    'key rotate': [],
    'key export': [],
    'key import': [key],
    mirror: ['http://127.0.0.1:1', '--all', '--owner', 'nobody'],
    'export-catalogue': [join(dataDir, 'catalogue.jsonl.gz')],
    'export-project': ['lantern', join(dataDir, 'project')],
    'import-project': [join(dataDir, 'project'), '--owner', 'nobody'],
    'import-pack': [join(dataDir, 'pack.mrpack'), '--owner', 'nobody'],
  }
  return NAMES.filter((name) => name !== 'serve').map((name) => {
    const more = words[name]
    assert.ok(more !== undefined, `add arguments for \`depot ${name}\` to this test`)
    return [...name.split(' '), ...more]
  })
}

/** Runs commands one after another in one process. */
async function runAll({ dataDir, env, prepare, user }: Surroundings, lines: string[][]): Promise<Outcome[]> {
  const [command = '', ...args] = inNamespace(prepare, 'exec "$0" "$1"', [process.execPath, CHILD])
  const { TEST_DATABASE_URL: _, ...inherited } = process.env
  const own = { PORT: '0', DATA_DIR: dataDir, ...(user !== undefined && { RUN_AS: user }) }
  const child = spawn(command, args, {
    cwd: base,
    env: { ...inherited, ...own, ...env },
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
  })
  child.stdin?.end(JSON.stringify(lines))
  const [errors, results] = await Promise.all([child.stderr, child.stdio[3]].map((stream) => text(stream as Readable)))
  const finished = (results ?? '').split('\n').filter((line) => line !== '')
  assert.equal(finished.length, lines.length, `not every command ended: ${errors}`)
  return finished.map((line) => JSON.parse(line))
}

/** Stops the server if it can start. */
async function serve({ dataDir, env, prepare, user }: Surroundings): Promise<Outcome> {
  const words = inNamespace(prepare, 'exec "$0" "$1" serve', [process.execPath, ENTRY])
  const as = user === undefined ? [] : ['setpriv', `--reuid=${user}`, '--clear-groups']
  try {
    const server = await startDepotBy([...as, ...words], dataDir, env, base)
    await server.stop()
    return { args: ['serve'], code: 0, stdout: '', stderr: '' }
  } catch (error) {
    const [, code, stderr = ''] = /^depot serve ended with (\d+): (.*)$/s.exec(String((error as Error).message)) ?? []
    return { args: ['serve'], code: Number(code), stdout: '', stderr }
  }
}

function inNamespace(prepare: string[] | undefined, line: string, words: string[]): string[] {
  const shell = ['sh', '-c', [...(prepare ?? []), line].join(' && '), ...words]
  return prepare === undefined ? shell : ['unshare', '--mount', ...shell]
}

function assertExplained({ args, code, stdout, stderr }: Outcome): void {
  if (code === 0) return
  const what = `depot ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`
  assert.equal(code, 1, what)
  assert.doesNotMatch(stderr, /^\s+at /m, what)
  // `doctor` prints a line per finding.
  const failing = stdout.split('\n').filter((line) => line.includes('error: '))
  const lines = args[0] === 'doctor' ? failing : [stderr.trimEnd().split('\n').at(-1) ?? '']
  assert.ok(lines.length > 0, what)
  const remedy = args[0] === 'doctor' ? REMEDY_OF_FINDING : REMEDY
  for (const line of lines) assert.match(line, remedy, what)
}
