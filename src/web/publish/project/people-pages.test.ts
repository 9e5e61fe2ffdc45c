// Project settings about people and visibility: members, organization, visibility, transfer, deletion.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { memberOf } from '#test/support/factories/team-factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const HOSTILE = '</textarea><script>alert(1)</script>'
const { t, make } = await teamApp()

async function makeTeam() {
  const [owner, hollis, nils] = await t.make.people(3)
  const project = await make.project(owner)
  await make.member(project.teamId, hollis, { permissions: 1, role: 'Art' })
  await make.member(project.teamId, nils, { permissions: 8 | 64 })
  return { owner, hollis, nils, project, settings: `/project/${project.slug}/settings` }
}

const membersOf = async (by: Person, teamId: string) => (await t.as(by).get(`/v3/team/${teamId}/members`)).json()
const SECTIONS = ['members', 'organization', 'visibility', 'transfer', 'delete']

test('every page is valid, leads visitors to the sign-in page and is missing for strangers', async () => {
  const { owner, hollis, settings } = await makeTeam()
  const stranger = visitor(t, (await t.make.account()).token)
  for (const section of SECTIONS) {
    const path = `${settings}/${section}`
    for (const person of [owner, hollis]) {
      const page = await visitor(t, person.token).get(path)
      assertSays(page, 200, '<h2')
      assertValidHtml(page.body)
    }
    assertLeads(await visitor(t).get(path), `/account/sign-in?return=${encodeURIComponent(path)}`)
    assertSays(await stranger.get(path), 404, 'does not exist')
  }
})

test('the matrix saves the changed permissions, roles and shares of several members', async () => {
  const { owner, hollis, nils, project, settings } = await makeTeam()
  const path = `${settings}/members`
  const person = visitor(t, owner.token)
  const page = await person.get(path)
  const shown = [owner, hollis, nils].map(({ id }) => id).join('.')
  const saved = await person.sendFrom(page, path, {
    do: 'save',
    shown,
    [`role.${owner.id}`]: 'Owner',
    [`payouts_split.${owner.id}`]: '100',
    [`role.${hollis.id}`]: HOSTILE,
    [`payouts_split.${hollis.id}`]: '12.5',
    [`permissions.${hollis.id}`]: ['UPLOAD_VERSION', 'EDIT_DETAILS', 'NO_PERMISSION'],
    [`role.${nils.id}`]: 'Member',
    [`payouts_split.${nils.id}`]: '0',
    [`permissions.${nils.id}`]: [],
  })
  assertSays(await person.get(assertLeads(saved, `${path}?done=saved&show=${shown}`)), 200, 'Your changes are saved')
  const members = await membersOf(owner, project.teamId)
  const { role, permissions, payouts_split } = memberOf(members, hollis)
  assert.deepEqual([role, permissions, payouts_split], [HOSTILE, 5, 12.5])
  assert.equal(memberOf(members, nils).permissions, 0)
  const again = await person.get(path)
  const bad = await person.sendFrom(again, path, {
    do: 'save',
    shown,
    [`permissions.${hollis.id}`]: ['UPLOAD_VERSION', 'EDIT_DETAILS'],
    [`permissions.${nils.id}`]: [],
    [`role.${owner.id}`]: 'Owner',
    [`payouts_split.${owner.id}`]: '100',
    [`role.${hollis.id}`]: 'Art',
    [`payouts_split.${hollis.id}`]: 'a lot',
    [`role.${nils.id}`]: 'Member',
    [`payouts_split.${nils.id}`]: '0',
  })
  assertSays(bad, 400, 'must be a number')
  assertSays(bad, 400, 'value="a lot"')
  assertValidHtml(bad.body)
})

