// Advisories over HTTP: permissions, decisions, documents, lists, matches and consequences.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { assertOsv } from '#test/support/http/osv-document.ts'
import { REFERENCE_TYPES } from './requests.ts'

const t = await testApp()
after(() => t.close())
const moderator = await t.make.account({ role: 'moderator' })

const TEXT = { summary: 'Steals tokens', details: 'It sends them to another server.' }
const sha512 = () => randomBytes(64).toString('hex')

type World = { project: MadeProject; version: string; hashes: { sha1: string; sha512: string } }

async function world(): Promise<World> {
  const project = await t.make.project()
  const version = await t.make.version({ project, version_number: '1.0' })
  const file = await t.make.file({ project, version, bytes: randomBytes(16) })
  return { project, version: version.id, hashes: file }
}

const create = (by: Person, body: object) => t.as(by).post('/v3/advisory', { ...TEXT, ...body })
const decide = (by: Person, id: string, status: string) => t.as(by).patch(`/v3/advisory/${id}`, { status })

async function created(by: Person, body: object) {
  const answer = await create(by, body)
  assert.equal(answer.statusCode, 201, answer.body)
  assertOsv(answer.json())
  return answer.json()
}

const match = async (hashes: string[]): Promise<Record<string, { id: string }[]>> => {
  const answer = await t.anyone.post('/v3/advisories/match', { hashes })
  assert.equal(answer.statusCode, 200, answer.body)
  const found: Record<string, { id: string }[]> = answer.json()
  for (const document of Object.values(found).flat()) assertOsv(document)
  return found
}
const idsOf = (list: { id: string }[] | undefined) => (list ?? []).map(({ id }) => id)

