// The pages of organizations: the list, a new organization, and the settings.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { memberOf, teamFactories } from '#test/support/factories/team-factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, hiddenFields, type Visitor, visitor } from '#test/support/http/visitor.ts'

const HOSTILE = '</textarea><script>alert(1)</script>'
const LIST = '/dashboard/organizations'
const t = await testApp({ env: { QUOTA_ORGANIZATIONS: '2' } })
after(() => t.close())
const make = teamFactories(t.deps.db)

async function makeOrganization() {
  const [owner, hollis, nils] = await t.make.people(3)
  const organization = await make.organization(owner)
  await make.member(organization.teamId, hollis, { organization_permissions: 0, role: 'Art' })
  await make.member(organization.teamId, nils, { permissions: 8, organization_permissions: 1 | 2 | 8 })
  const path = `/organization/${organization.slug}`
  return { owner, hollis, nils, organization, path, settings: `${path}/settings` }
}

const SECTIONS = ['', '/members', '/projects', '/delete']
const as = (person: { token: string }): Visitor => visitor(t, person.token)
/** Sends a form of the page that is not the first one to this path. */
const sendOther = (
  person: Visitor,
  page: Awaited<ReturnType<Visitor['get']>>,
  path: string,
  fields: Record<string, string>,
) => person.post(path, { _csrf: hiddenFields(page, path)['_csrf'] ?? '', ...fields })
const membersOf = async (by: Person, teamId: string) => (await t.as(by).get(`/v3/team/${teamId}/members`)).json()
const projectOf = async (by: Person, id: string) => (await t.as(by).get(`/v3/project/${id}`)).json()

test('every page is valid, leads visitors to the sign-in page and is missing for strangers and invitees', async () => {
  const { owner, hollis, organization, path, settings } = await makeOrganization()
  const [stranger, invitee] = await t.make.people(2)
  await make.member(organization.teamId, invitee, { accepted: false })
  const moderator = await t.make.account({ role: 'moderator' })
  for (const section of SECTIONS) {
    const page = `${settings}${section}`
    for (const person of [owner, hollis, moderator]) {
      const shown = await as(person).get(page)
      assertSays(shown, 200, '<h2')
      assertValidHtml(shown.body)
    }
    assertLeads(await visitor(t).get(page), `/account/sign-in?return=${encodeURIComponent(page)}`)
    for (const person of [stranger, invitee]) assertSays(await as(person).get(page), 404, 'does not exist')
    assertSays(await as(moderator).get(page), 200, 'You are not a member of this organization')
    const byId = await as(owner).get(page.replace(organization.slug, organization.id))
    assert.deepEqual([byId.statusCode, byId.headers.location], [301, page])
  }
  assertSays(await as(hollis).get(settings), 200, 'Edit details')
  for (const [person, isShown] of [
    [owner, true],
    [moderator, true],
    [stranger, false],
    [invitee, false],
  ] as const)
    assert.equal((await as(person).get(path)).body.includes(`href="${settings}"`), isShown)
  assert.ok(!(await visitor(t).get(path)).body.includes(settings))
})

test('the list shows roles and counts, and answers invitations', async () => {
  const { owner, hollis, organization, settings } = await makeOrganization()
  await make.project(undefined, { organization_id: organization.id })
  const guest = await t.make.account()
  await make.member(organization.teamId, guest, { accepted: false })
  const own = await as(owner).get(LIST)
  for (const text of [
    'Makers of lanterns',
    'One open invitation',
    '3 members',
    'One project',
    '1 of 2 that you can own',
  ])
    assertSays(own, 200, text)
  assert.ok(own.body.includes(`href="${settings}"`))
  assertValidHtml(own.body)
  assertSays(await as(hollis).get(LIST), 200, 'Art')
  const person = as(guest)
  const invited = await person.get(LIST)
  assertSays(invited, 200, 'You are invited to')
  assertSays(invited, 200, 'You are not a member of an organization.')
  assertValidHtml(invited.body)
  assertLeads(await person.sendFrom(invited, LIST, { do: 'join', team: organization.teamId }), `${LIST}?done=joined`)
  assertSays(await person.get(`${LIST}?done=joined`), 200, 'You are a member now.')
  assertSays(await person.sendFrom(invited, LIST, { do: 'join', team: organization.teamId }), 400, 'already a member')
  const other = await t.make.account()
  await make.member(organization.teamId, other, { accepted: false })
  const second = as(other)
  const declined = await second.send(LIST, LIST, { do: 'decline', team: organization.teamId })
  assertLeads(declined, `${LIST}?done=declined`)
  assert.equal((await membersOf(owner, organization.teamId)).length, 4)
  assertLeads(await visitor(t).get(LIST), `/account/sign-in?return=${encodeURIComponent(LIST)}`)
})

