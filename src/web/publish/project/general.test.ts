// The general settings of a project, as an example of a page with a form: access, errors, notices, read-only mode.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { LightMyRequestResponse } from 'fastify'
import { sql } from 'kysely'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, hiddenFields, visitor } from '#test/support/http/visitor.ts'

const HOSTILE = '</textarea><script>alert(1)</script>'

let t: TestApp
let owner: Person
let project: MadeProject
before(async () => {
  t = await testApp()
  owner = await t.make.account({ username: 'ida-marsh' })
  project = await t.make.project({ owner, slug: 'lantern', name: 'Lantern' })
  await t.make.version({ project, version_number: '1.0.0' })
})
after(() => t?.close())

const SETTINGS = '/mod/lantern/settings'

test('visitors are led to the sign-in page, and others see no page', async () => {
  for (const path of [SETTINGS, '/mod/missing/settings'])
    assertLeads(await visitor(t).get(path), `/account/sign-in?return=${encodeURIComponent(path)}`)
  const stranger = visitor(t, (await t.make.account()).token)
  for (const path of [SETTINGS, '/mod/missing/settings']) assertSays(await stranger.get(path), 404, 'does not exist')
})

test('a member changes only the fields that differ, and the page leads to the new URL', async () => {
  const person = visitor(t, owner.token)
  const page = await person.get(SETTINGS)
  assertSays(page, 200, 'Public')
  assertValidHtml(page.body)
  assert.equal(page.headers['cache-control'], 'private, no-cache')
  assert.match(page.body, /<meta name="robots" content="noindex">/)
  const fields = { name: 'Lantern', slug: 'lantern-2', summary: `Light. ${HOSTILE}` }
  const saved = await person.sendFrom(page, SETTINGS, fields)
  const path = assertLeads(saved, '/mod/lantern-2/settings?done=saved')
  const after = await person.get(path)
  assertSays(after, 200, 'Your changes are saved.')
  assertValidHtml(after.body)
  const view = (await t.as(owner).get(`/v3/project/${project.id}`)).json()
  assert.deepEqual([view.slug, view.summary], ['lantern-2', fields.summary])
  assertLeads(
    await person.sendFrom(after, '/mod/lantern-2/settings', { ...fields, slug: 'lantern' }),
    `${SETTINGS}?done=saved`,
  )
  const moved = await person.get('/project/lantern/settings')
  assert.deepEqual([moved.statusCode, moved.headers.location], [301, SETTINGS])
})

test('a refused form keeps what was entered, names the field and has the focus on the summary', async () => {
  const person = visitor(t, owner.token)
  const page = await person.get(SETTINGS)
  const typed = { name: 'ab', slug: 'lantern', summary: HOSTILE }
  const refused = await person.sendFrom(page, SETTINGS, typed)
  assertSays(refused, 400, 'The name must')
  assertValidHtml(refused.body)
  assert.match(refused.body, /<title>Error: /)
  assert.match(refused.body, /id="errors"[^>]*autofocus/)
  assert.match(refused.body, /href="#name"/)
  assertSays(refused, 400, 'value="ab"')
  assert.ok(!refused.body.includes(HOSTILE))
  await t.make.project({ owner, slug: 'taken' })
  assertSays(await person.sendFrom(page, SETTINGS, { ...typed, name: 'Lantern', slug: 'taken' }), 409, 'The URL')
  assertSays(await person.sendFrom(page, SETTINGS, { ...typed, do: 'constructor' }), 400, 'unknown button')
})

test('a member without the permission sees the values and whom to ask; sending shows the text again', async () => {
  const member = await t.make.account({ username: 'hollis' })
  await t.make.member({ teamId: project.teamId, accountId: member.id, permissions: 8 })
  const person = visitor(t, member.token)
  const page = await person.get(SETTINGS)
  assertSays(page, 200, /To edit it, ask <bdi>ida-marsh<\/bdi> for the <em>Edit details<\/em> permission/)
  assert.ok(!page.body.includes('name="summary"'))
  const other = visitor(t, owner.token)
  const form = await other.get(SETTINGS)
  person.cookies.set('__Host-depot-csrf', other.cookies.get('__Host-depot-csrf') ?? '')
  const refused = await person.sendFrom(form, SETTINGS, { name: 'Lantern', slug: 'lantern', summary: HOSTILE })
  assertSays(refused, 403, HOSTILE)
  assertSays(refused, 403, 'You need the permission “Edit details” for this.')
  assertValidHtml(refused.body)
})

