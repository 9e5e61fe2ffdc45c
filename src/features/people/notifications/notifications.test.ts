import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parseScopeNames } from '#features/basics/access/scopes.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { measurePool } from '#test/support/app/measured-pool.ts'
import { testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { addNotifications } from '#test/support/factories/largest.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import type { NotificationBody } from './notification-types.ts'
import { insertNotifications } from './queries.ts'
import type { NotificationView } from './views.ts'

const t = await testApp()
after(() => t.close())

const notify = (people: readonly Person[], body: NotificationBody) =>
  transaction(t.deps, (tx, changed) =>
    insertNotifications(
      tx,
      changed,
      people.map(({ id }) => id),
      body,
    ),
  )
const update = (versionId = newId()): NotificationBody => ({
  type: 'project_update',
  project_id: 'projectA',
  version_id: versionId,
})
const list = async (person: Person, of = person): Promise<NotificationView[]> => {
  const answer = await t.as(person).get(`/v3/user/${of.id}/notifications`)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
const named = (ids: readonly string[]): string => `/v3/notifications?ids=${encodeURIComponent(JSON.stringify(ids))}`
const byId = async (person: Person, ids: readonly string[]): Promise<string[]> =>
  (await t.as(person).get(named(ids))).json().map(({ id }: { id: string }) => id)
const storedIds = async (person: Person): Promise<string[]> => {
  const rows = await t.deps.db.selectFrom('notification').select('id').where('account_id', '=', person.id).execute()
  return rows.map(({ id }) => id)
}

test('a notification says in words what happened, and what can be done about it', async () => {
  const person = await t.make.account()
  await notify([person], {
    type: 'team_invite',
    project_id: 'projectA',
    team_id: 'teamA',
    invited_by: 'personA',
    role: 'Artist',
  })
  const [notification] = await list(person)
  assert.ok(notification !== undefined)
  const { id, created, ...rest } = notification
  assert.match(id, /^[0-9A-Za-z]{8}$/)
  assert.ok(Math.abs(Date.parse(created) - t.deps.now()) < 60_000)
  assert.deepEqual(rest, {
    user_id: person.id,
    read: false,
    body: { type: 'team_invite', project_id: 'projectA', team_id: 'teamA', invited_by: 'personA', role: 'Artist' },
    name: 'You were invited to a team',
    text: 'You were invited to join the team of a project as Artist.',
    link: '/project/projectA',
    actions: [
      { name: 'Accept', action_route: ['POST', 'team/teamA/join'] },
      { name: 'Deny', action_route: ['DELETE', `team/teamA/members/${person.id}`] },
    ],
  })
  assert.deepEqual((await t.as(person).get(`/v3/notification/${id}`)).json(), notification)
})

test('every type links to the page of its subject; an unknown type is shown without an error', async () => {
  const person = await t.make.account()
  const bodies: [NotificationBody, string][] = [
    [{ type: 'project_update', project_id: 'p', version_id: 'v' }, '/project/p/version/v'],
    [
      { type: 'organization_invite', organization_id: 'o', team_id: 't', invited_by: 'u', role: 'Member' },
      '/organization/o',
    ],
    [{ type: 'status_change', project_id: 'p', old_status: 'processing', new_status: 'approved' }, '/project/p'],
    [{ type: 'moderator_message', thread_id: 't', message_id: 'm', project_id: 'p', report_id: null }, '/project/p'],
    [
      { type: 'moderator_message', thread_id: 't', message_id: 'm', project_id: null, report_id: 'r' },
      '/dashboard/reports/r',
    ],
    [{ type: 'project_status_approved', project_id: 'p' }, '/project/p'],
    [{ type: 'project_status_neutral', project_id: 'p', old_status: 'approved', new_status: 'withheld' }, '/project/p'],
    [{ type: 'moderation_message_received', project_id: 'p' }, '/project/p'],
    [{ type: 'report_submitted', report_id: 'r' }, '/dashboard/reports/r'],
    [{ type: 'report_status_updated', report_id: 'r' }, '/dashboard/reports/r'],
    [{ type: 'operator_question', user_id: 'u', message: 'Please look' }, '/moderation/user/u'],
    [{ type: 'content_taken_down', item: 'collection', message: 'Advertising' }, '#'],
    [{ type: 'content_taken_down', item: 'user' }, '#'],
    [
      { type: 'project_transferred', project_id: 'p', new_owner_user_id: 'u', new_owner_organization_id: null },
      '/project/p',
    ],
  ]
  for (const [body, link] of bodies) {
    await notify([person], body)
    const ids = await storedIds(person)
    const [id] = ids
    const notification = (await t.as(person).get(`/v3/notification/${id}`)).json()
    assert.deepEqual([notification.body, notification.link], [body, link])
    assert.ok(notification.name.length > 3 && notification.text.length > 3)
    await t.deps.db.deleteFrom('notification').where('account_id', '=', person.id).execute()
  }
  const id = newId()
  await t.deps.db
    .insertInto('notification')
    .values({ id, account_id: person.id, body: JSON.stringify({ type: 'from_the_future', of: 'another release' }) })
    .execute()
  const unknown = (await t.as(person).get(`/v3/notification/${id}`)).json()
  assert.deepEqual([unknown.link, unknown.actions, unknown.body.of], ['#', [], 'another release'])
  await t.runJobs()
})

test('a list is the newest first, without the types that are only mailed; these answer by ID', async () => {
  const person = await t.make.account()
  await notify([person], update('older'))
  await notify([person], { type: 'project_status_approved', project_id: 'p' })
  await notify([person], update('newer'))
  assert.deepEqual(
    (await list(person)).map(({ body }) => (body as Record<string, unknown>)['version_id']),
    ['newer', 'older'],
  )
  const ids = await storedIds(person)
  assert.equal((await byId(person, ids)).length, 3)
  await t.runJobs()
})

test('notifications about a version or a project disappear when it is deleted', async () => {
  const person = await t.make.account()
  const [project, other] = [await t.make.project(), await t.make.project()]
  const [version, kept] = [await t.make.version({ project }), await t.make.version({ project: other })]
  for (const [{ id: project_id }, { id: version_id }] of [
    [project, version],
    [other, kept],
  ] as const)
    await notify([person], { type: 'project_update', project_id, version_id })
  await notify([person], { type: 'version_withdrawn', project_id: project.id, version_id: version.id })
  const about = async () => (await list(person)).map(({ body }) => (body as Record<string, unknown>)['version_id'])
  assert.deepEqual(await about(), [version.id, kept.id, version.id])
  assert.equal((await t.as(project.owner).delete(`/v3/version/${version.id}`)).statusCode, 204)
  assert.deepEqual(await about(), [kept.id])
  assert.equal((await t.as(other.owner).delete(`/v3/project/${other.id}`)).statusCode, 204)
  assert.deepEqual(await about(), [])
  await t.runJobs()
})

test('types that are mailed go to the verified address once, with the page of what happened and no secret', async () => {
  const person = await t.make.account()
  const unverified = await t.make.account({ email_verified: false })
  const before = (await t.mails()).length
  await notify([person, person, unverified], { type: 'project_status_approved', project_id: 'projectB' })
  await notify([person], update())
  await t.runJobs()
  const mails = (await t.mails()).slice(before)
  assert.equal(mails.length, 1)
  assert.match(mails[0] ?? '', new RegExp(`To: ${person.email}`))
  assert.match(mails[0] ?? '', /Subject: Your project was approved/)
  assert.match(mails[0] ?? '', /^https:\/\/depot\.test\/project\/projectB\r?$/m)
  await notify([person], { type: 'report_submitted', report_id: 'r' })
  await t.deps.db.deleteFrom('notification').where('account_id', '=', person.id).execute()
  await t.runJobs()
  assert.equal((await t.mails()).length, before + 1, 'a deleted notification is not mailed')
})

test('reading marks one or many of the own; those of others and unknown ones are passed over', async () => {
  const [person, other] = await Promise.all([t.make.account(), t.make.account()])
  for (let i = 0; i < 3; i += 1) await notify([person], update())
  await notify([other], update())
  const [first, second, third] = (await list(person)).map(({ id }) => id)
  const [foreign] = (await list(other)).map(({ id }) => id)
  assert.ok(first !== undefined && second !== undefined && third !== undefined && foreign !== undefined)
  const reads = async (who: Person): Promise<boolean[]> => (await list(who)).map(({ read }) => read)

  assert.equal((await t.as(person).patch(`/v3/notification/${first}`)).statusCode, 204)
  assert.deepEqual(await reads(person), [true, false, false])
  assert.equal((await t.as(person).patch(named([second, first, foreign, 'zzzzzzzz']))).statusCode, 204)
  assert.deepEqual([await reads(person), await reads(other)], [[true, true, false], [false]])
  assert.equal((await t.as(person).patch(`/v3/notification/${first}`)).statusCode, 204, 'again changes nothing')
  assert.equal((await t.as(person).patch(named([]))).statusCode, 204)

  assert.equal((await t.as(person).delete(named([third, foreign, third]))).statusCode, 204)
  assert.equal((await t.as(person).delete(`/v3/notification/${first}`)).statusCode, 204)
  assertError(await t.as(person).delete(`/v3/notification/${first}`), 404, 'not_found')
  assert.deepEqual(
    (await list(person)).map(({ id }) => id),
    [second],
  )
  assert.equal((await list(other)).length, 1)
})

test("another's notification is absent; an admin reads it and its list, a moderator does not", async () => {
  const [person, stranger, moderator, admin] = await Promise.all([
    t.make.account(),
    t.make.account(),
    t.make.account({ role: 'moderator' }),
    t.make.account({ role: 'admin' }),
  ])
  await notify([person], update())
  const [id = ''] = await storedIds(person)
  for (const other of [stranger, moderator]) {
    assertError(await t.as(other).get(`/v3/notification/${id}`), 404, 'not_found')
    assertError(await t.as(other).patch(`/v3/notification/${id}`), 404, 'not_found')
    assertError(await t.as(other).delete(`/v3/notification/${id}`), 404, 'not_found')
    assert.deepEqual(await byId(other, [id]), [])
    assertError(await t.as(other).get(`/v3/user/${person.username}/notifications`), 403, 'unauthorized')
  }
  assert.equal((await t.as(admin).get(`/v3/notification/${id}`)).statusCode, 200)
  assert.deepEqual(await byId(admin, [id]), [id])
  assert.equal((await list(admin, person)).length, 1)
  assert.equal((await t.as(admin).delete(named([id]))).statusCode, 204)
  assert.deepEqual(await byId(person, [id]), [id], 'deleting many is for the own ones')
  assert.equal((await t.as(admin).patch(`/v3/notification/${id}`)).statusCode, 204)
  assert.equal((await list(person))[0]?.read, true)
})

test('reading needs NOTIFICATION_READ, changing NOTIFICATION_WRITE, and IDs must be IDs', async () => {
  const person = await t.make.account()
  const reader = t.as(await t.make.pat(person, parseScopeNames('NOTIFICATION_READ').bits))
  const writer = t.as(await t.make.pat(person, parseScopeNames('NOTIFICATION_WRITE').bits))
  const reads = [`/v3/notification/zzzzzzzz`, named([]), `/v3/user/${person.id}/notifications`]
  for (const path of reads) {
    assertError(await t.anyone.get(path), 401, 'unauthorized')
    assertError(await writer.get(path), 403, 'unauthorized')
  }
  for (const path of ['/v3/notification/zzzzzzzz', named([])]) {
    assertError(await t.anyone.patch(path), 401, 'unauthorized')
    assertError(await t.anyone.delete(path), 401, 'unauthorized')
    assertError(await reader.patch(path), 403, 'unauthorized')
    assertError(await reader.delete(path), 403, 'unauthorized')
  }
  for (const method of ['patch', 'delete'] as const) {
    assertError(await writer[method]('/v3/notification/not-an-id'), 400, 'decoding_error', 'id')
    assertError(await writer[method](named(['not-an-id'])), 400, 'decoding_error', 'ids.0')
    assertError(await writer[method]('/v3/notifications?ids=nonsense'), 400, 'invalid_input', 'ids')
    assertError(await writer[method]('/v3/notifications'), 400, 'invalid_input', 'ids')
    assertError(await writer[method]('/v3/notification/zzzzzzzz'), 404, 'not_found')
  }
  assertError(await reader.get('/v3/notification/not-an-id'), 400, 'decoding_error', 'id')
  assertError(await reader.get('/v3/user/nobody-here/notifications'), 404, 'not_found')
})

test('five thousand notifications cost one query, as two do', async () => {
  const [few, many] = await Promise.all([t.make.account(), t.make.account()])
  const insert = (person: Person, count: number) =>
    t.deps.db
      .insertInto('notification')
      .values(
        Array.from({ length: count }, () => ({ id: newId(), account_id: person.id, body: JSON.stringify(update()) })),
      )
      .execute()
  await insert(few, 2)
  await insert(many, 5000)
  for (const [person, count] of [
    [few, 2],
    [many, 5000],
  ] as const) {
    // The first request learns who the token stands for.
    await t.as(person).get('/v3/user')
    await t.as(person).get(`/v3/user/${person.id}`)
    const { result, queries } = await t.queriesOf(() => list(person))
    assert.deepEqual([result.length, queries.length], [count, 1])
  }
})

test('the list is read in pages, also while its notifications are deleted', async () => {
  const person = await t.make.account()
  await addNotifications(t, person.id, 25, 'Page')
  await t.deps.db
    .updateTable('notification')
    .set({ created: new Date(0) })
    .where('account_id', '=', person.id)
    .execute()
  for (const api of ['v3', 'v2']) {
    const path = `/${api}/user/${person.id}/notifications`
    const whole = await t.as(person).get(path)
    assert.equal(whole.headers['link'], undefined)
    const ids: string[] = []
    let address = `${path}?limit=10`
    for (let link: unknown = ''; link !== undefined; ) {
      const answer = await t.as(person).get(address)
      const page: { id: string }[] = answer.json()
      ids.push(...page.map(({ id }) => id))
      // The database and the view compose the same rows.
      assert.deepEqual(page, whole.json().slice(ids.length - page.length, ids.length))
      if (api === 'v2') await t.as(person).delete(named(page.map(({ id }) => id)))
      link = answer.headers['link']
      const [, query = ''] = /^<(\?limit=10&cursor=[\d]+-\w+)>; rel="next"$/.exec(String(link)) ?? []
      address = path + query
    }
    assert.deepEqual(
      ids,
      whole.json().map(({ id }: { id: string }) => id),
    )
  }
  for (const [field, value] of [
    ['limit', 0],
    ['limit', 1001],
    ['cursor', '-'],
    ['cursor', '1-é'],
  ] as const) {
    const answer = await t.as(person).get(`/v3/user/${person.id}/notifications`, { query: { [field]: value } })
    assert.deepEqual([answer.statusCode, answer.json().details.field], [400, field])
  }
})

test('11,000 notifications: the newest 10,000 are listed, and other requests read only what they show', async () => {
  // Without the checks of every answer, which cost more than the request.
  const own = await testApp({ watch: () => undefined })
  const person = await own.make.account()
  await addNotifications(own, person.id, 11_000)
  const path = `/v3/user/${person.id}/notifications`
  const whole = (await own.as(person).get(path)).json()
  assert.equal(whole.length, 10_000)
  assert.deepEqual(whole[0], (await own.as(person).get('/v3/notification/No011000')).json())
  assert.deepEqual((await own.as(person).get(`${path}?limit=2`)).json(), whole.slice(0, 2))
  const { measure } = measurePool(own.deps.pool)
  const ids = whole.slice(0, 500).map(({ id }: { id: string }) => id)
  const session = { cookie: `__Host-depot-session=${person.token}`, accept: 'text/html' }
  const page = '/dashboard/notifications?page=200'
  for (const [act, rowsMax] of [
    [() => own.as(person).get(`${path}?limit=100`), 101],
    [() => own.as(person).get(page, { headers: session }), 200],
    // And the row of the change log.
    [() => own.as(person).patch(named(ids)), 501],
    [() => own.as(person).delete(named(ids)), 501],
  ] as const) {
    const { result, rows } = await measure(act)
    assert.ok(result.statusCode < 300 && rows <= rowsMax, `${result.statusCode}, ${rows} rows`)
  }
  await own.close()
})
