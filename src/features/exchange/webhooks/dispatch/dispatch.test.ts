// Deliveries to real receivers: what they get, when it is tried again, in which order, and when a webhook is switched off.
import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { listInstanceKeys } from '#features/basics/instance-key/instance-keys.ts'
import { newId } from '#lib/ids.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { form, modJar, versionData } from '#test/support/http/forms.ts'
import { type Receiver, startReceiver } from '#test/support/stand-ins/receiver.ts'
import { createDispatcher, type Dispatcher } from './dispatcher.ts'

let t: TestApp
let owner: Person
let project: MadeProject
let receiver: Receiver
let dispatcher: Dispatcher
before(async () => {
  t = await testApp({ env: { OUTGOING_ALLOW: '127.0.0.0/8' } })
})
after(() => t.close())
beforeEach(async () => {
  receiver = await startReceiver()
  owner = await t.make.account()
  project = await t.make.project({ owner })
  await t.deps.db.deleteFrom('webhook').execute()
  dispatcher = makeDispatcher()
})
afterEach(() => receiver.close())

const makeDispatcher = () => createDispatcher({ ...t.deps, version: '1.2.3' })

type Created = { id: string; secret: string }
async function webhook(fields: object = {}, as = owner): Promise<Created> {
  const answer = await t
    .as(as)
    .post('/v3/webhook', {
      owner: { kind: 'project', id: project.id },
      url: `${receiver.url}/hook`,
      events: ['*'],
      ...fields,
    })
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json()
}

async function rename(name: string, id = project.id): Promise<void> {
  const answer = await t.as(owner).patch(`/v3/project/${id}`, { name })
  assert.equal(answer.statusCode, 204, answer.body)
}

type Shown = { active: boolean; disabled_reason: string | null; failing_since: string | null }
const shown = async ({ id }: Created): Promise<Shown> => (await t.as(owner).get(`/v3/webhook/${id}`)).json()

type Delivery = { id: string; state: string; attempt: number; next_attempt: string | null; event: { type: string } }
async function deliveries({ id }: Created, query: Record<string, string> = {}): Promise<Delivery[]> {
  return (await t.as(owner).get(`/v3/webhook/${id}/deliveries`, { query })).json().deliveries
}
const stateOf = async (hook: Created) => (await deliveries(hook)).map(({ state, attempt }) => [state, attempt])

const namesOf = (receiver: Receiver) => receiver.received.map(({ body }) => JSON.parse(body).data.project?.name)

/** Forgets the leases of killed processes, whose end the database clock decides. */
const expireLeases = () =>
  t.deps.db
    .updateTable('webhook_delivery')
    .set({ leased_until: new Date(0) })
    .execute()

