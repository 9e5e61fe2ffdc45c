// The page that withdraws a version, and what the public pages show of it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const t = await testApp()
after(() => t.close())
const owner = await t.make.account({ username: 'ida-marsh' })
const project = await t.make.project({ owner, slug: 'lantern', name: 'Lantern' })
const person = visitor(t, owner.token)
const old = (await t.make.version({ project, version_number: '1.0', date_published: new Date(0), loaders: ['fabric'] }))
  .id
const last = (await t.make.version({ project, version_number: '2.0', loaders: ['fabric'] })).id

const read = async (id: string) => (await t.anyone.get(`/v3/version/${id}`)).json()

test('a member withdraws a version after seeing what breaks, edits the reason, and undoes it', async () => {
  const app = await t.make.project({ name: 'Lamp Post' })
  const version = await t.make.version({ project: app, loaders: ['fabric'] })
  const dependencies = [{ dependency_type: 'required', version_id: last }]
  assert.equal((await t.as(app.owner).patch(`/v3/version/${version.id}`, { dependencies })).statusCode, 204)
  const edit = `/mod/lantern/version/${last}/edit`
  const path = `/mod/lantern/version/${last}/withdraw`
  assertSays(await person.get(edit), 200, 'Withdraw 2.0')
  const page = await person.get(path)
  assertValidHtml(page.body)
  for (const text of ['Withdraw version 2.0?', 'One project loses a version', 'Lamp Post', '1.0'])
    assertSays(page, 200, text)
  const empty = await person.sendFrom(page, path, { 'withdrawn.kind': 'broken', 'withdrawn.reason': '', do: 'confirm' })
  assertSays(empty, 400, 'The reason')
  const fields = { 'withdrawn.kind': 'security', 'withdrawn.reason': 'Leaks <b>oil</b>', 'withdrawn.replacement': old }
  assertLeads(await person.sendFrom(page, path, { ...fields, do: 'confirm' }), `${edit}?done=version-withdrawn`)
  assert.deepEqual((await read(last)).withdrawn, { kind: 'security', reason: 'Leaks <b>oil</b>', replacement: old })

  const shown = await t.anyone.get('/mod/lantern/version/2.0')
  assertValidHtml(shown.body)
  for (const text of ['Withdrawn', 'because of a security problem', 'Leaks &lt;b&gt;oil', 'Use version'])
    assert.ok(shown.body.includes(text), text)
  const list = await t.anyone.get('/mod/lantern/versions')
  assert.match(list.body, /Withdrawn/)
  const german = await t.anyone.get('/mod/lantern/version/2.0', { headers: { 'accept-language': 'de' } })
  assert.match(german.body, /Zurückgezogen/)
  assert.match((await t.anyone.get('/mod/lantern')).body, new RegExp(`versions/${old}|version/1\\.0|1\\.0`))
  assertSays(await person.get('/mod/lantern/settings/versions'), 200, 'Withdrawn')
  assertSays(await visitor(t, app.owner.token).get(`/mod/${app.slug}/settings/versions`), 200, 'Lantern')
  await t.make.version({ project: app, version_number: '2.0', loaders: ['fabric'] })
  assert.equal((await t.as(app.owner).patch(`/v3/version/${version.id}`, { ordering: 1 })).statusCode, 204)
  assertSays(await visitor(t, app.owner.token).get(`/mod/${app.slug}/settings/versions`), 200, 'Lantern')

  const again = await person.get(path)
  assertValidHtml(again.body)
  assertSays(again, 200, 'This version is withdrawn')
  assertLeads(await person.sendFrom(again, path, { do: 'undo' }), `${edit}?done=version-restored`)
  assert.ok(!('withdrawn' in (await read(last))))
  assert.doesNotMatch((await t.anyone.get('/mod/lantern/versions')).body, /Withdrawn/)
})

test('a moderator withdraws too; others see no page', async () => {
  const path = `/mod/lantern/version/${last}/withdraw`
  const moderator = visitor(t, (await t.make.account({ role: 'moderator' })).token)
  const page = await moderator.get(path)
  const fields = { 'withdrawn.kind': 'legal', 'withdrawn.reason': 'Notice', 'withdrawn.replacement': '' }
  assertLeads(
    await moderator.sendFrom(page, path, { ...fields, do: 'confirm' }),
    `/mod/lantern/version/${last}/edit?done=version-withdrawn`,
  )
  assert.equal((await read(last)).withdrawn.kind, 'legal')
  const stranger = visitor(t, (await t.make.account()).token)
  assert.equal((await stranger.get(path)).statusCode, 404)
  const helper = await t.make.account()
  await t.make.member({ teamId: project.teamId, accountId: helper.id, permissions: 0 })
  const member = visitor(t, helper.token)
  const refused = await member.sendFrom(await member.get(path), path, { do: 'undo' })
  assert.equal(refused.statusCode, 403)
})

test('the deletion of a version and of a project shows what breaks', async () => {
  const app = await t.make.project({ name: 'Gate Lamp' })
  const version = await t.make.version({ project: app, loaders: ['fabric'] })
  const dependencies = [{ dependency_type: 'required', version_id: old }]
  assert.equal((await t.as(app.owner).patch(`/v3/version/${version.id}`, { dependencies })).statusCode, 204)
  assertSays(await person.get(`/mod/lantern/version/${old}/delete`), 200, 'Gate Lamp')
  assertSays(await person.get('/mod/lantern/settings/delete'), 200, 'Gate Lamp')
})