test('a new organization: a free URL, errors with everything that was entered, and the limit', async () => {
  const maker = await t.make.account()
  const person = as(maker)
  const path = '/new/organization'
  const page = await person.get(path)
  assertValidHtml(page.body)
  const checked = await person.sendFrom(page, path, { do: 'check', name: 'Lantern Works', description: HOSTILE })
  assertSays(checked, 200, 'value="lantern-works"')
  assertSays(checked, 200, HOSTILE)
  assertValidHtml(checked.body)
  const fields = { do: 'create', name: 'Lantern Works', slug: 'Lantern-Works', description: 'We make lanterns' }
  assertLeads(
    await person.sendFrom(page, path, fields),
    '/organization/lantern-works/settings/members?done=organization-created',
  )
  const taken = await person.sendFrom(page, path, fields)
  assertSays(taken, 409, 'lantern-works-2 is available.')
  assertValidHtml(taken.body)
  const short = await person.sendFrom(page, path, { ...fields, slug: '', description: 'x' })
  assertSays(short, 400, 'The description')
  assertSays(short, 400, 'value="Lantern Works"')
  assertLeads(
    await person.sendFrom(page, path, { ...fields, slug: '' }),
    '/organization/lantern-works-2/settings/members?done=organization-created',
  )
  assertSays(await person.get(path), 200, 'You own 2 organizations, which is your limit')
  assertSays(await person.sendFrom(page, path, { ...fields, slug: 'third' }), 400, 'limit for organizations')
})

test('saves the changed details; another user changes the same field, another field, and removes the permission', async () => {
  const { owner, nils, organization, settings } = await makeOrganization()
  const [first, second] = [as(owner), as(nils)]
  const [page, other] = [await first.get(settings), await second.get(settings)]
  const values = { do: 'save', name: 'Makers of lanterns', slug: organization.slug, description: 'We make lanterns' }
  assertLeads(await second.sendFrom(other, settings, { ...values, name: 'Lamp makers' }), `${settings}?done=saved`)
  assertLeads(await first.sendFrom(page, settings, { ...values, description: 'Lamps' }), `${settings}?done=saved`)
  const read = async () => (await t.anyone.get(`/v3/organization/${organization.id}`)).json()
  const { name, description } = await read()
  assert.deepEqual([name, description], ['Lamp makers', 'Lamps'])
  const conflict = await first.sendFrom(page, settings, { ...values, name: HOSTILE })
  assertSays(conflict, 409, 'Lamp makers')
  assertSays(conflict, 409, `Saved by <bdi>${nils.username}</bdi>, <time`)
  assertSays(conflict, 409, HOSTILE)
  assertValidHtml(conflict.body)
  const wrong = await first.sendFrom(page, settings, { ...values, slug: 'a b' })
  assertSays(wrong, 400, 'The URL')
  assertSays(wrong, 400, 'value="a b"')

  const opened = await second.get(settings)
  await t.as(owner).patch(`/v3/team/${organization.teamId}/members/${nils.id}`, { organization_permissions: 0 })
  const refused = await second.sendFrom(opened, settings, { ...values, description: 'Typed for an hour' })
  assertSays(refused, 403, 'Typed for an hour')
  assertValidHtml(refused.body)
  await t.as(owner).delete(`/v3/team/${organization.teamId}/members/${nils.id}`)
  const lost = await second.sendFrom(opened, settings, { ...values, description: 'Typed for an hour' })
  assertSays(lost, 404, 'Typed for an hour')

  const renamed = await first.sendFrom(await first.get(settings), settings, {
    ...values,
    name: 'Lamp makers',
    description: 'Lamps',
    slug: `new-${organization.slug}`,
  })
  assertSays(
    await first.get(assertLeads(renamed, `/organization/new-${organization.slug}/settings?done=saved`)),
    200,
    'saved',
  )
})

