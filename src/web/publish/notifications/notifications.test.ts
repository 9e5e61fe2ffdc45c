// The page of notifications: filters, pages, invitations, marking and removing, errors.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#lib/ids.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const { t } = await teamApp()

const PATH = '/dashboard/notifications'

async function notify(person: Person, body: object, more: { read?: boolean; created?: Date } = {}): Promise<string> {
  const id = newId()
  await t.deps.db
    .insertInto('notification')
    .values({ id, account_id: person.id, body: JSON.stringify(body), ...more })
    .execute()
  return id
}

async function invite(person: Person) {
  const project = await t.make.project({ name: 'Tide Lamps' })
  const invited = await t
    .as(project.owner)
    .post(`/v3/team/${project.teamId}/members`, { user_id: person.id, role: 'Translator' })
  assert.equal(invited.statusCode, 204, invited.body)
  return project
}

const markAll = (person: Person) =>
  t.deps.db.updateTable('notification').set({ read: true }).where('account_id', '=', person.id).execute()

const readOf = async (person: Person): Promise<[string, boolean][]> =>
  (await t.as(person).get(`/v3/user/${person.id}/notifications`))
    .json()
    .map(({ id, read }: { id: string; read: boolean }) => [id, read])

test('visitors are led to the sign-in page, and a new user sees what will appear', async () => {
  assertLeads(await visitor(t).get(PATH), `/account/sign-in?return=${encodeURIComponent(PATH)}`)
  const page = await visitor(t, (await t.make.account()).token).get(PATH)
  assertSays(page, 200, 'You have no notifications.')
  assertValidHtml(page.body)
})

test('names the project, quotes moderators, and leads to the page of each notification', async () => {
  const person = await t.make.account()
  const project = await t.make.project({ owner: person, name: 'Sea <b>Lamps</b>', slug: 'sea-lamps' })
  const version = await t.make.version({ project, version_number: '1.3.0' })
  await notify(person, { type: 'project_update', project_id: project.id, version_id: version.id })
  await notify(person, { type: 'project_update', project_id: project.id, version_id: 'AAAAAAAA' })
  const status = { type: 'status_change', project_id: project.id, old_status: 'processing' }
  const message = `Name a **licence** & its [text](https://licence.example): 1 < 2 <b title="<x">fine</b> ${'&'.repeat(300)}`
  await notify(person, { ...status, new_status: 'rejected', message })
  for (const new_status of ['approved', 'unlisted', 'draft', 'withheld'])
    await notify(person, { ...status, new_status })
  const hidden = await t.make.project({ name: 'Hidden Lamps', status: 'draft' })
  await notify(person, { type: 'moderator_message', project_id: hidden.id, report_id: null })
  await notify(person, { type: 'moderator_message', project_id: null, report_id: 'BBBBBBBB' })
  await notify(person, { type: 'of_another_release' })
  const page = await visitor(t, person.token).get(PATH)
  assertValidHtml(page.body)
  const name = '<bdi>Sea &lt;b&gt;Lamps&lt;/b&gt;</bdi>'
  for (const text of [
    `${name} <bdi>1.3.0</bdi> is out.`,
    `There is a new version of ${name}.`,
    `${name} was rejected.`,
    `${name} was approved and is public.`,
    `${name} was approved. Its status is “Unlisted”.`,
    `A moderator changed the status of ${name} from “In review” to “Draft”.`,
    `A moderator withheld ${name} from other users.`,
  ])
    assert.ok(page.body.includes(text), text)
  assert.match(page.body, /<q>Name a licence &amp; its text: 1 &lt; 2 .*(&amp;)+…<\/q>/)
  assertSays(page, 200, 'A moderator wrote about a project.')
  assert.ok(!page.body.includes('Hidden Lamps'))
  assert.match(page.body, /Unread<\/span><br><q>/)
  assert.ok(!page.body.includes('>Answer<'), 'nothing can be answered')
  await markAll(person)
  const read = await visitor(t, person.token).get(PATH)
  for (const link of [
    `/version/${version.id}"`,
    '/version/AAAAAAAA"',
    '/sea-lamps/settings/review"',
    '/dashboard/reports/BBBBBBBB"',
  ])
    assert.ok(read.body.includes(link), link)
})