test('only permissions that the viewer can grant are checkboxes, and a lost permission shows what was entered', async () => {
  const { owner, hollis, nils, project, settings } = await makeTeam()
  const path = `${settings}/members`
  const person = visitor(t, nils.token)
  const page = await person.get(path)
  assert.ok(!page.body.includes(`name="permissions.${hollis.id}"`), 'hollis has a permission that nils lacks')
  assert.ok(page.body.includes(`name="permissions.${nils.id}" value="EDIT_BODY"`))
  assert.ok(!page.body.includes('value="UPLOAD_VERSION"'))
  await t.as(owner).patch(`/v3/team/${project.teamId}/members/${nils.id}`, { permissions: 0 })
  const shares = Object.fromEntries([owner, hollis, nils].map(({ id }) => [`payouts_split.${id}`, '0']))
  const roles = { [`role.${owner.id}`]: 'Owner', [`role.${nils.id}`]: 'Member' }
  const kept = { ...shares, ...roles, [`payouts_split.${owner.id}`]: '100', [`permissions.${nils.id}`]: ['EDIT_BODY'] }
  const fields = { do: 'save', ...kept, [`role.${hollis.id}`]: 'A role that must not be lost' }
  const refused = await person.sendFrom(page, path, fields)
  assertSays(refused, 403, 'A role that must not be lost')
  assertValidHtml(refused.body)
})

test('two editors change different members, and the same role', async () => {
  const { owner, hollis, nils, project, settings } = await makeTeam()
  const path = `${settings}/members`
  const [person, other] = [visitor(t, owner.token), visitor(t, owner.token)]
  const [page, second] = [await person.get(path), await other.get(path)]
  const shown = [owner, hollis, nils].map(({ id }) => id).join('.')
  const all = {
    do: 'save',
    shown,
    [`role.${owner.id}`]: 'Owner',
    [`payouts_split.${owner.id}`]: '100',
    [`role.${hollis.id}`]: 'Art',
    [`payouts_split.${hollis.id}`]: '0',
    [`permissions.${hollis.id}`]: ['UPLOAD_VERSION'],
    [`role.${nils.id}`]: 'Member',
    [`payouts_split.${nils.id}`]: '0',
    [`permissions.${nils.id}`]: ['EDIT_BODY', 'EDIT_MEMBER'],
  }
  assert.equal((await other.sendFrom(second, path, { ...all, [`role.${hollis.id}`]: 'Painter' })).statusCode, 303)
  assert.equal((await person.sendFrom(page, path, { ...all, [`role.${nils.id}`]: 'Code' })).statusCode, 303)
  const members = await membersOf(owner, project.teamId)
  assert.deepEqual([memberOf(members, hollis).role, memberOf(members, nils).role], ['Painter', 'Code'])
  const refused = await person.sendFrom(page, path, { ...all, [`role.${hollis.id}`]: 'Sculptor' })
  assertSays(refused, 409, 'Another user saved a change')
  assertSays(refused, 409, 'Painter')
  assertValidHtml(refused.body)
})

