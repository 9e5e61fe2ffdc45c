import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { PLACEHOLDER_ID, PLACEHOLDER_USERNAME } from '#features/basics/access/placeholder.ts'
import { newToken } from '#lib/access/tokens.ts'
import { newId } from '#lib/ids.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { accountColumns, leaveEverything } from '#test/support/factories/full-account.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'

const { t, make } = await teamApp()

const remove = (who: { token: string }, name: string) => t.as(who).delete(`/v3/user/${name}`)
const read = async (path: string, who?: Person) => (await (who === undefined ? t.anyone : t.as(who)).get(path)).json()

/** Every place in the database that still names this ID, as `table.column`. */
/**
 * Returns the tables that still contain the ID. Running processes empty the change log within seconds, but this test
 * runs none.
 */
async function tracesOf(id: string): Promise<string[]> {
  const { rows } = await sql<{ table_name: string; column_name: string }>`
    select table_name, column_name from information_schema.columns
    where table_schema = 'public' and data_type in ('text', 'jsonb') and table_name <> 'change_log'
      -- The change feed has the ID of a removed user, and nothing else, for some time.
      and table_name not like 'public_change%'`.execute(t.deps.db)
  const traces: string[] = []
  for (const { table_name, column_name } of rows) {
    const found =
      await sql`select 1 from ${sql.table(table_name)} where ${sql.ref(column_name)}::text like ${`%${id}%`} limit 1`.execute(
        t.deps.db,
      )
    if (found.rows.length > 0) traces.push(`${table_name}.${column_name}`)
  }
  return traces
}

test('a deleted account disappears immediately, with its sessions and tokens, also those in use', async () => {
  const person = await t.make.account()
  const second = await t.make.session(person.id)
  const pat = await t.make.pat(person)
  for (const who of [person, pat, { token: second }]) assert.equal((await t.as(who).get('/v3/user')).statusCode, 200)
  assert.equal((await t.anyone.get(`/v3/user/${person.username}`)).statusCode, 200)
  assert.equal((await remove(person, person.id)).statusCode, 204)
  for (const who of [person, pat, { token: second }]) assertError(await t.as(who).get('/v3/user'), 401, 'unauthorized')
  for (const name of [person.id, person.username]) assertError(await t.anyone.get(`/v3/user/${name}`), 404, 'not_found')
  const admin = await t.make.account({ role: 'admin' })
  assertError(await t.as(admin).get('/v3/user_email', { query: { email: person.email } }), 404, 'not_found')
  assert.equal((await t.make.account({ username: person.username })).username, person.username, 'the name is free')
})

test('the placeholder owns its resources and is the author of its versions', async () => {
  const [person, mate] = await Promise.all([t.make.account(), t.make.account()])
  const project = await make.project(person)
  await make.member(project.teamId, mate)
  const version = await make.version(project.id, person)
  const organization = await make.organization(person)
  const paths = [`/v3/version/${version}`, `/v3/project/${project.id}/members`, `/v3/organization/${organization.id}`]
  for (const path of paths) await read(path)
  assert.equal((await remove(person, person.username)).statusCode, 204)

  const [first, second] = await read(`/v3/project/${project.id}/members`)
  assert.deepEqual(
    [first.user.id, first.user.username, first.is_owner, first.role],
    [PLACEHOLDER_ID, PLACEHOLDER_USERNAME, true, 'Owner'],
  )
  assert.deepEqual([second.user.id, second.is_owner], [mate.id, false])
  assert.equal((await read(`/v3/version/${version}`)).author_id, PLACEHOLDER_ID)
  const { members } = await read(`/v3/organization/${organization.id}`)
  assert.deepEqual([members.length, members[0].user.id, members[0].is_owner], [1, PLACEHOLDER_ID, true])
  const theirs = (await read(`/v3/user/${PLACEHOLDER_USERNAME}/projects`)).map(({ id }: { id: string }) => id)
  assert.ok(theirs.includes(project.id))
  assert.deepEqual(await tracesOf(person.id), [])
})

test('whatever table a person has left a row in, nothing names them afterwards', async () => {
  const [person, other] = await Promise.all([t.make.account(), t.make.account()])
  await t.make.pat(person)
  await leaveEverything(t.deps.db, person, other)
  for (const { table, column } of await accountColumns(t.deps.db)) {
    const rows = await sql`select 1 from ${sql.table(table)} where ${sql.ref(column)} = ${person.id} limit 1`.execute(
      t.deps.db,
    )
    assert.equal(
      rows.rows.length,
      1,
      `the person has no ${table}.${column}: leave one in test/support/factories/full-account.ts`,
    )
  }
  const former = { kind: 'email-changed', account_id: person.id, former_email: 'planted@example.com' } as const
  await t.deps.db.transaction().execute((tx) => enqueue(tx, 'accounts.send-mail', former))
  assert.equal((await remove(person, person.id)).statusCode, 204)
  const jobs = await sql`select 1 from graphile_worker._private_jobs where payload::text like '%planted%'`
  assert.deepEqual((await jobs.execute(t.deps.db)).rows, [], 'no job keeps an address')
  await t.runJobs()
  for (const trace of [person.id, person.username, person.email, 'planted@example.com', 'my words'])
    assert.deepEqual(await tracesOf(trace), [], trace)
  const list = await t.as(other).get(`/v3/user/${other.id}/notifications`)
  const bodies = list.json().map(({ body }: { body: Record<string, unknown> }) => body)
  assert.ok(bodies.some(({ invited_by }: Record<string, unknown>) => invited_by === PLACEHOLDER_ID))
  // Nobody else knew the address and the secret of the webhook.
  assert.ok(
    bodies.some(({ type, reason }: Record<string, unknown>) => type === 'webhook_disabled' && reason === 'access_lost'),
  )
})