test('opening a notification marks it as read and leads to its page; a prefetch and another site mark nothing', async () => {
  const [person, other] = await Promise.all([t.make.account(), t.make.account()])
  const project = await t.make.project({ owner: person, slug: 'wind-lamps' })
  const id = await notify(person, { type: 'moderator_message', project_id: project.id, report_id: null })
  const lost = await notify(person, { type: 'moderator_message', project_id: newId(), report_id: null })
  const browser = visitor(t, person.token)
  const page = await browser.get(PATH)
  assertSays(page, 200, '2 unread notifications')
  const target = '/project/wind-lamps/settings/review'
  const open = (url: string, headers: object) =>
    t.inject({ url, headers: { cookie: `__Host-depot-session=${person.token}`, accept: 'text/html', ...headers } })
  const [, link = ''] = new RegExp(`href="([^"]*/${id})"`).exec(page.body) ?? []
  assert.ok(!page.body.includes(`/${lost}"`), 'without a page, there is no link')
  for (const headers of [{ 'sec-purpose': 'prefetch;prerender' }, { 'sec-fetch-site': 'cross-site' }])
    assertLeads(await open(link, headers), target)
  assert.equal((await visitor(t, other.token).get(link)).statusCode, 404)
  assertLeads(await visitor(t).get(link), `/account/sign-in?return=${encodeURIComponent(link)}`)
  const admin = t.as(await t.make.account({ role: 'admin' }))
  await admin.patch('/_internal/admin/settings', { read_only: true })
  assertLeads(await browser.get(link), target)
  await admin.patch('/_internal/admin/settings', { read_only: false })
  assert.equal(new Map(await readOf(person)).get(id), false)
  const opened = await browser.get(link)
  assertLeads(opened, target)
  assert.equal(opened.headers['cache-control'], 'no-store')
  assert.equal(new Map(await readOf(person)).get(id), true)
  assertSays(await browser.get(PATH), 200, 'One unread notification')
  assertLeads(await browser.get(`${PATH}/${lost}`), PATH)
  assertSays(await browser.get(PATH), 200, 'Nothing is unread')
})

test('an invitation is answered in place; another answer to it is refused', async () => {
  const person = await t.make.account()
  const browser = visitor(t, person.token)
  const [first, second] = [await invite(person), await invite(person)]
  const page = await browser.get(`${PATH}?show=invitations`)
  assertSays(
    page,
    200,
    `<bdi>${first.owner.username}</bdi> invited you to join the team of <bdi>Tide Lamps</bdi> as <bdi>T`,
  )
  assert.match(page.body, /Invitations <span class="n">2</)
  assertSays(page, 200, 'Select Tide Lamps')
  assertSays(page, 200, '>Answer<')
  assertValidHtml(page.body)
  const answer = (teamId: string, value: string) =>
    browser.post(`${PATH}?team=${teamId}`, { do: value, _csrf: csrfOf(page.body) })
  const accepted = await answer(first.teamId, 'accept')
  const told = await browser.get(assertLeads(accepted, `${PATH}?done=invitation-accepted&team=${first.teamId}`))
  assertSays(told, 200, 'You joined Tide Lamps.')
  assertSays(told, 200, 'You joined the team of <bdi>Tide Lamps</bdi>.')
  assert.match(told.body, /Invitations <span class="n">1</)
  const declined = await answer(second.teamId, 'decline')
  const after = await browser.get(assertLeads(declined, `${PATH}?done=invitation-declined&team=${second.teamId}`))
  assertSays(after, 200, 'You declined the invitation to Tide Lamps.')
  assertSays(after, 200, 'You declined the invitation to the team of <bdi>Tide Lamps</bdi>.')
  assert.match(after.body, /Invitations <span class="n">0</)
  assertSays(await browser.get(`${PATH}?done=invitation-accepted&team=${newId()}`), 200, 'You joined a project.')
  const teams = [first, second].map(({ teamId }) => t.as(person).get(`/v3/team/${teamId}/members`))
  const isMember = (await Promise.all(teams)).map((members) =>
    members
      .json()
      .some(({ user, accepted }: { user: { id: string }; accepted: boolean }) => user.id === person.id && accepted),
  )
  assert.deepEqual(isMember, [true, false])
  const again = await answer(second.teamId, 'accept')
  assert.equal(again.statusCode, 404, again.body)
  assert.ok(!(await browser.get(PATH)).body.includes('value="accept"'))
})

const csrfOf = (body: string): string => /name="_csrf" value="([^"]+)"/.exec(body)?.[1] ?? ''

