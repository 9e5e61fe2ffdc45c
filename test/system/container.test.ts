// The container files, without a container engine: they fit together and to the settings. test/release runs what the image
// contains.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { test } from 'node:test'
import { DockerfileParser, type Env as EnvLine } from 'dockerfile-ast'
import { parse } from 'yaml'
import { Env } from '#platform/config/env.ts'
import { loadConfig } from '#platform/config/load-config.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8')
const instructions = DockerfileParser.parse(read('Dockerfile')).getInstructions()
const all = (keyword: string) => instructions.filter((one) => one.getKeyword() === keyword)
const wordsOf = (line: string | null): string[] => JSON.parse(line?.slice(line.indexOf('[')) ?? '[]')
const commandOf = (keyword: string): string[] => wordsOf(all(keyword)[0]?.getArgumentsContent() ?? null)

test('the Dockerfile copies the npm package of a release, and its second stage contains no other Node.js', () => {
  const [packed, installed] = all('COPY').map((one) => one.getArgumentsContent() ?? '')
  assert.ok(matchesGlob('depot-hosting-1.0.0.tgz', packed?.split(' ')[0] ?? ''))
  assert.equal(installed, '/opt/depot /opt/depot')
  const stages = all('FROM').map((one) => one.getArguments()[0]?.getValue() ?? '')
  assert.deepEqual(
    stages.map((name) => name.split(':')[0]),
    ['node', 'debian'],
  )
  assert.deepEqual(commandOf('CMD'), ['depot', 'serve'])
})

const COMPOSE_SERVICE = {
  depot: [
    'build',
    'ports',
    'environment',
    'volumes',
    'read_only',
    'tmpfs',
    'cap_drop',
    'security_opt',
    'depends_on',
    'stop_grace_period',
    'restart',
  ],
  database: ['image', 'environment', 'volumes', 'restart', 'healthcheck'],
} as const

type ComposeService = {
  image?: string
  build?: string
  ports?: string[]
  environment: Record<string, string>
  volumes: string[]
  depends_on?: Record<string, { condition: string }>
  stop_grace_period?: string
  healthcheck?: { test: string[]; interval: string; retries: number }
}

const compose: { services: Record<string, ComposeService>; volumes: Record<string, null> } = parse(read('compose.yaml'))

/** The environment that the image and compose.yaml give Depot together. */
function environmentOf(service: ComposeService): Record<string, string> {
  const image = (all('ENV') as EnvLine[]).flatMap((line) =>
    line.getProperties().map((property) => [property.getName(), property.getValue() ?? '']),
  )
  return { ...Object.fromEntries(image), ...service.environment }
}

test('the settings that the container files make are known, and Depot takes their values', () => {
  const { depot } = compose.services
  assert.ok(depot !== undefined)
  const env = environmentOf(depot)
  assert.deepEqual(
    Object.keys(env).filter((name) => name !== 'PATH' && !(name in Env.properties)),
    [],
  )
  const { database, dataDir, http } = loadConfig(env)
  assert.equal(database.kind === 'external' && database.url.reveal(), env['DATABASE_URL'])
  assert.equal(http.baseUrl, env['BASE_URL'])
  assert.equal(dataDir, '/data')
  assert.equal(http.host, '0.0.0.0')
})

test('the services of compose.yaml fit together', () => {
  const { services, volumes } = compose
  assert.deepEqual(Object.keys(services), Object.keys(COMPOSE_SERVICE))
  for (const [name, keys] of Object.entries(COMPOSE_SERVICE)) assert.deepEqual(Object.keys(services[name] ?? {}), keys)
  const { depot, database } = services
  assert.ok(depot !== undefined && database !== undefined)
  // Depot must connect to the database that the other container creates.
  const url = new URL(environmentOf(depot)['DATABASE_URL'] ?? '')
  const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = database.environment
  assert.deepEqual(Object.keys(database.environment), ['POSTGRES_USER', 'POSTGRES_PASSWORD', 'POSTGRES_DB'])
  assert.deepEqual(
    [url.hostname, url.port, url.username, url.password, url.pathname.slice(1)],
    ['database', '5432', POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB],
  )
  assert.ok(Number(/^postgres:(\d+)$/.exec(database.image ?? '')?.[1]) >= 15)
  // It waits for a database that answers.
  assert.deepEqual(depot.depends_on, { database: { condition: 'service_healthy' } })
  assert.deepEqual(database.healthcheck?.test, ['CMD', 'pg_isready', '-U', POSTGRES_USER])
  // All data is in volumes that outlive the containers: from version 18 on, PostgreSQL's is one folder higher.
  assert.deepEqual(depot.volumes, [`depot-data:${all('VOLUME')[0]?.getArgumentsContent()}`])
  assert.deepEqual(database.volumes, ['database:/var/lib/postgresql'])
  assert.deepEqual(Object.keys(volumes), ['depot-data', 'database'])
  // The published port is the one that links lead to, and the one inside is what the server listens on.
  const port = all('EXPOSE')[0]?.getArgumentsContent()
  assert.deepEqual(depot.ports, [`${new URL(environmentOf(depot)['BASE_URL'] ?? '').port}:${port}`])
  assert.equal(Number(port), loadConfig(environmentOf(depot)).http.port)
})

test('the container files give Depot the time that it needs to stop', () => {
  // 10 seconds for requests, 30 seconds for the rest of the shutdown.
  assert.equal(compose.services['depot']?.stop_grace_period, '40s')
  assert.match(read('Dockerfile'), /--stop-timeout 40/)
  assert.notEqual(all('USER').at(-1)?.getArgumentsContent(), '0', 'not root')
})
