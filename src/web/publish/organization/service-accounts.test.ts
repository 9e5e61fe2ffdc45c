// The page of service accounts in the settings of an organization.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { teamApp } from '#test/support/factories/team-app.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const { t } = await teamApp()
const owner = await t.make.account()
const organization = await teamFactories(t.deps.db).organization(owner)
const path = `/organization/${organization.slug}/settings/service-accounts`

const list = async () => (await t.as(owner).get(`/v3/organization/${organization.id}/service-accounts`)).json()

test('a manager creates a service account and, after a review in words, its token; and ends both', async () => {
  const person = visitor(t, owner.token)
  assertSays(await person.get(path), 200, 'There are no service accounts.')
  assertSays(await person.send(path, path, { do: 'add', username: 'a b' }), 400, 'The username must be 1 to 39')
  assertLeads(
    await person.send(path, path, { do: 'add', username: 'our-builds' }),
    `${path}?done=service-account-added`,
  )
  assertSays(await person.get('/user/our-builds'), 200, 'Service account')
  const [{ id: account }] = await list()
  const fields = {
    do: 'token',
    account,
    name: 'Release',
    days: '90',
    scope: ['VERSION_CREATE'],
    networks: '192.0.2.0/24',
  }
  assertSays(await person.send(path, path, { ...fields, name: '' }), 400, 'The name')
  assertSays(await person.send(path, path, { ...fields, days: '9999' }), 400, 'The expiry')
  const review = await person.send(path, path, fields)
  assertSays(review, 200, 'It works only from')
  assert.deepEqual((await list())[0].tokens, [])
  const made = await person.sendFrom(review, path, { do: 'token', scope: ['VERSION_CREATE'] })
  assertSays(made, 200, /value="dpp_[0-9A-Za-z]{60}"/)
  const [{ tokens }] = await list()
  assert.deepEqual(tokens[0].limits, { projects: null, organizations: [organization.id], addresses: ['192.0.2.0/24'] })
  assertSays(await person.get(path), 200, 'Release')
  assertLeads(await person.send(path, path, { do: `revoke.${account}.${tokens[0].id}` }), `${path}?done=token-revoked`)
  assertLeads(await person.send(path, path, { do: `remove.${account}` }), `${path}?done=service-account-removed`)
  assert.deepEqual(await list(), [])
})

test('members without the permission see whom to ask, and others nothing', async () => {
  const [member, stranger] = await t.make.people(2)
  await teamFactories(t.deps.db).member(organization.teamId, member, { organization_permissions: 0 })
  const shown = await visitor(t, member.token).get(path)
  assertSays(shown, 200, 'Service accounts')
  assert.ok(!shown.body.includes('name="username"'))
  const [person, manager] = [visitor(t, member.token), visitor(t, owner.token)]
  const form = await manager.get(path)
  person.cookies.set('__Host-depot-csrf', manager.cookies.get('__Host-depot-csrf') ?? '')
  assertSays(await person.sendFrom(form, path, { do: 'add', username: 'not-mine' }), 403, 'permission')
  assert.equal((await visitor(t, stranger.token).get(path)).statusCode, 404)
  assert.equal((await visitor(t).get(path)).statusCode, 303)
})

test('ten minutes after the sign-in, a token needs the password again', async () => {
  const person = visitor(t, owner.token)
  assertLeads(
    await person.send(path, path, { do: 'add', username: 'later-builds' }),
    `${path}?done=service-account-added`,
  )
  const [{ id: account }] = await list()
  await t.deps.db.updateTable('account').set({ password_hash: 'unused' }).where('id', '=', owner.id).execute()
  t.advance(10 * 60_000)
  const fields = { do: 'token', account, name: 'Release', days: '90', scope: ['VERSION_CREATE'], networks: '' }
  const review = await person.send(path, path, fields)
  assertSays(review, 200, /name="password"/)
  const refused = await person.sendFrom(review, path, { do: 'token', scope: ['VERSION_CREATE'] })
  assertSays(refused, 401, 'The password is required')
  assertSays(refused, 401, /name="password"/)
  assert.deepEqual((await list())[0].tokens, [])
})
