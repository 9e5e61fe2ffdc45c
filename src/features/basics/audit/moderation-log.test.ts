// The log of moderators: which entries it has, and what it does not show.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { SYSTEM } from './actor.ts'
import { recordAudit } from './record-audit.ts'

const t = await testApp()
after(() => t.close())
const mira = await t.make.account({ role: 'moderator', username: 'mira' })

const LOG = '/_internal/moderation/log'
type Entry = { action: string; actor: { name: string | null }; subject: { id: string } | null; details: object }
async function log(query: Record<string, string | number> = {}): Promise<{ entries: Entry[]; next: number | null }> {
  const answer = await t.as(mira).get(LOG, { query })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

test('the log has what moderators and operators did, not what owners did or who signed in', async () => {
  const project = await t.make.project({ status: 'approved' })
  const set = (who: Person, status: string) => t.as(who).patch(`/v3/project/${project.id}`, { status })
  assert.equal((await set(project.owner, 'archived')).statusCode, 204)
  assert.equal((await set(mira, 'withheld')).statusCode, 204)
  await recordAudit(t.deps.db, {
    action: 'account.suspended',
    actor: SYSTEM,
    subject: { kind: 'user', id: project.owner.id },
    details: { reason: 'Advertising' },
  })
  await recordAudit(t.deps.db, { action: 'token.created', actor: SYSTEM })
  const { entries } = await log()
  assert.deepEqual(
    entries.map(({ action, actor, details }) => [action, actor.name, details]),
    [
      ['account.suspended', null, { reason: 'Advertising' }],
      ['project.status_changed', 'mira', { from: 'archived', to: 'withheld' }],
    ],
  )
  const text = JSON.stringify(entries)
  assert.ok(!text.includes('127.0.0.1') && !text.includes('address') && !text.includes('token'))
  assert.deepEqual((await log({ action: 'account.suspended' })).entries.length, 1)
  assert.deepEqual((await log({ subject_kind: 'project', subject_id: project.id })).entries.length, 1)
  assert.deepEqual((await log({ actor: mira.id })).entries.length, 1)
  const first = await log({ limit: 1 })
  assert.ok(first.next !== null)
  const second = await log({ limit: 1, before: first.next })
  assert.deepEqual([second.entries[0]?.action, second.next], ['project.status_changed', null])
})

test('the log is for moderators, and rejects other actions of the audit log as a filter', async () => {
  assertError(await t.as(await t.make.account()).get(LOG), 403, 'unauthorized')
  assertError(await t.anyone.get(LOG), 401, 'unauthorized')
  assertError(await t.as(mira).get(LOG, { query: { action: 'token.created' } }), 400, 'invalid_input', 'action')
  assertError(await t.as(mira).get(LOG, { query: { actor: 'not-base62' } }), 400, 'decoding_error', 'actor')
})