test('a form that was sent after the session ended is filled in again after the sign-in', async () => {
  const { owner, organization, settings } = await makeOrganization()
  const person = as(owner)
  const page = await person.get(settings)
  person.cookies.delete('__Host-depot-session')
  const kept = await person.sendFrom(page, settings, {
    do: 'save',
    name: 'Typed while signed out',
    slug: organization.slug,
    description: 'We make lanterns',
  })
  const back = new URL(String(kept.headers.location), 'https://depot.test').searchParams.get('return') ?? ''
  assert.ok(back.startsWith(`${settings}?restore=`), back)
  person.cookies.set('__Host-depot-session', owner.token)
  assertSays(await person.get(back), 200, 'value="Typed while signed out"')
})

test('the icon is set, refused without losing the details, and removed', async () => {
  const { owner, settings } = await makeOrganization()
  const person = as(owner)
  const page = await person.get(settings)
  const refused = await sendOther(person, page, settings, { do: 'icon' })
  assertSays(refused, 400, 'Choose an image first')
  assertSays(refused, 400, 'value="Makers of lanterns"')
  assertValidHtml(refused.body)
  assertLeads(await sendOther(person, page, settings, { do: 'remove-icon' }), `${settings}?done=icon-removed`)
})

test('both matrices save what the viewer can grant, and the owner cannot leave before a transfer', async () => {
  const { owner, hollis, nils, organization, settings } = await makeOrganization()
  const path = `${settings}/members`
  const person = as(owner)
  const page = await person.get(path)
  assertSays(page, 200, 'In the organization')
  assertSays(page, 200, 'In its projects')
  const rows = (changes: Record<string, string | string[]>) => ({
    do: 'save',
    shown: [owner, hollis, nils].map(({ id }) => id).join('.'),
    [`role.${owner.id}`]: 'Owner',
    [`payouts_split.${owner.id}`]: '100',
    [`role.${hollis.id}`]: 'Art',
    [`payouts_split.${hollis.id}`]: '0',
    [`role.${nils.id}`]: '',
    [`payouts_split.${nils.id}`]: '0',
    [`permissions.${nils.id}`]: ['EDIT_BODY'],
    [`organization_permissions.${nils.id}`]: ['EDIT_DETAILS', 'MANAGE_INVITES', 'EDIT_MEMBER'],
    ...changes,
  })
  const before = memberOf(await membersOf(owner, organization.teamId), nils)
  const changes = {
    [`role.${nils.id}`]: before.role,
    [`permissions.${hollis.id}`]: ['UPLOAD_VERSION', 'EDIT_DETAILS'],
    [`organization_permissions.${hollis.id}`]: ['ADD_PROJECT'],
  }
  assert.equal((await person.sendFrom(page, path, rows(changes))).statusCode, 303)
  const saved = memberOf(await membersOf(owner, organization.teamId), hollis)
  assert.deepEqual([saved.permissions, saved.organization_permissions], [5, 16])
  assert.deepEqual(memberOf(await membersOf(owner, organization.teamId), nils), { ...before, revision: saved.revision })

  const editor = as(nils)
  const own = await editor.get(path)
  assert.ok(own.body.includes(`name="organization_permissions.${nils.id}" value="EDIT_DETAILS"`))
  assert.ok(!own.body.includes(`name="permissions.${nils.id}"`), 'needs the permission for permissions in projects')
  assert.ok(!own.body.includes(`name="organization_permissions.${hollis.id}"`), 'hollis has a permission nils lacks')
  assert.ok(!own.body.includes('name="preset"'), 'an invitation of nils grants nothing')
  assert.ok(!own.body.includes('value="give"'))
  const guest = await t.make.account()
  assertLeads(
    await editor.sendFrom(own, path, { do: 'invite', username: guest.username }),
    `${path}?done=member-invited`,
  )
  assert.equal(memberOf(await membersOf(owner, organization.teamId), guest).permissions, 0)
  const nobody = { do: 'invite', username: 'no-such-user-1', preset: 'editor' }
  const unknown = await sendOther(person, page, path, nobody)
  assertSays(unknown, 400, 'User not found')
  const box = `name="permissions.${hollis.id}" value="UPLOAD_VERSION" checked`
  assert.ok(unknown.body.includes(box), 'a refused invitation shows the stored permissions')

  const leaving = await person.sendFrom(page, path, { do: `remove.${owner.id}`, confirmed: 'yes' })
  assertSays(leaving, 400, 'The owner cannot be removed; transfer the ownership first')
  const question = await person.sendFrom(page, path, { do: 'give', user_id: hollis.id })
  assertSays(question, 200, `Transfer Makers of lanterns to ${hollis.username}?`)
  assertValidHtml(question.body)
  assertSays(await person.sendFrom(page, path, { do: 'give', user_id: guest.id }), 400, 'The new owner')
  assertLeads(
    await person.sendFrom(question, path, { do: 'give', confirmed: 'yes', user_id: hollis.id }),
    `${path}?done=organization-owner`,
  )
  assert.equal(memberOf(await membersOf(owner, organization.teamId), hollis).is_owner, true)
  assertSays(
    await person.sendFrom(question, path, { do: 'give', confirmed: 'yes', user_id: hollis.id }),
    403,
    'Only the owner',
  )
  const left = await person.sendFrom(await person.get(path), path, { do: `remove.${owner.id}`, confirmed: 'yes' })
  assertSays(await person.get(assertLeads(left, `${LIST}?done=member-left`)), 200, 'You left the team.')
  assertSays(await person.get(path), 404, 'does not exist')
})

