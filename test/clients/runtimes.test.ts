// Depot's client in runtimes other than Node.js, as an instance serves it.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { createDispatcher } from '#features/exchange/webhooks/dispatch/dispatcher.ts'
import { type ServedApp, servedApp } from '#test/support/app/served-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { modJar } from '#test/support/http/forms.ts'
import { type ClientProgram, openClient, runClient } from '#test/support/processes/client-programs.ts'
import { startReceiver } from '#test/support/stand-ins/receiver.ts'

const run = promisify(execFile)
/** Longest time to download the client from an instance on this machine. */
const ADD_MS = 60_000

const INSTALLED: Omit<ClientProgram, 'program'> = {
  name: 'runtimes',
  needs: ['npm'],
  install: [{ file: 'npm', args: ['install', '--no-audit', '--no-fund'] }],
}

type Runtime = {
  name: string
  /** Arguments that add a package to a project. Default: npm adds it, because Deno does not install packages by URL */
  add?: string[]
  run: string[]
}

const RUNTIMES: Runtime[] = [
  { name: 'bun', add: ['add'], run: ['run', 'program.mjs'] },
  {
    name: 'deno',
    run: ['run', '--node-modules-dir=manual', '--allow-net=127.0.0.1', '--allow-env', '--allow-read', 'program.mjs'],
  },
]

let served: ServedApp
let folder: string
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'depot-runtimes-test-'))
  served = await servedApp({ OUTGOING_ALLOW: '127.0.0.0/8' })
})
after(async () => {
  await served?.t.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Returns a message that a webhook of a project received, and its secret. */
async function receiveMessage(owner: Person, project: MadeProject): Promise<Record<string, string>> {
  const { t } = served
  const receiver = await startReceiver()
  try {
    const hook = { owner: { kind: 'project', id: project.id }, url: receiver.url, events: ['project.updated'] }
    const created = await t.as(owner).post('/v3/webhook', hook)
    assert.equal(created.statusCode, 201, created.body)
    await t.as(owner).patch(`/v3/project/${project.id}`, { name: 'Lantern – ü' })
    await createDispatcher({ ...t.deps, version: '1.2.3' }).settle()
    return { DEPOT_MESSAGE: JSON.stringify(receiver.received[0]), DEPOT_SECRET: created.json().secret }
  } finally {
    receiver.close()
  }
}

const noise = (sizeBytes: number) => ({ name: 'noise.bin', data: randomBytes(sizeBytes), stored: true })

for (const { name, add, run: args } of RUNTIMES)
  test(name, async (context) => {
    const installed = await openClient(context, { ...INSTALLED, program: { file: name, args } })
    if (installed === undefined) return
    const { t, url } = served
    const project = join(folder, name)
    mkdirSync(project)
    cpSync(join(installed, 'program.mjs'), join(project, 'program.mjs'))
    writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
    const binary = join(installed, 'node_modules/.bin', name)
    const [file, words] = add === undefined ? ['npm', ['install', '--no-audit', '--no-fund']] : [binary, add]
    await run(file, [...words, `${url}/client.tgz`], { cwd: project, timeout: ADD_MS })

    const owner = await t.make.account()
    const made = await t.make.project({ owner, slug: `lantern-for-${name}` })
    const { token } = await t.make.pat(owner)
    const bytes = { lantern: modJar(name), large: modJar(`${name} large`, [noise(3_000_000)]) }
    const paths = { lantern: join(project, 'lantern.jar'), large: join(project, 'large.jar') }
    for (const each of ['lantern', 'large'] as const) writeFileSync(paths[each], bytes[each])
    const env = {
      DEPOT_URL: url,
      DEPOT_TOKEN: token,
      DEPOT_PROJECT: made.slug,
      DEPOT_FILE: paths.lantern,
      DEPOT_LARGE_FILE: paths.large,
      ...(await receiveMessage(owner, made)),
    }
    await runClient(project, { program: { file: binary, args } }, env)
    const versions: { version_number: string; files: { hashes: { sha512: string } }[] }[] = (
      await t.anyone.get(`/v3/project/${made.id}/version`)
    ).json()
    const hashes = versions.map(({ version_number, files }) => [version_number, files[0]?.hashes.sha512])
    const sha512 = (content: Buffer): string => createHash('sha512').update(content).digest('hex')
    assert.deepEqual(hashes.sort(), [
      ['1.0.0', sha512(bytes.lantern)],
      ['1.1.0', sha512(bytes.large)],
    ])
    // The large file arrived in parts, and its upload was used.
    assert.ok(served.requests.some((request) => /^PATCH \/v3\/upload\/\w+ 204$/.test(request)))
    assert.deepEqual((await t.as(owner).get('/v3/upload')).json(), [])
  })