const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/
describe('creating', () => {
  test('the advisory of a moderator is published immediately; the document is valid OSV and has the files of the versions', async () => {
    const { project, version, hashes } = await world()
    const elsewhere = sha512()
    const more = {
      severity: [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' }],
      references: [{ type: 'ADVISORY', url: 'https://example.org/a' }],
      aliases: ['CVE-2026-12345'],
    }
    const body = { project: project.slug, versions: [version], hashes: [elsewhere.toUpperCase()], ...more }
    const document = await created(moderator, body)
    assertOsv(document)
    assert.match(document.id, /^x_DEPOT-\d{4}-\d{4,}$/)
    assert.deepEqual(document.affected[0].versions, ['1.0'])
    const { file_sha512, status, version_ids } = document.database_specific
    assert.deepEqual([status, version_ids], ['published', [version]])
    assert.deepEqual(file_sha512, [elsewhere, hashes.sha512].sort())
    assert.deepEqual({ severity: document.severity, references: document.references, aliases: document.aliases }, more)
    assert.deepEqual((await t.anyone.get(`/v3/advisory/${document.id}`)).json(), document)
    const read = (await t.anyone.get(`/v3/version/${version}`)).json()
    assert.ok(!('withdrawn' in read), 'without `withdraw`, the version stays')
    const again = await t.make.version({ project, version_number: '1.0', date_published: new Date(0) })
    const both = await created(moderator, { project: project.slug, versions: [version, again.id] })
    assert.deepEqual(both.affected[0].versions.toSorted(), ['1.0', again.id].sort(), 'names of the Maven metadata')
  })

  test("a member's advisory waits: only members and moderators see it, and nothing finds it", async () => {
    const { project, version, hashes } = await world()
    const document = await created(project.owner, { project: project.id, versions: [version], withdraw: true })
    assertOsv(document)
    assert.equal(document.database_specific.status, 'review')
    assert.ok(!('published' in document))
    const path = `/v3/advisory/${document.id}`
    assertError(await t.anyone.get(path), 404, 'not_found')
    assertError(await t.as(await t.make.account()).get(path), 404, 'not_found')
    for (const person of [project.owner, moderator]) assert.equal((await t.as(person).get(path)).statusCode, 200)
    assert.deepEqual(await match([hashes.sha512]), {})
    const query = { project: project.id }
    assert.deepEqual((await t.anyone.get('/v3/advisories', { query })).json(), { advisories: [], next: null })
    assertError(await t.as(project.owner).get('/v3/advisories', { query: { status: 'review' } }), 403, 'unauthorized')
    const waiting = (await t.as(moderator).get('/v3/advisories', { query: { ...query, status: 'review' } })).json()
    assert.deepEqual(idsOf(waiting.advisories), [document.id])
    assert.ok(!('withdrawn' in (await t.anyone.get(`/v3/version/${version}`)).json()))
  })

  test('needs UPLOAD_VERSION or a moderator; a hidden project does not exist', async () => {
    const { project, version } = await world()
    const [stranger, member] = [await t.make.account(), await t.make.account()]
    await t.make.member({ teamId: project.teamId, accountId: member.id, permissions: 0 })
    const body = { project: project.id, versions: [version] }
    for (const person of [stranger, member]) assertError(await create(person, body), 403, 'unauthorized')
    assertError(await t.anyone.post('/v3/advisory', { ...TEXT, ...body }), 401, 'unauthorized')
    assertError(await create(stranger, { hashes: [sha512()] }), 403, 'unauthorized')
    const hidden = await t.make.project({ status: 'draft' })
    assertError(await create(stranger, { project: hidden.id, hashes: [sha512()] }), 404, 'not_found')
    assert.equal((await created(moderator, { hashes: [sha512()] })).affected, undefined)
  })

  test('documents are valid OSV with every kind of severity, reference and alias, and with few fields', async () => {
    const { project, version } = await world()
    const v3 = ['CVSS:3.0/AV:L/AC:H/PR:H/UI:R/S:C/C:N/I:L/A:N', 'CVSS:3.1/AV:P/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H']
    const v4 = 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:A/VC:H/VI:L/VA:N/SC:N/SI:N/SA:H'
    const urls = ['https://example.org', 'http://192.0.2.1:8080/a?b=c#d', 'HTTPS://[2001:db8::1]/%22']
    for (const score of v3) {
      const severity = [
        { type: 'CVSS_V3', score },
        { type: 'CVSS_V4', score: v4 },
      ]
      const references = REFERENCE_TYPES.map((type) => ({ type, url: 'https://example.org/a' }))
      await created(moderator, {
        project: project.id,
        versions: [version],
        severity,
        references,
        aliases: ['CVE-1', 'x:1'],
      })
    }
    for (const url of urls) await created(moderator, { hashes: [sha512()], references: [{ type: 'WEB', url }] })
    const { id } = await created(project.owner, { hashes: [sha512()], project: project.id, details: '' })
    assertOsv((await decide(moderator, id, 'rejected')).json())
  })

  test('rejects bad input, names the field and saves nothing', async () => {
    const { project, version } = await world()
    const other = await world()
    const draft = await t.make.version({ project, version_number: '2.0', status: 'draft' })
    const base = { project: project.id, versions: [version] }
    const bad: [object, string][] = [
      [{ ...base, summary: ' ' }, 'summary'],
      [{ ...base, summary: 'a\nb' }, 'summary'],
      [{ ...base, summary: 'x'.repeat(201) }, 'summary'],
      [{ project: project.id }, 'versions'],
      [{ versions: [version] }, 'project'],
      [{ ...base, versions: [version, other.version] }, 'versions.1'],
      [{ ...base, versions: [draft.id] }, 'versions.0'],
      [{ ...base, versions: ['!'] }, 'versions.0'],
      [{ ...base, hashes: ['abc'] }, 'hashes.0'],
      [{ project: project.id, hashes: [sha512()], withdraw: true }, 'withdraw'],
      [{ ...base, severity: [{ type: 'CVSS_V3', score: 'CVSS:4.0/AV:N' }] }, 'severity.0.score'],
      [{ ...base, references: [{ type: 'WEB', url: 'javascript:alert(1)' }] }, 'references.0.url'],
      [{ ...base, references: [{ type: 'WEB', url: 'https://example.org/<a>' }] }, 'references.0.url'],
      [{ ...base, references: [{ type: 'WEB', url: 'https://example.org/%zz' }] }, 'references.0.url'],
      [{ ...base, references: [{ type: 'WEB', url: 'https://b\u00fccher.example/' }] }, 'references.0.url'],
      [{ ...base, references: [{ type: 'BLOG', url: 'https://example.org' }] }, 'references.0.type'],
      [{ ...base, aliases: ['a b'] }, 'aliases.0'],
    ]
    for (const [body, field] of bad) {
      const answer = await create(moderator, body)
      assert.equal(answer.statusCode, 400, `${JSON.stringify(body)} ${answer.body}`)
      assert.equal(answer.json().details.field, field, answer.body)
    }
    const query = { project: project.id }
    assert.deepEqual((await t.anyone.get('/v3/advisories', { query })).json().advisories, [])
  })

  test('a project has at most 10 advisories in review, also if its members create them at the same time', async () => {
    const { project } = await world()
    const answers = await Promise.all(
      Array.from({ length: 14 }, () => create(project.owner, { project: project.slug, hashes: [sha512()] })),
    )
    const made = answers.filter(({ statusCode }) => statusCode === 201)
    const refused = answers.filter(({ statusCode }) => statusCode !== 201)
    assert.deepEqual([made.length, refused.length], [10, 4])
    assert.deepEqual([refused[0]?.statusCode, refused[0]?.json().error], [400, 'LimitReached'])
    assert.deepEqual(refused[0]?.json().details, { kind: 'advisories', current: 10, max: 10 })
    await created(moderator, { project: project.slug, hashes: [sha512()] })
    assert.equal((await decide(moderator, made[0]?.json().id, 'rejected')).statusCode, 200)
    await created(project.owner, { project: project.slug, hashes: [sha512()] })
  })

  test('parallel creations get different IDs without gaps', async () => {
    const documents = await Promise.all(Array.from({ length: 8 }, () => created(moderator, { hashes: [sha512()] })))
    const numbers = documents.map(({ id }) => Number(id.split('-').at(-1))).sort((a, b) => a - b)
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => (numbers[0] ?? 0) + index),
    )
  })
})