test('invites by username, cancels, moves, removes after a confirmation and leaves', async () => {
  const { owner, hollis, nils, project, settings } = await makeTeam()
  const path = `${settings}/members`
  const guest = await t.make.account({ username: 'tide-and-tow' })
  const person = visitor(t, owner.token)
  const page = await person.get(path)
  const invite = (username: string) => person.sendFrom(page, path, { do: 'invite', username, preset: 'publisher' })
  const wrong = await invite('tide-and-tpw')
  assertSays(wrong, 400, 'Did you mean tide-and-tow?')
  assertSays(wrong, 400, 'value="tide-and-tpw"')
  assertValidHtml(wrong.body)
  assertSays(await invite(hollis.username), 400, 'already a member')
  assertLeads(await invite('TIDE-and-tow'), `${path}?done=member-invited`)
  assert.equal(memberOf(await membersOf(owner, project.teamId), guest).permissions, 13)

  const moved = await person.sendFrom(page, path, { do: `up.${hollis.id}`, shown: '' })
  assertLeads(moved, `${path}?done=member-moved`)
  const order = (await membersOf(owner, project.teamId)).map(({ user }: { user: { id: string } }) => user.id)
  assert.deepEqual(order.slice(0, 2), [hollis.id, owner.id])

  for (const [who, done] of [
    [guest, 'invitation-cancelled'],
    [nils, 'member-removed'],
  ] as const) {
    const question = await person.sendFrom(page, path, { do: `remove.${who.id}` })
    assertSays(question, 200, who.username)
    assertValidHtml(question.body)
    assertLeads(
      await person.sendFrom(question, path, { do: `remove.${who.id}`, confirmed: 'yes' }),
      `${path}?done=${done}`,
    )
  }
  const leaving = visitor(t, hollis.token)
  const own = await leaving.get(path)
  assertLeads(
    await leaving.sendFrom(own, path, { do: `remove.${hollis.id}`, confirmed: 'yes' }),
    '/dashboard?done=member-left',
  )
  assert.equal((await membersOf(owner, project.teamId)).length, 1)
  assertSays(await person.sendFrom(page, path, { do: `remove.${hollis.id}`, confirmed: 'yes' }), 400, 'not in the team')
  assertSays(
    await person.sendFrom(page, path, { do: `remove.${owner.id}`, confirmed: 'yes' }),
    400,
    'owner cannot be removed',
  )
})

test('more than 6 members have a choice of columns, with a constant number of statements', async () => {
  const { owner, project, settings } = await makeTeam()
  const path = `${settings}/members`
  const person = visitor(t, owner.token)
  await person.get(path)
  const small = (await t.queriesOf(() => person.get(path))).queries.length
  for (const member of await t.make.people(12)) await make.member(project.teamId, member)
  const last = (await membersOf(owner, project.teamId)).at(-1)
  await person.get(path)
  const { result, queries } = await t.queriesOf(() => person.get(`${path}?show=${last.user.id}`))
  assert.equal(queries.length, small)
  assert.equal(result.body.match(/<th scope="col"/g)?.length, 2)
  assertValidHtml(result.body)
})

test('the visibility changes immediately, with Undo, and is scheduled in a time zone', async () => {
  const { owner, project, settings } = await makeTeam()
  await t.deps.db.updateTable('project').set({ approved: new Date() }).where('id', '=', project.id).execute()
  const path = `${settings}/visibility`
  const person = visitor(t, owner.token)
  const page = await person.get(path)
  const on = { public_statistics: 'on', monetized: 'on' }
  const saved = await person.sendFrom(page, path, { ...on, status: 'archived' })
  const after = await person.get(assertLeads(saved, `${path}?done=visibility&before=approved&status=archived`))
  assertSays(after, 200, 'Undo')
  assertValidHtml(after.body)
  const read = async () => (await t.as(owner).get(`/v3/project/${project.id}`)).json()
  const change = (status: string) => t.as(owner).patch(`/v3/project/${project.id}`, { status })
  assert.equal((await change('unlisted')).statusCode, 204)
  const late = await person.sendFrom(after, path)
  assertSays(late, 409, 'Another user has changed the visibility since then.')
  assert.equal((await read()).status, 'unlisted')
  assert.equal((await change('archived')).statusCode, 204)
  assertLeads(await person.sendFrom(after, path), `${path}?done=saved`)
  assert.equal((await read()).status, 'approved')

  const schedule = { ...on, status: 'scheduled', zone: 'Europe/Berlin' }
  const skipped = await person.sendFrom(page, path, { ...schedule, scheduled_at: '2100-03-28T02:30' })
  assertSays(skipped, 400, 'exists in this time zone')
  assertSays(skipped, 400, 'value="2100-03-28T02:30"')
  assertValidHtml(skipped.body)
  assertSays(await person.sendFrom(page, path, { ...schedule, scheduled_at: '2001-01-01T00:00' }), 400, 'future')
  assertSays(
    await person.sendFrom(page, path, { ...schedule, zone: 'Mars/Olympus', scheduled_at: '2100-01-01T00:00' }),
    400,
    'The time zone',
  )
  assertLeads(
    await person.sendFrom(page, path, { ...schedule, scheduled_at: '2100-01-31T18:30' }),
    `${path}?done=saved`,
  )
  const { status, scheduled_at } = await read()
  assert.deepEqual([status, scheduled_at], ['scheduled', '2100-01-31T17:30:00.000Z'])
  const shown = await person.get(path)
  assertSays(shown, 200, 'value="2100-01-31T18:30"')
  assertLeads(
    await person.sendFrom(shown, path, { status: 'scheduled', zone: 'UTC', scheduled_at: '2100-01-31T17:30' }),
    `${path}?done=saved`,
  )
  const { public_statistics, monetization_status } = await read()
  assert.deepEqual([public_statistics, monetization_status], [false, 'demonetized'])
})

