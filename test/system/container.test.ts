// The container files without an engine: what the Dockerfile copies is enough to run, its commands do what they are for,
// and what `docker stop` sends ends the server.
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join, matchesGlob, relative } from 'node:path'
import { after, test } from 'node:test'
import { DockerfileParser, type Env as EnvLine } from 'dockerfile-ast'
import { Env } from '#config/env.ts'
import { freePort } from '#main/preflight.ts'
import { makeFakeNpm } from '../support/fake-npm.ts'
import { makeDataDir, startDepotBy } from '../support/running-depot.ts'

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

test('the image has what Depot needs; its health check tells, and its stop signal ends the server', async () => {
  const { dataDir: folder, remove } = makeDataDir()
  after(remove)
  const image = join(folder, 'image')
  mkdirSync(image)
  build(image, makeFakeNpm(join(folder, 'tools')))
  assert.ok(!existsSync(join(image, 'src/main/open-analytics.test.ts')), 'tests stay outside')
  const PORT = String(await freePort('127.0.0.1', 0))
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

test('the container files set variables that Depot knows, and give it the time that it needs to stop', () => {
  const known = new Set([...Object.keys(Env.properties), 'POSTGRES_USER', 'POSTGRES_PASSWORD', 'POSTGRES_DB'])
  const compose = read('compose.yaml')
  const set = [
    ...(all('ENV') as EnvLine[]).flatMap((line) => line.getProperties().map((property) => property.getName())),
    ...[...compose.matchAll(/\b([A-Z][A-Z_]+):/g)].map(([, name = '']) => name),
  ]
  assert.ok(set.includes('DATA_DIR') && set.includes('BASE_URL'))
  assert.deepEqual(
    set.filter((name) => !known.has(name)),
    [],
  )
  // 10 seconds for requests, 30 for what is left.
  assert.match(compose, /stop_grace_period: 40s/)
  assert.match(read('Dockerfile'), /--stop-timeout 40/)
  assert.notEqual(all('USER').at(-1)?.getArgumentsContent(), '0', 'not root')
})
