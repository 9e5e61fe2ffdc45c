// Runs the blocks of docs/operating.md in their order, in an empty folder, as an operator would. Only the port numbers
// differ; `npm ci` uses the packages of this checkout unless WALK_NPM=1 requests a real installation.
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '#main/preflight.ts'
import { makeDataDir } from '#test/support/processes/running-depot.ts'
import { makeFakeNpm } from '#test/support/stand-ins/fake-npm.ts'

const ROOT = join(import.meta.dirname, '../..')
const CHAPTER = 'Walkthrough'
/** Files that a checkout does not contain. */
const NOT_TRACKED = ['node_modules', 'data', '.git', '.env', 'coverage']
const PORTS = ['8080', '8081', '8088', '8443']
const PROGRAMS = ['git', 'curl', 'openssl', 'bash', '/usr/sbin/nginx']

type Step = { script: string; expected: string[] }

/** Returns the shell blocks of the chapter, each with its expected output. */
function stepsOf(document: string): Step[] {
  const chapter = document.split(/^## /m).find((text) => text.startsWith(`${CHAPTER}\n`)) ?? ''
  const steps: Step[] = []
  for (const [, language, text = ''] of chapter.matchAll(/^```(sh|text)\n([\s\S]*?)^```$/gm)) {
    if (language === 'sh') steps.push({ script: text, expected: [] })
    else steps.at(-1)?.expected.push(...text.trim().split('\n'))
  }
  return steps
}

/** Whether a line of output is the expected one, in which `…` is anything. */
function isLike(line: string, expected: string): boolean {
  const parts = expected.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`).test(line)
}

const missing = PROGRAMS.filter((program) => {
  if (program.startsWith('/')) return !existsSync(program)
  return !(process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, program)))
})

test('the walk of docs/operating.md leads where it says', {
  skip: missing.length === 0 ? false : `${missing.join(', ')}: not installed`,
}, async () => {
  const { dataDir: folder, remove } = makeDataDir()
  const origin = join(folder, 'origin')
  const walk = join(folder, 'walk')
  mkdirSync(walk)
  const ports = new Map<string, string>()
  for (const port of PORTS) ports.set(port, String(await freePort('127.0.0.1', 0)))
  const withPorts = (text: string): string => text.replace(/\b8\d{3}\b/g, (port) => ports.get(port) ?? port)
  makeOrigin(origin, withPorts)
  const shell = await openShell(walk, {
    origin,
    tools: process.env['WALK_NPM'] === '1' ? undefined : makeFakeNpm(join(folder, 'tools')),
  })
  after(async () => {
    await shell.end(join(walk, 'nginx/nginx.pid'))
    remove()
  })
  const steps = stepsOf(readFileSync(join(ROOT, 'docs/operating.md'), 'utf8'))
  assert.ok(steps.length > 8)
  for (const [n, { script, expected }] of steps.entries()) {
    const isUpgrade = script.includes('git pull')
    if (isUpgrade) releaseNext(origin)
    const lines = await shell.run(withPorts(script))
    for (const one of expected.map(withPorts))
      assert.ok(
        lines.some((line) => isLike(line, one)),
        `block ${n + 1} does not print ${one}:\n${lines.join('\n')}`,
      )
    if (!isUpgrade) continue
    assert.ok(lines.includes('9.9.9'), 'the new release runs')
    assert.match(readFileSync(join(walk, 'depot.log'), 'utf8'), /"migrations":\["9999_.*Updated the database schema/)
  }
})

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

type Shell = {
  /** Runs a block in the one shell of the walk. @returns the lines it printed. @throws when it fails. */
  run(script: string): Promise<string[]>
  /** Ends it with all it has started; the proxy has left its group, and is in this file while it runs. */
  end(proxy: string): Promise<void>
}

/** Opens one bash for all blocks, in its own process group, so that no process outlives the test. */
async function openShell(
  cwd: string,
  { origin, tools }: { origin: string; tools: string | undefined },
): Promise<Shell> {
  const { TEST_DATABASE_URL: _, DATABASE_URL: __, DATA_DIR: ___, PORT: ____, ...inherited } = process.env
  const env = {
    ...inherited,
    ...(tools === undefined ? {} : { PATH: `${tools}:${inherited['PATH']}` }),
    // The address of the text leads to the checkout.
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `url.${origin}.insteadOf`,
    GIT_CONFIG_VALUE_0: 'https://git.example.org/depot',
  }
  const child: ChildProcess = spawn('bash', ['-e', '-o', 'pipefail'], { cwd, env, detached: true, stdio: 'pipe' })
  const printed: string[] = []
  let block = ''
  let isDone: (code: string) => void = () => undefined
  const done = 'the block is done:'
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue
    createInterface({ input: stream }).on('line', (line) => {
      if (line.startsWith(done)) isDone(line)
      else printed.push(line)
    })
  }
  const file = join(cwd, '..', 'block.sh')
  const ended = new Promise<never>((_resolve, reject) => {
    child.on('exit', (code) => {
      reject(new Error(`the shell ended with ${code} in this block:\n${block}\n${printed.join('\n')}`))
    })
  })
  ended.catch(() => undefined)
  return {
    async run(script) {
      printed.length = 0
      block = script
      writeFileSync(file, script)
      const finished = new Promise<string>((resolve) => {
        isDone = resolve
      })
      // Blocks must not read what comes next.
      child.stdin?.write(`. '${file}' < /dev/null\necho '${done}'\n`)
      await Promise.race([finished, ended])
      return [...printed]
    },
    async end(proxy) {
      if (existsSync(proxy)) process.kill(Number(readFileSync(proxy, 'utf8')))
      while (hasGroup(child.pid, 'SIGTERM')) await sleep(50)
    },
  }
}

/** Sends a signal to a group of processes; false when there is none left. */
function hasGroup(pid: number | undefined, signal: NodeJS.Signals): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal)
  } catch {
    return false
  }
}
