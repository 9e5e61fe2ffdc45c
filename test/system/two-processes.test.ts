// Two processes over one database: nobody misses their own write, the other process shows it within moments, and nothing
// that is done once is done by both.
import assert from 'node:assert/strict'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { HOUR_MS } from '#lib/time.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { makeDataDir, type RunningDepot, startDepot } from '../support/running-depot.ts'

const BYPASS_KEY = 'two-processes-bypass-key-0123456789abc'
const ADMIN_KEY = 'two-processes-admin-key-0123456789abcd'
const PASSWORD = 'violet-lighthouse-harbour-19'
const STEPS = 150
const THINGS = 3
/** How old what another process shows may be, on a machine that does nothing else. */
const STALE_MS_MAX = 200
/** A request that reads what is cached, on such a machine. */
const QUIET_REQUEST_MS = 3

const folders = [makeDataDir(), makeDataDir()] as const
let database: TestDatabase
let processes: RunningDepot[] = []

before(async () => {
  // What processes were killed over, seven hours ago.
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
  init: { method?: string; token?: string; json?: object } = {},
): Promise<Answer> {
  const response = await fetch(`${processes[at % processes.length]?.url}${path}`, {
    method: init.method ?? 'GET',
    headers: {
      'user-agent': 'depot-tests/1.0',
      'x-ratelimit-key': BYPASS_KEY,
      'x-admin-key': ADMIN_KEY,
      ...(init.json === undefined ? {} : { 'content-type': 'application/json' }),
      ...(init.token === undefined ? {} : { authorization: init.token }),
    },
    ...(init.json === undefined ? {} : { body: JSON.stringify(init.json) }),
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

test('in random order of reads and writes nobody misses their own write, and nobody sees an old one for long', async () => {
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
    // What was asked for before the message of the write arrived may be old; for how long is what counts.
    let askedAt = asked
    while (seen !== last.number) {
      oldest = Math.max(oldest, askedAt - last.at)
      askedAt = performance.now()
      seen = await numberAt(at, thing)
    }
  }
  const slowness = Math.max(1, (times.sort((a, b) => a - b)[Math.floor(times.length * 0.9)] ?? 0) / QUIET_REQUEST_MS)
  assert.ok(oldest <= STALE_MS_MAX * slowness, `${oldest} ms old, requests are ${slowness} times slower than wanted`)
})

test('what is sent to both at once is done once: a payment, a name, a mail', async () => {
  const author = await signUp(0, 'seller')
  const [account] = await database.db.selectFrom('account').select('id').where('username', '=', 'seller').execute()
  await database.db
    .insertInto('affiliate_code')
    .values({ id: 'AAAAaaaa', account_id: account?.id ?? '', source_name: 'Shop' })
    .execute()
  for (let n = 0; n < 5; n += 1) {
    const json = { external_id: `sale-${n}`, affiliate_code_id: 'AAAAaaaa', amount: '10.00' }
    const path = '/_internal/admin/affiliate-conversion'
    const answers = await Promise.all([0, 1].map((at) => call(at, path, { method: 'POST', json })))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 201])
    const organization = { slug: `guild-${n}`, name: 'A guild', description: 'Of weavers' }
    const made = await Promise.all(
      [0, 1].map((at) => call(at, '/v3/organization', { method: 'POST', token: author, json: organization })),
    )
    assert.deepEqual(made.map(({ status }) => status).sort(), [201, 409])
  }
  const { rows } = await database.pool.query('select count(*)::int as count from affiliate_conversion')
  assert.equal(rows[0]?.count, 5)

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

test('each process removes the unfinished uploads of its own disk', async () => {
  for (const { dataDir } of folders) {
    while ((await readdir(stagingOf(dataDir))).includes('left.part')) await new Promise((r) => setTimeout(r, 20))
  }
})
