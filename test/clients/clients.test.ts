// Runs third-party clients, installed unchanged from their registries, against a running Depot.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { form, modJar, PNG, projectDataV2, versionDataV2 } from '#test/support/http/forms.ts'
import { type ClientProgram, openClient, runClient } from '#test/support/processes/client-programs.ts'
import { standInFor } from '#test/support/stand-ins/public-host.ts'

const CLIENTS: ClientProgram[] = [
  {
    name: 'typescript',
    needs: ['npm'],
    install: [{ file: 'npm', args: ['install', '--ignore-scripts', '--no-audit', '--no-fund'] }],
    program: { file: 'node', args: ['program.mjs'] },
  },
  {
    name: 'python',
    needs: ['python3'],
    install: [
      { file: 'python3', args: ['-m', 'venv', 'venv'] },
      { file: 'venv/bin/pip', args: ['install', '--quiet', '-r', 'requirements.txt'] },
    ],
    program: { file: 'venv/bin/python', args: ['program.py'] },
  },
  {
    name: 'java',
    needs: ['mvn', 'javac'],
    install: [{ file: 'mvn', args: ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=lib'] }],
    build: [{ file: 'javac', args: ['-cp', 'lib/*', '-d', 'classes', 'Program.java'] }],
    program: { file: 'java', args: ['-cp', 'lib/*:classes', 'Program'] },
  },
  {
    name: 'gradle',
    needs: ['mvn', 'javac'],
    install: [{ file: 'mvn', args: ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=lib'] }],
    build: [{ file: 'javac', args: ['-cp', 'lib/*', '-d', 'classes', 'Program.java'] }],
    program: {
      file: 'java',
      args: ['--add-opens', 'java.base/java.lang=ALL-UNNAMED', '-cp', 'lib/*:classes', 'Program'],
    },
  },
  {
    name: 'rust',
    needs: ['cargo', 'openssl'],
    install: [{ file: 'cargo', args: ['fetch', '--locked'] }],
    // Cargo compiles the dependencies once for all versions of the program.
    build: [{ file: 'cargo', args: ['build', '--locked', '--offline', '--target-dir', '../rust-target'] }],
    program: { file: '../rust-target/debug/depot-client-ferinth', args: [] },
    onlyHost: 'api.modrinth.com',
  },
]

let t: TestApp
let url: string
let folder: string
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'depot-clients-test-'))
  t = await testApp()
  url = await t.app.listen({ host: '127.0.0.1', port: 0 })
})
after(async () => {
  await t?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A project with one version, for a client to read and edit. */
async function prepare(name: string): Promise<Record<string, string>> {
  const person = await t.make.account()
  const { token } = await t.make.pat(person)
  const jar = modJar(`${name} prepared`)
  const data = projectDataV2(`lantern-for-${name}`, { is_draft: false, initial_versions: [versionDataV2()] })
  const { payload, headers } = await form(data, [{ name: 'file', filename: `${name}.jar`, bytes: jar }])
  const answer = await t.as(person).post('/v2/project', payload, { headers })
  assert.equal(answer.statusCode, 200, answer.body)
  const project = answer.json()
  const moderator = await t.make.account({ role: 'moderator' })
  const approval = await t.as(moderator).patch(`/v2/project/${project.id}`, { status: 'approved' })
  assert.equal(approval.statusCode, 204, approval.body)
  await t.searchable()
  const [picture, file] = [join(folder, `${name}.png`), join(folder, `${name}-own.jar`)]
  writeFileSync(picture, PNG)
  writeFileSync(file, modJar(`${name} own`))
  return {
    DEPOT_URL: url,
    DEPOT_TOKEN: token,
    DEPOT_PROJECT: project.slug,
    DEPOT_VERSION: project.versions[0],
    DEPOT_SHA1: createHash('sha1').update(jar).digest('hex'),
    DEPOT_PICTURE: picture,
    DEPOT_JAR: file,
  }
}

for (const client of CLIENTS) {
  test(client.name, async (context) => {
    const installed = await openClient(context, client)
    if (installed === undefined) return
    const env = await prepare(client.name)
    if (client.onlyHost === undefined) return void (await runClient(installed, client, env))
    const host = await standInFor(client.onlyHost, url, folder)
    try {
      await runClient(installed, client, { ...env, ...host.env })
    } finally {
      host.close()
    }
  })
}