test('read-only mode shows the message with everything that was entered', async () => {
  const person = visitor(t, owner.token)
  const page = await person.get(SETTINGS)
  const settings = t.as({ token: (await t.make.account({ role: 'admin' })).token })
  await settings.patch('/_internal/admin/settings', { read_only: true, read_only_message: 'Back at noon' })
  const refused = await person.sendFrom(page, SETTINGS, { name: 'Lantern', slug: 'lantern', summary: 'Kept text' })
  await settings.patch('/_internal/admin/settings', { read_only: null, read_only_message: null })
  assertSays(refused, 503, 'Kept text')
  assertSays(refused, 503, 'Back at noon')
})

test('two members change different fields, and the same field', async () => {
  const person = visitor(t, owner.token)
  const other = visitor(t, owner.token)
  const [page, second] = [await person.get(SETTINGS), await other.get(SETTINGS)]
  const before = { name: 'Lantern', slug: 'lantern' }
  const { summary } = (await t.as(owner).get(`/v3/project/${project.id}`)).json()
  assertLeads(
    await other.sendFrom(second, SETTINGS, { ...before, name: 'Lanterns', summary }),
    `${SETTINGS}?done=saved`,
  )
  assertLeads(await person.sendFrom(page, SETTINGS, { ...before, summary: 'Ours is longer' }), `${SETTINGS}?done=saved`)
  const merged = (await t.as(owner).get(`/v3/project/${project.id}`)).json()
  assert.deepEqual([merged.name, merged.summary], ['Lanterns', 'Ours is longer'])

  const third = { ...before, name: 'Lanterns', summary: `Mine ${HOSTILE}` }
  const refused = await person.sendFrom(page, SETTINGS, third)
  assertSays(refused, 409, 'Another user saved a change')
  assert.match(refused.body, new RegExp(`Saved by <bdi>${owner.username}</bdi>, <time`))
  assertSays(refused, 409, 'Ours is longer')
  assertValidHtml(refused.body)
  assertLeads(
    await person.sendFrom(refused, SETTINGS, { ...third, 'take.summary': 'theirs' }),
    `${SETTINGS}?done=saved`,
  )
  assert.equal((await t.as(owner).get(`/v3/project/${project.id}`)).json().summary, 'Ours is longer')
  assertLeads(await person.sendFrom(refused, SETTINGS, { ...third, 'take.summary': 'yours' }), `${SETTINGS}?done=saved`)
  assert.equal((await t.as(owner).get(`/v3/project/${project.id}`)).json().summary, third.summary)
})

/** Sends the forms so that all of them have been compared with the same state before the first one is saved. */
async function sendTogether(forms: readonly (() => Promise<LightMyRequestResponse>)[]) {
  return t.deps.db.transaction().execute(async (tx) => {
    await tx.selectFrom('project').select('id').where('id', '=', project.id).forUpdate().execute()
    const sent = Promise.all(forms.map((send) => send()))
    const countWaiting = async (): Promise<number> => {
      const { rows } = await sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(t.deps.db)
      return rows[0]?.count ?? 0
    }
    while ((await countWaiting()) < forms.length) await setImmediate()
    return { sent }
  })
}

