// depot-publish against the application: values from the archive, the configuration file and options; dry runs; errors.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { makeZip } from '#test/support/factories/archives.ts'
import { MANIFEST, openPublisher, type Publisher } from './publish-steps.ts'
import { standIn } from './stand-in.ts'

let p: Publisher
before(async () => {
  p = await openPublisher()
})
beforeEach(() => p.clear())
after(() => p?.close())

test('a version is published with the values of its archive; the address is the result', async () => {
  const slug = await p.newProject()
  p.writeJar('build/libs/lantern-1.2.0.jar')
  const { code, result, notes } = await p.publish(['--project', slug, '--files', 'build/libs/*.jar'])
  assert.equal(code, 0, notes)
  assert.equal(result, `${p.url}/mod/${slug}/version/1.2.0`)
  assert.match(notes, /glow, which is not a project here/)
  const page = await p.t.anyone.get(new URL(result).pathname, { headers: { accept: 'text/html' } })
  assert.equal(page.statusCode, 200)
  const [version] = (await p.t.anyone.get(`/v3/project/${slug}/version`)).json()
  assert.deepEqual(
    [version.version_number, version.loaders, version.game_versions, version.version_type],
    ['1.2.0', ['fabric'], ['1.20.1'], 'release'],
  )
})

test('the configuration file and options take precedence, in this order', async () => {
  const [slug, glow] = [await p.newProject(), await p.newProject()]
  p.writeJar('build/libs/lantern-1.2.0.jar')
  p.writeJar('build/libs/lantern-1.2.0-sources.jar')
  p.writeJar('build/libs/lantern-1.2.0-test.jar')
  writeFileSync(join(p.folder, 'CHANGES.md'), 'Brighter.\n')
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
  writeFileSync(join(p.folder, 'depot-publish.json'), JSON.stringify(config))
  const { code, result, notes } = await p.publish(['--channel', 'beta', '--name', 'Brighter', '--json'])
  assert.equal(code, 0, notes)
  const { id } = JSON.parse(result)
  const version = (await p.t.anyone.get(`/v3/version/${id}`)).json()
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
  const slug = await p.newProject()
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=tests', '-c', 'user.email=tests@example.org', ...args], { cwd: p.folder })
  git('init', '--quiet')
  git('commit', '--quiet', '--allow-empty', '--message', 'A commit')
  git('tag', '--annotate', 'v1.2.0', '--message', 'Brighter\n\n- twice as bright')
  git('tag', 'light')
  p.writeJar('lantern.jar')
  const { code, result } = await p.publish(['--project', slug, 'lantern.jar', '--changelog-tag', 'v1.2.0', '--json'])
  assert.equal(code, 0)
  const version = (await p.t.anyone.get(`/v3/version/${JSON.parse(result).id}`)).json()
  assert.equal(version.changelog, 'Brighter\n\n- twice as bright')
  const light = await p.publish(['--project', slug, 'lantern.jar', '--changelog-tag', 'light'])
  assert.deepEqual([light.code, /has no message/.test(light.notes)], [2, true])
})

test('a dry run checks everything and publishes nothing', async () => {
  const slug = await p.newProject()
  p.writeJar('lantern.jar')
  const valid = await p.publish(['--project', slug, 'lantern.jar', '--dry-run'])
  assert.deepEqual([valid.code, valid.result], [0, 'Version 1.2.0 is valid. Nothing was published.'])
  const wrong = ['--version-number', 'x'.repeat(33), '--channel', 'gamma']
  const { code, notes } = await p.publish(['--project', slug, 'lantern.jar', '--dry-run', ...wrong])
  assert.equal(code, 1)
  assert.match(notes, /version_number \(--version-number\): /)
  assert.match(notes, /release_channel \(--channel\): /)
  assert.deepEqual((await p.t.anyone.get(`/v3/project/${slug}/version`)).json(), [])
})