test('applications continue to work, and the number of authors stays correct', async () => {
  const [person, fan] = await Promise.all([t.make.account(), t.make.account()])
  await make.project(person)
  const { rows: before } = await sql<{ authors: number }>`select authors from catalogue_recount()`.execute(t.deps.db)
  const client = { id: newId(), account_id: person.id, name: 'Lantern app', max_scopes: 2 }
  await t.deps.db.insertInto('oauth_client').values(client).execute()
  const { token, hash } = newToken('oauth')
  const allowed = { id: newId(), client_id: client.id, account_id: fan.id, scopes: 2 }
  await t.deps.db.insertInto('oauth_authorization').values(allowed).execute()
  await t.deps.db
    .insertInto('oauth_token')
    .values({
      ...allowed,
      id: newId(),
      authorization_id: allowed.id,
      token_hash: hash,
      code_hash: Buffer.from(client.id),
      expires: new Date(t.deps.now() + MINUTE_MS),
    })
    .execute()
  assert.equal((await t.as({ token }).get('/v3/user')).statusCode, 200)
  assert.equal((await remove(person, person.id)).statusCode, 204)
  assert.equal((await t.as({ token }).get('/v3/user')).statusCode, 200)
  const owner = await t.deps.db
    .selectFrom('oauth_client')
    .select('account_id')
    .where('id', '=', client.id)
    .executeTakeFirst()
  assert.equal(owner?.account_id, PLACEHOLDER_ID)
  const { rows } = await sql<{ authors: number; kept: number }>`
    select authors, (select sum(authors)::int from catalogue_change) as kept from catalogue_recount()`.execute(
    t.deps.db,
  )
  assert.equal(rows[0]?.authors, rows[0]?.kept)
  assert.ok(
    (before[0]?.authors ?? 0) - (rows[0]?.authors ?? 0) <= 1,
    'the placeholder becomes an author if it was not one',
  )
  assert.equal((await remove(fan, fan.id)).statusCode, 204)
  assertError(await t.as({ token }).get('/v3/user'), 401, 'unauthorized')
  assert.deepEqual([await tracesOf(person.id), await tracesOf(fan.id)], [[], []])
})

test('memberships, follows, collections and notifications end, and the counters know', async () => {
  const [person, owner] = await Promise.all([t.make.account(), t.make.account()])
  const [joined, followed] = [await make.project(owner), await make.project(owner)]
  await make.member(joined.teamId, person)
  const organization = await make.organization(owner)
  await make.member(organization.teamId, person, { accepted: false })
  for (const { id } of [joined, followed]) await t.as(person).post(`/v3/project/${id}/follow`)
  await t.as(owner).post(`/v3/project/${followed.id}/follow`)
  const collection = (await t.as(person).post('/v3/collection', { name: 'Lights', projects: [joined.id] })).json()
  assert.equal((await read(`/v3/project/${followed.id}`)).followers, 2)
  await read(`/v3/team/${joined.teamId}/members`)
  await t.deps.db
    .insertInto('notification')
    .values({ id: newId(), account_id: person.id, body: JSON.stringify({ type: 'report_submitted', report_id: 'r' }) })
    .execute()
  assert.equal((await remove(person, person.id)).statusCode, 204)
  assert.equal((await read(`/v3/project/${followed.id}`)).followers, 1)
  assert.equal((await read(`/v3/project/${joined.id}`)).followers, 0)
  assert.equal((await read(`/v3/team/${joined.teamId}/members`)).length, 1)
  assert.equal((await t.as(owner).get(`/v3/organization/${organization.id}/members`)).json().length, 1)
  assertError(await t.anyone.get(`/v3/collection/${collection.id}`), 404, 'not_found')
  assert.deepEqual(await tracesOf(person.id), [])
})

