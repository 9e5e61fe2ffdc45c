// Settings whose npm packages an installation has left out: Depot names the command that installs them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { depot, makeDataDir } from '#test/support/processes/running-depot.ts'

const ROOT = join(import.meta.dirname, '../../..')
const { peerDependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/** Lets a process run as if the packages of one publisher were not installed. */
const without = (scope: string): string => {
  const source = `import { registerHooks } from 'node:module'
registerHooks({ resolve(name, context, next) {
  if (!name.startsWith(${JSON.stringify(scope)})) return next(name, context)
  throw Object.assign(new Error('Cannot find package ' + name), { code: 'ERR_MODULE_NOT_FOUND' })
} })`
  return `--import=data:text/javascript,${encodeURIComponent(source)}`
}

const SETTINGS = [
  { setting: 'S3_BUCKET', scope: '@aws-sdk/', env: { S3_BUCKET: 'depot', S3_ENDPOINT: 'http://127.0.0.1:1' } },
  { setting: 'REDIS_URL', scope: '@redis/', env: { REDIS_URL: 'redis://127.0.0.1:1' } },
  { setting: 'OPENSEARCH_URL', scope: '@opensearch-project/', env: { OPENSEARCH_URL: 'http://127.0.0.1:1' } },
  { setting: 'CLICKHOUSE_URL', scope: '@clickhouse/', env: { CLICKHOUSE_URL: 'http://127.0.0.1:1/depot' } },
  {
    setting: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    scope: '@opentelemetry/sdk-',
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' },
  },
]

for (const { setting, scope, env } of SETTINGS) {
  test(`a start with ${setting} and without its packages ends with the command that installs them`, async () => {
    const { dataDir, remove } = makeDataDir()
    after(remove)
    const { code, stderr } = await depot(dataDir, ['serve'], { ...env, NODE_OPTIONS: without(scope) })
    const packages = Object.keys(peerDependencies).filter((name) =>
      name.startsWith(scope.slice(0, scope.indexOf('/') + 1)),
    )
    assert.ok(packages.length > 0)
    const command = `npm install --no-save --prefix ${ROOT} ${packages.map((name) => `${name}@${peerDependencies[name]}`).join(' ')}`
    assert.equal(code, 1)
    assert.equal(stderr, `${setting} needs npm packages that are not installed. Install them with: ${command}\n`)
  })
}

test('a checkout installs the packages in the versions that package.json names for other installations', () => {
  for (const [name, version] of Object.entries(peerDependencies)) assert.equal(devDependencies[name], version, name)
})
