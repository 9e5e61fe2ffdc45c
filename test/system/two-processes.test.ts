// Two processes with one database: users always see their own writes, the other process shows them within moments, and
// one-time work happens once.
import assert from 'node:assert/strict'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { HOUR_MS } from '#lib/time.ts'
import { type TestDatabase, testDatabase } from '#test/support/app/database.ts'
import { form, modJar, projectData, versionData } from '#test/support/http/forms.ts'
import { depot, makeDataDir, type RunningDepot, startDepot } from '#test/support/processes/running-depot.ts'

const BYPASS_KEY = 'two-processes-bypass-key-0123456789abc'
const ADMIN_KEY = 'two-processes-admin-key-0123456789abcd'
const PASSWORD = 'violet-lighthouse-harbour-19'
const STEPS = 150
const THINGS = 3
/** So long ago that what it brought is the seller's. */
const SOLD = new Date(Date.now() - 90 * 86_400_000).toISOString()
/** Maximum age of data from the other process, on an idle machine. */
const STALE_MS_MAX = 200
/** A request that reads what is cached, on such a machine. */
const QUIET_REQUEST_MS = 3

const folders = [makeDataDir(), makeDataDir()] as const
let database: TestDatabase
let processes: RunningDepot[] = []

before(async () => {
  // Leftovers of processes that were killed seven hours ago.
  for (const { dataDir } of folders) {
    await mkdir(stagingOf(dataDir), { recursive: true })
    const left = join(stagingOf(dataDir), 'left.part')
    await writeFile(left, 'half an upload')
    await utimes(left, new Date(Date.now() - 7 * HOUR_MS), new Date(Date.now() - 7 * HOUR_MS))
  }
  database = await testDatabase()
  const env = {
    DATABASE_URL: database.connectionString,
    RATE_LIMIT_BYPASS_KEY: BYPASS_KEY,
    ADMIN_KEY,
    LOG_LEVEL: 'warn',
  }
  processes = await Promise.all(folders.map(({ dataDir }) => startDepot(dataDir, env)))
})
after(async () => {
  await Promise.all(processes.map((each) => each.stop()))
  await database?.close()
  for (const { remove } of folders) remove()
})

function stagingOf(dataDir: string): string {
  return join(dataDir, 'files/staging')
}

type Answer = { status: number; json: Record<string, unknown> }

async function call(
  at: number,
  path: string,
  init: { method?: string; token?: string; json?: object; form?: Awaited<ReturnType<typeof form>> } = {},
): Promise<Answer> {
  const response = await fetch(`${processes[at % processes.length]?.url}${path}`, {
    method: init.method ?? 'GET',
    headers: {
      'user-agent': 'depot-tests/1.0',
      'x-ratelimit-key': BYPASS_KEY,
      'x-admin-key': ADMIN_KEY,
      ...(init.json === undefined ? {} : { 'content-type': 'application/json' }),
      ...init.form?.headers,
      ...(init.token === undefined ? {} : { authorization: init.token }),
    },
    ...(init.json === undefined ? {} : { body: JSON.stringify(init.json) }),
    ...(init.form === undefined ? {} : { body: new Uint8Array(init.form.payload) }),
  })
  const text = await response.text()
  return { status: response.status, json: text.startsWith('{') ? JSON.parse(text) : {} }
}

async function signUp(at: number, username: string): Promise<string> {
  const json = { username, email: `${username}@example.org`, password: PASSWORD }
  const answer = await call(at, '/_internal/auth/create', { method: 'POST', json })
  assert.equal(answer.status, 201, JSON.stringify(answer.json))
  return String(answer.json['session'])
}

