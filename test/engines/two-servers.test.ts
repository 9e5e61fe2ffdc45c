// Two processes with one database, S3 store and Redis behave as one Depot. If an engine is unavailable, the other
// features continue to work and Depot reports the failure.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openS3Files } from '#ports/files/s3/s3-files.ts'
import { type TestDatabase, testDatabase } from '#test/support/app/database.ts'
import { type Engine, startEngine } from '#test/support/engines/engine.ts'
import { createFactories, type MadeProject } from '#test/support/factories/factories.ts'
import { depot, makeDataDir, type RunningDepot, startDepot } from '#test/support/processes/running-depot.ts'

const KEY = 'engines-bypass-key-0123456789abcdefgh'
const PASSWORD = 'violet-harbour-lantern-42'
const [s3, redis] = await Promise.all([startEngine('s3'), startEngine('redis')])
const missing = [s3, redis].filter((engine) => typeof engine === 'string')

describe('two processes, one S3 store, one Redis', { skip: missing.length > 0 && missing.join('; ') }, () => {
  const store = s3 as Engine
  const counters = redis as Engine
  const folders = [makeDataDir(), makeDataDir()] as const
  let database: TestDatabase
  let env: Record<string, string>
  let one: RunningDepot
  let other: RunningDepot
  let project: MadeProject
  let path = ''

  before(async () => {
    database = await testDatabase()
    env = {
      DATABASE_URL: database.connectionString,
      RATE_LIMIT_BYPASS_KEY: KEY,
      CLIENT_ADDRESS_HEADER: 'X-Address',
      LOG_LEVEL: 'warn',
      ...store.settings,
      ...counters.settings,
    }
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: env['AWS_ACCESS_KEY_ID'],
      AWS_SECRET_ACCESS_KEY: env['AWS_SECRET_ACCESS_KEY'],
    })
    const location = {
      bucket: env['S3_BUCKET'] ?? '',
      endpoint: env['S3_ENDPOINT'],
      region: 'us-east-1',
      pathStyle: true,
      prefix: '',
    }
    const files = await openS3Files({ location, staging: `${folders[0].dataDir}/staging`, links: false })
    const make = createFactories({ db: database.db, files, now: Date.now })
    project = await make.project()
    const version = await make.version({ project })
    await make.file({ version, project, bytes: Buffer.from('kept in a bucket') })
    await files.close()
    path = `/data/${project.id}/versions/${version.id}/test.jar`
    one = await startDepot(folders[0].dataDir, env)
    other = await startDepot(folders[1].dataDir, { ...env, S3_DOWNLOADS: 'redirect' }, ['--role', 'api'])
  })
  after(async () => {
    await Promise.all([one?.stop('SIGKILL'), other?.stop('SIGKILL')])
    await Promise.all([store.remove(), counters.remove(), database?.close()])
    for (const { remove } of folders) remove()
  })

  const send = (to: RunningDepot, url: string, address: string, init: RequestInit = {}) =>
    fetch(to.url + url, {
      redirect: 'manual',
      ...init,
      headers: { 'user-agent': 'depot-tests/1.0', 'x-address': address, ...(init.headers as Record<string, string>) },
    })

  async function dependencies(to: RunningDepot): Promise<Record<string, { status: string }>> {
    const answer = await (await send(to, '/ready', '10.9.9.9')).json()
    return (answer as { dependencies: Record<string, { status: string }> }).dependencies
  }

  async function untilReady(to: RunningDepot, name: string): Promise<void> {
    while ((await dependencies(to))[name]?.status !== 'ok') await sleep(50)
  }

  test('a request rate is one for both', async () => {
    const flood = (address: string) =>
      Promise.all(Array.from({ length: 400 }, (_, i) => send(i % 2 ? one : other, '/v3/tag/loader', address)))
    // On a machine that is too busy for an answer of Redis within half a second, a process counts for itself: then again.
    for (let run = 0; ; run += 1) {
      const answers = await flood(`10.1.0.${10 + run}`)
      if (!answers.every((answer) => answer.headers.get('x-ratelimit-limit') === '300')) continue
      const passed = answers.filter(({ status }) => status === 200).length
      // A burst of 300, and five more for each second that the machine needs.
      assert.ok(passed >= 300 && passed < 400, `${passed} passed`)
      assert.equal(answers.filter(({ status }) => status === 429).length, 400 - passed)
      return
    }
  })

  test('wrong passwords are counted by both', async () => {
    await depot(
      folders[0].dataDir,
      ['user', 'create', '--username', 'guessed', '--email', 'g@example.org', '--password', PASSWORD],
      env,
    )
    const guess = (to: RunningDepot, password: string) =>
      send(to, '/_internal/auth/login', '10.2.0.2', {
        method: 'POST',
        body: JSON.stringify({ username: 'guessed', password }),
        headers: { 'content-type': 'application/json', 'x-ratelimit-key': KEY },
      })
    const statuses = (
      await Promise.all(Array.from({ length: 24 }, (_, i) => guess(i % 2 ? one : other, `wrong ${i}`)))
    ).map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 401).length, 10, String(statuses))
    assert.equal((await guess(other, PASSWORD)).status, 429)
  })

  test('a file is passed through by one and redirected to by the other, and both count', async () => {
    const passed = await send(one, path, '10.2.0.3')
    assert.deepEqual([passed.status, await passed.text()], [200, 'kept in a bucket'])
    const redirected = await send(other, path, '10.2.0.4')
    assert.equal(redirected.status, 302)
    assert.equal(redirected.headers.get('cache-control'), 'private, no-store')
    assert.equal(redirected.headers.get('etag'), null)
    const fetched = await fetch(redirected.headers.get('location') ?? '', { headers: { range: 'bytes=5-6' } })
    assert.deepEqual([fetched.status, await fetched.text()], [206, 'in'])
    assert.match(fetched.headers.get('content-disposition') ?? '', /^attachment; filename="test\.jar"/)
    const head = await send(other, path, '10.2.0.4', { method: 'HEAD' })
    assert.equal(head.status, 200)
    const stored = async (to: RunningDepot) =>
      /depot_analytics_events_total\{kind="download",outcome="stored"\} (\d+)/.exec(
        await (await send(to, '/metrics', '10.9.9.9')).text(),
      )?.[1]
    for (const to of [one, other]) while ((await stored(to)) !== '1') await sleep(50)
  })

  test('metrics contain the duration of calls to the engines', async () => {
    const text = await (await send(one, '/metrics', '10.9.9.9')).text()
    assert.match(text, /depot_engine_seconds_count\{engine="redis",operation="take"\} \d+/)
    assert.match(text, /depot_engine_seconds_count\{engine="s3",operation="getObject"\} [1-9]/)
  })

  test('Redis killed: each process counts for itself under a smaller limit, and together again when it is back', async () => {
    counters.signal('SIGKILL')
    const answers = await Promise.all(Array.from({ length: 90 }, () => send(one, '/v3/tag/loader', '10.2.0.5')))
    const passed = answers.filter(({ status }) => status === 200).length
    assert.ok(passed >= 60 && passed < 90, `${passed} passed`)
    assert.equal(answers.filter(({ status }) => status === 429).length, 90 - passed)
    assert.equal((await dependencies(one))['counters']?.status, 'degraded')
    await counters.start()
    await untilReady(one, 'counters')
    while ((await send(one, '/v3/tag/loader', '10.2.0.6')).headers.get('x-ratelimit-limit') !== '300') await sleep(50)
  })

  test('with S3 killed, downloads return 503 with the reason, uploads fail before their body is read, and other requests succeed', async () => {
    store.signal('SIGKILL')
    const refused = await send(one, path, '10.2.0.7')
    const body = (await refused.json()) as { error: string; description: string }
    assert.deepEqual([refused.status, body.error, refused.headers.get('retry-after')], [503, 'file_hosting_error', '5'])
    assert.match(body.description, /file store does not respond/)
    assert.equal((await dependencies(one))['files']?.status, 'failing')
    assert.equal((await send(one, `/v3/project/${project.id}`, '10.2.0.7')).status, 200)

    // The head of an upload alone: the answer comes without a byte of it.
    const { hostname, port } = new URL(one.url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    const head = [
      'POST /v3/version HTTP/1.1',
      `Host: ${hostname}`,
      'User-Agent: depot-tests/1.0',
      'X-Address: 10.2.0.8',
      `Authorization: ${project.owner.token}`,
      'Content-Type: multipart/form-data; boundary=x',
      'Content-Length: 1000000',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    const [first] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    assert.match(first.toString(), /^HTTP\/1\.1 503 /)

    await store.start()
    await untilReady(one, 'files')
    const again = await send(one, path, '10.2.0.9')
    assert.deepEqual([again.status, await again.text()], [200, 'kept in a bucket'])
  })

  test('a start with an invalid setting fails and names the setting', async () => {
    for (const [wrong, sentence] of [
      [{ S3_BUCKET: 'no-such-bucket' }, /^files: failing .*the bucket does not exist. Create it, or check S3_BUCKET/m],
      [{ AWS_SECRET_ACCESS_KEY: 'another-secret' }, /^files: failing .*(Check the keys|keys are invalid)/m],
      [
        { REDIS_URL: `redis://depot:hidden@127.0.0.1:${counters.port}` },
        /^counters: failing .*WRONGPASS.*Check the user and the password in REDIS_URL/m,
      ],
    ] as const) {
      const { code, stdout, stderr } = await depot(folders[0].dataDir, ['check'], { ...env, ...wrong })
      assert.equal(code, 1, stderr)
      assert.match(stdout, sentence)
      assert.doesNotMatch(stdout + stderr, /hidden|another-secret|\n\s+at /)
    }
  })
})
