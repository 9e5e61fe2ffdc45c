// Revenue, from a daily amount to the balances of users, and payouts.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ALL_SCOPES, parseScopeNames } from '#features/basics/access/scopes.ts'
import { formatUnits, parseUnits } from '#lib/decimal.ts'
import { newId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import { ADMIN_KEY } from '#test/support/app/test-app.ts'
import { aDownload, aView } from '#test/support/factories/analytics-events.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'

const { t } = await teamApp()

const headers = { 'x-admin-key': ADMIN_KEY }
const operator = (path: string, body: unknown) => t.anyone.post(`/_internal/admin/${path}`, body, { headers })
const revenue = (day: string, amount: string, external_id = newId()) =>
  operator('revenue', { external_id, day, amount })

/** Each test has its own day, long past, and the day after it. */
let lastDay = Date.UTC(2020, 0, 1)
function newDay(): { day: string; at: number } {
  lastDay += 2 * DAY_MS
  return { day: new Date(lastDay).toISOString().slice(0, 10), at: lastDay }
}

function use(project: { id: string }, at: number, { views = 0, downloads = 0, monetized = true }): void {
  for (let i = 0; i < views; i += 1)
    t.deps.events.add('view', aView({ project_id: project.id, recorded_at: at + i, monetized }))
  for (let i = 0; i < downloads; i += 1)
    t.deps.events.add('download', aDownload({ project_id: project.id, recorded_at: at + i, monetized }))
}

const balanceOf = async (person: Person) => (await t.as(person).get('/v3/payout/balance')).json()
const earnedBy = async (person: Person) => (await balanceOf(person)).available
const setSplit = (teamId: string, person: { id: string }, payouts_split: number) =>
  t.deps.db
    .updateTable('team_member')
    .set({ payouts_split })
    .where('team_id', '=', teamId)
    .where('account_id', '=', person.id)
    .execute()

describe('a day of revenue', () => {
  test('goes to projects by monetized views and signed-in downloads, all of it', async () => {
    const { day, at } = newDay()
    const [big, small, unseen] = [await t.make.project(), await t.make.project(), await t.make.project()]
    use(big, at, { views: 2, downloads: 3 })
    use(big, at, { views: 100, downloads: 100, monetized: false })
    use(small, at + DAY_MS - 1, { views: 1 })
    // The next midnight is the next day.
    use(small, at + DAY_MS, { views: 50 })
    const answer = await revenue(day, '12.34')
    assert.equal(answer.statusCode, 201)
    const { distributed, projects, amount } = answer.json()
    assert.deepEqual({ distributed, projects, amount }, { distributed: '12.34', projects: 2, amount: '12.34' })
    assert.equal(await earnedBy(big.owner), '10.28333333')
    assert.equal(await earnedBy(small.owner), '2.05666667')
    assert.equal(await earnedBy(unseen.owner), '0.00')
  })

  test('leaves with the operator what hidden and demonetized projects would get', async () => {
    const { day, at } = newDay()
    const earning = await t.make.project({ status: 'archived' })
    const hidden = await t.make.project({ status: 'rejected' })
    const barred = await t.make.project()
    await t.deps.db
      .updateTable('project')
      .set({ monetization_status: 'force-demonetized' })
      .where('id', '=', barred.id)
      .execute()
    for (const project of [earning, hidden, barred]) use(project, at, { views: 5 })
    assert.equal((await revenue(day, '30')).json().distributed, '10.00')
    assert.deepEqual(await Promise.all([earning, hidden, barred].map(({ owner }) => earnedBy(owner))), [
      '10.00',
      '0.00',
      '0.00',
    ])
  })

  test('is split by payouts_split whatever that adds up to, in equal parts when all are zero', async () => {
    const { day, at } = newDay()
    const project = await t.make.project()
    const [second, pending] = [await t.make.account(), await t.make.account()]
    await t.make.member({ teamId: project.teamId, accountId: second.id })
    await t.make.member({ teamId: project.teamId, accountId: pending.id, accepted: false })
    use(project, at, { views: 1 })
    await revenue(day, '1.01')
    assert.deepEqual([await earnedBy(project.owner), await earnedBy(second)], ['0.505', '0.505'])
    await setSplit(project.teamId, project.owner, 0.3)
    await setSplit(project.teamId, second, 0.1)
    await setSplit(project.teamId, pending, 5000)
    await revenue(day, '4')
    assert.deepEqual([await earnedBy(project.owner), await earnedBy(second)], ['3.505', '1.505'])
    assert.equal(await earnedBy(pending), '0.00')
  })

  test('reaches accepted members of the organization who are not in the project’s team', async () => {
    const { organization, member } = teamFactories(t.deps.db)
    const { day, at } = newDay()
    const [boss, helper, both] = [await t.make.account(), await t.make.account(), await t.make.account()]
    const home = await organization(boss)
    await member(home.teamId, helper, { payouts_split: 300 })
    await member(home.teamId, both, { payouts_split: 5000 })
    const project = await t.make.project({ owner: boss, organization_id: home.id })
    await t.make.member({ teamId: project.teamId, accountId: both.id })
    await setSplit(project.teamId, both, 600)
    use(project, at, { downloads: 2 })
    await revenue(day, '10')
    // 100 for the owner (the organization's row), 300, and 600 by the project's own row.
    assert.deepEqual([await earnedBy(boss), await earnedBy(helper), await earnedBy(both)], ['1.00', '3.00', '6.00'])
  })

  test('is distributed once: 201, then 200 with the same answer, 409 with other content', async () => {
    const { day, at } = newDay()
    const project = await t.make.project()
    use(project, at, { views: 1 })
    const first = await revenue(day, '7.5', `once-${day}`)
    use(project, at, { views: 1 })
    const again = await revenue(day, '7.50', `once-${day}`)
    assert.deepEqual([first.statusCode, again.statusCode, again.json()], [201, 200, first.json()])
    assert.equal((await revenue(day, '7.51', `once-${day}`)).statusCode, 409)
    assert.equal((await revenue(newDay().day, '7.5', `once-${day}`)).statusCode, 409)
    assert.equal(await earnedBy(project.owner), '7.50')
    assert.equal((await revenue(day, '0.5')).statusCode, 201, 'another part of the same day adds up')
    assert.equal(await earnedBy(project.owner), '8.00')
  })

  test('one of many concurrent calls distributes', async () => {
    const { day, at } = newDay()
    const project = await t.make.project()
    use(project, at, { views: 3 })
    const answers = await Promise.all(Array.from({ length: 6 }, () => revenue(day, '6', `race-${day}`)))
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [200, 200, 200, 200, 200, 201])
    assert.equal(await earnedBy(project.owner), '6.00')
  })

  test('can be today, with the events of this moment; a day without events stays with the operator', async () => {
    const project = await t.make.project()
    const today = new Date(t.deps.now()).toISOString().slice(0, 10)
    use(project, t.deps.now(), { views: 1 })
    assert.equal((await revenue(today, '2')).json().distributed, '2.00')
    const { available, pending, dates } = await balanceOf(project.owner)
    assert.deepEqual([available, pending], ['0.00', '2.00'])
    const now = new Date(t.deps.now())
    const free = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 60)).toISOString()
    assert.deepEqual(dates, { [free]: '2.00' })
    assert.equal((await revenue(newDay().day, '2')).json().distributed, '0.00')
  })

  test('distributes an amount that is not a multiple of its parts to the last unit', async () => {
    const { day, at } = newDay()
    const projects = []
    for (let i = 0; i < 7; i += 1) projects.push(await t.make.project())
    for (const project of projects) use(project, at, { views: 1 })
    await revenue(day, '0.00000010')
    const earned = await Promise.all(projects.map(({ owner }) => earnedBy(owner)))
    assert.deepEqual(earned.sort(), [...Array(4).fill('0.00000001'), ...Array(3).fill('0.00000002')])
  })

  test('rejects invalid values with their field', async () => {
    const tomorrow = new Date(t.deps.now() + DAY_MS).toISOString().slice(0, 10)
    for (const [body, field] of [
      [{ day: '2023-02-29' }, 'day'],
      [{ day: '2024-1-1' }, 'day'],
      [{ day: tomorrow }, 'day'],
      [{ amount: '0' }, 'amount'],
      [{ amount: '0.00' }, 'amount'],
      [{ amount: '-1' }, 'amount'],
      [{ amount: 12.34 }, 'amount'],
      [{ amount: 'NaN' }, 'amount'],
      [{ external_id: '' }, 'external_id'],
    ] as const) {
      const answer = await operator('revenue', { external_id: newId(), day: '2024-02-29', amount: '1', ...body })
      assert.deepEqual([answer.statusCode, answer.json().details?.field], [400, field], JSON.stringify(body))
    }
    assert.equal((await t.anyone.post('/_internal/admin/revenue', {})).statusCode, 404)
    assert.equal(
      (await t.as(await t.make.account({ role: 'moderator' })).post('/_internal/admin/revenue', {})).statusCode,
      404,
    )
    const admin = await t.make.account({ role: 'admin' })
    const body = { external_id: newId(), day: '2019-01-01', amount: '1' }
    assert.equal((await t.as(admin).post('/v2/_internal/admin/revenue', body)).statusCode, 201)
  })
})

