import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { newId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import { leaveEverything } from '#test/support/factories/full-account.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { commandHere } from '#test/support/processes/command-here.ts'

const { t } = await teamApp()

test('the export holds everything of the person, in its own shapes, and no secret', async () => {
  const make = teamFactories(t.deps.db)
  const [person, other] = await Promise.all([t.make.account(), t.make.account()])
  await t.deps.db
    .updateTable('account')
    .set({ password_hash: 'planted-hash', totp_secret: 'planted-totp', payout_handle: '@me' })
    .where('id', '=', person.id)
    .execute()
  await t.make.pat(person)
  const project = await make.project(person, { status: 'draft' })
  const version = await make.version(project.id, person)
  const organization = await make.organization(person)
  const foreign = await make.project(other)
  await t.as(person).post(`/v3/project/${foreign.id}/follow`)
  const collection = (await t.as(person).post('/v3/collection', { name: 'Lights', projects: [foreign.id] })).json()
  const notification = {
    id: newId(),
    account_id: person.id,
    body: JSON.stringify({ type: 'report_submitted', report_id: 'r' }),
  }
  await t.deps.db.insertInto('notification').values(notification).execute()
  const report = {
    id: newId(),
    reporter_id: person.id,
    report_type: 'spam',
    item_type: 'project' as const,
    item_id: foreign.id,
    body: 'Look',
  }
  await t.deps.db.insertInto('report').values(report).execute()
  const thread = { id: newId(), type: 'report' as const, report_id: report.id }
  await t.deps.db.insertInto('thread').values(thread).execute()
  const text = (body: string) => JSON.stringify({ type: 'text', body })
  await t.deps.db
    .insertInto('thread_message')
    .values([
      { id: newId(), thread_id: thread.id, author_id: person.id, body: text('my words') },
      { id: newId(), thread_id: thread.id, author_id: other.id, body: text('words of another') },
    ])
    .execute()

  const answer = await t.as(person).post('/_internal/gdpr/export')
  assert.equal(answer.statusCode, 200, answer.body)
  const data = answer.json()
  assert.deepEqual(
    [data.user.id, data.user.email, data.user.payout_data.payout_handle],
    [person.id, person.email, '@me'],
  )
  assert.deepEqual([data.projects.length, data.projects[0].id, data.versions[0].id], [1, project.id, version])
  assert.deepEqual(
    [data.orgs.length, data.orgs[0].id, data.teams.length, data.teams[0].payouts_split],
    [1, organization.id, 2, 100],
  )
  assert.deepEqual([data.collections, data.follows[0].project_id], [[collection], foreign.id])
  assert.deepEqual([data.notifs.length, data.notifs[0].id, data.reports[0].id], [1, notification.id, report.id])
  assert.deepEqual(
    data.messages.map(({ body }: { body: { body: string } }) => body.body),
    ['my words'],
  )
  assert.deepEqual([data.sessions.length, data.sessions[0].current, data.sessions[0].session], [1, true, null])
  assert.deepEqual([data.pats.length, data.pats[0].access_token, data.uploaded_images], [1, null, []])
  assert.doesNotMatch(answer.body, /planted|words of another|token_hash|password_hash|totp_secret/)
  assert.ok(!answer.body.includes(person.token))
  assert.match(String(answer.headers['cache-control']), /no-store/)
})

test('whatever table the person has a row in, the export names it; secrets and what passes in minutes aside', async () => {
  const [person, other] = await Promise.all([t.make.account(), t.make.account()])
  const pat = await t.make.pat(person)
  const left = await leaveEverything(t.deps.db, person, other)
  const linked = { code_host_id: 'host-4711', raw_avatar_url: 'https://depot.test/data/raw.png' }
  await t.deps.db.updateTable('account').set(linked).where('id', '=', person.id).execute()
  const answer = await t.as(person).post('/_internal/gdpr/export')
  assert.equal(answer.statusCode, 200, answer.body)
  for (const [table, ids] of Object.entries(left)) {
    for (const id of ids) assert.ok(answer.body.includes(`"${id}"`), table)
  }
  const data = answer.json()
  const limits = { projects: 7001, organizations: null, collections: null }
  assert.deepEqual(data.account, { ...linked, limits, backup_codes: 1 })
  assert.deepEqual([data.balance.available, data.payouts.length, data.pats.length], ['3.00', 3, 1])
  assert.ok(!answer.body.includes(pat.token))
  assert.doesNotMatch(answer.body, /_hash|Torch app/)
})

test('the export is for sessions, at both internal addresses, and costs as many queries for much as for little', async () => {
  const person = await t.make.account()
  const path = '/v2/_internal/gdpr/export'
  assertError(await t.anyone.post(path), 401, 'unauthorized')
  assertError(await t.as(await t.make.pat(person, 2)).post(path), 403, 'unauthorized')
  await t.as(person).post(path)
  const few = await t.queriesOf(() => t.as(person).post(path))
  assert.equal(few.result.statusCode, 200)
  const rows = Array.from({ length: 300 }, () => ({
    id: newId(),
    account_id: person.id,
    body: JSON.stringify({ type: 'report_submitted', report_id: 'r' }),
  }))
  await t.deps.db.insertInto('notification').values(rows).execute()
  const many = await t.queriesOf(() => t.as(person).post(path))
  assert.equal(many.result.json().notifs.length, 300)
  assert.equal(many.queries.length, few.queries.length)
})

test('an operator exports the data of a user with a reason, also during a pending deletion', async () => {
  const [person, admin] = [await t.make.account(), await t.make.account({ role: 'admin' })]
  const path = `/_internal/admin/user/${person.username}/export`
  const reason = 'Asked by letter'
  assertError(await t.as(person).post(path, { reason }), 404, 'not_found')
  assertError(await t.as(admin).post(path, {}), 400, 'validation_error')
  assertError(await t.as(admin).post(path, { reason: ' ' }), 400, 'validation_error')
  assertError(await t.as(admin).post('/_internal/admin/user/nobody/export', { reason }), 404, 'not_found')
  const own = (await t.as(person).post('/_internal/gdpr/export')).json()
  const sessions = own.sessions.map((session: object) => ({ ...session, current: false }))
  const answer = await t.as(admin).post(path, { reason })
  assert.deepEqual(answer.json(), { ...own, sessions })
  assert.match(String(answer.headers['cache-control']), /no-store/)
  const entry = await t.deps.pool.query(
    'select actor_id, subject_id, details from audit_entry order by id desc limit 1',
  )
  assert.deepEqual(entry.rows, [{ actor_id: admin.id, subject_id: person.id, details: { reason } }])
  const deletion_due = new Date(t.deps.now() + DAY_MS)
  await t.deps.db.updateTable('account').set({ deletion_due }).where('id', '=', person.id).execute()
  assert.equal((await t.as(admin).post(path, { reason })).statusCode, 200)
  await t.deps.db.updateTable('session').set({ confirmed_at: null }).where('account_id', '=', admin.id).execute()
  assertError(await t.as(admin).post(path, { reason }), 401, 'unauthorized')
})

test('the command exports the same data, to standard output or to a new file that only its owner can read', async () => {
  const [person, other] = await Promise.all([t.make.account(), t.make.account()])
  await leaveEverything(t.deps.db, person, other)
  const { dataDir, database } = t.deps.config
  assert.ok(database.kind === 'external')
  const env = { DATA_DIR: dataDir, DATABASE_URL: database.url.reveal(), BASE_URL: 'https://depot.test' }
  const run = (...args: string[]) => commandHere(['user', 'export', person.username, ...args], env)
  const own = (await t.as(person).post('/_internal/gdpr/export')).json()
  const printed = await run()
  assert.equal(printed.code, 0, printed.stderr)
  const sessions = own.sessions.map((session: object) => ({ ...session, current: false }))
  assert.deepEqual(JSON.parse(printed.stdout), { ...own, sessions })
  const file = join(dataDir, 'person.json')
  const { id } = person
  const bytes = Buffer.byteLength(printed.stdout) - 1
  assert.deepEqual(JSON.parse((await run(file, '--json')).stdout), { id, username: person.username, file, bytes })
  assert.equal(`${await readFile(file, 'utf8')}\n`, printed.stdout)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  const again = await run(file)
  assert.deepEqual([again.code, again.stderr], [1, `${file} already exists. Choose another file name.\n`])
  const { rows } = await t.deps.pool.query(
    'select actor_kind, subject_id from audit_entry where action = $1 and subject_id = $2',
    ['account.data_exported', id],
  )
  assert.deepEqual(rows, Array(2).fill({ actor_kind: 'command', subject_id: id }))
})
