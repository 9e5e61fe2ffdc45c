import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parseScopeNames } from '#features/basics/access/scopes.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { type Client, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'

const t = await testApp()
after(() => t.close())

async function read(path: string, client: Client = t.anyone) {
  const answer = await client.get(path)
  assert.equal(answer.statusCode, 200, `${path}: ${answer.body}`)
  return answer.json()
}
const idsOf = (things: { id: string }[]) => `ids=${encodeURIComponent(JSON.stringify(things.map(({ id }) => id)))}`
async function assertAbsent(path: string, client: Client = t.anyone) {
  const answer = await client.get(path)
  assert.deepEqual([answer.statusCode, answer.body], [404, ''], path)
}

/** The v2 API has no revisions. */
function withoutRevision({ revision: _, ...shown }: Record<string, unknown>): Record<string, unknown> {
  return shown
}

/** Returns the v2 form of a v3 user. */
function older({ payout_data, ...newer }: Record<string, unknown>) {
  const { allow_friend_requests: _, campaigns: __, language: ___, ...user } = withoutRevision(newer)
  return { ...user, payout_data: olderPayoutData(payout_data as PayoutData | null), name: null, github_id: null }
}

type PayoutData = { payout_handle: string | null; balance: string; balance_number: number }

function olderPayoutData(data: PayoutData | null) {
  if (data === null) return null
  const { payout_handle, balance } = data
  return { payout_handle, balance: Number(balance), paypal_address: null, paypal_country: null, venmo_handle: null }
}

test('a user is the v3 user with other keys, for other users, themselves and admins', async () => {
  const person = await t.make.account({ username: 'Beacon-Keeper' })
  const admin = await t.make.account({ role: 'admin' })
  for (const path of [`user/${person.id}`, 'user/beacon-keeper']) {
    for (const client of [t.anyone, t.as(person), t.as(admin)])
      assert.deepEqual(await read(`/v2/${path}`, client), older(await read(`/v3/${path}`, client)))
  }
  const weak = t.as(await t.make.pat(person, parseScopeNames('USER_READ').bits))
  for (const client of [t.as(person), weak])
    assert.deepEqual(await read('/v2/user', client), older(await read('/v3/user', client)))
  assert.equal((await read('/v2/user', t.as(person))).email, person.email)
  assert.equal((await read('/v2/user', weak)).email, null)
  const [shown] = await read(`/v2/users?${idsOf([person, { id: 'unknown' }])}`)
  assert.deepEqual(shown, await read(`/v2/user/${person.id}`))
  await assertAbsent('/v2/user/nobody-here')
  for (const authorization of [undefined, '', 'Bearer ', 'unknown']) {
    const answer = await t.anyone.get('/v2/user', authorization === undefined ? {} : { headers: { authorization } })
    assert.deepEqual([answer.statusCode, answer.json().error], [401, 'unauthorized'])
  }
})

test("a user's projects and follows are those of the v3 API; those of others stay theirs", async () => {
  const person = await t.make.account()
  const [open, draft] = [
    await t.make.project({ owner: person }),
    await t.make.project({ owner: person, status: 'draft' }),
  ]
  const ids = (list: { id: string }[]) => list.map(({ id }) => id).sort()
  assert.deepEqual(ids(await read(`/v2/user/${person.id}/projects`)), [open.id])
  assert.deepEqual(ids(await read(`/v2/user/${person.username}/projects`, t.as(person))), [open.id, draft.id].sort())
  assert.equal((await t.as(person).post(`/v3/project/${open.id}/follow`)).statusCode, 204)
  assert.deepEqual(await read(`/v2/user/${person.id}/follows`, t.as(person)), [await read(`/v2/project/${open.id}`)])
  assert.equal((await t.as(await t.make.account()).get(`/v2/user/${person.id}/follows`)).statusCode, 403)
  await assertAbsent('/v2/user/nobody-here/projects')
})

test('members show what the v3 API shows, and only the owner is called so', async () => {
  const project = await t.make.project()
  const [member, invited] = [await t.make.account(), await t.make.account()]
  await t.make.member({ teamId: project.teamId, accountId: member.id })
  await t.make.member({ teamId: project.teamId, accountId: invited.id, accepted: false })
  await t.deps.db.updateTable('team_member').set({ role: 'Owner' }).where('account_id', '=', member.id).execute()
  for (const client of [t.anyone, t.as(project.owner), t.as(member)]) {
    const newer: Record<string, unknown>[] = await read(`/v3/team/${project.teamId}/members`, client)
    const expected = newer.map(({ is_owner, organization_permissions: _, user, ...shown }) => ({
      ...withoutRevision(shown),
      user: withoutRevision(user as Record<string, unknown>),
      role: is_owner === true ? 'Owner' : 'Member',
    }))
    assert.deepEqual(await read(`/v2/team/${project.teamId}/members`, client), expected)
    assert.deepEqual(await read(`/v2/project/${project.slug}/members`, client), expected)
    assert.deepEqual(await read(`/v2/teams?${idsOf([{ id: project.teamId }, { id: 'AAAAAAAA' }])}`, client), [expected])
  }
  const draft = await t.make.project({ status: 'draft' })
  await assertAbsent(`/v2/team/${draft.teamId}/members`)
  await assertAbsent(`/v2/project/${draft.id}/members`)
  assert.deepEqual(await read(`/v2/teams?${idsOf([{ id: draft.teamId }])}`), [])
})

