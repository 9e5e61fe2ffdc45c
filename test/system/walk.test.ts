// Runs the blocks of docs/operating.md in their order, in an empty folder, as an operator would. Only the port numbers
// differ; `npm ci` uses the packages of this checkout unless WALK_NPM=1 requests a real installation.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { freePort } from '#main/preflight.ts'
import { checkOutput, notInstalled, openShell, readSteps } from '#test/support/processes/documented-steps.ts'
import { makeDataDir } from '#test/support/processes/running-depot.ts'
import { makeFakeNpm } from '#test/support/stand-ins/fake-npm.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Files that a checkout does not contain. */
const NOT_TRACKED = ['node_modules', 'data', '.git', '.env', 'coverage']
const PORTS = ['8080', '8081', '8088', '8443']
const PROGRAMS = ['git', 'curl', 'openssl', 'bash', '/usr/sbin/nginx']

test('the walk of docs/operating.md leads where it says', {
  skip: notInstalled(PROGRAMS),
}, async () => {
  const { dataDir: folder, remove } = makeDataDir()
  const origin = join(folder, 'origin')
  const walk = join(folder, 'walk')
  mkdirSync(walk)
  const ports = new Map<string, string>()
  for (const port of PORTS) ports.set(port, String(await freePort('127.0.0.1', 0)))
  const withPorts = (text: string): string => text.replace(/\b8\d{3}\b/g, (port) => ports.get(port) ?? port)
  makeOrigin(origin, withPorts)
  const tools = process.env['WALK_NPM'] === '1' ? undefined : makeFakeNpm(join(folder, 'tools'))
  const shell = openShell(walk, {
    env: {
      ...(tools === undefined ? {} : { PATH: `${tools}:${process.env['PATH']}` }),
      // The URL in the document leads to the checkout.
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: `url.${origin}.insteadOf`,
      GIT_CONFIG_VALUE_0: 'https://git.example.org/depot',
    },
  })
  after(async () => {
    const proxy = join(walk, 'nginx/nginx.pid')
    if (existsSync(proxy)) process.kill(Number(readFileSync(proxy, 'utf8')))
    await shell.end()
    remove()
  })
  const steps = readSteps('docs/operating.md', 'Walkthrough')
  assert.ok(steps.length > 8)
  for (const [n, { script, expected }] of steps.entries()) {
    const isUpgrade = script.includes('git pull')
    if (isUpgrade) releaseNext(origin)
    const lines = await shell.run(withPorts(script))
    checkOutput(lines, expected.map(withPorts), `block ${n + 1}`)
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
