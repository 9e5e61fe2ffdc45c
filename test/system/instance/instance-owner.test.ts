// Commands act on an existing instance and as its owner, or say why they do not. Nothing creates an instance by accident.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { COMMANDS } from '#cli/commands.ts'
import { privateKeyText } from '#features/basics/instance-key/key-texts.ts'
import { emptyDatabase, testDatabase } from '#test/support/app/database.ts'
import { commandHere } from '#test/support/processes/command-here.ts'
import { depot, type Finished, makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'

const ROOT = join(import.meta.dirname, '../../..')
const isRoot = process.getuid?.() === 0
const skip = isRoot ? false : 'only root can continue as another user'

function folder(): string {
  const { dataDir, remove } = makeDataDir()
  after(remove)
  return dataDir
}

/** Commands that create an instance, and the one that only reads the environment. */
const WITHOUT_INSTANCE = [
  'serve',
  'migrate',
  'restore',
  'backup list',
  'backup verify',
  'seed',
  'settings list',
  'completion',
  'manual',
]
const ARGUMENTS: Record<string, string[]> = {
  'user create': ['--username', 'mira', '--email', 'mira@example.org', '--password', 'violet-harbour-lantern-42'],
  'user show': ['mira'],
  'user password': ['mira', '--password', 'violet-harbour-lantern-42'],
  'user delete': ['mira', '--yes'],
  'user restore': ['mira'],
  'user role': ['mira', 'admin'],
  'user suspend': ['mira', '--reason', 'spam'],
  'user unsuspend': ['mira'],
  'user sign-out': ['mira'],
  'user password-link': ['mira'],
  'user two-factor-reset': ['mira', '--reason', 'A test'],
  'user email': ['mira', 'mira@example.org'],
  'user rename': ['mira', 'nora'],
  'user limits': ['mira', '--projects', '3'],
  'user sessions': ['mira'],
  'user export': ['mira'],
  'invitation revoke': ['aaaaaaaa'],
  'token create': ['--user', 'mira', '--scopes', 'all'],
  'token list': ['--user', 'mira'],
  'token revoke': ['aaaaaaaa', '--user', 'mira'],
  'settings set': ['name', 'Lanterns'],
  backup: ['-'],
  mirror: ['http://127.0.0.1:1', '--all', '--owner', 'lanterns'],
  'export-catalogue': ['catalogue.jsonl.gz'],
  'export-project': ['lantern', 'project'],
  'import-project': ['project', '--owner', 'lanterns'],
  'import-pack': ['pack.mrpack', '--owner', 'lanterns'],
}

test('no command but serve, migrate, restore and seed creates an instance; the others say that there is none', async () => {
  const empty = folder()
  const missing = join(empty, 'missing')
  const other = join(folder(), 'other.env')
  writeFileSync(other, 'DATA_DIR=/nowhere\nCLICKHOUSE_URL=http://127.0.0.1:1/depot\n')
  const database = await emptyDatabase()
  after(() => database.close())
  const key = join(folder(), 'key')
  writeFileSync(key, privateKeyText(Buffer.alloc(32, 7)))
  const given = {
    ...ARGUMENTS,
    'key import': [key],
    'move files': ['--to', other],
    'move analytics': ['--to', other],
    'move database': ['--to', other],
  }
  const commands = COMMANDS.filter(({ name }) => !WITHOUT_INSTANCE.includes(name)).map(({ name }) => [
    ...name.split(' '),
    ...((given as typeof ARGUMENTS)[name] ?? []),
  ])
  for (const words of [...commands, ['seed', '--remove', '--yes']]) {
    for (const env of [
      { DATA_DIR: empty },
      { DATA_DIR: missing },
      { DATA_DIR: empty, DATABASE_URL: database.connectionString },
    ]) {
      const { code, stdout, stderr } = await commandHere(words, env)
      assert.equal(code, 1, words.join(' '))
      const said = words[0] === 'doctor' ? stdout : stderr
      assert.match(said, /contains no instance of Depot\. Create one with `depot serve`/, words.join(' '))
      assert.deepEqual(readdirSync(empty), [], words.join(' '))
    }
  }
  const { stdout } = await commandHere(['check'], { DATA_DIR: empty })
  assert.match(stdout, /^configuration: ok\ninstance: failing \(/)
  const wrong = await commandHere(['check'], { DATA_DIR: empty, GEOIP_DATABASE: '/nowhere' })
  assert.match(wrong.stdout, /^configuration: failing \(Cannot read the GeoIP database \/nowhere/)
  const { rows } = await database.pool.query("select from pg_tables where schemaname = 'public'")
  assert.equal(rows.length, 0)
})

const FUTURE = '9999_add_future.sql'

test('check reports an unknown schema, and the start says what to do', async () => {
  const database = await testDatabase()
  after(() => database.close())
  const env = { DATABASE_URL: database.connectionString }
  const dataDir = folder()
  const last = (
    await database.pool.query(
      'delete from schema_migration where name = (select max(name) from schema_migration) returning name',
    )
  ).rows[0].name
  assert.match(
    (await depot(dataDir, ['check'], env)).stdout,
    new RegExp(`schema: ok \\(the next start applies ${last}\\)`),
  )
  await database.pool.query("insert into schema_migration (name, checksum) values ($1, 'x')", [FUTURE])
  const { code, stdout } = await depot(dataDir, ['check'], env)
  assert.equal(code, 1)
  assert.match(
    stdout,
    new RegExp(`schema: failing \\(The database contains migration ${FUTURE}, .* Install the release of Depot`),
  )
  const start = await depot(dataDir, ['serve'], env)
  assert.match(
    start.stderr,
    new RegExp(`^The database contains migration ${FUTURE}, .* Install the release of Depot.*\\n$`),
  )
})

test('a database with the tables of another program is rejected with what to do', async () => {
  const database = await emptyDatabase()
  after(() => database.close())
  await database.pool.query(
    'create table project (id int); create table version (id int); create table account (id int)',
  )
  const { code, stderr } = await depot(folder(), ['serve'], { DATABASE_URL: database.connectionString })
  assert.equal(code, 1)
  assert.match(
    stderr,
    /^The database contains something that Depot did not create \(.* already exists\)\. Set DATABASE_URL to an empty database\.\n$/,
  )
})

/** Runs `bin/depot` as a user of the system, in a folder that only root can enter. */
function depotAs(user: string | undefined, dataDir: string, ...args: string[]): Promise<Finished> {
  const cwd = folder()
  chmodSync(cwd, 0o700)
  const { TEST_DATABASE_URL: _, DATABASE_URL: __, ...inherited } = process.env
  const asUser = user === undefined ? [] : ['setpriv', '--reuid', user, '--regid', 'nogroup', '--clear-groups']
  const [program = '', ...words] = [...asUser, join(ROOT, 'bin/depot'), ...args]
  return new Promise((resolve) => {
    execFile(program, words, { cwd, env: { ...inherited, DATA_DIR: dataDir, PORT: '0' } }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
  })
}

test('root continues as the owner of the data folder, so that all files belong to the owner; another user is refused', {
  skip,
}, async () => {
  const { uid, gid } = userOf('nobody')
  const dataDir = join(folder(), 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  chownSync(dataDir, uid, gid)
  const made = await depotAs(undefined, dataDir, 'migrate')
  assert.equal(made.code, 0, made.stderr)
  const server = await startDepot(dataDir)
  try {
    assert.equal((await depotAs(undefined, dataDir, 'check')).code, 0)
    const status = readFileSync(`/proc/${server.child.pid}/status`, 'utf8')
    assert.match(status, new RegExp(`^Uid:\\t${uid}\\t${uid}\\t${uid}\\t${uid}\\nGid:\\t${gid}\\t`, 'm'))
    assert.equal((await fetch(`${server.url}/metrics`)).status, 200)
  } finally {
    assert.equal(await server.stop(), 0)
  }
  assert.equal((await depotAs('nobody', dataDir, 'verify')).code, 0, 'the owner')
  for (const name of readdirSync(dataDir, { recursive: true, encoding: 'utf8' }))
    assert.equal(statSync(join(dataDir, name)).uid, uid, name)
  const other = await depotAs(String(uid - 1), dataDir, 'jobs')
  assert.deepEqual(other, {
    code: 1,
    stdout: '',
    stderr: `The data folder ${dataDir} belongs to nobody. Run this command as nobody or as root.\n`,
  })
})

test('errors of the file store name the path and the cause', { skip }, async () => {
  const { uid, gid } = userOf('nobody')
  const database = await testDatabase()
  after(() => database.close())
  const own = join(folder(), 'data')
  mkdirSync(own, { mode: 0o700 })
  mkdirSync(join(own, 'files'), { mode: 0o700 })
  chownSync(own, uid, gid)
  const { code, stderr } = await depot(own, ['serve'], { DATABASE_URL: database.connectionString })
  assert.equal(code, 1)
  assert.equal(
    stderr.trim(),
    `The file store failed; nothing was stored: EACCES: permission denied, mkdir '${own}/files/objects'. ` +
      'Run the command as the owner of that folder, or give this user permission to read and write it.',
  )
  assert.equal(existsSync(join(own, 'files/objects')), false)
})

function userOf(name: string): { uid: number; gid: number } {
  const line =
    readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((one) => one.startsWith(`${name}:`)) ?? ''
  const [, , uid, gid] = line.split(':')
  return { uid: Number(uid), gid: Number(gid) }
}
