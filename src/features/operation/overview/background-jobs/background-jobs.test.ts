import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { ADMIN_KEY, testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import type { JobsPage } from './views.ts'

const JOBS = '/_internal/admin/jobs'
const KEY = { headers: { 'x-admin-key': ADMIN_KEY } }

const t = await testApp()
after(() => t.close())
beforeEach(() => t.deps.pool.query('delete from graphile_worker._private_jobs'))

/** Adds a job in a state; `change` sets its columns. */
async function addJob(task: string, change = ''): Promise<string> {
  const { rows } = await t.deps.pool.query<{ id: string }>(
    'select id::text as id from graphile_worker.add_job($1, $2)',
    [task, task === 'files.remove' ? '{"keys":[]}' : '{}'],
  )
  const id = rows[0]?.id ?? ''
  if (change !== '')
    await t.deps.pool.query(`update graphile_worker._private_jobs set ${change} where id = $1::bigint`, [id])
  return id
}

const FAILED = "attempts = max_attempts, last_error = 'The disk is full'"
const RUNNING = "locked_by = 'worker', locked_at = now(), attempts = 1"
const list = async (query: Record<string, string | number> = {}): Promise<JobsPage> =>
  (await t.anyone.get(JOBS, { ...KEY, query })).json()
const retry = (id: string) => t.anyone.post(`/_internal/admin/job/${id}/retry`, undefined, KEY)
const discard = (id: string) => t.anyone.delete(`/_internal/admin/job/${id}`, undefined, KEY)

test('jobs are listed by state and type, with counts of all types', async () => {
  const failed = await addJob('files.remove', FAILED)
  const due = await addJob('files.remove')
  const later = await addJob('files.sweep', "run_at = now() + interval '1 hour'")
  const running = await addJob('files.sweep', RUNNING)
  const retried = await addJob('files.sweep', "attempts = 2, last_error = 'No'")
  const { tasks, total, jobs } = await list()
  assert.deepEqual(tasks, [
    { task: 'files.remove', due: 1, scheduled: 0, running: 0, retrying: 0, failed: 1 },
    { task: 'files.sweep', due: 0, scheduled: 1, running: 1, retrying: 1, failed: 0 },
  ])
  assert.equal(total, 5)
  const states = new Map(jobs.map(({ id, state }) => [id, state]))
  assert.deepEqual(
    [failed, due, later, running, retried].map((id) => states.get(id)),
    ['failed', 'due', 'scheduled', 'running', 'retrying'],
  )
  const [job] = (await list({ state: 'failed', task: 'files.remove' })).jobs
  assert.deepEqual([job?.id, job?.error, job?.attempts], [failed, 'The disk is full', job?.max_attempts])
  assert.deepEqual((await list({ state: 'failed', task: 'files.sweep' })).jobs, [])
  assert.equal((await list({ limit: 2, offset: 4 })).jobs.length, 1)
})

test('a failed job runs again with all its attempts', async () => {
  const id = await addJob('files.remove', FAILED)
  assert.equal((await retry(id)).statusCode, 204)
  const [job] = (await list()).jobs
  assert.deepEqual([job?.state, job?.attempts], ['due', 0])
  await t.runJobs()
  assert.deepEqual((await list()).jobs, [])
  const entry = await t.deps.db.selectFrom('audit_entry').selectAll().where('action', '=', 'job.retried').execute()
  assert.deepEqual(
    entry.map(({ actor_kind, subject_kind, subject_id }) => [actor_kind, subject_kind, subject_id]),
    [['operator', 'job', id]],
  )
})

test('a discarded job is deleted, and its deletion recorded', async () => {
  const id = await addJob('files.remove', FAILED)
  const other = await addJob('files.remove', FAILED)
  assert.equal((await discard(id)).statusCode, 204)
  assert.deepEqual(
    (await list()).jobs.map((job) => job.id),
    [other],
  )
  assertError(await discard(id), 404, 'not_found')
})

test('running and due jobs cannot be retried or discarded', async () => {
  const [running, due] = [await addJob('files.sweep', RUNNING), await addJob('files.remove')]
  for (const act of [retry, discard]) {
    for (const id of [running, due]) {
      const answer = await act(id)
      assertError(answer, 409, 'conflict')
      assert.equal(answer.json().details.state, id === running ? 'running' : 'due')
    }
  }
})

test('all failed jobs of a type are retried or discarded, and no others', async () => {
  const failed = [await addJob('files.remove', FAILED), await addJob('files.remove', FAILED)]
  const retrying = await addJob('files.remove', "attempts = 1, run_at = now() + interval '1 hour'")
  const other = await addJob('files.sweep', FAILED)
  const retried = await t.anyone.post(`${JOBS}/retry`, undefined, { ...KEY, query: { task: 'files.remove' } })
  assert.deepEqual(retried.json(), { jobs: 2 })
  const states = new Map((await list()).jobs.map(({ id, state }) => [id, state]))
  assert.deepEqual(
    [...failed, retrying, other].map((id) => states.get(id)),
    ['due', 'due', 'retrying', 'failed'],
  )
  const dropped = await t.anyone.delete(JOBS, undefined, { ...KEY, query: { task: 'files.sweep' } })
  assert.deepEqual(dropped.json(), { jobs: 1 })
  const again = await t.anyone.delete(JOBS, undefined, { ...KEY, query: { task: 'files.sweep' } })
  assert.deepEqual(again.json(), { jobs: 0 })
  const entries = await t.deps.db
    .selectFrom('audit_entry')
    .select('details')
    .where('action', 'in', ['job.retried', 'job.discarded'])
    .where('subject_id', 'is', null)
    .orderBy('id')
    .execute()
  assert.deepEqual(
    entries.map(({ details }) => details),
    [
      { task: 'files.remove', count: 2 },
      { task: 'files.sweep', count: 1 },
    ],
  )
})

test('two operators who retry and discard the same job do not both succeed', async () => {
  for (let n = 0; n < 5; n += 1) {
    const id = await addJob('files.remove', FAILED)
    const statuses = (await Promise.all([retry(id), discard(id)])).map(({ statusCode }) => statusCode).sort()
    assert.ok(['204,404', '204,409'].includes(String(statuses)), String(statuses))
  }
})

test('bad input names its field, and others than operators find nothing', async () => {
  const bad = async (query: Record<string, string>) => (await t.anyone.get(JOBS, { ...KEY, query })).json()
  assert.equal((await bad({ state: 'dead' })).details.field, 'state')
  assert.equal((await bad({ task: '' })).details.field, 'task')
  assert.equal((await bad({ limit: '0' })).details.field, 'limit')
  for (const id of ['abc', '0', '-1', '99999999999999999999']) assertError(await retry(id), 400, 'invalid_input')
  assertError(await retry('999999'), 404, 'not_found')
  assertError(await t.anyone.delete(JOBS, undefined, KEY), 400, 'invalid_input')
  const moderator = t.as(await t.make.account({ role: 'moderator' }))
  const admin = await t.make.account({ role: 'admin' })
  const token = t.as(await t.make.pat(admin))
  for (const caller of [t.anyone, moderator, token]) {
    assertError(await caller.get(JOBS), 404, 'not_found')
    assertError(await caller.post('/_internal/admin/job/1/retry'), 404, 'not_found')
    assertError(await caller.delete('/_internal/admin/job/1'), 404, 'not_found')
  }
  assert.equal((await t.as(admin).get(JOBS)).statusCode, 200)
})
