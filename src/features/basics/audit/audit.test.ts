// The audit log over HTTP: the recorded actions, the readers, and the protection against changes.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import { ALL_SCOPES, SCOPES, type ScopeName } from '#features/basics/access/scopes.ts'
import { DAY_MS } from '#lib/time.ts'
import { ADMIN_KEY, testApp } from '#test/support/app/test-app.ts'
import { assertError, makeMember, PASSWORD, signIn } from '#test/support/http/account-steps.ts'
import { AUDIT_ACTIONS } from './actions.ts'
import { ownerAt, SYSTEM } from './actor.ts'
import { recordAudit } from './record-audit.ts'
import type { AuditEntryView } from './views.ts'

const LOG = '/_internal/admin/audit-log'
const OWN = '/_internal/account/audit-log'
const KEY = { headers: { 'x-admin-key': ADMIN_KEY } }

const bitOf = (name: ScopeName): number => SCOPES.find((scope) => scope.name === name)?.value ?? 0

const t = await testApp({ env: { AUDIT_RETENTION: '100', AUDIT_ADDRESS_RETENTION: '10' } })
after(() => t.close())
const admin = await t.make.account({ role: 'admin' })

async function entriesAbout(person: { id: string }, query: Record<string, string | number> = {}) {
  const answer = await t.anyone.get(LOG, { ...KEY, query: { user: person.id, ...query } })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().entries as AuditEntryView[]
}

const summary = ({ action, actor, address, subject, details }: AuditEntryView) => ({
  action,
  by: actor.id ?? actor.kind,
  address,
  of: subject?.id,
  details,
})

test('records sign-ins and failed sign-ins with the IP address, but not the typed values', async () => {
  const person = await makeMember(t)
  assertError(await signIn(t, person.username, 'not the password'), 401, 'invalid_credentials')
  assertError(await signIn(t, 'nobody-has-this-name', 'a secret in the wrong field'), 401, 'invalid_credentials')
  const session = (await signIn(t, person.username)).json()
  const entries = await entriesAbout(person)
  const address = '127.0.0.1'
  assert.deepEqual(entries.map(summary), [
    { action: 'account.signed_in', by: person.id, address, of: session.id, details: {} },
    { action: 'account.sign_in_refused', by: 'anonymous', address, of: person.id, details: { because: 'password' } },
  ])
  const { rows } = await sql<{ text: string }>`select audit_entry::text as text from audit_entry`.execute(t.deps.db)
  for (const secret of ['not the password', 'nobody-has-this-name', 'wrong field', PASSWORD, session.session])
    assert.ok(!rows.some(({ text }) => text.includes(secret)), secret)
})

test('records changes of tokens, sessions, names and roles with their author, but not failed changes', async () => {
  const person = await t.make.account()
  const expires = new Date(t.deps.now() + DAY_MS).toISOString()
  const made = await t.as(person).post('/_internal/pat', { name: 'build server', scopes: bitOf('USER_READ'), expires })
  const { id } = made.json()
  assert.equal((await t.as(person).patch(`/_internal/pat/${id}`, { name: 'another' })).statusCode, 204)
  assert.equal((await t.as(person).delete(`/_internal/pat/${id}`)).statusCode, 204)
  assertError(await t.as(person).delete(`/_internal/pat/${id}`), 404, 'not_found')
  assertError(await t.as(person).patch(`/v3/user/${person.id}`, { role: 'admin' }), 403, 'unauthorized')
  const given = await t.as(admin).patch(`/v3/user/${person.id}`, { role: 'moderator', bio: 'Keeps order' })
  assert.equal(given.statusCode, 204)
  const entries = await entriesAbout(person)
  assert.deepEqual(
    entries.map((entry) => [entry.action, entry.actor.name, entry.subject?.id, entry.details]),
    [
      ['account.changed', admin.username, person.id, { fields: ['bio'] }],
      ['account.role_changed', admin.username, person.id, { from: 'developer', to: 'moderator' }],
      ['token.deleted', person.username, id, {}],
      ['token.changed', person.username, id, { fields: ['name'] }],
      ['token.created', person.username, id, { scopes: ['USER_READ'], expires }],
    ],
  )
  assert.equal(entries[1]?.actor.token?.kind, 'session')
})