test('a project under review is rejected; moderators read why, others do not', async () => {
  const [person, mate] = await Promise.all([t.make.account(), t.make.account()])
  const projects = [await make.project(person, { status: 'processing' }), await make.project(person)] as const
  for (const { id, teamId } of projects) {
    await t.deps.db.insertInto('thread').values({ id: newId(), type: 'project', project_id: id }).execute()
    await make.member(teamId, mate)
  }
  await read(`/v3/project/${projects[0].id}`, mate)
  assert.equal((await remove(person, person.id)).statusCode, 204)
  const bodies = await Promise.all(
    projects.map(async ({ id }) => {
      const rows = await t.deps.db
        .selectFrom('thread_message')
        .innerJoin('thread', 'thread.id', 'thread_message.thread_id')
        .select(['thread_message.body', 'thread_message.author_id'])
        .where('thread.project_id', '=', id)
        .execute()
      assert.ok(rows.every(({ author_id }) => author_id === PLACEHOLDER_ID))
      return rows
        .map(({ body }) => body as Record<string, unknown>)
        .sort((a, b) => String(a['type']).localeCompare(String(b['type'])))
    }),
  )
  const note = {
    type: 'text',
    body: 'The owner of this project has deleted their account.',
    private: true,
    replying_to: null,
    associated_images: [],
  }
  assert.deepEqual(bodies, [
    [{ type: 'status_change', old_status: 'processing', new_status: 'rejected' }, note],
    [note],
  ])
  assert.equal((await read(`/v3/project/${projects[0].id}`, mate)).status, 'rejected')
  assert.equal((await read(`/v3/project/${projects[1].id}`)).status, 'approved')
})

test('its reports go with their threads, reports about it stay, and its messages keep their place only', async () => {
  const [person, other] = await Promise.all([t.make.account(), t.make.account()])
  const report = async (reporter: Person, about: Person): Promise<string> => {
    const [id, threadId] = [newId(), newId()]
    const fields = {
      report_type: 'spam',
      item_type: 'user' as const,
      account_id: about.id,
      item_id: about.id,
      body: 'Look',
    }
    await t.deps.db
      .insertInto('report')
      .values({ id, reporter_id: reporter.id, ...fields })
      .execute()
    await t.deps.db.insertInto('thread').values({ id: threadId, type: 'report', report_id: id }).execute()
    await t.deps.db
      .insertInto('thread_message')
      .values([
        {
          id: newId(),
          thread_id: threadId,
          author_id: person.id,
          body: JSON.stringify({ type: 'text', body: 'planted words', private: true }),
        },
        { id: newId(), thread_id: threadId, author_id: person.id, body: JSON.stringify({ type: 'thread_closure' }) },
        {
          id: newId(),
          thread_id: threadId,
          author_id: other.id,
          body: JSON.stringify({ type: 'text', body: 'words of another' }),
        },
      ])
      .execute()
    return id
  }
  const [by, about] = [await report(person, other), await report(other, person)]
  assert.equal((await remove(person, person.id)).statusCode, 204)
  const left = await t.deps.db
    .selectFrom('report')
    .select(['id', 'account_id', 'item_id'])
    .where('id', 'in', [by, about])
    .execute()
  assert.deepEqual(left, [{ id: about, account_id: PLACEHOLDER_ID, item_id: PLACEHOLDER_ID }])
  const messages = await t.deps.db
    .selectFrom('thread_message')
    .innerJoin('thread', 'thread.id', 'thread_message.thread_id')
    .select(['thread_message.author_id', 'thread_message.body'])
    .where('thread.report_id', 'in', [by, about])
    .orderBy(sql`body ->> 'type'`)
    .execute()
  assert.deepEqual(messages, [
    { author_id: PLACEHOLDER_ID, body: { type: 'deleted', private: true } },
    { author_id: other.id, body: { type: 'text', body: 'words of another' } },
    { author_id: PLACEHOLDER_ID, body: { type: 'thread_closure' } },
  ])
  assert.deepEqual(await tracesOf(person.id), [])
})

test('users delete their own account with a session; admins delete others; the placeholder cannot be deleted', async () => {
  const [person, stranger, moderator, admin] = await Promise.all([
    t.make.account(),
    t.make.account(),
    t.make.account({ role: 'moderator' }),
    t.make.account({ role: 'admin' }),
  ])
  assertError(await t.anyone.delete(`/v3/user/${person.id}`), 401, 'unauthorized')
  for (const who of [stranger, moderator]) assertError(await remove(who, person.id), 403, 'unauthorized')
  const narrow = await t.make.pat(person, 4)
  const refused = await remove(narrow, person.id)
  assertError(refused, 403, 'unauthorized')
  assert.match(refused.json().description, /USER_DELETE/)
  assertError(await remove(admin, 'nobody-here'), 404, 'not_found')
  const send = (reason: string) => t.as(admin).delete(`/v3/user/${person.id}`, { reason })
  assertError(await send(' '), 400, 'validation_error')
  assertError(await send('x'.repeat(1001)), 400, 'validation_error')
  assert.equal((await send('Asked by letter')).statusCode, 204)
  const { rows } = await t.deps.pool.query(
    'select details from audit_entry where action = $1 order by id desc limit 1',
    ['account.deleted'],
  )
  assert.deepEqual(rows, [{ details: { reason: 'Asked by letter' } }])
  assertError(await remove(admin, person.id), 404, 'not_found')
  assertError(await remove(admin, PLACEHOLDER_ID), 403, 'unauthorized')
  assertError(await t.as(admin).patch(`/v3/user/${PLACEHOLDER_ID}`, { bio: 'Haunted' }), 403, 'unauthorized')
  assert.equal((await read(`/v3/user/${PLACEHOLDER_ID}`)).bio, null)
})
