// Notifications by email: the settings of a user, the sender, and the links that turn off one kind.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parseScopeNames } from '#features/basics/access/scopes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import { testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import type { NotificationBody } from '../notification-types.ts'
import { insertNotifications } from '../queries.ts'
import { EMAIL_DEFAULTS, EMAIL_KINDS, type EmailKind } from './email-kinds.ts'

const t = await testApp()
after(() => t.close())

const pathOf = (person: Person): string => `/v3/user/${person.id}/notification-settings`
const read = async (person: Person) => (await t.as(person).get(pathOf(person))).json().email
const change = (person: Person, email: Record<string, unknown>) => t.as(person).patch(pathOf(person), { email })
const notify = (person: Person, body: NotificationBody) =>
  transaction(t.deps, (tx, changed) => insertNotifications(tx, changed, [person.id], body))

/** Returns the emails that an action sends. */
async function mailsOf(act: () => Promise<unknown>): Promise<string[]> {
  const { length } = await t.mails()
  await act()
  await t.runJobs()
  return (await t.mails()).slice(length)
}

const statuses = { project_id: 'p', old_status: 'processing', new_status: 'rejected' }
const member = { team_id: 't', invited_by: 'u', role: 'Member' }
/** A notification of each kind. */
const BODIES: Record<EmailKind, NotificationBody[]> = {
  invitation: [
    { type: 'team_invite', project_id: 'p', ...member },
    { type: 'organization_invite', organization_id: 'o', ...member },
  ],
  project_transferred: [
    { type: 'project_transferred', project_id: 'p', new_owner_user_id: 'u', new_owner_organization_id: null },
  ],
  project_status: [
    { type: 'project_status_approved', project_id: 'p' },
    { type: 'project_status_neutral', ...statuses },
  ],
  project_message: [{ type: 'moderation_message_received', project_id: 'p' }],
  version_quarantined: [{ type: 'version_quarantined', project_id: 'p', version_id: 'v' }],
  withdrawal: [
    { type: 'version_withdrawn', project_id: 'p', version_id: 'v' },
    {
      type: 'dependency_broken',
      project_id: 'p',
      version_id: 'v',
      dependency: { project_id: 'q', version_id: null },
      reason: 'removed',
    },
  ],
  trusted_publisher: [
    { type: 'publisher_added', project_id: 'p', organization_id: null, repository: 'lanterns/lamp', user_id: 'u' },
    { type: 'publisher_stopped', project_id: null, organization_id: 'o', repository: 'lanterns/lamp' },
  ],
  webhook_disabled: (['failing', 'gone', 'secret_lost'] as const).map((reason) => ({
    ...{ type: 'webhook_disabled', webhook_id: 'w', host: 'hooks.example', reason },
    ...{ project_id: null, organization_id: null, is_of_instance: false },
  })),
  content_taken_down: [{ type: 'content_taken_down', item: 'user' }],
  report_submitted: [{ type: 'report_submitted', report_id: 'r' }],
  report_message: [{ type: 'moderator_message', thread_id: 't', message_id: 'm', project_id: null, report_id: 'r' }],
  report_status_updated: [{ type: 'report_status_updated', report_id: 'r' }],
  project_update: [{ type: 'project_update', project_id: 'p', version_id: 'v' }],
  operator_question: [{ type: 'operator_question', user_id: 'u', message: 'Please look' }],
}

test('every kind has a default, is stored, and is reset by null; other kinds stay as they are', async () => {
  const person = await t.make.account()
  assert.deepEqual(await read(person), EMAIL_DEFAULTS)
  assert.equal((await change(person, { invitation: true, project_status: false })).statusCode, 204)
  assert.deepEqual(await read(person), { ...EMAIL_DEFAULTS, invitation: true, project_status: false })
  assert.equal((await change(person, { invitation: null, report_message: true })).statusCode, 204)
  assert.deepEqual(await read(person), { ...EMAIL_DEFAULTS, project_status: false, report_message: true })
  assert.equal((await t.as(person).patch(pathOf(person), {})).statusCode, 204)
  const data = (await t.as(person).post('/_internal/gdpr/export')).json()
  assert.deepEqual(data.email_settings, [
    { kind: 'project_status', is_emailed: false },
    { kind: 'report_message', is_emailed: true },
  ])
})

