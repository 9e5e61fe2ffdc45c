// depot-publish against the application: values from the archive, the configuration file and options; dry runs; errors.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { run } from '#client/command/run.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { form, projectData } from '#test/support/http/forms.ts'
import { standIn } from './stand-in.ts'

let t: TestApp
let url: string
let folder: string
let person: Person
let token: string
before(async () => {
  t = await testApp()
  url = await t.app.listen({ host: '127.0.0.1', port: 0 })
  person = await t.make.account()
  token = (await t.make.pat(person)).token
})
beforeEach(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true })
  folder = mkdtempSync(join(tmpdir(), 'depot-publish-'))
  mkdirSync(join(folder, 'build/libs'), { recursive: true })
})
after(async () => {
  rmSync(folder, { recursive: true })
  await t?.close()
})

type Outcome = { code: number; result: string; notes: string }

async function publish(
  args: readonly string[],
  env: Record<string, string> = { DEPOT_TOKEN: token },
): Promise<Outcome> {
  const results: string[] = []
  const notes: string[] = []
  const code = await run(args, {
    env: { DEPOT_URL: url, ...env },
    cwd: folder,
    result: (text) => results.push(text),
    note: (text) => notes.push(text),
  })
  return { code, result: results.join('\n'), notes: notes.join('\n') }
}

let projects = 0
async function newProject({ isPublic = true } = {}): Promise<string> {
  const slug = `lantern-${++projects}`
  const { payload, headers } = await form(projectData(slug))
  const made = await t.as(person).post('/v3/project', payload, { headers })
  assert.equal(made.statusCode, 201, made.body)
  if (isPublic) {
    const moderator = await t.make.account({ role: 'moderator' })
    await t.as(moderator).patch(`/v3/project/${slug}`, { status: 'approved' })
  }
  return slug
}

const MANIFEST = {
  schemaVersion: 1,
  id: 'lantern',
  version: '1.2.0',
  name: 'Lantern',
  depends: { minecraft: '1.20.1', glow: '*' },
}

function writeJar(name: string, manifest: Record<string, unknown> = MANIFEST): string {
  const salted = { ...manifest, custom: { salt: `${name} ${Math.random()}` } }
  writeFileSync(join(folder, name), makeZip([{ name: 'fabric.mod.json', data: JSON.stringify(salted) }]))
  return name
}

test('a version is published with the values of its archive; the address is the result', async () => {
  const slug = await newProject()
  writeJar('build/libs/lantern-1.2.0.jar')
  const { code, result, notes } = await publish(['--project', slug, '--files', 'build/libs/*.jar'])
  assert.equal(code, 0, notes)
  assert.equal(result, `${url}/mod/${slug}/version/1.2.0`)
  assert.match(notes, /glow, which is not a project here/)
  const page = await t.anyone.get(new URL(result).pathname, { headers: { accept: 'text/html' } })
  assert.equal(page.statusCode, 200)
  const [version] = (await t.anyone.get(`/v3/project/${slug}/version`)).json()
  assert.deepEqual(
    [version.version_number, version.loaders, version.game_versions, version.version_type],
    ['1.2.0', ['fabric'], ['1.20.1'], 'release'],
  )
})

test('the configuration file and options take precedence, in this order', async () => {
  const [slug, glow] = [await newProject(), await newProject()]
  writeJar('build/libs/lantern-1.2.0.jar')
  writeJar('build/libs/lantern-1.2.0-sources.jar')
  writeJar('build/libs/lantern-1.2.0-test.jar')
  writeFileSync(join(folder, 'CHANGES.md'), 'Brighter.\n')
  const config = {
    project: slug,
    files: ['build/libs/*.jar', '!build/libs/*-test.jar'],
    primary: 'lantern-1.2.0.jar',
    file_types: { 'lantern-1.2.0-sources.jar': 'sources-jar' },
    changelog: 'CHANGES.md',
    channel: 'alpha',
    dependencies: [{ project: glow, type: 'optional' }],
    fields: { environment: 'client_only' },
  }
  writeFileSync(join(folder, 'depot-publish.json'), JSON.stringify(config))
  const { code, result, notes } = await publish(['--channel', 'beta', '--name', 'Brighter', '--json'])
  assert.equal(code, 0, notes)
  const { id } = JSON.parse(result)
  const version = (await t.anyone.get(`/v3/version/${id}`)).json()
  assert.deepEqual(
    [version.name, version.version_type, version.changelog.trim(), version.environment],
    ['Brighter', 'beta', 'Brighter.', 'client_only'],
  )
  assert.deepEqual(
    version.files.map(({ filename, primary, file_type }: Record<string, unknown>) => [filename, primary, file_type]),
    [
      ['lantern-1.2.0.jar', true, null],
      ['lantern-1.2.0-sources.jar', false, 'sources-jar'],
    ],
  )
  assert.equal(version.dependencies[0].dependency_type, 'optional')
})