test('of forms that are saved at the same time, different fields are merged, and one of the same field is refused', async () => {
  const people = await Promise.all(
    ['name', 'summary', 'summary'].map(async () => {
      const person = visitor(t, owner.token)
      return { person, page: await person.get(SETTINGS) }
    }),
  )
  const { name, summary } = (await t.as(owner).get(`/v3/project/${project.id}`)).json()
  const changes = [{ name: 'Lanterns at night' }, { summary: 'The first of two' }, { summary: 'The second of two' }]
  const { sent } = await sendTogether(
    people.map(
      ({ person, page }, index) =>
        () =>
          person.sendFrom(page, SETTINGS, { slug: 'lantern', name, summary, ...changes[index] }),
    ),
  )
  const answers = await sent
  assert.equal(answers[0]?.statusCode, 303)
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [303, 303, 409])
  const saved = (await t.as(owner).get(`/v3/project/${project.id}`)).json()
  const isFirst = answers[1]?.statusCode === 303
  assert.deepEqual([saved.name, saved.summary], ['Lanterns at night', changes[isFirst ? 1 : 2]?.summary])
  const refused = answers[isFirst ? 2 : 1]
  assert.ok(refused !== undefined)
  for (const text of ['Another user saved a change', 'The first of two', 'The second of two'])
    assertSays(refused, 409, text)
})

test('a form that is sent after the session has ended is there again after sign-in, once and only in this browser', async () => {
  const person = visitor(t, owner.token)
  const page = await person.get(SETTINGS)
  person.cookies.delete('__Host-depot-session')
  const typed = { name: 'Lanterns', slug: 'lantern', summary: `Long ${HOSTILE}`, password: 'secret-password' }
  const led = await person.sendFrom(page, SETTINGS, typed)
  assert.equal(led.statusCode, 303)
  const target = new URL(String(led.headers.location), 'http://x')
  assert.equal(target.pathname, '/account/sign-in')
  const back = target.searchParams.get('return') ?? ''
  assert.match(back, /^\/mod\/lantern\/settings\?restore=\w+$/)
  const elsewhere = await visitor(t, owner.token).get(back)
  assert.ok(!elsewhere.body.includes('Your session had expired'))
  person.cookies.set('__Host-depot-session', owner.token)
  const filled = await person.get(back)
  assertSays(filled, 200, 'Your session had expired')
  assertSays(filled, 200, typed.summary)
  assert.ok(!filled.body.includes('secret-password'))
  assertValidHtml(filled.body)
  assert.ok(!(await person.get(back)).body.includes('Your session had expired'))
  const { summary: _, ...others } = typed
  person.cookies.delete('__Host-depot-session')
  const late = new URL(String((await person.sendFrom(page, SETTINGS, others)).headers.location), 'http://x')
  t.advance(2 * 3_600_000)
  person.cookies.set('__Host-depot-session', await t.make.session(owner.id))
  const expired = await person.get(late.searchParams.get('return') ?? '')
  assert.ok(!expired.body.includes('Your session had expired'))
})

test('a form is kept after a sign-out in another tab, which deletes its token, if the browser says where it comes from', async () => {
  const person = visitor(t, owner.token)
  const page = await person.get(SETTINGS)
  person.cookies.clear()
  const typed = { ...hiddenFields(page, SETTINGS), summary: 'Typed before the sign-out' }
  assert.equal((await person.post(SETTINGS, typed)).statusCode, 403)
  assert.equal((await person.post(SETTINGS, typed, { 'sec-fetch-site': 'cross-site' })).statusCode, 403)
  const led = await person.post(SETTINGS, typed, { 'sec-fetch-site': 'same-origin' })
  const back = new URL(String(led.headers.location), 'http://x').searchParams.get('return') ?? ''
  person.cookies.set('__Host-depot-session', owner.token)
  assertSays(await person.get(back), 200, typed.summary)
})

test('a form of a page that the user can no longer see shows the texts', async () => {
  const member = await t.make.account()
  await t.make.member({ teamId: project.teamId, accountId: member.id })
  const person = visitor(t, member.token)
  const page = await person.get(SETTINGS)
  await t.as(owner).delete(`/v3/team/${project.teamId}/members/${member.id}`)
  const lost = await person.sendFrom(page, SETTINGS, { name: 'Lantern', slug: 'lantern', summary: HOSTILE })
  assertSays(lost, 404, HOSTILE)
  assertValidHtml(lost.body)
  assert.ok(!lost.body.includes('_csrf</label>'))
})