test('the pages show an organization whose owner deleted their account', async () => {
  const { owner, hollis, organization, settings } = await makeOrganization()
  await make.project(undefined, { organization_id: organization.id })
  await t.as(owner).delete(`/v3/user/${owner.id}`)
  t.advance(40 * 86_400_000)
  await t.runJobs()
  const fresh = await t.make.session(hollis.id)
  for (const section of SECTIONS) {
    const page = await visitor(t, fresh).get(`${settings}${section}`)
    assertSays(page, 200, '<h2')
    assertValidHtml(page.body)
  }
})

test('a project joins the organization after a page that names who gains access', async () => {
  const { owner, hollis, organization, settings } = await makeOrganization()
  const path = `${settings}/projects`
  const person = as(owner)
  assertSays(await person.get(path), 200, 'You do not own a project outside of an organization.')
  const project = await make.project(owner)
  const page = await person.get(path)
  assertSays(page, 200, `Lantern (${project.slug})`)
  assertSays(await person.sendFrom(page, path, { do: 'add', project_id: 'zzzzzzzz' }), 400, 'The project')
  const question = await person.sendFrom(page, path, { do: 'add', project_id: project.id })
  assertSays(question, 200, hollis.username)
  assertValidHtml(question.body)
  assert.equal((await projectOf(owner, project.id)).organization, null)
  const added = await person.sendFrom(question, path, { do: 'add', confirmed: 'yes', project_id: project.id })
  assertSays(await person.get(assertLeads(added, `${path}?done=organization-project-added`)), 200, 'Lantern')
  assert.equal((await projectOf(owner, project.id)).organization, organization.id)
  const again = await person.sendFrom(question, path, { do: 'add', confirmed: 'yes', project_id: project.id })
  assertSays(again, 400, 'already belongs to an organization')
  const reader = await as(hollis).get(path)
  assert.ok(!reader.body.includes('value="add"') && !reader.body.includes('value="remove"'))
  const mine = await make.project(hollis)
  const refused = await as(hollis)
    .send(settings, path, { do: 'add', confirmed: 'yes', project_id: mine.id })
    .catch(() => undefined)
  assert.equal(refused, undefined, 'members without the permission have no form')
  const csrf = as(hollis)
  const token = hiddenFields(await csrf.get(LIST), '/account/sign-out')['_csrf'] ?? ''
  assertSays(
    await csrf.post(path, { _csrf: token, do: 'add', confirmed: 'yes', project_id: mine.id }),
    403,
    '“Add projects”',
  )
})