test('records actions of moderators and operators: status, deletion, money, rates', async () => {
  const moderator = await t.make.account({ role: 'moderator' })
  const project = await t.make.project({ status: 'processing' })
  const version = await t.make.version({ project })
  assert.equal((await t.as(moderator).patch(`/v3/project/${project.id}`, { status: 'approved' })).statusCode, 204)
  assert.equal((await t.as(project.owner).delete(`/v3/version/${version.id}`)).statusCode, 204)
  assert.equal((await t.as(project.owner).delete(`/v3/project/${project.id}`)).statusCode, 204)
  const about = await t.anyone.get(LOG, { ...KEY, query: { subject_kind: 'project', subject_id: project.id } })
  assert.deepEqual(
    about.json().entries.map(({ action, actor, details }: AuditEntryView) => [action, actor.id, details]),
    [
      ['project.deleted', project.owner.id, { slug: project.slug, name: details(about, 0)['name'] }],
      ['project.status_changed', moderator.id, { from: 'processing', to: 'approved', waited_minutes: 0 }],
    ],
  )
  const gone = await t.anyone.get(LOG, { ...KEY, query: { action: 'version.deleted', subject_id: version.id } })
  assert.equal(details(gone, 0)['project'], project.id)
  const range = { address_range: '198.51.100.0/24', requests_per_minute: 600 }
  const grant = (await t.anyone.post('/_internal/admin/rate-limits', range, KEY)).json()
  await t.as(admin).delete(`/_internal/admin/rate-limits/${grant.id}`)
  const rates = await t.anyone.get(LOG, { ...KEY, query: { subject_kind: 'rate_limit' } })
  assert.deepEqual(
    rates.json().entries.map(({ action, actor }: AuditEntryView) => [action, actor.kind, actor.id]),
    [
      ['rate_limit.revoked', 'account', admin.id],
      ['rate_limit.granted', 'operator', null],
    ],
  )
})

function details(answer: { json(): { entries: AuditEntryView[] } }, index: number): Record<string, unknown> {
  return answer.json().entries[index]?.details ?? {}
}

test('pages follow each other without gaps, and filters narrow them', async () => {
  const person = await t.make.account()
  for (let n = 0; n < 5; n++)
    await recordAudit(t.deps.db, { action: 'token.created', actor: SYSTEM, accountIds: [person.id], details: { n } })
  const numbers: unknown[] = []
  let before: number | null = null
  do {
    const query: Record<string, string | number> = { user: person.id, limit: 2, ...(before === null ? {} : { before }) }
    const page = (await t.anyone.get(LOG, { ...KEY, query })).json()
    numbers.push(...page.entries.map((entry: AuditEntryView) => entry.details['n']))
    before = page.next
  } while (before !== null)
  assert.deepEqual(numbers, [4, 3, 2, 1, 0])
  const [first] = await entriesAbout(person)
  assert.ok(first !== undefined)
  const later = new Date(Date.parse(first.at) + 60_000).toISOString()
  const sooner = new Date(Date.parse(first.at) - 60_000).toISOString()
  assert.equal((await entriesAbout(person, { since: sooner, until: later })).length, 5)
  assert.deepEqual(await entriesAbout(person, { since: later }), [])
  assert.deepEqual(await entriesAbout(person, { until: sooner }), [])
  assert.deepEqual(await entriesAbout(person, { action: 'token.deleted' }), [])
  assert.deepEqual(await entriesAbout(person, { actor: person.id }), [])
})

test('a bad filter is rejected by its name', async () => {
  const refused: [string, Record<string, string | number>][] = [
    ['action', { action: 'account.exploded' }],
    ['subject_kind', { subject_kind: 'spoon' }],
    ['since', { since: 'yesterday' }],
    ['limit', { limit: 0 }],
    ['limit', { limit: 501 }],
    ['before', { before: 0 }],
    ['before', { before: 'x' }],
    ['until', { since: '2026-01-02T00:00:00Z', until: '2026-01-02T00:00:00Z' }],
  ]
  for (const [field, query] of refused)
    assertError(await t.anyone.get(LOG, { ...KEY, query }), 400, 'invalid_input', field)
  assertError(await t.anyone.get(`${LOG}/export`, { ...KEY, query: { format: 'xml' } }), 400, 'invalid_input', 'format')
})

test('the log is for operators; to others there is none', async () => {
  const moderator = await t.make.account({ role: 'moderator' })
  const adminsToken = await t.make.pat(admin, ALL_SCOPES)
  for (const path of [LOG, `${LOG}/export`]) {
    assertError(await t.anyone.get(path), 404, 'not_found')
    assertError(await t.as(moderator).get(path), 404, 'not_found')
    assertError(await t.as(adminsToken).get(path), 404, 'not_found')
    assert.equal((await t.as(admin).get(path)).statusCode, 200)
  }
})