test('the settings are for the user themselves; wrong values name their field', async () => {
  const [person, other, admin] = await Promise.all([
    t.make.account(),
    t.make.account(),
    t.make.account({ role: 'admin' }),
  ])
  assertError(await t.anyone.get(pathOf(person)), 401, 'unauthorized')
  assertError(await t.anyone.patch(pathOf(person), {}), 401, 'unauthorized')
  for (const stranger of [other, admin]) {
    assertError(await t.as(stranger).get(pathOf(person)), 403, 'unauthorized')
    assertError(await t.as(stranger).patch(pathOf(person), { email: { invitation: true } }), 403, 'unauthorized')
  }
  const reader = t.as(await t.make.pat(person, parseScopeNames('NOTIFICATION_READ').bits))
  assert.equal((await reader.get(pathOf(person))).statusCode, 200)
  assertError(await reader.patch(pathOf(person), {}), 403, 'unauthorized')
  const writer = t.as(await t.make.pat(person, parseScopeNames('NOTIFICATION_WRITE').bits))
  assertError(await writer.get(pathOf(person)), 403, 'unauthorized')
  assertError(await t.as(person).get('/v3/user/nobody-here/notification-settings'), 404, 'not_found')
  assertError(await change(person, { invitation: 'yes' }), 400, 'validation_error', 'email.invitation')
  assertError(await t.as(person).patch(pathOf(person), { email: [] }), 400, 'validation_error', 'email')
  assert.deepEqual(await read(person), EMAIL_DEFAULTS)
})

test('the sender emails exactly the kinds that are on, and the list omits what exists only as emails', async () => {
  const person = await t.make.account()
  for (const kind of EMAIL_KINDS) {
    for (const isOn of [true, false]) {
      assert.equal((await change(person, { [kind]: isOn })).statusCode, 204)
      for (const body of BODIES[kind]) {
        const mails = await mailsOf(() => notify(person, body))
        assert.equal(mails.length, isOn ? 1 : 0, `${body.type} ${isOn}`)
      }
    }
  }
  // With these, other notifications of the same event are emailed.
  const twins: NotificationBody[] = [
    { type: 'status_change', ...statuses },
    { type: 'moderator_message', thread_id: 't', message_id: 'm', project_id: 'p', report_id: null },
  ]
  for (const body of twins) assert.deepEqual(await mailsOf(() => notify(person, body)), [])
  const listed = new Set(
    (await t.as(person).get(`/v3/user/${person.id}/notifications`))
      .json()
      .map(({ body }: { body: { type: string } }) => body.type),
  )
  assert.ok(['status_change', 'operator_question', 'content_taken_down'].every((type) => listed.has(type)))
  assert.ok(!['project_status_approved', 'report_submitted', 'project_transferred'].some((type) => listed.has(type)))
})

test('versions held back and removed texts are emailed to users who chose nothing, invitations are not', async () => {
  const person = await t.make.account()
  for (const body of BODIES.invitation) assert.deepEqual(await mailsOf(() => notify(person, body)), [])
  for (const kind of ['version_quarantined', 'content_taken_down'] as const)
    for (const body of BODIES[kind]) assert.equal((await mailsOf(() => notify(person, body))).length, 1, body.type)
})

test('a kind that is turned off before the job runs is not emailed', async () => {
  const person = await t.make.account()
  const mails = await mailsOf(async () => {
    await notify(person, { type: 'project_status_approved', project_id: 'p' })
    await change(person, { project_status: false })
  })
  assert.deepEqual(mails, [])
})

test('emails about decisions name the project, the statuses as the site does, and the message as text', async () => {
  const [owner, stranger] = await Promise.all([t.make.account(), t.make.account()])
  const moderator = await t.make.account({ role: 'moderator' })
  const lamp = await t.make.project({ owner, status: 'processing', name: 'Lamp' })
  await t.make.version({ project: lamp })
  const decide = async (status: string, moderation_message: string) => {
    const [mail = '', ...others] = await mailsOf(async () => {
      const answer = await t.as(moderator).patch(`/v3/project/${lamp.id}`, { status, moderation_message })
      assert.equal(answer.statusCode, 204, answer.body)
      t.advance(6 * 60_000)
      await t.runJob('decisions.announce')
    })
    assert.deepEqual(others, [])
    return mail.replaceAll('\r', '')
  }
  const rejected = await decide('rejected', 'Read [the rules](https://x.test/rules). **No**')
  assert.match(rejected, /^Subject: Lamp was rejected$/m)
  assert.ok(rejected.includes('A moderator changed the status of Lamp from "In review" to "Rejected".'), rejected)
  assert.ok(rejected.includes('The moderator wrote:\n\nRead the rules (https://x.test/rules). No\n'), rejected)
  const approved = await decide('approved', '*Nice*')
  assert.match(approved, /^Subject: Lamp was approved$/m)
  assert.ok(approved.includes('The moderator wrote:\n\nNice\n'), approved)
  const hidden = await t.make.project({ status: 'draft', name: 'Secret' })
  const about = (project: { id: string }) =>
    mailsOf(() => notify(stranger, { type: 'moderation_message_received', project_id: project.id }))
  assert.ok(!(await about(hidden)).join().includes('Secret'))
  assert.ok((await about(lamp)).join().includes('Project: Lamp'))
})

