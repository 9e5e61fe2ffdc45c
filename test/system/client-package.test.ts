// The package as it would be published: its files, its types in an empty project, its command under Node.js 20, and the
// commands of the document and of the example workflows.
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { form, modJar, projectData } from '#test/support/http/forms.ts'
import { checkOutput, openShell, readSteps, type Shell } from '#test/support/processes/documented-steps.ts'
import { installPackedClient } from '#test/support/processes/packed-client.ts'
import { ENTRY, makeDataDir, type RunningDepot, startDepot } from '#test/support/processes/running-depot.ts'

const ROOT = join(import.meta.dirname, '../..')
const run = promisify(execFile)
const { dataDir: folder, remove } = makeDataDir()
const TSC = join(ROOT, 'packages/client/node_modules/typescript/bin/tsc')

let t: TestApp
let depot: RunningDepot
let shell: Shell
let project: string
before(async () => {
  t = await testApp()
  project = await installPackedClient(folder)
  cpSync(join(ROOT, 'examples'), join(project, 'examples'), { recursive: true })
  const [dataDir, tools] = [join(folder, 'data'), join(folder, 'tools')]
  mkdirSync(dataDir)
  mkdirSync(tools)
  depot = await startDepot(dataDir)
  const command = `#!/bin/sh\nDATA_DIR='${dataDir}' exec '${process.execPath}' '${ENTRY}' "$@"\n`
  writeFileSync(join(tools, 'depot'), command, { mode: 0o755 })
  shell = openShell(project, {
    env: { PATH: `${tools}:${process.env['PATH']}`, npm_config_offline: 'true', XDG_CACHE_HOME: folder },
  })
})
after(async () => {
  await shell?.end()
  await depot?.stop()
  await t?.close()
  remove()
})

test('the package contains compiled code with types, and nothing else', () => {
  const installed = join(project, 'node_modules/depot-hosting-client')
  const files = execFileSync('find', ['.', '-type', 'f'], { cwd: installed, encoding: 'utf8' })
    .trim()
    .split('\n')
    .sort()
  assert.ok(files.includes('./dist/index.js') && files.includes('./dist/index.d.ts'))
  const others = files.filter(
    (file) => !/^\.\/(package\.json|README\.md|dist\/LICENSE|dist\/.+\.(js|d\.ts))$/.test(file),
  )
  assert.deepEqual(others, [])
  assert.deepEqual(
    files.filter((file) => /test/.test(file)),
    [],
  )
  // The client runs in browsers: only the command uses Node.js.
  const usesNode = files
    .filter((file) => file.endsWith('.js') && !file.includes('/command/'))
    .filter((file) => /from ['"]node:|\bprocess\./.test(readFileSync(join(installed, file), 'utf8')))
  assert.deepEqual(usesNode, [])
})

for (const [module, moduleResolution] of [
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
] as const) {
  test(`the types work with the module resolution ${moduleResolution}, and wrong requests are errors`, async () => {
    const source = readFileSync(join(ROOT, 'test/client/wrong-requests.ts'), 'utf8')
    writeFileSync(join(project, 'requests.ts'), source.replace('#client/index.ts', 'depot-hosting-client'))
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable']
    await run(
      process.execPath,
      [TSC, ...options, '--module', module, '--moduleResolution', moduleResolution, 'requests.ts'],
      { cwd: project },
    ).catch(({ stdout }: { stdout: string }) => assert.fail(stdout))
  })
}

/** Node.js 20 if this machine has it, and the Node.js that runs the tests. */
const NODES = [process.execPath, ...['/usr/bin/node', '/usr/local/bin/node'].filter((path) => existsSync(path))]

const PROGRAM = `
import { createDepot, DepotError } from 'depot-hosting-client'
const depot = createDepot({ url: process.argv[2], userAgent: 'test/1.0' })
const { name } = await depot.get('/v3/project/{id}', { params: { path: { id: 'lantern' } } })
const missing = await depot.get('/v3/project/{id}', { params: { path: { id: 'nowhere' } } }).catch((error) => error)
const found = []
for await (const { version_number } of depot.items('/v3/project/{id}/version', { params: { path: { id: 'lantern' } } })) found.push(version_number)
console.log(JSON.stringify([name, missing instanceof DepotError && missing.error, found]))
`

test('an installed client reads, and its command publishes, also with Node.js 20', async () => {
  const url = await t.app.listen({ host: '127.0.0.1', port: 0 })
  const person = await t.make.account()
  const { token } = await t.make.pat(person)
  const { payload, headers } = await form(projectData('lantern'))
  const made = await t.as(person).post('/v3/project', payload, { headers })
  assert.equal(made.statusCode, 201, made.body)
  await t.as(await t.make.account({ role: 'moderator' })).patch('/v3/project/lantern', { status: 'approved' })
  writeFileSync(join(project, 'program.mjs'), PROGRAM)
  const numbers: string[] = []
  for (const [index, node] of NODES.entries()) {
    const number = `1.0.${index}`
    writeFileSync(join(project, 'lantern.jar'), modJar(number))
    const args = ['lantern.jar', '--project', 'lantern', '--version-number', number, '--game-versions', '1.20.1']
    const command = join(project, 'node_modules/.bin/depot-publish')
    const published = await run(node, [command, ...args], {
      cwd: project,
      env: { ...process.env, DEPOT_URL: url, DEPOT_TOKEN: token, XDG_CACHE_HOME: folder },
    })
    assert.equal(published.stdout, `${url}/mod/lantern/version/${number}\n`)
    assert.doesNotMatch(published.stderr, /Warning/i)
    numbers.unshift(number)
    const { stdout } = await run(node, ['program.mjs', url], { cwd: project })
    assert.deepEqual(JSON.parse(stdout), ['Project lantern', 'not_found', numbers])
  }
})

const withAddress = (text: string): string => text.replaceAll('http://127.0.0.1:8080', depot.url)

test('the commands of the document work as written', async () => {
  const steps = readSteps('docs/publishers/publish-command.md', 'Try it')
  assert.ok(steps.length >= 4)
  for (const [n, { script, expected }] of steps.entries())
    checkOutput(await shell.run(withAddress(script)), expected.map(withAddress), `block ${n + 1}`)
})

/** The scripts of a workflow, whatever the CI: the values of `run` and `script`. */
function scriptsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(scriptsOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'run' && typeof inner === 'string') return [inner]
    if (key === 'script' && Array.isArray(inner)) return inner.map(String)
    return scriptsOf(inner)
  })
}

