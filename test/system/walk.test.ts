// Runs the blocks of docs/operators/operating.md in their order, as an operator would: the walkthrough in an empty folder, with other
// port numbers; the other chapters as root, in separate namespaces with copies of the folders that the blocks change. `npm
// ci` uses the packages of this checkout; in the walkthrough, WALK_NPM=1 requests a real installation.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { COMMANDS } from '#cli/commands.ts'
import { emptyDatabase } from '#test/support/app/database.ts'
import { checkOutput, notInstalled, openShell, readSteps } from '#test/support/processes/documented-steps.ts'
import { freePort } from '#test/support/processes/free-port.ts'
import { makeDataDir } from '#test/support/processes/running-depot.ts'
import { makeFakeNpm } from '#test/support/stand-ins/fake-npm.ts'
import { makeFakeSystemd } from '#test/support/stand-ins/fake-systemd.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Files that a checkout does not contain. */
const NOT_TRACKED = ['node_modules', 'data', '.git', '.env', 'coverage']
const PORTS = ['8080', '8081', '8088', '8443']
const PROGRAMS = ['git', 'curl', 'openssl', 'bash', '/usr/sbin/nginx']

test('the walk of docs/operators/operating.md leads where it says', { skip: notInstalled(PROGRAMS) }, async () => {
  const { dataDir: folder, remove } = makeDataDir()
  const origin = join(folder, 'origin')
  const walk = join(folder, 'walk')
  mkdirSync(walk)
  const ports = new Map<string, string>()
  for (const port of PORTS) ports.set(port, String(await freePort()))
  const withPorts = (text: string): string => text.replace(/\b8\d{3}\b/g, (port) => ports.get(port) ?? port)
  makeOrigin(origin, withPorts)
  const tools = process.env['WALK_NPM'] === '1' ? undefined : makeFakeNpm(join(folder, 'tools'))
  const shell = openShell(walk, {
    env: { ...(tools === undefined ? {} : { PATH: `${tools}:${process.env['PATH']}` }), ...clonedFrom(origin) },
  })
  after(async () => {
    const proxy = join(walk, 'nginx/nginx.pid')
    if (existsSync(proxy)) process.kill(Number(readFileSync(proxy, 'utf8')))
    await shell.end()
    remove()
  })
  const steps = readSteps('docs/operators/operating.md', 'Walkthrough')
  assert.ok(steps.length > 8)
  for (const [n, { script, expected }] of steps.entries()) {
    const isUpgrade = script.includes('git pull')
    if (isUpgrade) releaseNext(origin)
    const lines = await shell.run(withPorts(script))
    checkOutput(lines, expected.map(withPorts), `block ${n + 1}`)
    if (!isUpgrade) continue
    assert.ok(
      lines.some((line) => line.startsWith('9.9.9')),
      'the new release runs',
    )
    assert.match(readFileSync(join(walk, 'depot.log'), 'utf8'), /"migrations":\["9999_.*Updated the database schema/)
  }
})

const ROOT_PROGRAMS = [...PROGRAMS, 'unshare', 'setpriv', 'useradd', 'ip']

test('the chapters of docs/operators/operating.md work as written, as root for a service user', {
  skip: process.getuid?.() === 0 ? notInstalled(ROOT_PROGRAMS) || notReadable() : 'only root can create the namespaces',
}, async (t) => {
  const { dataDir: folder, remove } = makeDataDir()
  const origin = join(folder, 'origin')
  mkdirSync(join(folder, 'work'))
  makeOrigin(origin, (text) => text)
  const tools = makeFakeNpm(join(folder, 'tools'))
  makeFakeSystemd(tools)
  const shell = openShell(join(folder, 'work'), {
    env: {
      ...clonedFrom(origin),
      PATH: `${tools}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
      NODE: process.execPath,
      FOLDER: folder,
      ROOT,
    },
    command: ['unshare', '--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'],
  })
  after(async () => {
    await shell.end()
    remove()
  })
  await shell.run(SERVER)
  for (const chapter of CHAPTERS) {
    if (chapter === 'Upgrade') releaseNext(origin)
    for (const [n, { script, expected }] of readSteps('docs/operators/operating.md', chapter).entries()) {
      const lines = await shell.run(script)
      checkOutput(lines, expected, `${chapter}, block ${n + 1}`)
      if (script.includes('git pull'))
        assert.ok(
          lines.some((line) => line.startsWith('9.9.9')),
          'the new release runs',
        )
      if (chapter === 'Behind a proxy') checkOutput(await shell.run(THROUGH_PROXY), ['200'], 'the proxy')
    }
  }
  const engines = new Map<string, string>()
  const start = async (script: string): Promise<void> => {
    for (const line of await shell.run(script)) engines.set(...(line.split(/=(.*)/s) as [string, string]))
  }
  const withEngines = (script: string): string =>
    script.replace(/\b([A-Z0-9_]+)=[^\s']+/g, (text, name) =>
      engines.has(name) ? `${name}=${engines.get(name)}` : text,
    )
  await t.test(MOVE, { skip: withoutEngines('s3', 'clickhouse', 'opensearch') }, async () => {
    await start(START_ENGINES)
    for (const [n, { script, expected }] of readSteps('docs/operators/operating.md', MOVE).entries()) {
      const lines = await shell.run(withEngines(script))
      checkOutput(lines, expected, `${MOVE}, block ${n + 1}`)
      assert.doesNotMatch(lines.join('\n'), /^Copied 0 events|search index: 0 projects/m)
    }
    const states = await shell.run('curl -s http://127.0.0.1:8080/ready && echo')
    assert.match(states.join(''), /^{"status":"ready",/)
  })
  checkOutput(await shell.run(AFTERWARDS), ['admins: 1', 'files of others: 0'], 'the instance')
  const database = await emptyDatabase()
  after(database.close)
  const { pathname, searchParams } = new URL(database.connectionString)
  const socket = `${searchParams.get('host')}/.s.PGSQL.5432`
  await t.test(CORES, { skip: !existsSync(socket) && `no ${socket}` }, async () => {
    await shell.run(RELAY.replace('SOCKET', socket))
    engines.set('DATABASE_URL', `postgres://depot@127.0.0.1${pathname}`)
    // Depot also starts if Redis and ClickHouse do not respond.
    if (withoutEngines('redis') === false) await start('$ROOT/scripts/engines/redis.sh start 6379 $FOLDER/redis')
    for (const [n, { script, expected }] of readSteps('docs/operators/scaling.md', CORES).entries())
      checkOutput(await shell.run(withEngines(script)), expected, `${CORES}, block ${n + 1}`)
    checkOutput(await shell.run(THROUGH_PROXY), ['200'], 'the proxy in front of two processes')
    checkOutput(await shell.run(STOP), ['…Depot runs jobs (role worker)…'], 'the worker')
  })
})

/** This chapter of another document continues with the instance. */
const CORES = 'More cores of one machine'

/** This chapter needs engines, and comes last. */
const MOVE = 'Move to external engines'

/** The chapters with blocks, except the walkthrough and the move. */
const CHAPTERS = readFileSync(join(ROOT, 'docs/operators/operating.md'), 'utf8')
  .split(/^## /m)
  .filter((text) => text.includes('```sh\n') && !text.startsWith('Walkthrough\n'))
  .map((text) => text.split('\n')[0] ?? '')
  .filter((chapter) => chapter !== MOVE)

/** Programs of operators that have no other meaning in a text. */
const KNOWN_PROGRAMS = [
  'age',
  'apt-get',
  'caddy',
  'curl',
  'docker',
  'git',
  'gpg',
  'journalctl',
  'npm',
  'psql',
  'systemctl',
]

test('the running text of docs/operators/operating.md contains no command that is not in a block', () => {
  const page = readFileSync(join(ROOT, 'docs/operators/operating.md'), 'utf8')
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block).join('\n')
  const own = ['depot', './bin/depot', ...COMMANDS.map(({ name }) => name.split(' ')[0] ?? '')]
  const inText = [...page.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`]+)`/g)]
    .map(([, code = '']) => code.replace(/\s+/g, ' '))
    .filter((code) => {
      const [program = '', ...words] = code.split(' ')
      return KNOWN_PROGRAMS.includes(program) || (own.includes(program) && words.length > 0)
    })
  assert.ok(inText.includes('depot doctor --full'), 'no command was found at all')
  for (const command of inText) assert.ok(blocks.includes(command), `no block contains ${command}`)
})

/** Returns why engines are missing, or false if all are installed. */
function withoutEngines(...names: string[]): string | false {
  const env = { ...process.env, ENGINES_INSTALL: 'no' }
  const missing = names.filter(
    (engine) => spawnSync(join(ROOT, `scripts/engines/${engine}.sh`), ['install'], { env }).status !== 0,
  )
  return missing.length > 0 && `not installed: ${missing.join(', ')}; scripts/ci-engines.sh installs them`
}

/** Prints the settings of the engines. */
const START_ENGINES = `
$ROOT/scripts/engines/s3.sh start 7070 $FOLDER/s3
$ROOT/scripts/engines/clickhouse.sh start 8123 $FOLDER/clickhouse
$ROOT/scripts/engines/opensearch.sh start 9200 $FOLDER/opensearch
depot seed --projects 5 > $FOLDER/seed.log
`

/** Returns why the user of the service cannot use the packages of this checkout, or false. */
function notReadable(): string | false {
  const readable = spawnSync('setpriv', ['--reuid', 'nobody', 'test', '-x', process.execPath, '-a', '-r', ROOT])
  return readable.status !== 0 && 'other users cannot read this checkout'
}

const SERVER = `
cp -a /etc $FOLDER/etc && mount --bind $FOLDER/etc /etc
sed -i '/^depot:/d' /etc/passwd /etc/group /etc/shadow /etc/gshadow
for folder in /srv /usr/local/bin /var/lib /var/log /var/backups /run; do mount -t tmpfs -o mode=755 tmpfs $folder; done
mkdir -p /var/lib/nginx /var/log/nginx /etc/nginx/conf.d /etc/systemd/system /etc/letsencrypt/live/depot.example.org
rm -f /etc/nginx/conf.d/* /etc/depot.env
printf 'pid /run/nginx.pid;\\nevents {}\\nhttp { include /etc/nginx/conf.d/*.conf; }\\n' > /etc/nginx/nginx.conf
openssl req -x509 -newkey rsa:2048 -nodes -days 7 -subj /CN=depot.example.org \\
  -keyout /etc/letsencrypt/live/depot.example.org/privkey.pem -out /etc/letsencrypt/live/depot.example.org/fullchain.pem
ln -s $NODE /usr/local/bin/node
ip link set lo up
echo '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><circle cx="32" cy="32" r="30"/></svg>' > /srv/lantern.svg
`

/** Offers the database of the tests, whose socket only root can use, as a server of this network. */
const RELAY = `
$NODE -e "const { connect, createServer } = require('node:net')
createServer((client) => require('node:stream').pipeline(client, connect('SOCKET'), client, () => {})).listen(5432, '127.0.0.1')" &
until (: < /dev/tcp/127.0.0.1/5432) 2> /dev/null; do sleep 0.1; done
`

const THROUGH_PROXY = `
curl -sk -o /dev/null -w '%{http_code}\\n' --resolve depot.example.org:443:127.0.0.1 https://depot.example.org/v3/statistics
`

const AFTERWARDS = `
systemctl restart depot
echo "admins: $(depot user list --role admin --json | grep -o '"username":"mira"' | wc -l)"
echo "files of others: $(find /var/lib/depot /var/backups/depot ! -user depot ! -name '*.gz' | wc -l)"
`

const STOP = `
cat /run/depot-worker.log
for service in depot-worker depot-api@8081 depot-api@8082; do systemctl stop $service; done
kill $(cat /run/nginx.pid)
`

/** Lets the URL in the document lead to the checkout. */
function clonedFrom(origin: string): Record<string, string> {
  return {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `url.${origin}.insteadOf`,
    GIT_CONFIG_VALUE_0: 'https://git.example.org/depot',
  }
}

/** This checkout as it is now, committed or not, as a repository that can be cloned. */
function makeOrigin(folder: string, withPorts: (text: string) => string): void {
  mkdirSync(folder)
  for (const name of readdirSync(ROOT)) {
    if (!NOT_TRACKED.includes(name)) cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  }
  const proxy = join(folder, 'deploy/nginx/depot.conf')
  writeFileSync(proxy, withPorts(readFileSync(proxy, 'utf8')))
  git(folder, 'init', '--quiet')
  commit(folder)
}

/** A release with a new version and a step of the schema. */
function releaseNext(folder: string): void {
  const manifest = join(folder, 'package.json')
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/"version": ".*"/, '"version": "9.9.9"'))
  writeFileSync(
    join(folder, 'migrations', '9999_note_release.sql'),
    "comment on table project is 'of the next release';\n",
  )
  commit(folder)
}

function commit(folder: string): void {
  git(folder, 'add', '--all')
  git(folder, '-c', 'user.name=tests', '-c', 'user.email=tests@example.org', 'commit', '--quiet', '-m', 'a release')
}

function git(folder: string, ...words: string[]): void {
  execFileSync('git', words, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
}
