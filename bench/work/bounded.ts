// Answers for the largest entities: processor time of the main thread, the longest time that a request holds the event loop,
// and the time in the database. The lowest of several requests counts.

import { measurePool } from '#test/support/app/measured-pool.ts'
import { BYPASS_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { addNotifications, addOwnedDependents, addVersions } from '#test/support/factories/largest.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { longestHoldMs, processorMs, slowness } from '#test/support/processes/processor-time.ts'
import { withPostgres } from '../kit/own-postgres.ts'
import { type Row, row } from '../kit/table.ts'

const REPEATS = 5
const NOTIFICATIONS = 10_000
/** No request may hold the event loop for longer, in milliseconds of processor time. */
const HOLD_MS_MAX = 10

export function benchBounded(): Promise<Row[]> {
  return withPostgres(async (url) => {
    process.env['TEST_DATABASE_URL'] = url
    const t = await testApp({ watch: () => undefined })
    try {
      return await measureAll(t)
    } finally {
      await t.close()
    }
  })
}

async function measureAll(t: TestApp): Promise<Row[]> {
  const owner = await t.make.account()
  const organization = await teamFactories(t.deps.db).organization(owner)
  const project = await t.make.project({ owner, slug: 'largest' })
  await addVersions(t, project, await t.make.project({ owner }))
  await addOwnedDependents(t, project, organization.id)
  await addNotifications(t, owner.id, NOTIFICATIONS)
  const collection = await t.as(owner).post('/v3/collection', { name: 'Largest', description: 'All', projects: [] })
  const collected = Array.from({ length: 1024 }, (_, n) => `Lp${String(n + 1).padStart(6, '0')}`)
  const changed = await t.as(owner).patch(`/v3/collection/${collection.json().id}`, { new_projects: collected })
  if (changed.statusCode >= 300) throw new Error(changed.body)
  await t.searchable()
  const empty = { after: 'with empty caches', run: async () => t.deps.cache.clear() }
  let changes = 0
  const change = {
    after: 'after a change of the organization',
    run: async () => {
      changes += 1
      const body = { description: `Description ${changes}` }
      const { statusCode } = await t.as(owner).patch(`/v3/organization/${organization.id}`, body)
      if (statusCode !== 204) throw new Error(`The organization was not changed: ${statusCode}`)
    },
  }
  const ask = (path: string, atMost: number, options: Partial<Asked> = {}) =>
    measure(t, { path, atMost, owner, ...options })
  return [
    ...(await ask(`/v3/user/${owner.id}/notifications`, 20)),
    ...(await ask(`/v2/user/${owner.id}/notifications`, 20)),
    ...(await ask(`/v3/user/${owner.id}/notifications?limit=100`, 5)),
    ...(await ask('/v3/project/largest/version', 60, { prepare: empty })),
    ...(await ask('/v2/project/largest/version', 60, { prepare: empty })),
    ...(await ask('/v3/project/largest/version', 60)),
    ...(await ask('/v3/project/largest/version?limit=100', 5)),
    ...(await ask('/v3/project/largest/dependents?limit=100&offset=4900', 10, { databaseAtMost: 5 })),
    ...(await ask(`/organization/${organization.slug}`, 10)),
    ...(await ask(`/organization/${organization.slug}`, 10, { prepare: change })),
    ...(await ask(`/organization/${organization.slug}/releases.atom`, 10)),
    ...(await ask(`/collection/${collection.json().id}`, 10)),
    ...(await ask(`/collection/${collection.json().id}/releases.atom`, 10)),
    ...(await ask('/sitemap-mods-1.xml', 10)),
  ]
}

/** Returns the time, in milliseconds, that the database needs for the statements of a request. The lowest of each counts. */
async function databaseMs(t: TestApp, send: () => Promise<unknown>): Promise<number> {
  const { statements } = await measurePool(t.deps.pool).measure(send)
  let total = 0
  for (const { text, values } of statements) {
    const times: number[] = []
    for (let n = 0; n < REPEATS; n += 1) {
      const { rows } = await t.deps.pool.query(`explain (analyze, format json) ${text}`, [...values])
      const [plan] = rows[0]['QUERY PLAN']
      times.push(plan['Planning Time'] + plan['Execution Time'])
    }
    total += Math.min(...times)
  }
  return total
}

/** `prepare` runs before each request. */
type Asked = {
  path: string
  atMost: number
  owner: Person
  prepare?: { after: string; run(): Promise<void> }
  databaseAtMost?: number
}

async function measure(t: TestApp, { path, atMost, owner, prepare, databaseAtMost }: Asked): Promise<Row[]> {
  const times: number[] = []
  const holds: number[] = []
  const scale = slowness()
  const send = async () => {
    const authorization = path.startsWith('/v') ? { authorization: owner.token } : {}
    const headers = { 'x-ratelimit-key': BYPASS_KEY, ...authorization }
    // As a stream: otherwise the test client copies the response and converts it to text, which takes 9 ms for 7 MB.
    const answer = await t.inject({ method: 'GET', url: path, headers, payloadAsStream: true })
    let size = 0
    for await (const chunk of answer.stream()) size += chunk.length
    if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode}`)
    return size
  }
  let bytes = await send()
  for (let n = 0; n < REPEATS; n += 1) {
    await prepare?.run()
    times.push((await processorMs(send)).ms / scale)
    await prepare?.run()
    const { result, ms } = await longestHoldMs(send)
    bytes = result
    holds.push(ms / scale)
  }
  const name = `${path.replace(owner.id, 'me')}${prepare === undefined ? '' : `, ${prepare.after}`}`
  const detail = `${Math.round(bytes / 1000)} KB`
  return [
    row(`main thread, ${name}`, Math.min(...times), { atMost }, ' ms', detail),
    row(`longest hold, ${name}`, Math.min(...holds), { atMost: HOLD_MS_MAX }, ' ms'),
    ...(databaseAtMost === undefined
      ? []
      : [row(`database, ${name}`, await databaseMs(t, send), { atMost: databaseAtMost }, ' ms')]),
  ]
}