describe('deciding', () => {
  test('publication withdraws the versions; the second of two parallel decisions fails', async () => {
    const { project, version, hashes } = await world()
    const { id } = await created(project.owner, { project: project.id, versions: [version], withdraw: true })
    assertError(await decide(project.owner, id, 'published'), 403, 'unauthorized')
    const answers = await Promise.all([decide(moderator, id, 'published'), decide(moderator, id, 'rejected')])
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [200, 400])
    const isPublished = answers[0]?.statusCode === 200
    const read = (await t.anyone.get(`/v3/version/${version}`)).json()
    assert.deepEqual(read.withdrawn, isPublished ? { kind: 'security', reason: TEXT.summary } : undefined)
    assert.deepEqual(idsOf((await match([hashes.sha1]))[hashes.sha1]), isPublished ? [id] : [])
  })

  test('publication withdraws only the versions that are left and not withdrawn', async () => {
    const { project, version } = await world()
    const make = (version_number: string) => t.make.version({ project, version_number })
    const [deleted, withdrawn] = [await make('2.0'), await make('3.0')]
    const versions = [version, deleted.id, withdrawn.id]
    const { id } = await created(project.owner, { project: project.id, versions, withdraw: true })
    const earlier = { kind: 'broken', reason: 'Crashes' }
    const as = t.as(project.owner)
    assert.equal((await as.patch(`/v3/version/${withdrawn.id}`, { withdrawn: earlier })).statusCode, 204)
    assert.equal((await as.delete(`/v3/version/${deleted.id}`)).statusCode, 204)
    assert.equal((await decide(moderator, id, 'published')).statusCode, 200)
    const kindOf = async (of: string) => (await t.anyone.get(`/v3/version/${of}`)).json().withdrawn
    assert.deepEqual(await kindOf(version), { kind: 'security', reason: TEXT.summary })
    assert.deepEqual(await kindOf(withdrawn.id), earlier)
  })

  test('only these steps exist: review to published or rejected, published to withdrawn', async () => {
    const { project, version, hashes } = await world()
    const first = await created(project.owner, { project: project.id, versions: [version] })
    assert.equal((await decide(moderator, first.id, 'rejected')).statusCode, 200)
    for (const status of ['published', 'withdrawn', 'rejected'])
      assertError(await decide(moderator, first.id, status), 400, 'invalid_input')
    assertError(await t.anyone.get(`/v3/advisory/${first.id}`), 404, 'not_found')
    const second = await created(moderator, { project: project.id, versions: [version] })
    const answer = await decide(moderator, second.id, 'withdrawn')
    assertOsv(answer.json())
    assert.match(answer.json().withdrawn, UTC)
    assert.deepEqual(await match([hashes.sha512]), {}, 'a withdrawn advisory matches nothing')
    assert.equal((await t.anyone.get(`/v3/advisory/${second.id}`)).statusCode, 200)
    for (const id of ['x_DEPOT-2026-99999', 'nothing'])
      assertError(await decide(moderator, id, 'published'), 404, 'not_found')
    assertError(await decide(moderator, second.id, 'review'), 400, 'validation_error')
  })

  test('writes audit entries', async () => {
    const { project, version } = await world()
    const { id } = await created(project.owner, { project: project.id, versions: [version] })
    await decide(moderator, id, 'published')
    await decide(moderator, id, 'withdrawn')
    const entries = await t.deps.db
      .selectFrom('audit_entry')
      .select('action')
      .where('subject_id', '=', id)
      .orderBy('id')
      .execute()
    assert.deepEqual(
      entries.map(({ action }) => action),
      ['advisory.created', 'advisory.published', 'advisory.withdrawn'],
    )
  })
})