/** Numbers that look random and are the same in each run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

test('with random reads and writes, clients see their own writes, and others see them soon', async () => {
  const random = createRandom(7)
  const token = await signUp(0, 'weaver')
  const ids: string[] = []
  for (let n = 0; n < THINGS; n += 1) {
    const made = await call(n, '/v3/collection', { method: 'POST', token, json: { name: 'Number 0' } })
    assert.equal(made.status, 201)
    ids.push(String(made.json['id']))
  }
  const written = ids.map(() => ({ number: 0, at: performance.now() }))
  const numberAt = async (at: number, thing: number): Promise<number> => {
    const answer = await call(at, `/v3/collection/${ids[thing]}`)
    assert.equal(answer.status, 200)
    return Number(String(answer.json['name']).split(' ')[1])
  }
  const times: number[] = []
  let oldest = 0
  for (let step = 1; step <= STEPS; step += 1) {
    const [at, thing] = [random(2), random(THINGS)]
    const last = written[thing] ?? { number: 0, at: 0 }
    if (random(3) === 0) {
      const json = { name: `Number ${step}` }
      assert.equal((await call(at, `/v3/collection/${ids[thing]}`, { method: 'PATCH', token, json })).status, 204)
      written[thing] = { number: step, at: performance.now() }
      assert.equal(await numberAt(at, thing), step, 'its own write')
      continue
    }
    const asked = performance.now()
    let seen = await numberAt(at, thing)
    times.push(performance.now() - asked)
    // A read that started before the message of the write arrived can be outdated; the test measures for how long.
    let askedAt = asked
    while (seen !== last.number) {
      oldest = Math.max(oldest, askedAt - last.at)
      askedAt = performance.now()
      seen = await numberAt(at, thing)
    }
  }
  const slowness = Math.max(1, (times.sort((a, b) => a - b)[Math.floor(times.length * 0.9)] ?? 0) / QUIET_REQUEST_MS)
  // If a busy machine paused once, messages were delayed too.
  const stoodStillMs = 2 * (times.at(-1) ?? 0)
  const oldestMax = STALE_MS_MAX * slowness + stoodStillMs
  assert.ok(oldest <= oldestMax, `${oldest} ms old, requests are ${slowness} times slower than wanted`)
})

test('processes a request that both processes receive concurrently once: a payment, a name, an email', async () => {
  const author = await signUp(0, 'seller')
  const [account] = await database.db.selectFrom('account').select('id').where('username', '=', 'seller').execute()
  await database.db
    .insertInto('affiliate_code')
    .values({ id: 'AAAAaaaa', account_id: account?.id ?? '', source_name: 'Shop' })
    .execute()
  for (let n = 0; n < 5; n += 1) {
    const json = { external_id: `sale-${n}`, affiliate_code_id: 'AAAAaaaa', amount: '10.00', at: SOLD }
    const path = '/_internal/admin/affiliate-conversion'
    const answers = await Promise.all([0, 1].map((at) => call(at, path, { method: 'POST', json })))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 201])
    const organization = { slug: `guild-${n}`, name: 'A guild', description: 'A group of weavers' }
    const made = await Promise.all(
      [0, 1].map((at) => call(at, '/v3/organization', { method: 'POST', token: author, json: organization })),
    )
    assert.deepEqual(made.map(({ status }) => status).sort(), [201, 409])
  }
  const { rows } = await database.pool.query('select count(*)::int as count from affiliate_conversion')
  assert.equal(rows[0]?.count, 5)

  // Each of two payouts would take all that there is.
  const balance = await call(0, '/v3/payout/balance', { token: author })
  const pay = (at: number, external_id: string): Promise<Answer> => {
    const json = { external_id, user_id: account?.id, amount: balance.json['available'] }
    return call(at, '/_internal/admin/payout', { method: 'POST', json })
  }
  const paid = await Promise.all([pay(0, 'first'), pay(1, 'second'), pay(0, 'first'), pay(1, 'second')])
  assert.equal(paid.filter(({ status }) => status === 201).length, 1, JSON.stringify(paid))
  const after = await call(1, '/v3/payout/balance', { token: author })
  assert.deepEqual([Number(after.json['available']), after.json['withdrawn_lifetime']], [0, balance.json['available']])

  const mails = async (): Promise<number> => {
    const names = await Promise.all(folders.map(({ dataDir }) => readdir(join(dataDir, 'outbox')).catch(() => [])))
    return names.flat().filter((name) => name.endsWith('.eml')).length
  }
  const waiting = async (): Promise<number> =>
    (await database.pool.query('select count(*)::int as count from graphile_worker.jobs where run_at <= now()')).rows[0]
      ?.count
  const sentBefore = await mails()
  for (let n = 0; n < 6; n += 1) {
    const answer = await call(n, '/_internal/auth/password/reset', { method: 'POST', json: { username: 'seller' } })
    assert.equal(answer.status, 204)
  }
  // Both processes work on the one queue.
  while ((await waiting()) > 0) await new Promise((resolve) => setTimeout(resolve, 20))
  const sent = (await mails()) - sentBefore
  assert.equal(sent, 6)
})

test('each process removes the unfinished uploads on its own disk', async () => {
  for (const { dataDir } of folders) {
    while ((await readdir(stagingOf(dataDir))).includes('left.part')) await new Promise((r) => setTimeout(r, 20))
  }
})

test('publishes scheduled versions once and notifies followers once, though both processes find them several times', async () => {
  const [{ dataDir }] = folders
  const person = ['--username', 'warden', '--email', 'warden@example.org', '--password', PASSWORD]
  const made = await depot(dataDir, ['user', 'create', ...person, '--role', 'admin'], {
    DATABASE_URL: database.connectionString,
  })
  assert.equal(made.code, 0, made.stderr)
  const login = await call(0, '/_internal/auth/login', {
    method: 'POST',
    json: { username: 'warden', password: PASSWORD },
  })
  const token = String(login.json['session'])
  const project = await call(0, '/v3/project', { method: 'POST', token, json: projectData('clockwork') })
  const id = String(project.json['id'])
  const publish = async (n: number): Promise<string> => {
    const data = versionData({ project_id: id, version_number: `1.0.${n}` })
    const files = [{ name: 'file', filename: `clockwork-${n}.jar`, bytes: modJar(`clockwork ${n}`) }]
    const version = await call(n, '/v3/version', { method: 'POST', token, form: await form(data, files) })
    assert.equal(version.status, 201, JSON.stringify(version.json))
    return String(version.json['id'])
  }
  await publish(0)
  const approved = await call(1, `/v3/project/${id}`, { method: 'PATCH', token, json: { status: 'approved' } })
  assert.equal(approved.status, 204, JSON.stringify(approved.json))
  const ids = await Promise.all([1, 2, 3, 4].map(publish))
  const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
  for (const version of ids) {
    const json = { status: 'scheduled', requested_status: 'listed', scheduled_at }
    assert.equal((await call(0, `/v3/version/${version}`, { method: 'PATCH', token, json })).status, 204)
  }
  const follower = await signUp(1, 'listener')
  assert.equal((await call(1, `/v3/project/${id}/follow`, { method: 'POST', token: follower })).status, 204)

  // The hour has passed.
  await database.pool.query("update version set scheduled_at = now() - interval '1 second' where id = any($1)", [ids])
  await database.pool.query(
    `select graphile_worker.add_job('versions.release', json_build_object('version_id', id)) from unnest($1::text[]) as id,
      generate_series(1, 4)`,
    [ids],
  )
  await database.pool.query("select graphile_worker.add_job('releases.sweep') from generate_series(1, 4)")
  // The last step of each release is the notification; nothing more is due then.
  const left = async (): Promise<number> =>
    (await database.pool.query('select count(*)::int as count from graphile_worker.jobs where run_at <= now()')).rows[0]
      ?.count
  while ((await left()) > 0) await new Promise((resolve) => setTimeout(resolve, 20))
  const { rows } = await database.pool.query(
    `select version.status, count(notification.id)::int as heard from version left join notification
      on notification.body ->> 'version_id' = version.id and notification.account_id =
        (select id from account where username = 'listener')
      where version.id = any($1) group by version.id`,
    [ids],
  )
  assert.deepEqual(
    rows,
    ids.map(() => ({ status: 'listed', heard: 1 })),
  )
})
