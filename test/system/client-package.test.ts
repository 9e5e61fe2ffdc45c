// The package that an instance serves: its files, its types in an empty project, its command under Node.js 20, and the
// commands of the document, of the example workflows and of the action, which install it from the instance.
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import { form, modJar, projectData } from '#test/support/http/forms.ts'
import { checkOutput, openShell, readSteps, type Shell } from '#test/support/processes/documented-steps.ts'
import { installPackedClient } from '#test/support/processes/packed-client.ts'
import { ENTRY, makeDataDir, type RunningDepot, startDepot } from '#test/support/processes/running-depot.ts'

const DOCUMENT = 'docs/publishers/publish-command.md'
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
    env: {
      PATH: `${tools}:${process.env['PATH']}`,
      XDG_CACHE_HOME: folder,
      // A machine that has never installed the client, and that reaches no registry.
      npm_config_cache: join(folder, 'npm'),
      npm_config_registry: 'http://127.0.0.1:1',
      npm_config_update_notifier: 'false',
    },
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
    (file) => !/^\.\/(package\.json|README\.md|LICENSE|dist\/.+\.(js|d\.ts)|node_modules\/.+)$/.test(file),
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
  const steps = readSteps(DOCUMENT, 'Try it')
  assert.ok(steps.length >= 4)
  for (const [n, { script, expected }] of steps.entries())
    checkOutput(await shell.run(withAddress(script)), expected.map(withAddress), `block ${n + 1}`)
})

test('two commands publish from a folder that contains only the file', async () => {
  const steps = readSteps(DOCUMENT, 'Publish with two commands')
  assert.equal(steps.length, 2)
  await shell.run('TOKEN=$DEPOT_TOKEN; mkdir ../empty; cd ../empty')
  writeFileSync(join(project, '../empty/lantern.jar'), makeJar('1.9.0'))
  const script = steps.map((step) => step.script).join('')
  const lines = await shell.run(withAddress(script).replace('dpp_YOUR_TOKEN', '$TOKEN'))
  checkOutput(lines, [`${depot.url}/mod/lantern/version/1.9.0`], 'two commands')
  assert.deepEqual(readdirSync(join(project, '../empty')), ['lantern.jar'])
  await shell.run(`cd '${project}'`)
})

/** An archive whose manifest states everything. */
const makeJar = (version: string): Buffer =>
  makeZip([
    {
      name: 'fabric.mod.json',
      data: JSON.stringify({
        schemaVersion: 1,
        id: 'lantern',
        version,
        name: 'Lantern',
        depends: { minecraft: '1.21' },
      }),
    },
  ])

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

const readYaml = (path: string) => parse(readFileSync(join(ROOT, path), 'utf8'))

/** Runs a script in a new repository with the files of a build and a tag, as a job would. */
async function publishTag(number: string, script: string, name: string): Promise<void> {
  const libs = join(project, '../build-folder', number, 'build/libs')
  mkdirSync(libs, { recursive: true })
  writeFileSync(join(libs, 'lantern.jar'), makeJar(number))
  writeFileSync(join(libs, 'lantern-sources.jar'), makeJar(`${number}-sources`))
  const git = 'git -c user.name=tests -c user.email=tests@example.org'
  const lines = await shell.run(`
cd '${join(libs, '../..')}'
git init --quiet
${git} commit --quiet --allow-empty --message release
${git} tag --annotate v${number} --message 'Release ${number}'
export GITHUB_REF_NAME=v${number} CI_COMMIT_TAG=v${number} GITHUB_OUTPUT="$PWD/output"
(${script.replaceAll('https://depot.example', depot.url)})
`)
  checkOutput(lines, [`${depot.url}/mod/lantern/version/${number}`], name)
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

test('the commands of the example workflows publish a version', async () => {
  const workflows = globSync('examples/ci/*.yml', { cwd: ROOT }).sort()
  assert.equal(workflows.length, 3)
  for (const [n, workflow] of workflows.entries()) {
    const publish = scriptsOf(readYaml(workflow)).filter((one) => one.includes('depot-publish'))
    assert.equal(publish.length, 1, workflow)
    await publishTag(`2.0.${n}`, String(publish[0]), workflow)
  }
})

type Action = {
  inputs: Record<string, { default?: string; required?: boolean }>
  outputs: { address: { value: string } }
  runs: { steps: { id: string; env: Record<string, string>; run: string }[] }
}

test('the action publishes a version, and has its address as output', async () => {
  const { inputs, outputs, runs } = readYaml('action.yml') as Action
  const [step] = runs.steps
  const given: Record<string, string> = {
    url: `${depot.url}/`,
    project: 'lantern',
    files: 'build/libs/*.jar\n!build/libs/*-sources.jar\n',
    'changelog-tag': 'v2.1.0',
    options: '--channel=beta\n',
  }
  assert.deepEqual(
    Object.keys(inputs).filter((name) => inputs[name]?.required && !(name in given)),
    [],
  )
  const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
  const env = Object.entries(step?.env ?? {}).map(([name, value]) => {
    const input = /^\$\{\{ inputs\.([a-z-]+) \}\}$/.exec(value)?.[1] ?? assert.fail(value)
    // The token of this test is that of the shell; a job would have an identity.
    return input === 'token' ? '' : `export ${name}=${quote(given[input] ?? inputs[input]?.default ?? '')}\n`
  })
  await publishTag('2.1.0', `${env.join('')}${step?.run}cat "$GITHUB_OUTPUT"`, 'action.yml')
  const output = join(project, '../build-folder/2.1.0/output')
  assert.equal(readFileSync(output, 'utf8'), `address=${depot.url}/mod/lantern/version/2.1.0\n`)
  assert.equal(outputs.address.value, `\${{ steps.${step?.id}.outputs.address }}`)
})
