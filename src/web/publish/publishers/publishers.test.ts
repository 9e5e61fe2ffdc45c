// The pages of trusted publishers in the settings of projects and organizations.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { makeMember, PASSWORD } from '#test/support/http/account-steps.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const ISSUER = 'https://builds.example'

const t = await testApp({
  env: { CI_ISSUERS: JSON.stringify([{ issuer: ISSUER, kind: 'generic', name: 'Our builds' }]) },
})
after(() => t.close())
const owner = await t.make.account()
const project = await t.make.project({ owner })

const fields = (more: object = {}) => ({
  do: 'add',
  issuer: ISSUER,
  repository: 'lanterns/lamp',
  workflow: 'release.yml',
  ...more,
})

test('a member adds and removes a trusted publisher, after the page has said what it can do', async () => {
  const path = `/project/${project.slug}/settings/publishing`
  const person = visitor(t, owner.token)
  assertSays(await person.get(path), 200, 'They can do nothing else.')
  assertSays(
    await person.send(path, path, fields({ repository: 'lamp' })),
    400,
    'The repository must be an owner and a name',
  )
  assertLeads(await person.send(path, path, fields({ ref_pattern: 'refs/tags/*' })), `${path}?done=publisher-added`)
  assertSays(await person.get(path), 200, 'refs/tags/*')
  const { publishers } = (await t.as(owner).get(`/v3/project/${project.id}/trusted-publisher`)).json()
  assert.deepEqual([publishers[0].repository, publishers[0].ref_pattern], ['lanterns/lamp', 'refs/tags/*'])
  assertLeads(await person.send(path, path, { do: 'save', publishing: 'trusted_only' }), `${path}?done=saved`)
  assertSays(await person.get(path), 200, 'Only trusted publishers can publish versions.')
  const remove = { do: `remove.${publishers[0].id}` }
  assertLeads(await person.send(path, path, remove), `${path}?done=publisher-removed`)
  assertSays(await person.get(path), 200, 'Nobody can publish at present')
})

test('the page asks for the password of a session that was not confirmed recently', async () => {
  const member = await makeMember(t)
  const own = await t.make.project({ owner: member })
  await t.deps.db.updateTable('session').set({ confirmed_at: null }).where('account_id', '=', member.id).execute()
  const person = visitor(t, member.token)
  const path = `/project/${own.slug}/settings/publishing`
  assert.match((await person.get(path)).body, /name="password"/)
  const confirmed = visitor(t, await t.make.session(member.id))
  assert.doesNotMatch((await confirmed.get(path)).body, /name="password"/)
  assertSays(await person.send(path, path, fields()), 401, 'assword')
  assertSays(await person.send(path, path, fields({ password: `not ${PASSWORD}` })), 401, 'assword')
})

test('members without the permission see the list, and strangers nothing', async () => {
  const reader = await t.make.account()
  await t.make.member({ teamId: project.teamId, accountId: reader.id, permissions: 0 })
  const path = `/project/${project.slug}/settings/publishing`
  const shown = await visitor(t, reader.token).get(path)
  assertSays(shown, 200, 'Trusted publishers')
  assert.ok(!shown.body.includes('name="repository"'))
  const [member, manager] = [visitor(t, reader.token), visitor(t, owner.token)]
  const form = await manager.get(path)
  member.cookies.set('__Host-depot-csrf', manager.cookies.get('__Host-depot-csrf') ?? '')
  assertSays(await member.sendFrom(form, path, fields()), 403, 'permission')
  assert.equal((await visitor(t, (await t.make.account()).token).get(path)).statusCode, 404)
})

test('an organization has trusted publishers of all its projects', async () => {
  const organization = await teamFactories(t.deps.db).organization(owner)
  const path = `/organization/${organization.slug}/settings/publishing`
  const person = visitor(t, owner.token)
  assertSays(await person.get(path), 200, 'every project of the organization')
  assertLeads(await person.send(path, path, fields()), `${path}?done=publisher-added`)
  assertSays(await person.get(path), 200, 'lanterns/lamp')
})
