// A project whose submission the owner withdraws: queue, claim, thread and audit log; and the entries of creations.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { form, modJar, projectData, versionData } from '#test/support/http/forms.ts'

const t = await testApp()
after(() => t.close())
const owner = await t.make.account()
const mira = await t.make.account({ role: 'moderator' })
const admin = await t.make.account({ role: 'admin' })

const QUEUE = '/_internal/moderation/projects'
const set = (who: Person, id: string, status: string) => t.as(who).patch(`/v3/project/${id}`, { status })
const queued = async (): Promise<string[]> =>
  (await t.as(mira).get(QUEUE)).json().projects.map(({ id }: { id: string }) => id)
const place = async (id: string) => (await t.as(owner).get(`/v3/project/${id}/queue`)).json().position
async function entries(subject: string): Promise<{ action: string; details: Record<string, unknown> }[]> {
  const answer = await t.as(admin).get('/_internal/admin/audit-log', { query: { subject_id: subject } })
  return answer.json().entries.toReversed()
}

test('the owner withdraws a submission, and submits again at the end of the queue', async () => {
  const waiting = await Promise.all(
    [0, 1].map(async (n) => {
      const project = await t.make.project({ owner, status: 'draft' })
      await t.make.version({ project })
      t.advance(1000 * (n + 1))
      assert.equal((await set(owner, project.id, 'processing')).statusCode, 204)
      return project.id
    }),
  )
  const [first = '', second = ''] = await queued()
  assert.deepEqual(new Set([first, second]), new Set(waiting))
  assert.equal((await t.as(mira).put(`${QUEUE}/${first}/claim`)).statusCode, 200)
  assert.equal((await set(owner, first, 'draft')).statusCode, 204)
  assert.deepEqual(await queued(), [second])
  assert.equal(await place(first), null)
  assertError(await t.as(mira).put(`${QUEUE}/${first}/claim`), 409, 'conflict')
  assert.equal(await t.deps.db.selectFrom('moderation_claim').selectAll().executeTakeFirst(), undefined)
  const thread = (await t.as(owner).get(`/v3/project/${first}`)).json().thread_id
  const { messages } = (await t.as(owner).get(`/v3/thread/${thread}`)).json()
  assert.deepEqual(messages.at(-1).body, { type: 'status_change', old_status: 'processing', new_status: 'draft' })
  assert.deepEqual((await entries(first)).at(-1)?.details, { from: 'processing', to: 'draft' })
  t.advance(5000)
  assert.equal((await set(owner, first, 'processing')).statusCode, 204)
  assert.deepEqual(await queued(), [second, first])
  const repeated = await t.as(mira).get(QUEUE, { query: { review: 'repeat' } })
  assert.deepEqual(repeated.json().projects, [], 'a withdrawal does not count as a decision')
})

test('members without EDIT_DETAILS cannot, and a decision that comes first wins', async () => {
  const project = await t.make.project({ owner, status: 'processing' })
  await t.make.version({ project })
  const helper = await t.make.account()
  await t.make.member({ teamId: project.teamId, accountId: helper.id, permissions: 1, accepted: true })
  assertError(await set(helper, project.id, 'draft'), 403, 'unauthorized')
  const [withdrawn, rejected] = await Promise.all([set(owner, project.id, 'draft'), set(mira, project.id, 'rejected')])
  assert.equal(rejected.statusCode, 204)
  assert.ok([204, 403].includes(withdrawn.statusCode), withdrawn.body)
  assertError(await set(owner, project.id, 'draft'), 403, 'unauthorized')
})

test('the audit log has the creation of projects, versions, organizations and collections, and each submission', async () => {
  const { payload, headers } = await form(
    projectData('recorded', { is_draft: false, initial_versions: [versionData()] }),
    [{ name: 'file', bytes: modJar('recorded') }],
  )
  const project = (await t.as(owner).post('/v3/project', payload, { headers })).json()
  assert.deepEqual(
    (await entries(project.id)).map(({ action, details }) => [action, details]),
    [['project.created', { slug: 'recorded', status: 'processing' }]],
  )
  const [version = ''] = project.versions as string[]
  assert.deepEqual(
    (await entries(version)).map(({ action, details }) => [action, details]),
    [['version.created', { project: project.id, version_number: '1.0.0', status: 'listed' }]],
  )
  const organization = { slug: 'recorders', name: 'Recorders', description: 'They record' }
  const made = (await t.as(owner).post('/v3/organization', organization)).json()
  assert.deepEqual(
    (await entries(made.id)).map(({ action }) => action),
    ['organization.created'],
  )
  const collection = (await t.as(owner).post('/v3/collection', { name: 'Records' })).json()
  assert.deepEqual(
    (await entries(collection.id)).map(({ action }) => action),
    ['collection.created'],
  )
})