test('emails about closed reports name the item as it was, the outcome and the message', async () => {
  const [reporter, moderator] = [await t.make.account(), await t.make.account({ role: 'moderator' })]
  const project = await t.make.project({ name: 'Lantern' })
  const version = await t.make.version({ project, version_number: '2.0.0' })
  const person = await t.make.account()
  const close = async (item_type: string, item_id: string, more: object) => {
    const filed = await t.as(reporter).post('/v3/report', { report_type: 'spam', item_type, item_id, body: 'Look' })
    await t.runJobs()
    const mails = await mailsOf(async () => {
      await t.deps.db
        .updateTable('project')
        .set({ status: 'rejected', name: 'Renamed' })
        .where('id', '=', project.id)
        .execute()
      const input = { ids: [filed.json().id], ...more }
      const answer = await t.as(moderator).post('/_internal/moderation/reports/close', input)
      assert.equal(answer.statusCode, 204, answer.body)
      await t.as(moderator).patch(`/v3/report/${filed.json().id}`, { closed: false })
    })
    await t.deps.db
      .updateTable('project')
      .set({ status: 'approved', name: 'Lantern' })
      .where('id', '=', project.id)
      .execute()
    return mails.map((mail) => mail.replaceAll('\r', ''))
  }
  const [closed = '', reopened = ''] = await close('project', project.id, {
    outcome: 'action',
    message: '**Thank** you',
  })
  assert.match(closed, /^Subject: Your report about Lantern was closed$/m)
  assert.ok(closed.includes('A moderator closed your report about Lantern. Outcome: Led to action.'), closed)
  assert.ok(closed.includes('The moderator wrote:\n\nThank you\n'), closed)
  assert.match(reopened, /^Subject: Your report about Lantern was reopened$/m)
  const [ofVersion = ''] = await close('version', version.id, { outcome: 'no_action' })
  assert.ok(ofVersion.includes('your report about 2.0.0. Outcome: No action.'), ofVersion)
  const [ofUser = ''] = await close('user', person.id, { outcome: 'no_action' })
  assert.ok(ofUser.includes(`your report about ${person.username}.`), ofUser)
})

test('followers who want it receive an email of a new version, once', async () => {
  const project = await t.make.project()
  const [eager, quiet] = await Promise.all([t.make.account(), t.make.account()])
  for (const follower of [eager, quiet]) await t.as(follower).post(`/v3/project/${project.id}/follow`)
  await change(eager, { project_update: true })
  const { id } = await t.make.version({ project })
  const announce = () =>
    t.deps.db.transaction().execute((tx) => enqueue(tx, 'versions.notify-followers', { version_id: id }))
  const mails = await mailsOf(announce)
  assert.deepEqual(
    mails.map((mail) => /^To: (.*?)\r?$/m.exec(mail)?.[1]),
    [eager.email],
  )
  assert.deepEqual(await mailsOf(announce), [])
})

test('an email leads to the settings, and its link turns off its kind with one click', async () => {
  const person = await t.make.account()
  const [mail = ''] = await mailsOf(() => notify(person, { type: 'report_submitted', report_id: 'r' }))
  assert.match(mail, /^https:\/\/depot\.test\/account\/notifications\r?$/m)
  assert.match(mail, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r?$/m)
  const url = /^List-Unsubscribe:\s+<https:\/\/depot\.test(.*?)>\r?$/m.exec(mail)?.[1] ?? assert.fail(mail)
  assert.ok(mail.split(/\r?\n/).includes(`https://depot.test${url}`), 'the text has the link unbroken')
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const click = (to: string) => t.anyone.post(to, 'List-Unsubscribe=One-Click', { headers })

  assert.equal((await t.anyone.get(url)).statusCode, 200)
  assert.equal((await read(person)).report_submitted, true, 'opening the link changes nothing')
  for (const wrong of [
    url.replace('report_submitted', 'project_status'),
    url.replace(person.id, (await t.make.account()).id),
    url.replace(/key=.*$/, 'key=AAAA'),
    url.replace(/\?.*$/, ''),
  ])
    assert.equal((await click(wrong)).statusCode, 400, wrong)
  assert.deepEqual(await read(person), EMAIL_DEFAULTS)
  assert.equal((await click(url)).statusCode, 200)
  assert.deepEqual(await read(person), { ...EMAIL_DEFAULTS, report_submitted: false })
  assert.equal((await click(url)).statusCode, 200, 'again changes nothing')
  await t.deps.db.deleteFrom('account').where('id', '=', person.id).execute()
  assert.equal((await click(url)).statusCode, 200, 'of a deleted account')
})
