// Deliveries of published advisories: who receives them, and their content in each format.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { type Receiver, startReceiver } from '#test/support/stand-ins/receiver.ts'
import { createDispatcher } from './dispatcher.ts'

let t: TestApp
let admin: Person
let moderator: Person
let project: MadeProject
let version: string
let receiver: Receiver
before(async () => {
  receiver = await startReceiver()
  t = await testApp({ env: { OUTGOING_ALLOW: '127.0.0.1' } })
  admin = await t.make.account({ role: 'admin' })
  moderator = await t.make.account({ role: 'moderator' })
})
after(async () => {
  receiver.close()
  await t?.close()
})
beforeEach(async () => {
  receiver.received.length = 0
  await t.deps.db.deleteFrom('webhook').execute()
  project = await t.make.project()
  version = (await t.make.version({ project, version_number: '1.0' })).id
  await t.make.file({ project, version: { id: version }, bytes: randomBytes(8) })
})

async function webhook(by: Person, fields: object): Promise<string> {
  const body = { url: `${receiver.url}/hook`, events: ['advisory.published'], ...fields }
  const answer = await t.as(by).post('/v3/webhook', body)
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().secret
}

const TEXT = { summary: 'Steals *tokens*', details: 'It sends them away.' }

async function create(by: Person, body: object): Promise<string> {
  const answer = await t.as(by).post('/v3/advisory', { ...TEXT, ...body })
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().id
}

const settle = () => createDispatcher({ ...t.deps, version: '1' }).settle()
const owned = () => ({ owner: { kind: 'project', id: project.id } })

test('the owner of the project receives the document when a moderator publishes it, and not before', async () => {
  const secret = await webhook(project.owner, owned())
  const id = await create(project.owner, { project: project.id, versions: [version] })
  await settle()
  assert.equal(receiver.received.length, 0, 'an advisory in review is not sent')
  assert.equal((await t.as(moderator).patch(`/v3/advisory/${id}`, { status: 'published' })).statusCode, 200)
  await settle()
  assert.equal(receiver.received.length, 1)
  const [message] = receiver.received
  const content = new Webhook(secret).verify(message?.body ?? '', message?.headers as Record<string, string>) as {
    type: string
    data: Record<string, unknown>
  }
  assert.equal(content.type, 'advisory.published')
  assert.deepEqual(content.data, {
    advisory_id: id,
    project_id: project.id,
    project: (await t.anyone.get(`/v3/project/${project.id}`)).json(),
    advisory: (await t.anyone.get(`/v3/advisory/${id}`)).json(),
  })
  assert.equal((await t.as(moderator).patch(`/v3/advisory/${id}`, { status: 'withdrawn' })).statusCode, 200)
  await settle()
  assert.equal(receiver.received.length, 1, 'its withdrawal is not a publication')
})

test('the instance receives advisories without a project; owners of other projects do not', async () => {
  await webhook(project.owner, owned())
  await webhook(admin, { owner: { kind: 'instance' } })
  const hash = randomBytes(64).toString('hex')
  const id = await create(moderator, { hashes: [hash] })
  await settle()
  const messages = receiver.received.map(({ body }) => JSON.parse(body).data)
  assert.deepEqual(messages, [{ advisory_id: id, advisory: (await t.anyone.get(`/v3/advisory/${id}`)).json() }])
  assert.deepEqual(messages[0]?.advisory.database_specific.file_sha512, [hash])
})

test('a long description is cut; Discord gets the summary, an excerpt and the page', async () => {
  await webhook(project.owner, owned())
  await webhook(project.owner, { ...owned(), url: `${receiver.url}/discord` })
  // The API accepts only addresses of Discord.
  const discord = t.deps.db.updateTable('webhook').set({ format: 'discord' })
  await discord.where('url', 'like', '%/discord').execute()
  const id = await create(moderator, { project: project.id, versions: [version], details: 'x'.repeat(60_000) })
  await settle()
  const bodies = new Map(receiver.received.map(({ path, body }) => [path.split('?')[0], JSON.parse(body)]))
  const { advisory } = bodies.get('/hook').data
  assert.deepEqual([advisory.truncated, advisory.details.length], [true, 2_000])
  const [embed] = bodies.get('/discord').embeds
  assert.equal(embed.title, 'Security advisory published: Steals \\*tokens\\*')
  assert.equal(embed.url, `${t.deps.config.http.baseUrl}/advisory/${id}`)
  assert.match(embed.description, /^x{500,}…$/)
})
