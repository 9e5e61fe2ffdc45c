// `npm run fuzz:schemathesis [-- --examples N --phases LIST --seed S]`: runs Schemathesis, a fuzzer that reads only the
// published description. Installs it into its own folder if Python is available. docs/contributors/guides/fuzzing.md lists its
// findings.
import { spawn } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { depot, makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'

const PACKAGE = 'schemathesis==4.32.5'
const BYPASS_KEY = 'schemathesis-bypass-key-0123456789abcde'
const CHECKS = 'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance'
const PASSWORD = 'violet-lighthouse-harbour-19'

const { values } = parseArgs({
  options: {
    examples: { type: 'string', default: '20' },
    phases: { type: 'string', default: 'examples,coverage,fuzzing' },
    seed: { type: 'string', default: '1' },
    /** The program itself, where it is installed already. */
    program: { type: 'string' },
  },
})

const program = values.program ?? (await install())
if (program === undefined) {
  console.log('Python 3 with venv is not there: left out')
  process.exit(0)
}
const { dataDir, remove } = makeDataDir()
const server = await startDepot(dataDir, { RATE_LIMIT_BYPASS_KEY: BYPASS_KEY, LOG_LEVEL: 'error' })
try {
  const user = ['user', 'create', '--username', 'fuzzer', '--email', 'fuzzer@example.org', '--password', PASSWORD]
  await depot(dataDir, user)
  const made = await depot(dataDir, ['token', 'create', '--user', 'fuzzer', '--scopes', 'all', '--json'])
  const { token } = JSON.parse(made.stdout) as { token: string }
  const description = `${server.url}/docs/openapi.json`
  const headers = ['User-Agent: schemathesis', `X-Ratelimit-Key: ${BYPASS_KEY}`, `Authorization: ${token}`]
  const options = [
    '--checks',
    CHECKS,
    '--phases',
    values.phases,
    '--max-examples',
    values.examples,
    '--seed',
    values.seed,
    // Its response has no end.
    '--exclude-operation-id',
    'streamChanges',
    '--continue-on-failure',
    // For a machine that is busy with other things.
    '--wait-for-schema',
    '120',
    '--request-timeout',
    '120',
  ]
  const args = ['run', description, ...headers.flatMap((each) => ['-H', each]), ...options]
  process.exitCode = await run(program, args, tmpdir())
} finally {
  await server.stop()
  remove()
}

/** Into a temporary folder; undefined where that cannot be done. */
async function install(): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'depot-schemathesis-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  if ((await run('python3', ['-m', 'venv', folder])) !== 0) return undefined
  if ((await run(join(folder, 'bin/pip'), ['install', '--quiet', PACKAGE])) !== 0) return undefined
  const installed = join(folder, 'bin/st')
  return existsSync(installed) ? installed : undefined
}

/** Schemathesis writes files into the folder where it runs. */
function run(command: string, args: readonly string[], cwd = process.cwd()): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'inherit', cwd })
    child.on('error', () => resolve(127))
    child.on('exit', (code) => resolve(code ?? 1))
  })
}