test('the changelog is the message of a tag', async () => {
  const slug = await newProject()
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=tests', '-c', 'user.email=tests@example.org', ...args], { cwd: folder })
  git('init', '--quiet')
  git('commit', '--quiet', '--allow-empty', '--message', 'A commit')
  git('tag', '--annotate', 'v1.2.0', '--message', 'Brighter\n\n- twice as bright')
  git('tag', 'light')
  writeJar('lantern.jar')
  const { code, result } = await publish(['--project', slug, 'lantern.jar', '--changelog-tag', 'v1.2.0', '--json'])
  assert.equal(code, 0)
  const version = (await t.anyone.get(`/v3/version/${JSON.parse(result).id}`)).json()
  assert.equal(version.changelog, 'Brighter\n\n- twice as bright')
  const light = await publish(['--project', slug, 'lantern.jar', '--changelog-tag', 'light'])
  assert.deepEqual([light.code, /has no message/.test(light.notes)], [2, true])
})

test('a dry run checks everything and publishes nothing', async () => {
  const slug = await newProject()
  writeJar('lantern.jar')
  const valid = await publish(['--project', slug, 'lantern.jar', '--dry-run'])
  assert.deepEqual([valid.code, valid.result], [0, 'Version 1.2.0 is valid. Nothing was published.'])
  const wrong = ['--version-number', 'x'.repeat(33), '--channel', 'gamma']
  const { code, notes } = await publish(['--project', slug, 'lantern.jar', '--dry-run', ...wrong])
  assert.equal(code, 1)
  assert.match(notes, /version_number: /)
  assert.match(notes, /release_channel: /)
  assert.deepEqual((await t.anyone.get(`/v3/project/${slug}/version`)).json(), [])
})

test('a job that runs twice publishes once', async () => {
  const slug = await newProject()
  writeJar('lantern.jar')
  const first = await publish(['--project', slug, 'lantern.jar', '--skip-existing'])
  const second = await publish(['--project', slug, 'lantern.jar', '--skip-existing'])
  assert.deepEqual([first.code, second.code, second.result], [0, 0, first.result])
  assert.match(second.notes, /nothing was published/)
  assert.equal((await t.anyone.get(`/v3/project/${slug}/version`)).json().length, 1)
})

describe('exit codes', () => {
  test('1: the instance rejects the request', async () => {
    writeJar('lantern.jar')
    assert.equal((await publish(['--project', 'nowhere', 'lantern.jar'])).code, 1)
    const slug = await newProject()
    const expired = await publish(['--project', slug, 'lantern.jar', '--json'], { DEPOT_TOKEN: 'dpp_wrong' })
    assert.equal(expired.code, 1)
    const error = JSON.parse(expired.result)
    assert.deepEqual([error.exit_code, error.status, error.error], [1, 401, 'unauthorized'])
  })

  test('2: the command is used wrongly, and nothing is sent', async () => {
    const server = await standIn((_, response) => response.writeHead(500).end())
    writeJar('lantern.jar')
    writeFileSync(join(folder, 'wrong.json'), JSON.stringify({ titel: 'Lantern' }))
    const cases: [RegExp, string[]][] = [
      [/--project/, ['lantern.jar']],
      [/--nonsense/, ['--nonsense']],
      [/No file matches missing\.jar/, ['--project', 'p', 'missing.jar']],
      [/at least one file/, ['--project', 'p']],
      [/cannot be read/, ['--project', 'p', 'lantern.jar', '--config', 'none.json']],
      [/titel is unknown/, ['--project', 'p', 'lantern.jar', '--config', 'wrong.json']],
      [/FILE=TYPE/, ['--project', 'p', 'lantern.jar', '--file-type', 'x']],
      [/number of seconds/, ['--project', 'p', 'lantern.jar', '--timeout', 'soon']],
    ]
    for (const [pattern, args] of cases) {
      const { code, notes } = await publish(args, { DEPOT_URL: server.url, DEPOT_TOKEN: token })
      assert.deepEqual([code, pattern.test(notes)], [2, true], `${args.join(' ')}: ${notes}`)
    }
    const anonymous = await publish(['--project', 'p', 'lantern.jar'], { DEPOT_URL: server.url })
    assert.deepEqual([anonymous.code, /DEPOT_TOKEN/.test(anonymous.notes)], [2, true])
    assert.deepEqual(server.requests, [])
    server.close()
  })

  test('2: an archive that does not state the loaders needs the option', async () => {
    const slug = await newProject()
    writeFileSync(join(folder, 'unknown.jar'), makeZip([{ name: 'readme.txt', data: 'nothing' }]))
    const { code, notes } = await publish(['--project', slug, 'unknown.jar'])
    assert.equal(code, 2)
    assert.match(notes, /Add --version-number, --loaders/)
  })

  test('3: the instance is unavailable', async () => {
    const server = await standIn((_, response) => response.writeHead(503, { 'retry-after': '0' }).end())
    writeJar('lantern.jar')
    const { code, notes } = await publish(['--project', 'p', 'lantern.jar'], {
      DEPOT_URL: server.url,
      DEPOT_TOKEN: token,
    })
    assert.equal(code, 3)
    assert.match(notes, /HTTP 503\. Trying again in 0 seconds\./)
    server.close()
  })

  test('4: the version is published, but not public in time', async () => {
    const slug = await newProject({ isPublic: false })
    writeJar('lantern.jar')
    const { code, result, notes } = await publish(['--project', slug, 'lantern.jar', '--timeout', '0'])
    assert.deepEqual([code, result], [4, `${url}/mod/${slug}/version/1.2.0`])
    assert.match(notes, /not public/)
    writeJar('lantern.jar')
    const second = await publish(['--project', slug, 'lantern.jar', '--version-number', '1.2.1', '--no-wait'])
    assert.equal(second.code, 0, second.notes)
  })
})

