// `npm test [-- FILES]`: starts a PostgreSQL for the tests, unless TEST_DATABASE_URL names one, and runs node's own
// test runner over all test files, or over the ones named. With `--run PROGRAM ARGUMENTS` it runs that instead.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 12)) {
  console.error(
    `The tests need Node 24.12 or newer and this is ${process.versions.node}: run \`npm rebuild node --ignore-scripts=false\` and try again.`,
  )
  process.exit(1)
}

/** Tests against engines that are started for them: `npm run test:engines`, one file after the other. */
const engines = ['src/**/*.engine.test.ts', 'test/engines/*.test.ts']
/** What a server of two HTTP processes must pass too: `npm run test:processes`. */
const processes = [
  'src/features/**/*.test.ts',
  'src/web/**/*.test.ts',
  'src/platform/{http,channel}/*.test.ts',
  'src/ports/{counters,analytics-store}/remote/*.test.ts',
  'src/ports/search-index/feed/*.test.ts',
  'test/system/{processes,lifecycle,signals,search-process,analytics-process}.test.ts',
]
const patterns = [
  '{src,demo}/**/*.test.ts',
  'test/{rules,api}/**/*.test.ts',
  'test/system/*.test.ts',
  'test/system/fuzz/*.test.ts',
]
const [first = '', ...others] = process.argv.slice(2)
/** `--minutes=N` before the files: how long one test may take, where ten minutes are too few. */
const minutes = first.startsWith('--minutes=') ? Number(first.slice('--minutes='.length)) : undefined
const asked = minutes === undefined ? process.argv.slice(2) : others
const withEngines = asked[0] === '--engines'
const program = asked[0] === '--run' ? asked.slice(1) : undefined
const withProcesses = asked[0] === '--processes'
if (withProcesses) process.env.TEST_HTTP_PROCESSES = '2'
const named = withProcesses ? asked.slice(1) : asked
const chosen = withProcesses ? processes : patterns
const engineFiles = globSync(engines).sort()
/** These run without an engine too, and once more with it. */
const alsoOnEngines = ['src/ports/analytics-store/agreement.test.ts']
const files = withEngines
  ? [...engineFiles, ...alsoOnEngines]
  : named.length > 0
    ? named
    : globSync(chosen)
        .filter((file) => !engineFiles.includes(file))
        .sort()

/** How many files share a process in the whole run. */
const FILES_IN_A_GROUP = 6

/**
 * Loading the application costs a file more processor time than most of its tests. In the whole run the files beside the
 * source, which start nothing that a process has only one of, are therefore imported by few programs, one after the other.
 */
function grouped(all, folder) {
  const together = all.filter((file) => file.startsWith('src/'))
  const programs = []
  for (let from = 0; from < together.length; from += FILES_IN_A_GROUP) {
    const program = join(folder, `group-${programs.length}.mjs`)
    const tests = together
      .slice(from, from + FILES_IN_A_GROUP)
      .map((file) => `test(${JSON.stringify(file)}, () => import(${JSON.stringify(pathToFileURL(file).href)}))\n`)
    writeFileSync(program, `import { test } from 'node:test'\n${tests.join('')}`)
    programs.push(program)
  }
  return [...programs, ...all.filter((file) => !file.startsWith('src/'))]
}

/** A server that forgets everything when the power goes: nothing of a test is worth an fsync. */
async function startDatabase(dataDir) {
  const { startEmbeddedPostgres } = await import('#platform/embedded-postgres/embedded-postgres.ts')
  const quiet = () => {}
  const say = (_fields, message) => console.error(message)
  // Dropping a test's database ends connections that are closing already: no news.
  const warn = (fields, message) => message.includes('terminating connection') || say(fields, message)
  return startEmbeddedPostgres({
    dataDir,
    holder: 'server',
    log: { debug: quiet, info: quiet, warn, error: say },
    maxConnections: 200,
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
    systemDir: join(dataDir, 'system'),
  })
}

/** ClickHouse for the tests of its adapter, where it is installed and no address is given; the others start their own. */
async function startClickHouse(folder) {
  if (!withEngines || process.env.TEST_CLICKHOUSE_URL !== undefined) return undefined
  const script = join(import.meta.dirname, 'engines/clickhouse.sh')
  const run = promisify(execFile)
  try {
    const env = { ...process.env, ENGINES_INSTALL: 'no' }
    const { stdout } = await run(script, ['start', String(await freePort()), folder], { env })
    return { url: /^CLICKHOUSE_URL=(.*)$/m.exec(stdout)?.[1], stop: () => run(script, ['stop', folder]) }
  } catch (error) {
    console.error(`Tests of ClickHouse are left out: ${error.stderr?.trim() || error.message}`)
    return undefined
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

async function main() {
  const dataDir = mkdtempSync(join(tmpdir(), 'depot-tests-'))
  // The database's unprivileged user must be able to pass when the tests run as root.
  chmodSync(dataDir, 0o711)
  const database = process.env.TEST_DATABASE_URL === undefined ? await startDatabase(dataDir) : undefined
  const clickHouse = await startClickHouse(join(dataDir, 'clickhouse'))
  try {
    const env = {
      ...process.env,
      ...(clickHouse && { TEST_CLICKHOUSE_URL: clickHouse.url }),
      TEST_DATABASE_URL: process.env.TEST_DATABASE_URL ?? database.connectionString,
      NODE_COMPILE_CACHE: join(dataDir, 'compiled'),
    }
    const args = program ?? [
      '--test',
      // A limit for what hangs, not for what is slow: twenty times the longest test on a quiet machine.
      `--test-timeout=${(minutes ?? 10) * 60_000}`,
      `--test-concurrency=${withEngines ? 1 : availableParallelism()}`,
      ...(process.env.CI ? ['--test-reporter=spec'] : ['--test-reporter=dot']),
      ...(named.length > 0 || withEngines ? files : grouped(files, dataDir)),
    ]
    const child = spawn(process.execPath, args, { stdio: 'inherit', env })
    process.exitCode = await new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)))
  } finally {
    await clickHouse?.stop()
    await database?.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

await main()