test('the export has every entry once, the oldest first, as JSON lines and as CSV', async () => {
  const person = await t.make.account()
  const text = 'a "quoted", text\r\n=1+1'
  for (let n = 0; n < 2; n++) {
    await recordAudit(t.deps.db, {
      action: 'token.created',
      actor: SYSTEM,
      accountIds: [person.id],
      details: { n, text },
    })
  }
  const lines = await t.anyone.get(`${LOG}/export`, { ...KEY, query: { user: person.id } })
  assert.match(String(lines.headers['content-type']), /^application\/jsonl/)
  assert.match(String(lines.headers['content-disposition']), /audit-log\.jsonl/)
  const entries = lines.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(entries, (await entriesAbout(person)).reverse())
  const csv = await t.anyone.get(`${LOG}/export`, { ...KEY, query: { user: person.id, format: 'csv' } })
  assert.match(String(csv.headers['content-type']), /^text\/csv/)
  const [head, first] = csv.body.split('\r\n')
  assert.match(head ?? '', /^id,at,action,actor_kind,/)
  assert.equal(first?.split(',')[2], 'token.created')
  assert.ok(csv.body.includes(`""n"":0`), csv.body)
  assert.equal((await t.anyone.get(`${LOG}/export`, { ...KEY, query: { user: 'AAAAAAAA' } })).body, '')
})

test('an export longer than one page of rows is whole', async () => {
  const person = await t.make.account()
  await sql`insert into audit_entry (action, actor_kind, account_ids)
    select 'token.created', 'system', ${[person.id]}::text[] from generate_series(1, 2500)`.execute(t.deps.db)
  const answer = await t.anyone.get(`${LOG}/export`, { ...KEY, query: { user: person.id } })
  const ids = answer.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).id)
  assert.equal(new Set(ids).size, 2500)
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
  )
})

test('users read entries about themselves, without the names and IP addresses of others', async () => {
  const [person, stranger] = await t.make.people(2)
  await t.as(admin).patch(`/v3/user/${person.id}`, { badges: 1 })
  await t.as(person).patch(`/v3/user/${person.id}`, { username: 'renamed-by-the-owner' })
  const answer = await t.as(person).get(OWN)
  assert.equal(answer.statusCode, 200, answer.body)
  assert.deepEqual(
    answer.json().entries.map((entry: Record<string, unknown>) => [entry['action'], entry['by'], entry['address']]),
    [
      ['account.changed', 'you', '127.0.0.1'],
      ['account.changed', 'others', null],
    ],
  )
  assert.ok(!answer.body.includes(admin.id) && !answer.body.includes(admin.username))
  assert.deepEqual((await t.as(stranger).get(OWN)).json(), { entries: [], next: null })
  assertError(await t.anyone.get(OWN), 401, 'unauthorized')
  const narrow = await t.make.pat(person, ALL_SCOPES - bitOf('SESSION_READ'))
  assertError(await t.as(narrow).get(OWN), 403, 'unauthorized')
  assertError(await t.as(person).get(OWN, { query: { limit: 'all' } }), 400, 'invalid_input', 'limit')
})

test('entries cannot be changed, not even by SQL', async () => {
  await recordAudit(t.deps.db, { action: 'token.created', actor: SYSTEM })
  const statements = [sql`update audit_entry set action = 'x'`, sql`delete from audit_entry`, sql`truncate audit_entry`]
  for (const statement of statements)
    await assert.rejects(statement.execute(t.deps.db), /Entries of the audit log cannot be changed/)
})

test('deletes IP addresses first and entries later; newer entries stay', async () => {
  const person = await t.make.account()
  const actor = { kind: 'account', id: person.id, address: '198.51.100.7' } as const
  const aged = async (days: number): Promise<void> => {
    await recordAudit(t.deps.db, { action: 'token.created', actor, details: { days } })
    await t.deps.db.transaction().execute(async (tx) => {
      await sql`select set_config('depot.audit_maintenance', 'on', true)`.execute(tx)
      await sql`update audit_entry set at = at - make_interval(days => ${days}) where details ->> 'days' = ${String(days)}
        and account_ids @> ${[person.id]}::text[]`.execute(tx)
    })
  }
  for (const days of [9, 11, 99, 101]) await aged(days)
  await t.runJob('audit.expire')
  const kept = (await entriesAbout(person)).map(({ details: { days }, address }) => [days, address])
  assert.deepEqual(kept, [
    [99, null],
    [11, null],
    [9, '198.51.100.7'],
  ])
})