describe('payouts', () => {
  async function rich(amount: string): Promise<Person> {
    const { day, at } = newDay()
    const project = await t.make.project()
    use(project, at, { views: 1 })
    await revenue(day, amount)
    return project.owner
  }
  const pay = (person: { id: string }, amount: string, more: object = {}) =>
    operator('payout', { external_id: newId(), user_id: person.id, amount, ...more })

  test('take from the balance and stand in the history, oldest first', async () => {
    const person = await rich('100')
    await t.as(person).patch(`/v3/user/${person.id}`, { payout_handle: 'me@bank' })
    const paid = await pay(person, '60', { fee: '1.5' })
    assert.equal(paid.statusCode, 201)
    const { id, created } = paid.json()
    assert.deepEqual(await balanceOf(person), {
      available: '38.50',
      pending: '0.00',
      withdrawn_lifetime: '60.00',
      withdrawn_ytd: '60.00',
      dates: {},
      requested_form_type: null,
      form_completion_status: null,
      tax_compliance: null,
    })
    const [earned, withdrawn, ...none] = (await t.as(person).get('/v3/payout/history')).json()
    assert.deepEqual(
      [earned.type, earned.payout_source, earned.amount],
      ['payout_available', 'creator_rewards', '100.00'],
    )
    assert.deepEqual(withdrawn, {
      type: 'withdrawal',
      id,
      status: 'success',
      created,
      amount: '60.00',
      fee: '1.50',
      method_type: 'manual',
      method_id: null,
      method_address: 'me@bank',
    })
    assert.deepEqual(none, [])
    const self = (await t.as(person).get('/v3/user')).json()
    assert.deepEqual(self.payout_data, { payout_handle: 'me@bank', balance: '38.50', balance_number: 38.5 })
    const older = (await t.as(person).get('/v2/user')).json().payout_data
    const unused = { paypal_address: null, paypal_country: null, venmo_handle: null }
    assert.deepEqual(older, { payout_handle: 'me@bank', balance: 38.5, ...unused })
  })

  test('are recorded once, and never exceed the balance, also concurrently', async () => {
    const person = await rich('10')
    const body = { external_id: newId(), user_id: person.id, amount: '4' }
    const same = await Promise.all(Array.from({ length: 5 }, () => operator('payout', body)))
    assert.deepEqual(same.map(({ statusCode }) => statusCode).sort(), [200, 200, 200, 200, 201])
    assert.equal((await operator('payout', { ...body, amount: '4.01' })).statusCode, 409)
    const other = await rich('1')
    assert.equal((await operator('payout', { ...body, user_id: other.id })).statusCode, 409)
    const many = await Promise.all(Array.from({ length: 5 }, () => pay(person, '2.5')))
    assert.deepEqual(many.map(({ statusCode }) => statusCode).sort(), [201, 201, 400, 400, 400])
    assert.equal(await earnedBy(person), '1.00')
    assert.equal((await pay(person, '0.5', { fee: '0.50000001' })).statusCode, 400)
  })

  test('one that failed returns its money, and cannot exceed the balance', async () => {
    const person = await rich('10')
    const { id } = (await pay(person, '8', { status: 'in-transit' })).json()
    const change = (status: string) => t.anyone.patch(`/_internal/admin/payout/${id}`, { status }, { headers })
    assert.equal(await earnedBy(person), '2.00')
    assert.equal((await change('failed')).statusCode, 204)
    assert.equal(await earnedBy(person), '10.00')
    assert.equal((await change('success')).statusCode, 204)
    assert.equal((await change('success')).statusCode, 204)
    assert.equal((await change('cancelled')).statusCode, 204)
    await pay(person, '9')
    assert.equal((await change('in-transit')).statusCode, 400)
    assert.equal((await change('unheard')).statusCode, 400)
    assert.equal(
      (await t.anyone.patch('/_internal/admin/payout/Unknown1', { status: 'failed' }, { headers })).statusCode,
      404,
    )
  })

  test('an unknown user and an amount of nothing are rejected', async () => {
    for (const [more, field] of [
      [{ user_id: 'Unknown1' }, 'user_id'],
      [{ user_id: 'not an id' }, 'user_id'],
      [{ amount: '0' }, 'amount'],
      [{ fee: '-1' }, 'fee'],
      [{ status: 'cancelled' }, 'status'],
    ] as const) {
      const answer = await operator('payout', { external_id: newId(), user_id: 'Unknown1', amount: '1', ...more })
      assert.deepEqual([answer.statusCode, answer.json().details.field], [400, field])
    }
  })

  test('balance, history and the balance in one’s own view need PAYOUTS_READ', async () => {
    const person = await t.make.account()
    const token = await t.make.pat(person, parseScopeNames('USER_READ ANALYTICS').bits)
    for (const path of ['balance', 'history']) {
      assert.equal((await t.as(token).get(`/v3/payout/${path}`)).statusCode, 403)
      assert.equal((await t.anyone.get(`/v3/payout/${path}`)).statusCode, 401)
    }
    assert.equal((await t.as(token).get('/v3/user')).json().payout_data, null)
  })

  test('a deleted account leaves its amounts without a name, and the project’s revenue as it was', async () => {
    const { day, at } = newDay()
    const project = await t.make.project()
    const friend = await t.make.account()
    await t.make.member({ teamId: project.teamId, accountId: friend.id })
    use(project, at, { views: 1 })
    await revenue(day, '10')
    await t.as(friend).patch(`/v3/user/${friend.id}`, { payout_handle: 'friend@bank' })
    const paid = { external_id: newId(), user_id: friend.id, amount: '5' }
    const { id } = (await operator('payout', paid)).json()
    assert.equal((await t.as(friend).delete(`/v3/user/${friend.id}`)).statusCode, 204)
    const rows = await t.deps.db.selectFrom('revenue_share').selectAll().where('project_id', '=', project.id).execute()
    assert.equal(formatUnits(rows.reduce((sum, { amount }) => sum + parseUnits(amount), 0n)), '10.00')
    assert.ok(rows.some(({ account_id }) => account_id === null))
    const payout = await t.deps.db.selectFrom('payout').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    assert.deepEqual([payout.account_id, payout.address], [null, null])
    const again = await operator('payout', paid)
    assert.deepEqual([again.statusCode, again.json().id, again.json().user_id], [200, id, null])
    assert.equal((await operator('payout', { ...paid, user_id: project.owner.id })).statusCode, 409)
  })

  test('the own view needs no statements once it is cached, and shows each change of balance and account', async () => {
    const person = await rich('10')
    let reader = await t.make.pat(person, ALL_SCOPES)
    const read = (path: string) => t.queriesOf(() => t.as(reader).get(path))
    const balances = async () => {
      const [newer, older] = [await read('/v3/user'), await read('/v2/user')]
      return [newer.result.json().payout_data.balance, older.result.json().payout_data.balance]
    }
    assert.deepEqual(await balances(), ['10.00', 10])
    for (const path of ['/v3/user', '/v2/user']) {
      const { result, queries } = await read(path)
      assert.deepEqual(queries, [])
      const again = await t.as(reader).get(path, { headers: { 'if-none-match': String(result.headers['etag']) } })
      assert.equal(again.statusCode, 304)
    }
    const { id } = (await pay(person, '4', { status: 'in-transit' })).json()
    assert.deepEqual(await balances(), ['6.00', 6])
    await t.anyone.patch(`/_internal/admin/payout/${id}`, { status: 'failed' }, { headers })
    assert.deepEqual(await balances(), ['10.00', 10])
    // An amount of two days ago becomes available by itself.
    const project = await t.make.project({ owner: person })
    const at = t.deps.now() - 2 * DAY_MS
    use(project, at, { views: 1 })
    assert.equal((await revenue(new Date(at).toISOString().slice(0, 10), '5')).statusCode, 201)
    assert.deepEqual(await balances(), ['10.00', 10])
    t.advance(120 * DAY_MS)
    reader = await t.make.pat(person, ALL_SCOPES)
    assert.deepEqual(await balances(), ['15.00', 15])
    assert.equal((await t.as(reader).patch(`/v3/user/${person.id}`, { bio: 'Paid' })).statusCode, 204)
    assert.equal((await read('/v3/user')).result.json().bio, 'Paid')
  })
})