test('the commands of the example workflows publish a version', async () => {
  mkdirSync(join(project, 'build/libs'), { recursive: true })
  await shell.run(`
git init --quiet
git -c user.name=tests -c user.email=tests@example.org commit --quiet --allow-empty --message release
`)
  const workflows = globSync('examples/ci/*.yml', { cwd: ROOT }).sort()
  assert.equal(workflows.length, 3)
  for (const [n, workflow] of workflows.entries()) {
    const publish = scriptsOf(parse(readFileSync(join(ROOT, workflow), 'utf8'))).filter((one) =>
      one.includes('depot-publish'),
    )
    assert.equal(publish.length, 1, workflow)
    const number = `2.0.${n}`
    writeFileSync(join(project, 'build/libs/lantern.jar'), modJar(number))
    writeFileSync(join(project, 'build/libs/lantern-sources.jar'), modJar(`${number} sources`))
    // The archive of this test states neither.
    writeFileSync(
      join(project, 'depot-publish.json'),
      JSON.stringify({ version_number: number, game_versions: ['1.21'] }),
    )
    const lines = await shell.run(`
git -c user.name=tests -c user.email=tests@example.org tag --annotate v${number} --message 'Release ${number}'
export GITHUB_REF_NAME=v${number} CI_COMMIT_TAG=v${number}
${String(publish[0]).replaceAll('https://depot.example', depot.url)}
`)
    checkOutput(lines, [`${depot.url}/mod/lantern/version/${number}`], workflow)
    const response = await fetch(`${depot.url}/v3/project/lantern/version/${number}`, {
      headers: { 'user-agent': 'tests' },
    })
    const version = (await response.json()) as { changelog: string; files: { filename: string }[] }
    assert.equal(version.changelog, `Release ${number}`)
    assert.deepEqual(
      version.files.map(({ filename }) => filename),
      ['lantern.jar'],
    )
  }
})
