// A webhook with deliveries in each state, as its pages show it.
import assert from 'node:assert/strict'
import type { TestApp } from '../app/test-app.ts'
import type { Person } from '../factories/factories.ts'

const HEADERS = {
  'content-type': 'application/json',
  'webhook-id': 'evt_0123456789ABCDEF',
  'webhook-signature': `v1,${'x'.repeat(44)} v1a,${'y'.repeat(88)}`,
}

/** Creates a webhook of a project with a delivered, a failed and a waiting delivery; returns its ID and that of the failed one. */
export async function makeWebhook(
  t: TestApp,
  owner: Person,
  projectId: string,
): Promise<{ hook: string; delivery: string }> {
  const url = 'https://hooks.example.org/depot/with-a-long-path-that-does-not-fit-in-one-line'
  const fields = { url, events: ['version.published', 'advisory.published'], loaders: ['fabric'] }
  const answer = await t.as(owner).post('/v3/webhook', { owner: { kind: 'project', id: projectId }, ...fields })
  assert.equal(answer.statusCode, 201, answer.body)
  const hook: string = answer.json().id
  let failed = ''
  for (const state of ['delivered', 'failed', 'pending'] as const) {
    const id = await insertDelivery(t, { hook, projectId, state })
    if (state === 'failed') failed = id
  }
  return { hook, delivery: failed }
}

type NewDelivery = { hook: string; projectId: string; state: 'delivered' | 'failed' | 'pending' }

async function insertDelivery({ deps }: TestApp, { hook, projectId, state }: NewDelivery): Promise<string> {
  const { db, now } = deps
  const data = JSON.stringify({ project_id: projectId })
  const event = await db
    .insertInto('event')
    .values({ kind: 'version.published', subject_kind: 'project', subject_id: projectId, is_public: true, data })
    .returning('id')
    .executeTakeFirstOrThrow()
  const at = new Date(now() - 60_000)
  const isPending = state === 'pending'
  const { id } = await db
    .insertInto('webhook_delivery')
    .values({
      webhook_id: hook,
      event_id: event.id,
      subject: `project ${projectId}`,
      state,
      attempt: isPending ? 0 : 1,
      next_attempt: isPending ? new Date(now() + 60_000) : null,
      created: at,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  if (isPending) return id
  const isFailed = state === 'failed'
  await db
    .insertInto('webhook_attempt')
    .values({
      delivery_id: id,
      attempt: 1,
      at,
      ms: 120,
      error: isFailed ? 'status' : null,
      request_headers: JSON.stringify(HEADERS),
      request_body: JSON.stringify({
        type: 'version.published',
        timestamp: at.toISOString(),
        data: { note: 'x'.repeat(200) },
      }),
      response_status: isFailed ? 500 : 204,
      response_body: isFailed ? '<b>The receiver has an error that does not end</b>' : '',
    })
    .execute()
  return id
}
