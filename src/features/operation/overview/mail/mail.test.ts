import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { DAY_MS } from '#lib/time.ts'
import { mailError } from '#ports/mail/mail.ts'
import { ADMIN_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import type { MailView, WrittenMailView } from './views.ts'

const MAIL = '/_internal/admin/mail'
const KEY = { headers: { 'x-admin-key': ADMIN_KEY } }

let t: TestApp
let rejection: Error | undefined
before(async () => {
  t = await testApp({
    deps: ({ mail }) => ({
      mail: {
        ...mail,
        send: async (message) => {
          if (rejection !== undefined) throw mailError(rejection)
          return mail.send(message)
        },
      },
    }),
  })
})
after(() => t.close())

const read = async (query: Record<string, string | number | boolean> = {}): Promise<MailView> => {
  const answer = await t.anyone.get(MAIL, { ...KEY, query })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

/** Requests a new password, whose email a job sends. */
async function requestMail(email: string): Promise<void> {
  const answer = await t.anyone.post('/_internal/auth/password/reset', { username: email })
  assert.equal(answer.statusCode, 204, answer.body)
}

test('a sent email is listed with the response', async () => {
  const person = await t.make.account()
  await requestMail(person.email)
  assert.equal((await read()).queued, 1)
  await t.runJobs()
  // The job library records the end of a job after it has run.
  while ((await read()).queued !== 0) await new Promise(setImmediate)
  const { deliveries, transport } = await read()
  assert.equal(transport.kind, 'outbox')
  const [delivery] = deliveries
  assert.deepEqual(
    [delivery?.kind, delivery?.account_id, delivery?.username, delivery?.sent, delivery?.written],
    ['reset-password', person.id, person.username, true, true],
  )
  assert.match(delivery?.response ?? '', /\.eml$/)
})

test('deliveries and the count of a day distinguish emails in files from sent emails', async () => {
  await sql`insert into mail_delivery (at, kind, is_sent, response)
    values (${new Date(t.deps.now())}, 'test', true, '250 OK')`.execute(t.deps.db)
  const responses = async (written: boolean) =>
    (await read({ sent: true, written })).deliveries.map(({ response }) =>
      response.replace(/^[\dTZ-]+.*\.eml$/, 'file'),
    )
  assert.deepEqual([await responses(true), await responses(false)], [['file'], ['250 OK']])
  assert.equal((await read()).last_24_hours.written, 1)
  await sql`delete from mail_delivery where response = '250 OK'`.execute(t.deps.db)
})

test('operators read an email that was written to a file, and the audit log has it', async () => {
  const { deliveries } = await read()
  const [delivery] = deliveries
  const admin = await t.make.account({ role: 'admin' })
  const answer = await t.as(admin).get(`${MAIL}/${delivery?.id}`)
  assert.equal(answer.statusCode, 200, answer.body)
  const { file, to, subject, text }: WrittenMailView = answer.json()
  assert.equal(file, delivery?.response)
  assert.match(to, /^[^@\s]+@[^@\s]+$/)
  assert.ok(subject.length > 0)
  assert.match(text, /^https:\/\/depot\.test\/account\/reset-password\?flow=\S+$/m)
  const entry = await t.deps.db
    .selectFrom('audit_entry')
    .selectAll()
    .where('action', '=', 'mail.read')
    .executeTakeFirst()
  assert.deepEqual(
    [entry?.actor_id, entry?.subject_id, entry?.details],
    [admin.id, delivery?.account_id, { kind: 'reset-password', file }],
  )
  // The file of another server, or one that was deleted.
  await t.deps.db
    .updateTable('mail_delivery')
    .set({ response: file.replace(/^20/, '19') })
    .where('id', '=', delivery?.id ?? 0)
    .execute()
  assertError(await t.as(admin).get(`${MAIL}/${delivery?.id}`), 404, 'not_found')
  await t.deps.db
    .updateTable('mail_delivery')
    .set({ response: '../../settings.eml' })
    .where('id', '=', delivery?.id ?? 0)
    .execute()
  assertError(await t.as(admin).get(`${MAIL}/${delivery?.id}`), 404, 'not_found')
  await t.deps.db
    .updateTable('mail_delivery')
    .set({ response: file })
    .where('id', '=', delivery?.id ?? 0)
    .execute()
  assertError(await t.as(admin).get(`${MAIL}/0`), 400, 'invalid_input')
})

test('a rejected email is listed with the response of the server, without addresses, and sent by a retry', async () => {
  const person = await t.make.account()
  const response = `550 5.1.1 <${person.email}>: Recipient address rejected\r\nTry later`
  rejection = Object.assign(new Error('Message failed'), { response })
  await requestMail(person.email)
  await t.runJobs()
  // The job library records a failure after it has run the jobs.
  while ((await read()).retrying === 0) await new Promise(setImmediate)
  const { jobs, deliveries } = await read({ sent: false })
  assert.deepEqual(
    deliveries.map(({ sent, response: shown }) => [sent, shown]),
    [[false, '550 5.1.1 <[address]>: Recipient address rejected Try later']],
  )
  assert.match(jobs[0]?.error ?? '', /Message failed/)
  rejection = undefined
  const sent = (await t.mails()).length
  assert.equal((await t.anyone.post(`/_internal/admin/job/${jobs[0]?.id}/retry`, undefined, KEY)).statusCode, 204)
  await t.runJobs()
  assert.equal((await t.mails()).length, sent + 1)
  assert.equal((await read()).retrying, 0)
})

test('an admin sends a test email to their own address and sees the response', async () => {
  const admin = await t.make.account({ role: 'admin' })
  const answer = await t.as(admin).post(`${MAIL}/test`)
  assert.deepEqual([answer.statusCode, answer.json().sent], [200, true])
  assert.match((await t.mails()).at(-1) ?? '', new RegExp(`To: ${admin.email}`))
  rejection = new Error('connect ECONNREFUSED 192.0.2.1:25')
  const refused = await t.as(admin).post(`${MAIL}/test`)
  assert.deepEqual(
    [refused.statusCode, refused.json()],
    [200, { sent: false, response: 'connect ECONNREFUSED 192.0.2.1:25' }],
  )
  rejection = undefined
  const entries = await t.deps.db.selectFrom('audit_entry').selectAll().where('action', '=', 'mail.tested').execute()
  assert.deepEqual(
    entries.map(({ actor_id, details }) => [actor_id, details]),
    [
      [admin.id, { sent: true, transport: 'outbox' }],
      [admin.id, { sent: false, transport: 'outbox' }],
    ],
  )
  assertError(await t.anyone.post(`${MAIL}/test`, undefined, KEY), 400, 'invalid_input')
})

test('pages of deliveries continue where the previous page ended, and old ones are deleted', async () => {
  const { deliveries, next } = await read({ limit: 2 })
  assert.equal(deliveries.length, 2)
  assert.equal(next, deliveries[1]?.id)
  const rest = await read({ before: next ?? 0 })
  assert.ok(rest.deliveries.length > 0 && rest.deliveries.every(({ id }) => id < (next ?? 0)))
  assert.equal(rest.next, null)
  t.advance(8 * DAY_MS)
  await sql`select graphile_worker.add_job('overview.expire', '{}'::json)`.execute(t.deps.db)
  await t.runJobs()
  assert.deepEqual((await read()).deliveries, [])
})

test('bad input names its field, and others than operators find nothing', async () => {
  for (const [field, value] of [
    ['sent', '1'],
    ['written', '1'],
    ['before', '0'],
    ['limit', '501'],
  ] as const) {
    const answer = await t.anyone.get(MAIL, { ...KEY, query: { [field]: value } })
    assertError(answer, 400, 'invalid_input')
    assert.equal(answer.json().details.field, field)
  }
  const moderator = t.as(await t.make.account({ role: 'moderator' }))
  const token = t.as(await t.make.pat(await t.make.account({ role: 'admin' })))
  for (const caller of [t.anyone, moderator, token]) {
    assertError(await caller.get(MAIL), 404, 'not_found')
    assertError(await caller.get(`${MAIL}/1`), 404, 'not_found')
    assertError(await caller.post(`${MAIL}/test`), 404, 'not_found')
  }
})