test('a job that runs twice publishes once', async () => {
  const slug = await p.newProject()
  p.writeJar('lantern.jar')
  const first = await p.publish(['--project', slug, 'lantern.jar', '--skip-existing'])
  const second = await p.publish(['--project', slug, 'lantern.jar', '--skip-existing'])
  assert.deepEqual([first.code, second.code, second.result], [0, 0, first.result])
  assert.match(second.notes, /nothing was published/)
  assert.equal((await p.t.anyone.get(`/v3/project/${slug}/version`)).json().length, 1)
})

describe('exit codes', () => {
  test('1: the instance rejects the request', async () => {
    p.writeJar('lantern.jar')
    assert.equal((await p.publish(['--project', 'nowhere', 'lantern.jar'])).code, 1)
    const slug = await p.newProject()
    const expired = await p.publish(['--project', slug, 'lantern.jar', '--json'], { DEPOT_TOKEN: 'dpp_wrong' })
    assert.equal(expired.code, 1)
    const error = JSON.parse(expired.result)
    assert.deepEqual([error.exit_code, error.status, error.error], [1, 401, 'unauthorized'])
  })

  test('2: the command is used wrongly, and nothing is sent', async () => {
    const server = await standIn((_, response) => response.writeHead(500).end())
    p.writeJar('lantern.jar')
    writeFileSync(join(p.folder, 'wrong.json'), JSON.stringify({ titel: 'Lantern' }))
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
      const { code, notes } = await p.publish(args, { DEPOT_URL: server.url, DEPOT_TOKEN: p.token })
      assert.deepEqual([code, pattern.test(notes)], [2, true], `${args.join(' ')}: ${notes}`)
    }
    const anonymous = await p.publish(['--project', 'p', 'lantern.jar'], { DEPOT_URL: server.url })
    assert.deepEqual([anonymous.code, /DEPOT_TOKEN/.test(anonymous.notes)], [2, true])
    assert.deepEqual(server.requests, [])
    server.close()
  })

  test('2: an archive that does not state the loaders needs the option', async () => {
    const slug = await p.newProject()
    writeFileSync(join(p.folder, 'unknown.jar'), makeZip([{ name: 'readme.txt', data: 'nothing' }]))
    const { code, notes } = await p.publish(['--project', slug, 'unknown.jar'])
    assert.equal(code, 2)
    assert.match(notes, /Add --version-number, --loaders/)
  })

  test('2: the archive does not state a value that the instance requires', async () => {
    const slug = await p.newProject()
    const { depends: _, ...manifest } = MANIFEST
    p.writeJar('anywhere.jar', { ...manifest, depends: {} })
    const { code, notes } = await p.publish(['--project', slug, 'anywhere.jar'])
    assert.equal(code, 2, notes)
    assert.match(notes, /--game-versions/)
    const broken = await p.publish(['--project', slug, 'anywhere.jar'], { DEPOT_URL: 'https://', DEPOT_TOKEN: p.token })
    assert.deepEqual([broken.code, /must be the URL of an instance/.test(broken.notes)], [2, true])
  })

  test('the changelog has no byte order mark', async () => {
    const slug = await p.newProject()
    p.writeJar('marked.jar')
    writeFileSync(join(p.folder, 'changes.md'), '\uFEFF# Brighter')
    writeFileSync(join(p.folder, 'marked.json'), `\uFEFF${JSON.stringify({ channel: 'beta' })}`)
    const args = ['--project', slug, 'marked.jar', '--changelog', 'changes.md', '--config', 'marked.json', '--json']
    const { code, result, notes } = await p.publish(args)
    assert.equal(code, 0, notes)
    const version = (await p.t.anyone.get(`/v3/version/${JSON.parse(result).id}`)).json()
    assert.deepEqual([version.changelog, version.version_type], ['# Brighter', 'beta'])
  })

  test('3: the instance is unavailable', async () => {
    const server = await standIn((_, response) => response.writeHead(503, { 'retry-after': '0' }).end())
    p.writeJar('lantern.jar')
    const { code, notes } = await p.publish(['--project', 'p', 'lantern.jar'], {
      DEPOT_URL: server.url,
      DEPOT_TOKEN: p.token,
    })
    assert.equal(code, 3)
    assert.match(notes, /HTTP 503\. Trying again in 0 s/)
    server.close()
  })

  test('4: the version is published, but not public in time', async () => {
    const slug = await p.newProject({ isPublic: false })
    p.writeJar('lantern.jar')
    const { code, result, notes } = await p.publish(['--project', slug, 'lantern.jar', '--timeout', '0'])
    assert.deepEqual([code, result], [4, `${p.url}/mod/${slug}/version/1.2.0`])
    assert.match(notes, /not public/)
    p.writeJar('lantern.jar')
    const second = await p.publish(['--project', slug, 'lantern.jar', '--version-number', '1.2.1', '--no-wait'])
    assert.equal(second.code, 0, second.notes)
  })
})

