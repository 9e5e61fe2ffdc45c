// The container files, without a container engine: the Dockerfile copies everything that Depot needs to run, its
// commands work, and the signal of `docker stop` stops the server.
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join, matchesGlob, relative } from 'node:path'
import { after, test } from 'node:test'
import { DockerfileParser, type Env as EnvLine } from 'dockerfile-ast'
import { parse } from 'yaml'
import { Env } from '#platform/config/env.ts'
import { loadConfig } from '#platform/config/load-config.ts'
import { freePort } from '#test/support/processes/free-port.ts'
import { makeDataDir, startDepotBy } from '#test/support/processes/running-depot.ts'
import { makeFakeNpm } from '#test/support/stand-ins/fake-npm.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8')
const ignored = read('.dockerignore').trim().split('\n')
const instructions = DockerfileParser.parse(read('Dockerfile')).getInstructions()
const all = (keyword: string) => instructions.filter((one) => one.getKeyword() === keyword)
const wordsOf = (line: string | null): string[] => JSON.parse(line?.slice(line.indexOf('[')) ?? '[]')
const commandOf = (keyword: string): string[] => wordsOf(all(keyword)[0]?.getArgumentsContent() ?? null)

/** Whether .dockerignore keeps a path out of the image. */
const isIgnored = (path: string): boolean =>
  ignored.some((pattern) => path === pattern || path.startsWith(`${pattern}/`) || matchesGlob(path, pattern))

/** Does what the lines COPY and RUN do, in a folder that stands for WORKDIR. */
function build(folder: string, tools: string): void {
  for (const one of instructions) {
    const words = one.getArguments().map((argument) => argument.getValue())
    if (one.getKeyword() === 'COPY') copy(folder, words)
    if (one.getKeyword() !== 'RUN') continue
    const script = one.getArgumentsContent() ?? ''
    // Accounts are the image's business: that line is only read.
    const options = words[0] === 'useradd' ? ['-n', '-c', script] : ['-e', '-c', script]
    execFileSync('sh', options, { cwd: folder, env: { ...process.env, PATH: `${tools}:${process.env['PATH']}` } })
  }
}

function copy(folder: string, words: string[]): void {
  const target = words.at(-1) ?? ''
  for (const source of words.slice(0, -1)) {
    assert.ok(existsSync(join(ROOT, source)), `COPY ${source}`)
    assert.ok(!isIgnored(source), `.dockerignore keeps out ${source}, which is copied`)
    const name = target.endsWith('/') ? join(target, source.split('/').at(-1) ?? '') : target
    cpSync(join(ROOT, source), join(folder, name), {
      recursive: true,
      filter: (path) => !isIgnored(relative(ROOT, path)),
    })
  }
}

test('the image contains everything that Depot needs; its health check works, and its stop signal ends the server', async () => {
  const { dataDir: folder, remove } = makeDataDir()
  after(remove)
  const image = join(folder, 'image')
  mkdirSync(image)
  build(image, makeFakeNpm(join(folder, 'tools')))
  assert.ok(!existsSync(join(image, 'src/main/open-analytics.test.ts')), 'tests stay outside')
  const PORT = String(await freePort())
  const isHealthy = (): Promise<boolean> => {
    const [program = '', ...words] = commandOf('HEALTHCHECK')
    return new Promise((resolve) => {
      execFile(program, words, { cwd: image, env: { ...process.env, PORT } }, (error) => resolve(error === null))
    })
  }
  assert.equal(await isHealthy(), false)
  const server = await startDepotBy(commandOf('CMD'), join(folder, 'data'), { PORT }, image)
  assert.equal(await isHealthy(), true)
  const signal = all('STOPSIGNAL')[0]?.getArgumentsContent() ?? 'SIGTERM'
  assert.equal(await server.stop(signal as NodeJS.Signals), 0)
})

const COMPOSE_SERVICE = {
  depot: ['build', 'ports', 'environment', 'volumes', 'depends_on', 'stop_grace_period', 'restart'],
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
    Object.keys(env).filter((name) => !(name in Env.properties)),
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
