// Webhooks with two processes, one of which is killed between a request and its record: every event arrives, in the order
// of its subject, and only the requests of the killed process arrive twice. Receivers that never answer delay nobody.
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import type { Depot } from '#client/index.ts'
import { type TestDatabase, testDatabase } from '#test/support/app/database.ts'
import { apiClient } from '#test/support/http/api-client.ts'
import { projectData } from '#test/support/http/forms.ts'
import { makeDataDir, type RunningDepot, startDepot } from '#test/support/processes/running-depot.ts'
import { type Received, type Receiver, startReceiver } from '#test/support/stand-ins/receiver.ts'

const BYPASS_KEY = 'webhook-processes-bypass-key-0123456789'
const PASSWORD = 'violet-lighthouse-harbour-19'
/** Deliveries name the process by its address. */
const ADDRESSES = ['https://one.test', 'https://two.test'] as const
const PROJECTS = 6
const RENAMES = 4
const DEAD = 4

const folders = [makeDataDir(), makeDataDir()] as const
let database: TestDatabase
let processes: RunningDepot[] = []
let receiver: Receiver
let dead: Receiver

before(async () => {
  database = await testDatabase()
  receiver = await startReceiver()
  dead = await startReceiver('127.0.0.2')
  dead.answer(() => undefined)
  processes = await Promise.all(
    folders.map(({ dataDir }, at) =>
      startDepot(dataDir, {
        DATABASE_URL: database.connectionString,
        BASE_URL: ADDRESSES[at] ?? '',
        RATE_LIMIT_BYPASS_KEY: BYPASS_KEY,
        OUTGOING_ALLOW: '127.0.0.0/8',
        LOG_LEVEL: 'warn',
      }),
    ),
  )
})
after(async () => {
  dead.close()
  receiver.close()
  await Promise.all(processes.map((each) => each.stop()))
  await database?.close()
  for (const { remove } of folders) remove()
})

const clientOf = (token?: string): Depot =>
  apiClient(processes[0]?.url ?? '', { token, headers: { 'x-ratelimit-key': BYPASS_KEY } })

const isOfSecond = ({ headers }: Received): boolean => headers['user-agent']?.includes(ADDRESSES[1]) === true
const idOf = ({ headers }: Received): string => String(headers['webhook-id'])
const contentOf = ({ body }: Received): { timestamp: string; data: { project_id: string } } => JSON.parse(body)

/** Requests that a process sends to one host at the same time. */
const PER_HOST = 2

/**
 * Holds all requests until the second process has sent as many as it can, so that it has leased nothing else for this
 * receiver. Holds those of the second process without end.
 */
function holdUntilSecond(): { sent: Promise<void>; answerFirst(): void } {
  const held: ServerResponse[] = []
  let ofSecond = 0
  let isHolding = true
  const { promise, resolve } = Promise.withResolvers<void>()
  receiver.answer((received, res) => {
    if (isOfSecond(received)) {
      ofSecond += 1
      if (ofSecond === PER_HOST) resolve()
    } else if (isHolding) held.push(res)
    else res.writeHead(204).end()
  })
  return {
    sent: promise,
    answerFirst: () => {
      isHolding = false
      for (const res of held) res.writeHead(204).end()
    },
  }
}

test('after SIGKILL between request and record, every event arrives in order, and only those requests again', async () => {
  const body = { username: 'weaver', email: 'weaver@example.org', password: PASSWORD }
  const { session } = await clientOf().post('/_internal/auth/create', { body })
  const client = clientOf(String(session))
  const { id: owner } = await client.get('/v3/user')
  const projects: string[] = []
  for (let n = 0; n < PROJECTS; n += 1) {
    const { id } = await client.post('/v3/project', { body: projectData(`clockwork-${n}`) as never })
    projects.push(id)
  }
  const addWebhook = (url: string) =>
    client.post('/v3/webhook', {
      body: { owner: { kind: 'user', id: owner }, url, format: 'standard', events: ['project.updated'] },
    })
  for (let n = 0; n < DEAD; n += 1) await addWebhook(`${dead.url}/${n}`)
  const { id: webhook } = await addWebhook(`${receiver.url}/hook`)
  const gate = holdUntilSecond()
  for (let n = 0; n < RENAMES; n += 1) {
    for (const id of projects)
      await client.patch('/v3/project/{id}', { params: { path: { id } }, body: { name: `Name ${n}` } })
  }
  await Promise.all([gate.sent, dead.arrived(1)])
  assert.equal(await processes[1]?.stop('SIGKILL'), 'SIGKILL')
  const lost = receiver.received.filter(isOfSecond)
  gate.answerFirst()
  // The lease of the killed process ends by the clock of the database. It contains nothing that the other process sends.
  const { rowCount } = await database.pool.query(
    `update webhook_delivery set leased_until = to_timestamp(0)
    where webhook_id = $1 and state = 'pending' and leased_until is not null and subject = any($2)`,
    [webhook, lost.map((each) => `project ${contentOf(each).data.project_id}`)],
  )
  assert.equal(rowCount, PER_HOST)
  await receiver.arrived(PROJECTS * RENAMES + lost.length)

  const times = new Map<string, number>()
  for (const each of receiver.received) times.set(idOf(each), (times.get(idOf(each)) ?? 0) + 1)
  assert.equal(times.size, PROJECTS * RENAMES)
  const again = [...times].filter(([, count]) => count > 1).map(([id]) => id)
  assert.deepEqual(again.sort(), lost.map(idOf).sort())
  for (const id of projects) {
    const ofProject = receiver.received.filter((each) => contentOf(each).data.project_id === id)
    const sentAt = ofProject.map((each) => contentOf(each).timestamp)
    assert.deepEqual(sentAt, sentAt.toSorted(), id)
    assert.equal(new Set(ofProject.map(idOf)).size, RENAMES)
  }
})