test('the owner transfers the project to a member, and to an organization and back', async () => {
  const { owner, hollis, project, settings } = await makeTeam()
  const organization = await make.organization(owner)
  await make.member(organization.teamId, hollis, { organization_permissions: 0 })
  const person = visitor(t, owner.token)
  const below = `${settings}/organization`
  const page = await person.get(below)
  assertSays(await person.sendFrom(page, below, { do: 'add', organization: 'nothing' }), 400, 'The organization')
  const question = await person.sendFrom(page, below, { do: 'add', organization: organization.id })
  assertSays(question, 200, owner.username)
  assertValidHtml(question.body)
  const added = await person.sendFrom(question, below, { do: 'add', confirmed: 'yes', organization: organization.id })
  assertLeads(added, `${below}?done=organization-changed`)
  const owned = await person.get(below)
  assertSays(owned, 200, 'Makers of lanterns')
  const back = await person.sendFrom(owned, below, { do: 'leave', new_owner: owner.id })
  assertValidHtml(back.body)
  assertLeads(
    await person.sendFrom(back, below, { do: 'leave', confirmed: 'yes', new_owner: owner.id }),
    `${below}?done=organization-changed`,
  )
  assert.equal((await t.as(owner).get(`/v3/project/${project.id}`)).json().organization_id, null)

  const transfer = `${settings}/transfer`
  const form = await person.get(transfer)
  const asked = await person.sendFrom(form, transfer, { do: 'give', user_id: hollis.id })
  assertSays(asked, 200, hollis.username)
  assertValidHtml(asked.body)
  assertLeads(
    await person.sendFrom(asked, transfer, { do: 'give', confirmed: 'yes', user_id: hollis.id }),
    `${transfer}?done=owner-changed`,
  )
  assert.equal(memberOf(await membersOf(owner, project.teamId), hollis).is_owner, true)
  assertSays(
    await person.sendFrom(asked, transfer, { do: 'give', confirmed: 'yes', user_id: hollis.id }),
    403,
    'Only the owner',
  )
})

test('deleting needs the typed name and the permission', async () => {
  const { owner, hollis, project, settings } = await makeTeam()
  const path = `${settings}/delete`
  const person = visitor(t, owner.token)
  const page = await person.get(path)
  assertSays(page, 200, 'Archive')
  const wrong = await person.sendFrom(page, path, { do: 'delete', name: 'lantern' })
  assertSays(wrong, 400, `must be ${project.slug}`)
  assertValidHtml(wrong.body)
  const member = visitor(t, hollis.token)
  member.cookies.set('__Host-depot-csrf', person.cookies.get('__Host-depot-csrf') ?? '')
  assertSays(await member.sendFrom(page, path, { do: 'delete', name: project.slug }), 403, project.slug)
  assertLeads(
    await person.sendFrom(page, path, { do: 'delete', name: project.slug }),
    '/dashboard?done=project-deleted',
  )
  assert.equal((await t.as(owner).get(`/v3/project/${project.id}`)).statusCode, 404)
})