test('several projects leave the organization together, or none', async () => {
  const { owner, hollis, nils, organization, settings } = await makeOrganization()
  const path = `${settings}/projects`
  const projects = [
    await make.project(undefined, { organization_id: organization.id }),
    await make.project(undefined, { organization_id: organization.id }),
  ]
  const [first, second] = projects
  await make.member(second?.teamId ?? '', nils, { permissions: 1 })
  const ids = projects.map(({ id }) => id)
  const person = as(owner)
  const page = await person.get(path)
  const none = await person.sendFrom(page, path, { do: 'remove', new_owner: hollis.id })
  assertSays(none, 400, 'Select at least one project.')
  assertValidHtml(none.body)
  const stranger = await t.make.account()
  assertSays(await person.sendFrom(page, path, { do: 'remove', ids, new_owner: stranger.id }), 400, 'The new owner')
  const question = await person.sendFrom(page, path, { do: 'remove', ids, new_owner: hollis.id })
  assertSays(question, 200, 'Remove 2 projects from Makers of lanterns?')
  assertSays(question, 200, `${hollis.username} becomes the owner of Lantern. 2 people lose access`)
  assertSays(question, 200, `This person loses access: ${owner.username}.`)
  assertValidHtml(question.body)
  await t.as(owner).delete(`/v3/organization/${organization.id}/projects/${second?.id}`, { new_owner: owner.id })
  const fields = { do: 'remove', confirmed: 'yes', ids, new_owner: hollis.id }
  const refused = await person.sendFrom(question, path, fields)
  assertSays(refused, 404, 'project')
  assert.equal((await projectOf(owner, first?.id ?? '')).organization, organization.id, 'none is removed')
  const removed = await person.sendFrom(question, path, { ...fields, ids: [first?.id ?? ''] })
  assertLeads(removed, `${path}?done=organization-projects-removed&count=1`)
  assert.equal((await projectOf(hollis, first?.id ?? '')).organization, null)
  assert.equal(memberOf(await membersOf(hollis, first?.teamId ?? ''), hollis).is_owner, true)
})

test('an organization with many projects has pages, with a constant number of statements', async () => {
  const { owner, organization, settings } = await makeOrganization()
  const person = as(owner)
  const add = async (count: number) => {
    for (let index = 0; index < count; index += 1)
      await make.project(undefined, { organization_id: organization.id, status: index % 2 ? 'private' : 'approved' })
  }
  await add(2)
  for (const section of ['/projects', '/delete']) {
    const path = `${settings}${section}`
    await person.get(path)
    const small = await t.queriesOf(() => person.get(path))
    await add(60)
    await person.get(path)
    const { result, queries } = await t.queriesOf(() => person.get(path))
    assert.equal(queries.length, small.queries.length, section)
    assert.equal(result.body.match(/<th scope="row"/g)?.length, 50)
    const last = await person.get(`${path}?page=99`)
    assertSays(last, 200, 'aria-current="page"')
    assertValidHtml(last.body)
  }
})

test('deleting needs the typed URL; the owner becomes the owner of the projects', async () => {
  const { owner, nils, organization, settings } = await makeOrganization()
  const project = await make.project(undefined, { organization_id: organization.id })
  const path = `${settings}/delete`
  const person = as(owner)
  const page = await person.get(path)
  assertSays(page, 200, `One project stays, and ${owner.username} becomes its owner.`)
  assertSays(page, 200, '2 other members lose access')
  const wrong = await person.sendFrom(page, path, { do: 'delete', name: 'makers' })
  assertSays(wrong, 400, `must be ${organization.slug}`)
  assertSays(wrong, 400, 'value="makers"')
  assertValidHtml(wrong.body)
  assert.ok(!(await as(nils).get(path)).body.includes('value="delete"'))
  const deleted = await person.sendFrom(page, path, { do: 'delete', name: organization.slug })
  assertSays(await person.get(assertLeads(deleted, `${LIST}?done=organization-deleted`)), 200, 'is deleted')
  assert.equal((await projectOf(owner, project.id)).organization, null)
  assert.equal(memberOf(await membersOf(owner, project.teamId), owner).is_owner, true)
  assertSays(await person.get(settings), 404, 'does not exist')
})