describe('reading', () => {
  test('lists by project and since, in pages that overlap nowhere; the export has the same documents', async () => {
    const { project, version } = await world()
    const ids: string[] = []
    for (let n = 0; n < 3; n += 1) ids.push((await created(moderator, { project: project.id, versions: [version] })).id)
    const seen: string[] = []
    let since: string | undefined
    for (let page = 0; page < 3; page += 1) {
      const query = { project: project.id, limit: '1', ...(since === undefined ? {} : { since }) }
      const answer = (await t.anyone.get('/v3/advisories', { query })).json()
      seen.push(...idsOf(answer.advisories))
      for (const document of answer.advisories) assertOsv(document)
      since = answer.next ?? undefined
      assert.equal(since === undefined, page === 2)
    }
    assert.deepEqual(seen.sort(), ids)
    const later = { project: project.id, since: '2100-01-01T00:00:00Z' }
    assert.deepEqual((await t.anyone.get('/v3/advisories', { query: later })).json().advisories, [])
    for (const bad of ['yesterday', '1-AABBCCDD', '2026-13-45T00:00:00Z']) {
      const answer = await t.anyone.get('/v3/advisories', { query: { since: bad } })
      assertError(answer, 400, 'invalid_input')
      assert.equal(answer.json().details.field, 'since')
    }
    const lines = (await t.anyone.get('/v3/advisories/all.jsonl')).body.trim().split('\n')
    const documents = lines.map((line) => JSON.parse(line))
    for (const document of documents) assertOsv(document)
    assert.deepEqual(documents.filter(({ id }) => ids.includes(id)).length, 3)
  })

  test('matches at most 1,000 hashes of both kinds in any case, also of deleted versions', async () => {
    const { project, version, hashes } = await world()
    const { id } = await created(moderator, { project: project.id, versions: [version] })
    assert.equal((await t.as(project.owner).delete(`/v3/version/${version}`)).statusCode, 204)
    const asked = [hashes.sha1.toUpperCase(), hashes.sha512, sha512(), 'abc']
    const found = await match(asked)
    assert.deepEqual(Object.keys(found).sort(), [hashes.sha1, hashes.sha512].sort())
    assert.deepEqual(idsOf(found[hashes.sha512]), [id])
    await match(Array.from({ length: 1000 }, sha512))
    const tooMany = await t.anyone.post('/v3/advisories/match', { hashes: Array.from({ length: 1001 }, sha512) })
    assert.equal(tooMany.statusCode, 400)
  })

  test('the change feed has published advisories, also withdrawn ones, and no others', async () => {
    const { project, version } = await world()
    const shown = await created(moderator, { project: project.id, versions: [version] })
    const waiting = await created(project.owner, { project: project.id, versions: [version] })
    const feed = async () => {
      while (
        (await t.deps.pool.query<{ more: boolean }>('select number_public_changes(1000) as more')).rows[0]?.more
      ) {}
      const query = { kinds: '["advisory"]', limit: '1000' }
      const { changes } = (await t.anyone.get('/v3/changes', { query })).json()
      return new Map<string, { state: string; revision: number }>(
        changes.map((change: { id: string }) => [change.id, change]),
      )
    }
    const first = await feed()
    assert.equal(first.get(shown.id)?.state, 'present')
    assert.ok(!first.has(waiting.id))
    await decide(moderator, shown.id, 'withdrawn')
    const second = await feed()
    assert.equal(second.get(shown.id)?.state, 'present')
    assert.ok((second.get(shown.id)?.revision ?? 0) > (first.get(shown.id)?.revision ?? 0))
    await t.deps.pool.query('select rebuild_public_changes()')
    const rebuilt = await feed()
    assert.ok(rebuilt.has(shown.id) && !rebuilt.has(waiting.id))
  })
})
