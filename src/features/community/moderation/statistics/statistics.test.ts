// Figures about the review queue.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { listOwnerRecords } from '../users/queries.ts'

const t = await testApp()
after(() => t.close())
const mira = await t.make.account({ role: 'moderator', username: 'mira' })
const jon = await t.make.account({ role: 'moderator', username: 'jon' })

const read = async (who = mira) => (await t.as(who).get('/_internal/moderation/statistics')).json()

/** A project that was submitted this time ago. */
async function waiting(ms: number): Promise<{ id: string }> {
  const project = await t.make.project({ status: 'processing' })
  await t.make.version({ project })
  await t.deps.db
    .updateTable('project')
    .set({ queued: new Date(t.deps.now() - ms) })
    .where('id', '=', project.id)
    .execute()
  return project
}
const decide = async ({ id }: { id: string }, status: string, who = mira): Promise<void> => {
  assert.equal((await t.as(who).patch(`/v3/project/${id}`, { status })).statusCode, 204)
}

test('figures contain the queue by age, and decisions by day and moderator with their median wait', async () => {
  const empty = await read()
  assert.deepEqual(
    [empty.total, empty.oldest, empty.median_minutes, empty.days, empty.moderators],
    [0, null, null, [], []],
  )
  await decide(await waiting(HOUR_MS), 'approved')
  await decide(await waiting(3 * HOUR_MS), 'rejected')
  await decide(await waiting(2 * HOUR_MS), 'withheld', jon)
  const undone = await waiting(2 * DAY_MS)
  await decide(undone, 'approved')
  await decide(undone, 'processing', jon)
  await waiting(8 * DAY_MS)
  await waiting(0)
  const { total, oldest, ages, median_minutes, days, moderators } = await read()
  assert.equal(total, 3)
  assert.ok(Date.parse(oldest) < t.deps.now() - 7 * DAY_MS)
  assert.deepEqual(ages, [
    { days: 1, projects: 1 },
    { days: 3, projects: 1 },
    { days: 7, projects: 0 },
    { days: null, projects: 1 },
  ])
  assert.equal(median_minutes, 120)
  assert.equal(days.length, 1)
  assert.deepEqual([days[0].approved, days[0].rejected, days[0].median_minutes], [1, 2, 120])
  assert.deepEqual(moderators, [
    { id: mira.id, username: 'mira', approved: 1, rejected: 1 },
    { id: jon.id, username: 'jon', approved: 0, rejected: 1 },
  ])
  assertError(await t.as(await t.make.account()).get('/_internal/moderation/statistics'), 403, 'unauthorized')
  assertError(await t.anyone.get('/_internal/moderation/statistics'), 401, 'unauthorized')
})

test('decisions on appeals count for the moderator who made them', async () => {
  const before = (await read()).moderators
  const counts = (found: typeof before, { id }: { id: string }) => {
    const { approved = 0, rejected = 0 } = found.find((row: { id: string }) => row.id === id) ?? {}
    return [approved, rejected]
  }
  const owner = await t.make.account()
  const appealed = async () => {
    const project = await t.make.project({ owner, status: 'processing' })
    await t.make.version({ project })
    await decide(project, 'rejected')
    assert.equal((await t.as(owner).post(`/v3/project/${project.id}/appeal`, { body: 'It is fine.' })).statusCode, 204)
    return project
  }
  const lena = await t.make.account({ role: 'moderator' })
  const [first, second] = [await appealed(), await appealed()]
  await decide(first, 'approved', lena)
  const path = `/_internal/moderation/projects/${second.id}/appeal/reject`
  assert.equal((await t.as(lena).post(path, { message: 'It is not.' })).statusCode, 204)
  const { moderators } = await read()
  assert.deepEqual(counts(moderators, lena), [1, 1])
  assert.equal(counts(moderators, mira)[1], counts(before, mira)[1] + 2)
  const { counts: record } = (await t.as(mira).get(`/_internal/moderation/users/${owner.id}`)).json()
  assert.deepEqual([record.approved, record.rejected], [1, 1], 'an overturned rejection is an approval')
  const owners = await listOwnerRecords(t.deps.db, [{ kind: 'user', id: owner.id }])
  const { approved, rejected } = owners.get(`user:${owner.id}`) ?? {}
  assert.deepEqual([approved, rejected], [1, 1], 'also in the queue')
})