test('a receiver verifies the message with the secret and with the key of the instance', async () => {
  const hook = await webhook()
  await rename('A new name')
  await dispatcher.settle()
  const [message] = receiver.received
  assert.ok(message !== undefined)
  const headers = message.headers as Record<string, string>
  const content = new Webhook(hook.secret).verify(message.body, headers) as Record<string, unknown>
  assert.deepEqual(Object.keys(content), ['type', 'timestamp', 'data'])
  assert.equal(content['type'], 'project.updated')
  const data = content['data'] as Record<string, unknown>
  assert.deepEqual([data['project_id'], data['fields']], [project.id, ['name']])
  assert.deepEqual(data['project'], (await t.anyone.get(`/v3/project/${project.id}`)).json())
  assert.match(headers['webhook-id'] ?? '', /^evt_[0-9A-Za-z]{16}$/)
  assert.equal(headers['idempotency-key'], headers['webhook-id'])
  assert.match(headers['user-agent'] ?? '', /^Depot\/1\.2\.3 \(\+https:\/\/depot\.test\)$/)
  assert.equal(headers['authorization'], undefined)
  assert.throws(() => new Webhook(hook.secret).verify(`${message.body} `, headers))
  const [key] = await listInstanceKeys(t.deps)
  const x = key?.public_key.toString('base64url') ?? ''
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const signed = Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${message.body}`)
  const v1a = headers['webhook-signature']?.split(' ').find((each) => each.startsWith('v1a,')) ?? ''
  assert.ok(verify(null, signed, publicKey, Buffer.from(v1a.slice(4), 'base64')))
})

test('during a rotation, both secrets verify; afterwards only the new one', async () => {
  const hook = await webhook()
  const { secret } = (await t.as(owner).post(`/v3/webhook/${hook.id}/secret`, { overlap_hours: 1 })).json()
  const verifies = (index: number, with_: string) => {
    const { body, headers } = receiver.received[index] ?? { body: '', headers: {} }
    try {
      new Webhook(with_).verify(body, { ...(headers as Record<string, string>) })
      return true
    } catch {
      return false
    }
  }
  await rename('One')
  await dispatcher.settle()
  assert.deepEqual([verifies(0, hook.secret), verifies(0, secret)], [true, true])
  await t.deps.db
    .updateTable('webhook')
    .set({ previous_until: new Date(t.deps.now() - 1) })
    .execute()
  await rename('Two')
  await dispatcher.settle()
  assert.deepEqual([verifies(1, hook.secret), verifies(1, secret)], [false, true])
})

test('a webhook receives no event from before it was created or switched on', async () => {
  // Events are only recorded while somebody could receive them.
  await webhook({ events: ['version.published'] })
  await rename('Before')
  const hook = await webhook()
  await rename('After')
  await dispatcher.settle()
  assert.deepEqual(namesOf(receiver), ['After'])
  const set = async (active: boolean) =>
    assert.equal((await t.as(owner).patch(`/v3/webhook/${hook.id}`, { active })).statusCode, 204)
  await set(false)
  await rename('Switched off')
  await set(true)
  await rename('Switched on')
  await dispatcher.settle()
  assert.deepEqual(namesOf(receiver), ['After', 'Switched on'])
})

test('filters choose the events and the versions', async () => {
  await webhook({ events: ['version.published'], loaders: ['quilt'] })
  await webhook({ events: ['version.published'], game_versions: ['1.20.1'], version_types: ['release'] })
  await webhook({ events: ['project.removed'] })
  const other = await t.make.project({ owner })
  for (const id of [project.id, other.id]) {
    const data = await form(versionData({ project_id: id }), [{ name: 'file', bytes: modJar(newId()) }])
    assert.equal((await t.as(owner).post('/v3/version', data.payload, { headers: data.headers })).statusCode, 201)
  }
  await dispatcher.settle()
  assert.equal(receiver.received.length, 1)
  const { type, data } = JSON.parse(receiver.received[0]?.body ?? '')
  assert.equal(type, 'version.published')
  assert.deepEqual(data.version, (await t.anyone.get(`/v3/version/${data.version_id}`)).json())
  await t.as(owner).delete(`/v3/project/${project.id}`)
  await dispatcher.settle()
  const last = JSON.parse(receiver.received[1]?.body ?? '')
  assert.deepEqual([last.type, last.data], ['project.removed', { project_id: project.id, state: 'removed' }])
})

test('hidden projects are IDs and states for members, and nothing for the instance', async () => {
  const admin = await t.make.account({ role: 'admin' })
  await webhook({ owner: { kind: 'user', id: owner.id } })
  const all = await startReceiver()
  await webhook({ owner: { kind: 'instance' }, url: all.url }, admin)
  await rename('Public')
  await t.as(owner).patch(`/v3/project/${project.id}`, { status: 'private' })
  await rename('Secret')
  await dispatcher.settle()
  assert.deepEqual(namesOf(receiver), [undefined, undefined, undefined])
  assert.deepEqual(
    receiver.received.map(({ body }) => JSON.parse(body).type),
    ['project.updated', 'project.status_changed', 'project.updated'],
  )
  assert.equal(all.received.length, 0, 'the project was hidden before anything was sent')
  assert.doesNotMatch(JSON.stringify(receiver.received), /Secret/)
  await t.as(owner).patch(`/v3/project/${project.id}`, { status: 'approved' })
  await dispatcher.settle()
  assert.deepEqual(namesOf(all), ['Secret'])
  all.close()
})

test('long texts are cut, and the body stays below 64 KiB', async () => {
  await webhook()
  const answer = await t.as(owner).patch(`/v3/project/${project.id}`, { description: 'ä'.repeat(60_000) })
  assert.equal(answer.statusCode, 204)
  await dispatcher.settle()
  const { body } = receiver.received[0] ?? { body: '' }
  assert.ok(Buffer.byteLength(body) < 65_536)
  const sent = JSON.parse(body).data.project
  assert.deepEqual([sent.description, sent.truncated], ['ä'.repeat(2_000), true])
})

test('a failed delivery is tried nine times in a day, with the same ID, and then fails', async () => {
  t.freeze()
  const hook = await webhook()
  receiver.answer(500)
  await rename('Never')
  const startedAt = t.deps.now()
  const pauses: number[] = []
  for (let attempt = 1; attempt <= 9; attempt += 1) {
    await dispatcher.settle()
    assert.equal(receiver.received.length, attempt)
    const [delivery] = await deliveries(hook)
    assert.equal(delivery?.attempt, attempt)
    if (delivery?.next_attempt == null) break
    pauses.push(Date.parse(delivery.next_attempt) - t.deps.now())
    t.advance(Date.parse(delivery.next_attempt) - t.deps.now())
  }
  const planned = [5_000, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 4 * HOUR_MS, 8 * HOUR_MS, 10 * HOUR_MS]
  assert.equal(pauses.length, planned.length)
  for (const [index, pause] of planned.entries())
    assert.ok(Math.abs((pauses[index] ?? 0) - pause) <= 0.2 * pause, `${pauses[index]} instead of ${pause}`)
  assert.ok(t.deps.now() - startedAt < 31 * HOUR_MS)
  assert.deepEqual(await stateOf(hook), [['failed', 9]])
  assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1)
  const [delivery] = await deliveries(hook)
  const { attempts } = (await t.as(owner).get(`/v3/webhook/${hook.id}/deliveries/${delivery?.id}`)).json()
  assert.equal(attempts.length, 9)
  assert.deepEqual([attempts[0].error, attempts[0].response.status], ['status', 500])
  assert.equal(attempts[8].request.body, receiver.received[8]?.body)
  assert.equal(attempts[8].request.headers['webhook-signature'], receiver.received[8]?.headers['webhook-signature'])
  receiver.answer(204)
  const again = await t.as(owner).post(`/v3/webhook/${hook.id}/deliveries/${delivery?.id}/redeliver`)
  assert.equal(again.statusCode, 202)
  await dispatcher.settle()
  assert.equal(receiver.received[9]?.headers['webhook-id'], receiver.received[0]?.headers['webhook-id'])
  t.thaw()
})

test('Retry-After delays the next attempt, up to an hour', async () => {
  t.freeze()
  const hook = await webhook()
  const pauseAfter = async (value: string): Promise<number> => {
    receiver.answer((_received, res) => void res.writeHead(429, { 'retry-after': value }).end())
    await t.as(owner).post(`/v3/webhook/${hook.id}/ping`)
    await dispatcher.settle()
    return Date.parse((await deliveries(hook))[0]?.next_attempt ?? '') - t.deps.now()
  }
  assert.equal(await pauseAfter('90'), 90_000)
  assert.equal(await pauseAfter('86400'), HOUR_MS)
  const inTwoMinutes = new Date(Math.ceil(t.deps.now() / 1000) * 1000 + 2 * MINUTE_MS)
  assert.equal(await pauseAfter(inTwoMinutes.toUTCString()), inTwoMinutes.getTime() - t.deps.now())
  for (const value of ['1', 'soon', '-5']) assert.ok((await pauseAfter(value)) <= 6_000, value)
  t.thaw()
})

test('deliveries about one subject keep their order; other subjects do not wait', async () => {
  const second = await t.make.project({ owner })
  const hook = await webhook({ owner: { kind: 'user', id: owner.id } })
  receiver.answer(({ body }, res) => void res.writeHead(body.includes(second.id) ? 204 : 503).end())
  await rename('First')
  await rename('Second')
  await rename('Other', second.id)
  await dispatcher.settle()
  const subjects = () => receiver.received.map(({ body }) => JSON.parse(body).data.project_id)
  assert.deepEqual(subjects().sort(), [project.id, second.id].sort(), 'the second event waits for the first')
  receiver.answer(204)
  t.advance(10_000)
  await dispatcher.settle()
  await dispatcher.settle()
  const ids = receiver.received
    .filter(({ body }) => body.includes(project.id))
    .map(({ headers }) => headers['webhook-id'])
  assert.equal(ids[0], ids[1], 'the first event again')
  assert.equal(ids.length, 3)
  assert.notEqual(ids[2], ids[0])
  assert.deepEqual(
    (await stateOf(hook)).map(([state]) => state),
    ['delivered', 'delivered', 'delivered'],
  )
})

test('410 switches the webhook off and notifies its owner; switching it on again drops old deliveries', async () => {
  const hook = await webhook()
  receiver.answer(410)
  await rename('Gone')
  await dispatcher.settle()
  const off = await shown(hook)
  assert.deepEqual([off.active, off.disabled_reason], [false, 'gone'])
  await rename('Not recorded')
  await dispatcher.settle()
  assert.equal(receiver.received.length, 1)
  await t.runJobs()
  const mails = (await t.mails()).join('\n')
  assert.match(mails, /A webhook was switched off/)
  const { rows } = await t.deps.pool.query(
    "select details from audit_entry where action = 'webhook.disabled' and subject_id = $1",
    [hook.id],
  )
  assert.equal(rows[0].details.reason, 'gone')
  const list = (await t.as(owner).get(`/v3/user/${owner.id}/notifications`)).json()
  assert.equal(list[0].body.type, 'webhook_disabled', JSON.stringify(list))
  receiver.answer(204)
  await t.as(owner).patch(`/v3/webhook/${hook.id}`, { active: true })
  await t.as(owner).post(`/v3/webhook/${hook.id}/ping`)
  await dispatcher.settle()
  assert.deepEqual((await stateOf(hook))[0], ['delivered', 1])
})

test('a week of failures switches a webhook off; a success in between does not', async () => {
  t.freeze()
  const hook = await webhook()
  receiver.answer(500)
  const fail = async (times: number) => {
    for (let count = 0; count < times; count += 1) {
      await t.as(owner).post(`/v3/webhook/${hook.id}/ping`)
      await dispatcher.settle()
      const failed = { state: 'failed', next_attempt: null } as const
      await t.deps.db.updateTable('webhook_delivery').set(failed).where('state', '=', 'pending').execute()
    }
  }
  await fail(9)
  t.advance(6 * DAY_MS)
  await fail(3)
  assert.equal((await shown(hook)).active, true, 'a week has not passed')
  receiver.answer(204)
  await t.as(owner).post(`/v3/webhook/${hook.id}/ping`)
  await dispatcher.settle()
  assert.equal((await shown(hook)).failing_since, null)
  receiver.answer(500)
  await fail(1)
  t.advance(7 * DAY_MS)
  await fail(8)
  assert.equal((await shown(hook)).active, true, 'there are nine failures')
  await fail(1)
  assert.deepEqual([(await shown(hook)).active, (await shown(hook)).disabled_reason], [false, 'failing'])
  t.thaw()
})

test('redirects, endless answers, broken connections and refused addresses are failures with a reason', async () => {
  const inside = await startReceiver('127.0.0.9')
  const hook = await webhook()
  const outcome = async (answer: Parameters<Receiver['answer']>[0]) => {
    receiver.answer(answer)
    await t.as(owner).post(`/v3/webhook/${hook.id}/ping`)
    await dispatcher.settle()
    const [delivery] = await deliveries(hook)
    const { attempts } = (await t.as(owner).get(`/v3/webhook/${hook.id}/deliveries/${delivery?.id}`)).json()
    return attempts[0]
  }
  const redirect = await outcome(
    (_received, res) =>
      void res.writeHead(302, { location: `${inside.url}/${'x'.repeat(300)}`, 'set-cookie': 'a=b' }).end(),
  )
  assert.deepEqual([redirect.error, redirect.response.status], ['status', 302])
  assert.equal(redirect.response.headers.location.length, 200)
  assert.equal(redirect.response.headers['set-cookie'], undefined)
  assert.equal(inside.received.length, 0, 'redirects are not followed')
  const endless = await outcome((_received, res) => {
    const write = () => {
      while (!res.destroyed && res.write('x\u0000'.repeat(5_000))) {}
    }
    res.on('drain', write)
    write()
  })
  assert.equal(endless.error, null)
  assert.equal(endless.response.body.length, 4_096)
  assert.equal((await outcome((_received, res) => void res.destroy())).error, 'connection')
  await t.deps.db.updateTable('webhook').set({ url: 'https://10.0.0.1/' }).where('id', '=', hook.id).execute()
  assert.equal((await outcome(204)).error, 'refused_address')
  inside.close()
})

test('a Discord webhook gets a message without mentions, and is switched off when it was deleted', async () => {
  const hook = await webhook()
  await t.deps.db.updateTable('webhook').set({ format: 'discord' }).where('id', '=', hook.id).execute()
  await rename('*Lantern* @everyone [x](y)')
  await dispatcher.settle()
  const [message] = receiver.received
  assert.equal(message?.path, '/hook?wait=true')
  assert.equal(message?.headers['webhook-signature'], undefined)
  const sent = JSON.parse(message?.body ?? '')
  assert.deepEqual(sent.allowed_mentions, { parse: [] })
  assert.equal(sent.embeds[0].title, 'Project updated: \\*Lantern\\* @\u200beveryone \\[x\\]\\(y\\)')
  receiver.answer(
    (_received, res) => void res.writeHead(429, { 'content-type': 'application/json' }).end('{"retry_after":30.5}'),
  )
  t.freeze()
  await rename('Slower')
  await dispatcher.settle()
  assert.equal(Date.parse((await deliveries(hook))[0]?.next_attempt ?? '') - t.deps.now(), 30_500)
  t.advance(31_000)
  t.thaw()
  receiver.answer(404)
  await dispatcher.settle()
  assert.equal((await shown(hook)).disabled_reason, 'gone')
})

test('a Discord message of a new version names its author and shows the changelog with its form', async () => {
  const hook = await webhook({
    format: 'discord',
    url: `${receiver.url}/hook?thread_id=7`,
    events: ['version.published'],
  })
  const version = versionData({ project_id: project.id, version_body: '## New\n\n- **light** for @everyone' })
  const data = await form(version, [{ name: 'file', bytes: modJar(newId()) }])
  assert.equal((await t.as(owner).post('/v3/version', data.payload, { headers: data.headers })).statusCode, 201)
  await dispatcher.settle()
  const [message] = receiver.received
  assert.equal(message?.path, '/hook?thread_id=7&wait=true')
  const [embed] = JSON.parse(message?.body ?? '').embeds
  assert.equal(embed.description, '## New\n- **light** for @\u200beveryone')
  assert.equal(embed.author.name, (await t.anyone.get(`/v3/user/${owner.id}`)).json().username)
  assert.doesNotMatch(message?.body ?? '', /draft|Status/)
  // Another receiver than Discord can deny a request without being deleted.
  receiver.answer(403)
  await t.as(owner).post(`/v3/webhook/${hook.id}/ping`)
  await dispatcher.settle()
  assert.equal((await shown(hook)).active, true)
})

test('the GitHub format has a release and its signature', async () => {
  const hook = await webhook({ format: 'github', events: ['version.published'] })
  const data = await form(versionData({ project_id: project.id }), [{ name: 'file', bytes: modJar(newId()) }])
  await t.as(owner).post('/v3/version', data.payload, { headers: data.headers })
  await dispatcher.settle()
  const [message] = receiver.received
  const { createHmac } = await import('node:crypto')
  const hmac = createHmac('sha256', hook.secret)
    .update(message?.body ?? '')
    .digest('hex')
  assert.equal(message?.headers['x-hub-signature-256'], `sha256=${hmac}`)
  assert.equal(message?.headers['x-github-event'], 'release')
  assert.match(
    String(message?.headers['x-github-delivery']),
    /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/,
  )
  const { action, release, repository } = JSON.parse(message?.body ?? '')
  assert.deepEqual([action, release.tag_name, repository.id], ['published', '1.0.0', project.id])
})

test('read-only mode and OUTGOING=off pause the deliveries', async () => {
  const hook = await webhook()
  await rename('Later')
  await t.deps.db.insertInto('instance_settings').values({ read_only: true }).execute()
  t.deps.cache.invalidate(new Map([['settings', new Set(['instance'])]]))
  await dispatcher.settle()
  assert.equal(receiver.received.length, 0)
  await t.deps.db.deleteFrom('instance_settings').execute()
  t.deps.cache.invalidate(new Map([['settings', new Set(['instance'])]]))
  const { config } = t.deps
  const off = { ...config, outgoing: { ...config.outgoing, isOn: false } }
  await createDispatcher({ ...t.deps, config: off, version: '1' }).settle()
  assert.equal(receiver.received.length, 0)
  await dispatcher.settle()
  assert.deepEqual(await stateOf(hook), [['delivered', 1]])
})

test('two processes send each delivery once, in order', async () => {
  const hook = await webhook()
  const names = Array.from({ length: 12 }, (_, index) => `Name ${index}`)
  for (const name of names) await rename(name)
  const [one, two] = [makeDispatcher(), makeDispatcher()]
  while ((await deliveries(hook, { state: 'delivered' })).length < names.length)
    await Promise.all([one.settle(), two.settle()])
  assert.equal(receiver.received.length, names.length)
  const order = receiver.received.map(({ headers }) => headers['webhook-id'])
  assert.equal(new Set(order).size, names.length)
  const log = (await deliveries(hook)).reverse()
  assert.ok(log.every(({ state, attempt }) => state === 'delivered' && attempt === 1))
})

test('a process that is killed between sending and recording leaves the delivery to another one', async () => {
  const hook = await webhook()
  await rename('Twice')
  const failing = { ...t.deps, version: '1', log: { ...t.deps.log, warn: () => undefined } } as Parameters<
    typeof createDispatcher
  >[0]
  // The transaction that records the result never happens; neither does the release of the lease.
  const killed = createDispatcher({ ...failing, db: withoutWritesAfter(() => receiver.received.length > 0) })
  await killed.settle()
  assert.equal(receiver.received.length, 1)
  assert.deepEqual(await stateOf(hook), [['pending', 0]])
  await dispatcher.settle()
  assert.equal(receiver.received.length, 1, 'the lease has not ended')
  await expireLeases()
  await dispatcher.settle()
  assert.equal(receiver.received.length, 2)
  assert.equal(receiver.received[0]?.headers['webhook-id'], receiver.received[1]?.headers['webhook-id'])
  assert.deepEqual(await stateOf(hook), [['delivered', 1]])
})

/** The database as a process sees it that cannot reach it any more once `isCut`. */
function withoutWritesAfter(isCut: () => boolean): TestApp['deps']['db'] {
  return new Proxy(t.deps.db, {
    get(target, name) {
      if (isCut() && ['transaction', 'updateTable', 'insertInto'].includes(String(name))) {
        return () => {
          throw new Error('The process was killed')
        }
      }
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

test('receivers that never answer delay nobody', async () => {
  const silent = await Promise.all(Array.from({ length: 10 }, (_, index) => startReceiver(`127.0.0.${index + 20}`)))
  for (const each of silent) {
    each.answer(() => undefined)
    await webhook({ url: each.url })
  }
  await webhook()
  for (let count = 0; count < 3; count += 1) await rename(`Name ${count}`)
  const running = makeDispatcher()
  running.start()
  // The test ends only because nothing waits for the silent receivers.
  await receiver.arrived(3)
  for (const each of silent) each.close()
  await running.stop()
})

test('a stop ends requests that take too long, and the delivery stays in the queue', async () => {
  const hook = await webhook()
  receiver.answer(() => undefined)
  await rename('Slow')
  const running = makeDispatcher()
  running.start()
  await receiver.arrived(1)
  await running.stop()
  assert.deepEqual(await stateOf(hook), [['pending', 0]])
  receiver.answer(204)
  await dispatcher.settle()
  assert.deepEqual(await stateOf(hook), [['delivered', 1]])
})