describe('an address that is not the instance', () => {
  const cases: [number, RegExp, (response: ServerResponse) => void][] = [
    [2, /is not an instance of Depot/, (response) => response.writeHead(200).end('<h1>Home</h1>')],
    [2, /redirects to https:\/\/depot\.example: use that URL/, (response) => redirect(response)],
    [1, /HTTP 404 Not Found; the response is not from Depot/, (response) => response.writeHead(404).end('<h1>No</h1>')],
  ]
  const redirect = (response: ServerResponse) =>
    response.writeHead(308, { location: 'https://depot.example/v3/project/p' }).end()
  for (const [code, pattern, respond] of cases) {
    test(`${pattern.source}`, async () => {
      const server = await standIn((_, response) => respond(response))
      p.writeJar('lantern.jar')
      const env = { DEPOT_URL: server.url, DEPOT_TOKEN: p.token }
      const outcome = await p.publish(['--project', 'p', 'lantern.jar'], env)
      assert.equal(outcome.code, code, outcome.notes)
      assert.match(outcome.notes, pattern)
      assert.equal(server.requests.filter((one) => !one.includes('/.well-known/')).length, 1)
      server.close()
    })
  }

  test('nothing listens there', async () => {
    const server = await standIn(() => undefined)
    server.close()
    p.writeJar('lantern.jar')
    const env = { DEPOT_URL: server.url, DEPOT_TOKEN: p.token }
    const { code, notes } = await p.publish(['--project', 'p', 'lantern.jar'], env)
    assert.equal(code, 3)
    assert.match(notes, /cannot be reached: connect ECONNREFUSED/)
  })
})

test('a token that is not valid is named', async () => {
  const slug = await p.newProject()
  p.writeJar('lantern.jar')
  const { code, notes } = await p.publish(['--project', slug, 'lantern.jar'], { DEPOT_TOKEN: `${p.token}x` })
  assert.equal(code, 1)
  assert.match(notes, /does not accept the token in DEPOT_TOKEN: The token is unknown/)
  const spaced = await p.publish(['--project', slug, 'lantern.jar', '--dry-run'], { DEPOT_TOKEN: `${p.token}\n` })
  assert.equal(spaced.code, 0, spaced.notes)
})

test('the errors of a version name their options; a similar option is proposed', async () => {
  const slug = await p.newProject()
  p.writeJar('lantern.jar')
  const { notes } = await p.publish(['--project', slug, 'lantern.jar', '--channel', 'gamma'])
  assert.match(notes, /Error: The instance rejected the version:\n {2}release_channel \(--channel\): must be one of/)
  const unknown = await p.publish(['--projct', slug])
  assert.match(unknown.notes, /Unknown option --projct\. Did you mean --project\?/)
  const absent = await p.publish(['--project', slug, 'lantern.jar', '--dependency', 'no-such-project'])
  assert.deepEqual([absent.code, /no project no-such-project, which --dependency names/.test(absent.notes)], [1, true])
  const nowhere = await p.publish(['--project', 'no-such-project', 'lantern.jar'])
  assert.match(nowhere.notes, /has no project no-such-project that this token can read/)
})

test('the help names every option', async () => {
  const { code, result } = await p.publish(['--help'])
  assert.equal(code, 0)
  for (const option of ['--project', '--files', '--dry-run', '--changelog-tag', '--timeout'])
    assert.ok(result.includes(option))
})
