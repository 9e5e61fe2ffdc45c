// The pages of webhooks, without scripts: create, see the secret once, edit, ping, renew, send again, delete.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createDispatcher } from '#features/exchange/webhooks/dispatch/dispatcher.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { assertLeads, assertSays, type Visitor, visitor } from '#test/support/http/visitor.ts'
import { type Receiver, startReceiver } from '#test/support/stand-ins/receiver.ts'

let t: TestApp
let owner: Person
let project: MadeProject
let receiver: Receiver
before(async () => {
  receiver = await startReceiver()
  t = await testApp({ env: { OUTGOING_ALLOW: '127.0.0.1' } })
  owner = await t.make.account()
  project = await t.make.project({ owner })
})
after(async () => {
  receiver.close()
  await t.close()
})

const fields = (more: Record<string, string | string[]> = {}) => ({
  do: 'add',
  url: `${receiver.url}/`,
  format: 'standard',
  events: ['version.published', 'project.updated'],
  loaders: 'fabric, quilt',
  game_versions: '',
  ...more,
})

/** Creates a webhook on the page and returns its page. */
async function create(person: Visitor, path: string, more: Record<string, string | string[]> = {}): Promise<string> {
  const answer = await person.send(path, path, fields(more))
  assertSays(answer, 200, 'whsec_')
  const link = /href="([^"]*\?webhook=[0-9A-Za-z]+)"/.exec(answer.body)?.[1]
  assert.ok(link !== undefined, answer.body)
  return link
}

test('a webhook of a project is created, edited, pinged, renewed and deleted', async () => {
  const path = `/project/${project.slug}/settings/webhooks`
  const person = visitor(t, owner.token)
  assertSays(await person.get(path), 200, 'There are no webhooks.')
  const refused = await person.send(path, path, fields({ url: 'https://127.0.0.2/' }))
  assertSays(refused, 400, 'The address must not lead to a private')
  assert.match(refused.body, /value="fabric, quilt"/, 'the form keeps what was entered')
  const own = await create(person, path)
  const shown = assertSays(await person.get(own), 200, 'There are no deliveries.')
  assert.doesNotMatch(String(shown ?? (await person.get(own)).body), /whsec_/, 'the secret is shown once')
  const saved = fields({ do: 'save', events: ['*', 'project.updated'], loaders: '' })
  assertLeads(await person.send(own, own, saved), `${path}?done=saved&webhook=${own.split('=')[1]}`)
  const [hook] = (await t.as(owner).get(`/v3/project/${project.id}/webhooks`)).json()
  assert.deepEqual([hook.events, hook.loaders], [['*'], []])
  assert.equal((await person.send(own, own, { do: 'ping' })).statusCode, 303)
  receiver.answer((_received, res) => void res.writeHead(500).end('<b>broken</b>'))
  const dispatcher = createDispatcher({ ...t.deps, version: '1' })
  await dispatcher.settle()
  const list = (await person.get(own)).body
  const delivery = /href="([^"]*delivery=[0-9A-Za-z]+)"/.exec(list)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const one = (await person.get(delivery)).body
  for (const text of ['webhook-signature: v1,', '&lt;b&gt;broken&lt;/b&gt;', 'Next attempt', '"webhook.ping"'])
    assert.ok(one.replaceAll('&quot;', '"').includes(text), text)
  await t.deps.db.updateTable('webhook_delivery').set({ state: 'failed', next_attempt: null }).execute()
  const again = /value="(again\.[0-9A-Za-z]+)"/.exec((await person.get(delivery)).body)?.[1] ?? ''
  receiver.answer(204)
  assert.equal((await person.send(own, own, { do: again })).statusCode, 303)
  await dispatcher.settle()
  assertSays(await person.get(`${own}&state=delivered`), 200, 'Delivered')
  assertSays(await person.send(own, own, { do: 'rotate', overlap_hours: '500' }), 400, 'The overlap')
  assertSays(await person.send(own, own, { do: 'rotate', overlap_hours: '0' }), 200, 'whsec_')
  assertLeads(
    await person.send(own, own, { do: 'switch.off' }),
    `${path}?done=webhook-off&webhook=${own.split('=')[1]}`,
  )
  assert.equal((await person.send(own, own, { do: 'ping' })).statusCode, 409)
  assert.equal((await person.send(own, own, { do: 'switch.on' })).statusCode, 303)
  assertLeads(await person.send(own, own, { do: 'remove' }), `${path}?done=webhook-removed`)
  assert.equal((await person.get(own)).statusCode, 404)
})

test('organizations, users and the instance have the same page', async () => {
  const organization = await teamFactories(t.deps.db).organization(owner)
  const admin = await t.make.account({ role: 'admin' })
  const pages: [Person, string, string][] = [
    [owner, `/organization/${organization.slug}/settings/webhooks`, `/v3/organization/${organization.id}/webhooks`],
    [owner, '/account/webhooks', `/v3/user/${owner.id}/webhooks`],
    [admin, '/operator/webhooks', '/_internal/admin/webhooks'],
  ]
  for (const [person, path, list] of pages) {
    const own = await create(visitor(t, person.token), path)
    assertSays(await visitor(t, person.token).get(own), 200, 'Send a ping')
    assert.equal((await t.as(person).get(list)).json().length, 1, path)
  }
  assert.equal((await visitor(t, owner.token).get('/operator/webhooks')).statusCode, 404)
})

test('members without EDIT_DETAILS see who can help, strangers nothing, and nobody the token of Discord', async () => {
  const member = await t.make.account()
  const path = `/project/${project.slug}/settings/webhooks`
  await t.make.member({ teamId: project.teamId, accountId: member.id, permissions: 0 })
  const url = 'https://discord.com/api/webhooks/123456/To-Ken_9'
  const created = await t
    .as(owner)
    .post('/v3/webhook', { owner: { kind: 'project', id: project.id }, url, format: 'discord', events: ['*'] })
  assert.equal(created.statusCode, 201)
  const own = `${path}?webhook=${created.json().id}`
  const seen = await visitor(t, member.token).get(path)
  assert.equal(seen.statusCode, 200)
  assert.doesNotMatch(seen.body, /discord\.com|name="url"/)
  assert.equal((await visitor(t, member.token).get(own)).statusCode, 200)
  assert.doesNotMatch((await visitor(t, member.token).get(own)).body, /discord\.com/)
  assert.equal((await visitor(t, (await t.make.account()).token).get(path)).statusCode, 404)
  const person = visitor(t, owner.token)
  const page = (await person.get(own)).body
  assert.match(page, /webhooks\/123456\/…/)
  assert.doesNotMatch(page, /To-Ken/)
  const masked = /name="url"[^>]*value="([^"]*)"|value="([^"]*…)"/.exec(page)
  const value = masked?.[1] ?? masked?.[2] ?? ''
  assert.equal((await person.send(own, own, fields({ do: 'save', url: value, format: 'discord' }))).statusCode, 303)
  const row = await t.deps.db.selectFrom('webhook').select('url').where('format', '=', 'discord').executeTakeFirst()
  assert.equal(row?.url, url, 'saving the masked address keeps the token')
})