test('marks and removes what is selected; another user’s notifications stay', async () => {
  const [person, other] = [await t.make.account(), await t.make.account()]
  const ids = [await notify(person, { type: 'x' }), await notify(person, { type: 'x' })].sort()
  // Types that the list does not contain are never shown.
  assert.deepEqual(await readOf(person), [])
  const project = await t.make.project()
  const body = { type: 'project_update', project_id: project.id, version_id: 'AAAAAAAA' }
  const [one = '', two = '', three = ''] = [
    await notify(person, body),
    await notify(person, body),
    await notify(person, body),
  ]
  const foreign = await notify(other, body)
  const browser = visitor(t, person.token)
  const page = await browser.get(PATH)
  assertLeads(
    await browser.sendFrom(page, PATH, { do: 'read', ids: [one, foreign] }),
    `${PATH}?done=notifications-read`,
  )
  assert.deepEqual(new Map(await readOf(person)).get(one), true)
  assertLeads(
    await browser.sendFrom(page, PATH, { do: 'remove', ids: [two, foreign] }),
    `${PATH}?done=notifications-removed`,
  )
  assert.deepEqual(new Set((await readOf(person)).map(([id]) => id)), new Set([one, three]))
  assert.deepEqual(await readOf(other), [[foreign, false]])
  assert.equal(ids.length, 2)
  const nothing = await browser.sendFrom(page, PATH, { do: 'read' })
  assertSays(nothing, 400, 'Select at least one notification.')
  assert.ok(!nothing.body.includes('Field ids'))
  assertSays(await browser.sendFrom(page, PATH, { do: 'read', ids: 'no id' }), 400, 'ids')
})

test('marks all that the page showed, but not a newer one', async () => {
  const person = await t.make.account()
  const project = await t.make.project()
  const body = { type: 'project_update', project_id: project.id, version_id: 'AAAAAAAA' }
  const shown = await notify(person, body)
  const browser = visitor(t, person.token)
  const page = await browser.get(PATH)
  const newer = await notify(person, body)
  assertLeads(await browser.sendFrom(page, PATH, { do: 'read-all', shown }), `${PATH}?done=notifications-read`)
  assert.deepEqual(
    new Map(await readOf(person)),
    new Map([
      [shown, true],
      [newer, false],
    ]),
  )
})

test('has 50 on a page, newest first, with filters, and the same number of statements for any number', async () => {
  const person = await t.make.account()
  const browser = visitor(t, person.token)
  const make = async (count: number) => {
    for (let i = 0; i < count; i += 1) {
      const project = await t.make.project({ name: `Lamp ${i}` })
      const body = { type: 'project_update', project_id: project.id, version_id: 'AAAAAAAA' }
      await notify(person, body, { read: i % 2 === 0, created: new Date(t.deps.now() - i * 60_000) })
    }
  }
  await make(54)
  await browser.get(PATH)
  t.deps.cache.clear()
  const many = await t.queriesOf(() => browser.get(PATH))
  // With an empty cache: the account, counts, rows, projects with their parts, versions, and invitations.
  assert.ok(many.queries.length <= 11, `${many.queries.length} statements`)
  assert.match(many.result.body, /<time datetime="[^"]+" title="[^"]+ UTC">4 minutes ago</)
  const count = (page: { body: string }) => page.body.split('class="pick"').length - 1
  assert.equal(count(many.result), 50)
  assert.equal(count(await browser.get(`${PATH}?page=2`)), 4)
  assert.equal(count(await browser.get(`${PATH}?page=99`)), 4)
  const unread = await browser.get(`${PATH}?show=unread`)
  assert.equal(count(unread), 27)
  assertSays(unread, 200, '27 unread notifications')
  assertSays(await browser.get(`${PATH}?show=moderators`), 200, 'No notification matches this filter.')
})

test('an invitation to an organization names the organization', async () => {
  const person = await t.make.account()
  const owner = await t.make.account()
  const made = await teamFactories(t.deps.db).organization(owner)
  const body = { type: 'organization_invite', organization_id: made.id, team_id: made.teamId, role: 'Member' }
  await notify(person, body)
  const invitation = 'The invitation to <bdi>Makers of lanterns</bdi> is no longer valid.'
  assertSays(await visitor(t, person.token).get(PATH), 200, invitation)
  await notify(owner, body)
  assertSays(await visitor(t, owner.token).get(PATH), 200, 'You joined <bdi>Makers of lanterns</bdi>.')
})
