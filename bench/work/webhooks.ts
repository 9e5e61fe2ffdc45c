// 10,000 deliveries to 100 receivers: how long after its event a delivery arrives when all receivers respond, and when ten of
// them accept the request and never respond.
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDispatcher } from '#features/operations/webhooks/dispatch/dispatcher.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { type Receiver, startReceiver } from '#test/support/stand-ins/receiver.ts'
import { withPostgres } from '../kit/own-postgres.ts'
import { figure, type Row, row } from '../kit/table.ts'

/** 100 events for each of 5 people, who have 20 webhooks each. */
const OWNERS = 5
const WEBHOOKS = 20
const EVENTS = 100
/** Dead receivers of each person. */
const DEAD = 2
/** Changes per second, each for 20 webhooks: what one process sends while it also records the changes. */
const CHANGES_PER_SECOND = 5

export function benchWebhooks(): Promise<Row[]> {
  return withPostgres(async (url) => {
    process.env['TEST_DATABASE_URL'] = url
    const t = await testApp({ env: { OUTGOING_ALLOW: '127.0.0.0/8' }, watch: () => undefined })
    try {
      const owners = await makeOwners(t)
      const healthy = await send(t, owners, 0)
      const withDead = await send(t, owners, DEAD)
      for (const { receivers } of owners) for (const receiver of receivers) receiver.close()
      const show = ({ delays }: Sent): string =>
        [0.5, 0.99, 1].map((share) => `${at(delays, share).toFixed(0)} ms`).join(', ')
      return [
        row(
          'additional delay (p99) of healthy receivers',
          (at(withDead.delays, 0.99) - at(healthy.delays, 0.99)) / 1000,
          { atMost: 1 },
          ' s',
        ),
        row(
          'additional delay (longest) of healthy receivers',
          (at(withDead.delays, 1) - at(healthy.delays, 1)) / 1000,
          { atMost: 1 },
          ' s',
        ),
        figure('delay of 10,000 deliveries: p50, p99, longest', show(healthy)),
        figure('delay of 9,000 deliveries next to ten dead receivers', show(withDead)),
        figure(
          'deliveries per second',
          `${healthy.perSecond.toFixed(0)}, with dead receivers ${withDead.perSecond.toFixed(0)}`,
        ),
      ]
    } finally {
      await t.close()
    }
  })
}

type Owner = { person: Person; projects: MadeProject[]; receivers: Receiver[] }

async function makeOwners(t: TestApp): Promise<Owner[]> {
  const owners: Owner[] = []
  for (let o = 0; o < OWNERS; o += 1) {
    const person = await t.make.account()
    const projects: MadeProject[] = []
    for (let n = 0; n < EVENTS; n += 1) projects.push(await t.make.project({ owner: person }))
    const receivers: Receiver[] = []
    for (let n = 0; n < WEBHOOKS; n += 1) {
      // Each receiver has its own host, as the limits count hosts.
      const receiver = await startReceiver(`127.0.${o + 1}.${n + 1}`)
      const fields = { owner: { kind: 'user', id: person.id }, url: receiver.url, events: ['*'] }
      const answer = await t.as(person).post('/v3/webhook', fields)
      if (answer.statusCode !== 201) throw new Error(answer.body)
      receivers.push(receiver)
    }
    owners.push({ person, projects, receivers })
  }
  return owners
}

type Sent = { delays: number[]; perSecond: number }

/** Changes each project once, and waits until all healthy receivers know. The first `dead` receivers of each person never respond. */
async function send(t: TestApp, owners: readonly Owner[], dead: number): Promise<Sent> {
  const delays: number[] = []
  const held: ServerResponse[] = []
  const wanted = OWNERS * (WEBHOOKS - dead) * EVENTS
  const { promise: all, resolve: finish } = Promise.withResolvers<void>()
  for (const { receivers } of owners) {
    for (const [index, receiver] of receivers.entries()) {
      receiver.answer(({ body }, res) => {
        if (index < dead) return void held.push(res)
        res.writeHead(204).end()
        delays.push(Date.now() - Date.parse(JSON.parse(body).timestamp))
        if (delays.length === wanted) finish()
      })
    }
  }
  const dispatcher = createDispatcher({ ...t.deps, version: 'bench' })
  dispatcher.start()
  const startedAt = performance.now()
  for (let n = 0; n < EVENTS; n += 1) {
    for (const { person, projects } of owners) {
      const answer = await t.as(person).patch(`/v3/project/${projects[n]?.id}`, { name: `Name ${dead} ${n}` })
      if (answer.statusCode !== 204) throw new Error(answer.body)
      const number = n * OWNERS + owners.findIndex((owner) => owner.person === person) + 1
      await sleep(Math.max(0, startedAt + (number * 1000) / CHANGES_PER_SECOND - performance.now()))
    }
  }
  await all
  const perSecond = wanted / ((performance.now() - startedAt) / 1000)
  for (const res of held) res.destroy()
  await dispatcher.stop()
  return { delays: delays.sort((a, b) => a - b), perSecond }
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