test('of a deleted account entries keep neither ID nor address nor words', async () => {
  const person = await t.make.account()
  await t.as(admin).patch(`/v3/user/${person.id}`, { role: 'moderator' })
  await t
    .as(person)
    .post('/_internal/pat', {
      name: 'build server',
      scopes: bitOf('USER_READ'),
      expires: new Date(t.deps.now() + DAY_MS).toISOString(),
    })
  const last = (await t.anyone.get(LOG, { ...KEY, query: { limit: 1 } })).json().entries[0].id
  assert.equal((await t.as(admin).delete(`/v3/user/${person.id}`)).statusCode, 204)
  assert.deepEqual(await entriesAbout(person), [])
  const rest = (await t.anyone.get(LOG, { ...KEY, query: { limit: 3 } })).json().entries as AuditEntryView[]
  assert.deepEqual(
    rest.map(({ action, actor, address, subject }) => [action, actor.id, address, subject?.id]),
    [
      ['account.deleted', admin.id, '127.0.0.1', PLACEHOLDER_ID],
      ['token.created', PLACEHOLDER_ID, null, rest[1]?.subject?.id],
      ['account.role_changed', admin.id, '127.0.0.1', PLACEHOLDER_ID],
    ],
  )
  assert.equal(rest[1]?.id, last)
  assert.deepEqual(rest[2]?.details, {})
  await assert.rejects(sql`delete from audit_entry`.execute(t.deps.db), /cannot be changed/)
})

test('every action of the table is recorded somewhere', () => {
  const root = join(import.meta.dirname, '../../../..')
  const source = globSync('{src,demo}/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts') && file !== 'src/features/basics/audit/actions.ts')
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n')
  assert.deepEqual(
    AUDIT_ACTIONS.filter((action) => !source.includes(`'${action}'`)),
    [],
  )
})

test('a text and actions of staff are searched in steps, so that a large log stays fast', async () => {
  const admin = await t.make.account({ role: 'admin' })
  const [mira, ann] = [await t.make.account({ role: 'moderator', username: 'searched-mira' }), await t.make.account()]
  const subject = { kind: 'report', id: 'SearchMe' } as const
  const write = (actor: Parameters<typeof recordAudit>[1]['actor'], details: Record<string, string>) =>
    recordAudit(t.deps.db, { action: 'report.closed', actor, subject, details })
  await write(ownerAt(mira.id, { ip: '192.0.2.9' }), { note: '100%_sure' })
  await write(ownerAt(ann.id, { ip: '192.0.2.10' }), { note: 'other' })
  const list = async (query: Record<string, string>) => {
    const answer = await t.as(admin).get('/_internal/admin/audit-log', { query })
    assert.equal(answer.statusCode, 200, answer.body)
    return answer.json() as { entries: { details: { note?: string } }[]; next: number | null }
  }
  const notes = async (query: Record<string, string>) =>
    (await list({ subject_id: subject.id, ...query })).entries.map(({ details }) => details.note)
  for (const query of ['100%_SURE', 'searched-MIRA', '192.0.2.9', ' 100%_sure '])
    assert.deepEqual(await notes({ query }), ['100%_sure'], query)
  assert.deepEqual(await notes({ query: '100_' }), [], 'signs of patterns mean themselves')
  assert.deepEqual(await notes({ query: 'SearchMe' }), ['other', '100%_sure'])
  assert.deepEqual(await notes({ staff: 'true' }), ['100%_sure'])
  assert.deepEqual(await notes({ staff: 'false' }), ['other', '100%_sure'])
  await sql`insert into audit_entry (action, actor_kind) select 'job.retried', 'system' from generate_series(1, 20005)`.execute(
    t.deps.db,
  )
  const first = await list({ query: '100%_sure' })
  assert.deepEqual(first.entries, [])
  assert.ok(first.next !== null)
  const second = await list({ query: '100%_sure', before: String(first.next) })
  assert.equal(second.entries.length, 1)
  const exported = await t.as(admin).get('/_internal/admin/audit-log/export', { query: { query: '100%_sure' } })
  assert.equal(exported.body.trim().split('\n').length, 1)
  const refused = await t.as(admin).get('/_internal/admin/audit-log', { query: { query: 'x'.repeat(129) } })
  assert.equal(refused.statusCode, 400)
})
