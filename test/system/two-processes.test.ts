// Two processes with one database: users always see their own writes, the other process shows them within moments, and
// one-time work happens once.
import assert from 'node:assert/strict'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Depot } from '#client/index.ts'
import { HOUR_MS } from '#lib/time.ts'
import { type TestDatabase, testDatabase } from '#test/support/app/database.ts'
import { apiClient } from '#test/support/http/api-client.ts'
import { modJar, projectData, versionData } from '#test/support/http/forms.ts'
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

/** A client of one of the processes. */
const clientOf = (at: number, token?: string): Depot =>
  apiClient(processes[at % processes.length]?.url ?? '', {
    token,
    headers: { 'x-ratelimit-key': BYPASS_KEY, 'x-admin-key': ADMIN_KEY },
  })

const statusesOf = async (sent: Promise<{ response: Response }>[]): Promise<number[]> =>
  (await Promise.all(sent)).map(({ response }) => response.status).sort()

async function signUp(at: number, username: string): Promise<string> {
  const body = { username, email: `${username}@example.org`, password: PASSWORD }
  const { session } = await clientOf(at).post('/_internal/auth/create', { body })
  return String(session)
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
    const { id } = await clientOf(n, token).post('/v3/collection', { body: { name: 'Number 0' } })
    ids.push(id)
  }
  const written = ids.map(() => ({ number: 0, at: performance.now() }))
  const numberAt = async (at: number, thing: number): Promise<number> => {
    const { name } = await clientOf(at).get('/v3/collection/{id}', { params: { path: { id: ids[thing] ?? '' } } })
    return Number(name.split(' ')[1])
  }
  const times: number[] = []
  let oldest = 0
  for (let step = 1; step <= STEPS; step += 1) {
    const [at, thing] = [random(2), random(THINGS)]
    const last = written[thing] ?? { number: 0, at: 0 }
    if (random(3) === 0) {
      const params = { path: { id: ids[thing] ?? '' } }
      await clientOf(at, token).patch('/v3/collection/{id}', { params, body: { name: `Number ${step}` } })
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
    const sale = { external_id: `sale-${n}`, affiliate_code_id: 'AAAAaaaa', amount: '10.00', at: SOLD }
    const sold = [0, 1].map((at) => clientOf(at).api.POST('/_internal/admin/affiliate-conversion', { body: sale }))
    assert.deepEqual(await statusesOf(sold), [200, 201])
    const guild = { slug: `guild-${n}`, name: 'A guild', description: 'A group of weavers' }
    const made = [0, 1].map((at) => clientOf(at, author).api.POST('/v3/organization', { body: guild }))
    assert.deepEqual(await statusesOf(made), [201, 409])
  }
  const { rows } = await database.pool.query('select count(*)::int as count from affiliate_conversion')
  assert.equal(rows[0]?.count, 5)

  // Each of two payouts would take all that there is.
  const balance = await clientOf(0, author).get('/v3/payout/balance')
  const pay = (at: number, external_id: string) => {
    const body = { external_id, user_id: account?.id ?? '', amount: balance.available }
    return clientOf(at).api.POST('/_internal/admin/payout', { body })
  }
  const paid = await statusesOf([pay(0, 'first'), pay(1, 'second'), pay(0, 'first'), pay(1, 'second')])
  assert.equal(paid.filter((status) => status === 201).length, 1, JSON.stringify(paid))
  const after = await clientOf(1, author).get('/v3/payout/balance')
  assert.deepEqual([Number(after.available), after.withdrawn_lifetime], [0, balance.available])

  const mails = async (): Promise<number> => {
    const names = await Promise.all(folders.map(({ dataDir }) => readdir(join(dataDir, 'outbox')).catch(() => [])))
    return names.flat().filter((name) => name.endsWith('.eml')).length
  }
  const waiting = async (): Promise<number> =>
    (await database.pool.query('select count(*)::int as count from graphile_worker.jobs where run_at <= now()')).rows[0]
      ?.count
  const sentBefore = await mails()
  for (let n = 0; n < 6; n += 1)
    await clientOf(n).post('/_internal/auth/password/reset', { body: { username: 'seller' } })
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
  const login = await clientOf(0).post('/_internal/auth/login', { body: { username: 'warden', password: PASSWORD } })
  assert.ok('session' in login)
  const warden = (at: number) => clientOf(at, String(login.session))
  const { id } = await warden(0).post('/v3/project', { body: projectData('clockwork') as never })
  const publish = async (n: number): Promise<string> => {
    const version = versionData({ project_id: id, version_number: `1.0.${n}` })
    const file = new File([new Uint8Array(modJar(`clockwork ${n}`))], `clockwork-${n}.jar`)
    return (await warden(n).publish(version as never, [file])).id
  }
  await publish(0)
  await warden(1).patch('/v3/project/{id}', { params: { path: { id } }, body: { status: 'approved' } })
  const ids = await Promise.all([1, 2, 3, 4].map(publish))
  const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
  for (const version of ids) {
    const body = { status: 'scheduled', requested_status: 'listed', scheduled_at } as const
    await warden(0).patch('/v3/version/{id}', { params: { path: { id: version } }, body })
  }
  const follower = await signUp(1, 'listener')
  await clientOf(1, follower).post('/v3/project/{id}/follow', { params: { path: { id } } })

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