test('notifications have their older names, and belong to their account', async () => {
  const [person, stranger] = await t.make.people(2)
  await transaction(t.deps, (tx, changed) =>
    insertNotifications(tx, changed, [person.id], {
      type: 'team_invite',
      project_id: 'projectA',
      team_id: 'teamAAAA',
      invited_by: stranger.id,
      role: 'Member',
    }),
  )
  const [newer] = await read(`/v3/user/${person.id}/notifications`, t.as(person))
  const { name, actions, ...same } = newer
  type Action = { name: string; action_route: string[] }
  const expected = {
    ...same,
    type: 'team_invite',
    title: name,
    actions: actions.map(({ name: title, action_route }: Action) => ({ title, action_route })),
  }
  assert.deepEqual(await read(`/v2/user/${person.id}/notifications`, t.as(person)), [expected])
  assert.deepEqual(await read(`/v2/notifications?${idsOf([newer])}`, t.as(person)), [expected])
  assert.deepEqual(await read(`/v2/notification/${newer.id}`, t.as(person)), expected)
  for (const action of expected.actions) assert.doesNotMatch(action.action_route[1], /^\//)
  await assertAbsent(`/v2/notification/${newer.id}`, t.as(stranger))
  assert.deepEqual(await read(`/v2/notifications?${idsOf([newer])}`, t.as(stranger)), [])
  assert.equal((await t.as(stranger).get(`/v2/user/${person.id}/notifications`)).statusCode, 403)
})

test('reports and threads equal those of the v3 API, for users who can read them', async () => {
  const project = await t.make.project()
  const [reporter, stranger] = await t.make.people(2)
  const moderator = await t.make.account({ role: 'moderator' })
  const body = { report_type: 'spam', item_id: project.id, item_type: 'project', body: 'This is spam.' }
  const report = (await t.as(reporter).post('/v3/report', body)).json()
  const answer = { body: { type: 'text', body: 'We look into it.' } }
  assert.equal((await t.as(moderator).post(`/v3/thread/${report.thread_id}`, answer)).statusCode, 204)
  for (const client of [t.as(reporter), t.as(moderator)]) {
    assert.deepEqual(await read(`/v2/report/${report.id}`, client), await read(`/v3/report/${report.id}`, client))
    assert.deepEqual(await read(`/v2/reports?${idsOf([report])}`, client), [
      await read(`/v2/report/${report.id}`, client),
    ])
    const newer = await read(`/v3/thread/${report.thread_id}`, client)
    const messages = newer.messages.map(({ hide_identity: _, ...shown }: Record<string, unknown>) => shown)
    const thread = await read(`/v2/thread/${report.thread_id}`, client)
    assert.deepEqual(thread, { ...newer, messages, members: newer.members.map(withoutRevision) })
    assert.deepEqual(await read(`/v2/threads?${idsOf([{ id: report.thread_id }])}`, client), [thread])
  }
  const open = await read('/v2/report?count=999999&all=true', t.as(moderator))
  assert.deepEqual(open, await read('/v3/report?count=1000&all=true', t.as(moderator)))
  assert.deepEqual(await read('/v2/report?count=0', t.as(reporter)), [])
  await assertAbsent(`/v2/report/${report.id}`, t.as(stranger))
  await assertAbsent(`/v2/thread/${report.thread_id}`, t.as(stranger))
  assert.deepEqual(await read(`/v2/threads?${idsOf([{ id: report.thread_id }])}`, t.as(stranger)), [])
})

test('the counts of the catalogue are the same', async () => {
  await t.make.project()
  assert.deepEqual(await read('/v2/statistics'), await read('/v3/statistics'))
})

test('one budget for both versions, and the headers on every answer', async () => {
  const headers = { 'user-agent': 'depot-tests/1.0 (tests)' }
  const left = async (url: string) =>
    Number(
      (await t.inject({ method: 'GET', url, headers, remoteAddress: '192.0.2.77' })).headers['x-ratelimit-remaining'],
    )
  t.freeze()
  const first = await left('/v2/statistics')
  assert.ok((await left('/v3/statistics')) < first)
  for (let spent = 0; (await left('/v3/statistics')) > 0 && spent < 400; spent += 1);
  const refused = await t.inject({ method: 'GET', url: '/v2/project/x', headers, remoteAddress: '192.0.2.77' })
  assert.deepEqual([refused.statusCode, refused.json().error], [429, 'ratelimit_error'])
  assert.equal(refused.headers['x-ratelimit-remaining'], '0')
  t.thaw()
})

test('changed users are visible in the v2 API', async () => {
  const person: Person = await t.make.account()
  assert.equal((await read(`/v2/user/${person.id}`)).bio, null)
  assert.equal((await t.as(person).patch(`/v3/user/${person.id}`, { bio: 'Keeps the light.' })).statusCode, 204)
  assert.equal((await read(`/v2/user/${person.id}`)).bio, 'Keeps the light.')
})

test('parts of the v2 API that were retired answer 410 to every method, with the rate headers', async () => {
  const user = await t.make.account()
  for (const [method, url] of [
    ['GET', `/v2/user/${user.id}/payouts`],
    ['POST', `/v2/user/${user.id}/payouts`],
    ['GET', `/v2/user/${user.id}/payouts_fees`],
  ] as const) {
    const answer = await t.inject({ method, url, payload: method === 'POST' ? '{' : '' })
    assert.deepEqual([answer.statusCode, answer.json().error], [410, 'api_deprecated'])
    assert.match(String(answer.headers['x-ratelimit-remaining']), /^\d+$/)
  }
})
