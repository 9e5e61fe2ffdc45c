// The package as it would be published: its files, its types in an empty project, and its command under Node.js 20.
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { form, modJar, projectData } from '#test/support/http/forms.ts'
import { makeDataDir } from '#test/support/processes/running-depot.ts'

const ROOT = join(import.meta.dirname, '../../..')
const run = promisify(execFile)
const { dataDir: folder, remove } = makeDataDir()
const project = join(folder, 'project')
const TSC = join(ROOT, 'packages/client/node_modules/typescript/bin/tsc')

/** Packs a package into the folder. Returns the path of the archive. */
async function pack(source: string): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: source })
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n')))
  return join(folder, packed.filename)
}

let t: TestApp
before(async () => {
  t = await testApp()
  mkdirSync(project)
  const client = await pack(join(ROOT, 'packages/client'))
  // The dependencies are those of this checkout, so that the test needs no registry.
  const dependencies: Record<string, string> = {}
  for (const name of ['openapi-fetch', 'openapi-typescript-helpers']) {
    dependencies[name] = `file:${await pack(join(ROOT, 'node_modules', name))}`
  }
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({
      type: 'module',
      private: true,
      dependencies: { '@depot/client': `file:${client}`, ...dependencies },
      overrides: Object.fromEntries(Object.keys(dependencies).map((name) => [name, `$${name}`])),
    }),
  )
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund'], { cwd: project })
})
after(async () => {
  remove()
  await t?.close()
})

test('the package contains compiled code with types, and nothing else', () => {
  const installed = join(project, 'node_modules/@depot/client')
  const files = execFileSync('find', ['.', '-type', 'f'], { cwd: installed, encoding: 'utf8' })
    .trim()
    .split('\n')
    .sort()
  assert.ok(files.includes('./dist/index.js') && files.includes('./dist/index.d.ts'))
  const others = files.filter((file) => !/^\.\/(package\.json|dist\/LICENSE|dist\/.+\.(js|d\.ts))$/.test(file))
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
    writeFileSync(join(project, 'requests.ts'), source.replace('#client/index.ts', '@depot/client'))
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable']
    await run(
      process.execPath,
      [TSC, ...options, '--module', module, '--moduleResolution', moduleResolution, 'requests.ts'],
      {
        cwd: project,
      },
    ).catch(({ stdout }: { stdout: string }) => assert.fail(stdout))
  })
}

/** Node.js 20 if this machine has it, and the Node.js that runs the tests. */
const NODES = [process.execPath, ...['/usr/bin/node', '/usr/local/bin/node'].filter((path) => existsSync(path))]

const PROGRAM = `
import { createDepot, DepotError } from '@depot/client'
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
      env: { ...process.env, DEPOT_URL: url, DEPOT_TOKEN: token },
    })
    assert.equal(published.stdout, `${url}/mod/lantern/version/${number}\n`)
    assert.doesNotMatch(published.stderr, /Warning/i)
    numbers.unshift(number)
    const { stdout } = await run(node, ['program.mjs', url], { cwd: project })
    assert.deepEqual(JSON.parse(stdout), ['Project lantern', 'not_found', numbers])
  }
})
