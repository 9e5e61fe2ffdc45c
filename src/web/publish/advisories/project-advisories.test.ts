// The pages of a project's advisories, for its members.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

let t: TestApp
let project: MadeProject
let version: string
const LIST = '/mod/lantern/settings/advisories'
const NEW = `${LIST}/new`
before(async () => {
  t = await testApp()
  project = await t.make.project({ slug: 'lantern', name: 'Lantern' })
  version = (await t.make.version({ project, version_number: '1.0' })).id
  await t.make.file({ project, version: { id: version }, bytes: randomBytes(8) })
})
after(() => t?.close())

const EMPTY = { details: '', hashes: '', severity: '', references: '', aliases: '' }

test('a member writes an advisory, which waits for a moderator and is in the list', async () => {
  const person = visitor(t, project.owner.token)
  assertSays(await person.get(LIST), 200, 'There are no advisories about this project')
  const page = await person.get(NEW)
  assertValidHtml(page.body)
  assertSays(page, 200, 'A moderator reads the advisory')
  const sha1 = createHash('sha1').update('elsewhere').digest('hex')
  const typed = {
    summary: 'Steals <b>tokens</b>',
    details: 'Remove **it**.',
    versions: version,
    hashes: `\n ${sha1.toUpperCase()} \r\n`,
    severity:
      'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H\nCVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N',
    references: 'fix https://example.org/fix\nhttps://example.org/other',
    aliases: 'CVE-2026-12345, GHSA-1',
    withdraw: 'true',
  }
  const preview = await person.sendFrom(page, NEW, { ...typed, do: 'preview' })
  assert.ok(preview.statusCode === 200 && preview.body.includes('<strong>it</strong>'))
  assert.ok(preview.body.includes('value="Steals &lt;b&gt;tokens'))
  assertLeads(await person.sendFrom(page, NEW, { ...typed, do: 'create' }), `${LIST}?done=advisory-created`)
  const list = await person.get(LIST)
  assertValidHtml(list.body)
  for (const text of ['Steals <b>tokens', 'In review', '1.0']) assertSays(list, 200, text)
  const [, id = ''] = /href="\/advisory\/([^"]+)"/.exec(list.body) ?? []
  const document = (await t.as(project.owner).get(`/v3/advisory/${id}`)).json()
  assert.deepEqual(document.database_specific.version_ids, [version])
  assert.deepEqual([document.database_specific.status, document.database_specific.withdraws], ['review', true])
  assert.ok(document.database_specific.file_sha1.includes(sha1))
  assert.deepEqual(
    document.severity.map(({ type }: { type: string }) => type),
    ['CVSS_V3', 'CVSS_V4'],
  )
  assert.deepEqual(document.references, [
    { type: 'FIX', url: 'https://example.org/fix' },
    { type: 'WEB', url: 'https://example.org/other' },
  ])
  assert.deepEqual(document.aliases, ['CVE-2026-12345', 'GHSA-1'])
  const german = visitor(t, project.owner.token)
  german.cookies.set('__Host-depot-language', 'de')
  assertSays(await german.get(NEW), 200, 'Neuer Sicherheitshinweis')
})

test('a refused form keeps what was typed and names the field', async () => {
  const person = visitor(t, project.owner.token)
  const page = await person.get(NEW)
  const base = { ...EMPTY, summary: 'Crashes', versions: version, do: 'create' }
  for (const [fields, message] of [
    [{ summary: ' ' }, 'The summary must not be blank'],
    [{ versions: [] }, 'The version must name a version'],
    [{ versions: 'zzzzzzzz' }, 'The version must be a published version of the project'],
    [{ hashes: 'abc' }, 'The hash must be a SHA-1 or SHA-512'],
    [{ severity: 'CVSS:3.1/AV:N' }, 'The severity must be a CVSS_V3 vector'],
    [{ references: 'javascript:alert(1)' }, 'The link must be an http or https address'],
    [{ aliases: '<b>' }, 'The ID'],
  ] as const) {
    const answer = await person.sendFrom(page, NEW, { ...base, ...fields })
    assertValidHtml(answer.body)
    assertSays(answer, 400, message)
    assert.ok(answer.body.includes('summary' in fields ? 'value=" "' : 'value="Crashes"'))
  }
})

test('more than 50 versions: older ones are named by number or ID', async () => {
  const many = await t.make.project({ slug: 'many' })
  const made: string[] = []
  for (let n = 0; n < 52; n += 1) {
    const fields = { project: many, version_number: `1.${n}`, date_published: new Date(n * 1000) }
    made.push((await t.make.version(fields)).id)
  }
  const path = '/mod/many/settings/advisories/new'
  const person = visitor(t, many.owner.token)
  const page = await person.get(path)
  assert.equal(page.body.match(/name="versions"/g)?.length, 50)
  const base = { ...EMPTY, summary: 'Crashes', versions: made[51] ?? '', do: 'create' }
  assertSays(await person.sendFrom(page, path, { ...base, older: '7.7' }), 400, 'The project has no version 7.7')
  const answer = await person.sendFrom(page, path, { ...base, older: `1.0\n${made[1]}` })
  assertLeads(answer, '/mod/many/settings/advisories?done=advisory-created')
  const list = await person.get('/mod/many/settings/advisories')
  assert.ok(list.body.includes('<bdi>1.51</bdi>'))
  const [, id = ''] = /href="\/advisory\/([^"]+)"/.exec(list.body) ?? []
  const { database_specific } = (await t.as(many.owner).get(`/v3/advisory/${id}`)).json()
  assert.deepEqual(database_specific.version_ids, [made[0], made[1], made[51]].sort())
})

test('a member without the permission sees the list and no form; strangers see nothing; moderators publish directly', async () => {
  const helper = await t.make.account()
  await t.make.member({ teamId: project.teamId, accountId: helper.id, permissions: 0 })
  const member = visitor(t, helper.token)
  const list = await member.get(LIST)
  assert.ok(list.statusCode === 200 && !list.body.includes(`href="${NEW}"`))
  assert.doesNotMatch((await member.get(NEW)).body, /name="summary"/)
  const fields = { ...EMPTY, summary: 'No', versions: version, do: 'create' }
  const owner = visitor(t, project.owner.token)
  const token = /name="_csrf" value="([^"]+)"/.exec((await member.get('/account')).body)?.[1] ?? ''
  const refused = await member.post(NEW, { ...fields, _csrf: token })
  assert.ok(refused.statusCode === 403 && refused.body.includes('value="No"'))
  for (const path of [LIST, NEW])
    assert.equal((await visitor(t, (await t.make.account()).token).get(path)).statusCode, 404)
  assert.doesNotMatch((await owner.get(LIST)).body, />No</)
  const moderator = visitor(t, (await t.make.account({ role: 'moderator' })).token)
  const page = await moderator.get(NEW)
  assertSays(page, 200, 'published immediately')
  assertLeads(await moderator.sendFrom(page, NEW, { ...fields, summary: 'Direct' }), `${LIST}?done=advisory-published`)
  assert.match((await t.anyone.get('/mod/lantern')).body, /<bdi>Direct<\/bdi>/)
})