test('the help names every option', async () => {
  const { code, result } = await publish(['--help'])
  assert.equal(code, 0)
  for (const option of ['--project', '--files', '--dry-run', '--changelog-tag', '--timeout'])
    assert.ok(result.includes(option))
})

describe('the identity of a CI job', () => {
  /** An instance whose exchange is a stand-in: everything else goes to the application. */
  async function instance(accept: (jwt: string) => boolean) {
    const exchanged: unknown[] = []
    const server = await standIn(async (request, response, body) => {
      const json = (status: number, value: unknown): void =>
        void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
      if (request.url === '/.well-known/depot-publishing') {
        const endpoint = 'https://depot.example/_internal/oidc/token'
        return json(200, { audience: 'https://depot.example', token_endpoint: endpoint })
      }
      if (request.url === '/_internal/oidc/token') {
        if (request.method === 'DELETE') {
          exchanged.push(`revoked ${request.headers.authorization === `Bearer ${token}`}`)
          return void response.writeHead(204).end()
        }
        const sent = JSON.parse(body.toString())
        exchanged.push(sent)
        if (accept(sent.token)) return json(200, { access_token: token, token_type: 'Bearer', expires_in: 900 })
        const details = { code: 'no_publisher', message: 'workflow is ci.yml, expected release.yml' }
        return json(400, { error: 'invalid_input', description: 'No publisher', details })
      }
      const { host: _, connection: __, 'content-length': ___, 'transfer-encoding': ____, ...headers } = request.headers
      const answer = await fetch(`${url}${request.url}`, {
        method: request.method ?? 'GET',
        headers: headers as Record<string, string>,
        ...(body.length > 0 ? { body: Uint8Array.from(body) } : {}),
      })
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
      response.end(Buffer.from(await answer.arrayBuffer()))
    })
    return { ...server, exchanged }
  }

  test('a runner issues a token for the audience of the instance; the exchanged token is revoked at the end', async () => {
    const asked: unknown[] = []
    const runner = await standIn((request, response) => {
      asked.push([request.url, request.headers.authorization])
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ value: 'jwt of the job' }))
    })
    const depot = await instance((jwt) => jwt === 'jwt of the job')
    const slug = await newProject()
    writeJar('lantern.jar')
    const { code, notes } = await publish(['--project', slug, 'lantern.jar'], {
      DEPOT_URL: depot.url,
      ACTIONS_ID_TOKEN_REQUEST_URL: `${runner.url}/token?api-version=2`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of the runner',
    })
    assert.equal(code, 0, notes)
    assert.deepEqual(asked, [['/token?api-version=2&audience=https%3A%2F%2Fdepot.example', 'bearer of the runner']])
    assert.deepEqual(depot.exchanged, [{ token: 'jwt of the job', project: slug }, 'revoked true'])
    depot.close()
    runner.close()
  })

  test('GitLab provides the token in the environment; a refusal states its reason', async () => {
    const depot = await instance(() => false)
    writeJar('lantern.jar')
    const env = { DEPOT_URL: depot.url, DEPOT_ID_TOKEN: 'jwt of gitlab' }
    const { code, notes } = await publish(['--project', 'lantern', 'lantern.jar'], env)
    assert.equal(code, 1)
    assert.match(notes, /workflow is ci\.yml, expected release\.yml/)
    depot.close()
  })
})
