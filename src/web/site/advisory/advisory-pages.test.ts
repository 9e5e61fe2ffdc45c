// Advisories on the public pages: warnings of a project and its versions, badges in lists, and the page of an advisory.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { visitor } from '#test/support/http/visitor.ts'

const t = await testApp()
after(() => t.close())
const moderator = await t.make.account({ role: 'moderator' })

type World = { project: MadeProject; path: string; bad: string; good: string; sha1: string; bytes: Buffer }

/** Creates a project with an old version, and a newer one that is offered. */
async function world(slug: string): Promise<World> {
  const project = await t.make.project({ slug, name: 'Lantern' })
  const fields = { project, loaders: ['fabric'] }
  const bad = await t.make.version({ ...fields, version_number: '1.0', date_published: new Date(0) })
  const good = await t.make.version({ ...fields, version_number: '2.0' })
  const bytes = randomBytes(16)
  const { sha1 } = await t.make.file({ project, version: bad, bytes })
  await t.make.file({ project, version: good, bytes: randomBytes(16) })
  return { project, path: `/mod/${slug}`, bad: bad.id, good: good.id, sha1, bytes }
}

const TEXT = { summary: 'Steals <b>tokens</b>', details: 'It sends them to **another** server.' }

async function create(by: Person, body: object): Promise<string> {
  const answer = await t.as(by).post('/v3/advisory', { ...TEXT, ...body })
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().id
}

async function decide(id: string, status: string): Promise<void> {
  const answer = await t.as(moderator).patch(`/v3/advisory/${id}`, { status })
  assert.equal(answer.statusCode, 200, answer.body)
}

async function shown(path: string, language = 'en'): Promise<string> {
  const answer = await t.anyone.get(path, { headers: { 'accept-language': language, accept: 'text/html' } })
  assert.equal(answer.statusCode, 200, path)
  assertValidHtml(answer.body)
  return answer.body
}

/** The pages that cache what they show, with the number of badges that each has for one affected version. */
const pagesOf = ({ path }: World): [string, RegExp][] => [
  [path, /security advisory about this project/],
  [`${path}/versions`, /badge bad">Advisory</],
  [`${path}/changelog`, /badge bad">Advisory</],
  [`${path}/version/1.0`, /security advisory about this version/],
]

test('cached pages show an advisory as soon as it is published, and no longer when it is withdrawn', async () => {
  const at = await world('lantern')
  for (const [path, warning] of pagesOf(at)) assert.doesNotMatch(await shown(path), warning, path)
  const id = await create(at.project.owner, { project: at.project.id, versions: [at.bad] })
  for (const [path, warning] of pagesOf(at)) assert.doesNotMatch(await shown(path), warning, `${path} in review`)
  await decide(id, 'published')
  for (const [path, warning] of pagesOf(at)) assert.match(await shown(path), warning, path)
  const first = await shown(at.path)
  assert.ok(first.includes(`href="/advisory/${id}"><bdi>Steals &lt;b&gt;tokens`))
  assert.match(first, /Version <bdi>1\.0<\/bdi>/)
  assert.match(await shown(at.path, 'de'), /Zu diesem Projekt gibt es einen Sicherheitshinweis/)
  assert.doesNotMatch(await shown(`${at.path}/version/2.0`), /security advisory/, 'a version that is not affected')
  assert.equal((await shown(`${at.path}/versions`)).match(/badge bad">Advisory</g)?.length, 1)
  await decide(id, 'withdrawn')
  for (const [path, warning] of pagesOf(at)) assert.doesNotMatch(await shown(path), warning, `${path} withdrawn`)
})

test('the project page says when the version for download is affected; a withdrawn version has both badges', async () => {
  const at = await world('lamp')
  await create(moderator, { project: at.project.id, versions: [at.good] })
  assert.match(await shown(at.path), /about the version that this page offers/)
  await create(moderator, { project: at.project.id, versions: [at.good], withdraw: true, summary: 'Another' })
  const page = await shown(at.path)
  assert.doesNotMatch(page, /that this page offers/, 'the page offers the older version now')
  assert.match(page, /security advisories about this project/)
  for (const path of [`${at.path}/versions`, `${at.path}/changelog`])
    assert.match(await shown(path), /badge bad">Withdrawn<\/span> <span class="badge bad">Advisory</, path)
})

test('an advisory about a file concerns the versions of every project that have the file', async () => {
  const [at, copy] = [await world('hearth'), await world('copy')]
  await t.make.file({
    project: copy.project,
    version: { id: copy.good },
    bytes: at.bytes,
    filename: 'copy.jar',
    primary: false,
  })
  for (const { path } of [at, copy]) assert.doesNotMatch(await shown(path), /security advis/)
  const id = await create(moderator, { hashes: [at.sha1] })
  assert.match(await shown(`${at.path}/version/1.0`), /security advisory about this version/)
  assert.match(await shown(`${copy.path}/version/2.0`), /security advisory about this version/)
  assert.doesNotMatch(await shown(`${copy.path}/version/1.0`), /security advis/)
  await decide(id, 'withdrawn')
  for (const { path } of [at, copy]) assert.doesNotMatch(await shown(path), /security advis/)
})

test('the page of an advisory has its facts; texts of users are escaped', async () => {
  const at = await world('gate')
  const more = {
    severity: [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' }],
    references: [{ type: 'FIX', url: "https://example.org/?a&b='c'" }],
    aliases: ['CVE-2026-12345'],
  }
  const details = '**bold**\n\n<script>alert(1)</script>'
  const id = await create(moderator, { project: at.project.id, versions: [at.bad], ...more, details })
  const page = await shown(`/advisory/${id}`)
  for (const text of [
    'Steals &lt;b&gt;tokens',
    '<strong>bold</strong>',
    'CVE-2026-12345',
    'CVSS:3.1/AV:N',
    'Fix (<bdi>example.org</bdi>)',
    `href="/mod/gate/version/${at.bad}"`,
    at.sha1,
    `href="/v3/advisory/${id}"`,
  ])
    assert.ok(page.includes(text), text)
  assert.doesNotMatch(page, /<script>alert|example\.org\/\?a&b/)
  assert.match(await shown(`/advisory/${id}`, 'de'), /Sicherheitshinweis[\s\S]*Betroffene Dateien/)
  assert.equal(
    (await t.as(at.project.owner).patch(`/v3/project/${at.project.id}`, { status: 'private' })).statusCode,
    204,
  )
  const hidden = await shown(`/advisory/${id}`)
  assert.doesNotMatch(hidden, /Lantern|\/mod\/gate/, 'a hidden project is not named')
  await decide(id, 'withdrawn')
  assert.match(await shown(`/advisory/${id}`), /This advisory was withdrawn/)
})

test('only members of the project and moderators see an advisory in review; others get 404', async () => {
  const at = await world('driftwood')
  const id = await create(at.project.owner, { project: at.project.id, hashes: [at.sha1], details: '' })
  const path = `/advisory/${id}`
  for (const person of [undefined, (await t.make.account()).token])
    assert.equal((await visitor(t, person).get(path)).statusCode, 404)
  for (const { token } of [at.project.owner, moderator]) {
    const { statusCode, body } = await visitor(t, token).get(path)
    assertValidHtml(body)
    assert.deepEqual([statusCode, /A moderator has to publish/.test(body)], [200, true])
  }
  await decide(id, 'rejected')
  assert.match((await visitor(t, at.project.owner.token).get(path)).body, /Moderators rejected this advisory/)
  for (const wrong of ['/advisory/nothing', '/advisory/x_DEPOT-2026-99999'])
    assert.equal((await visitor(t).get(wrong)).statusCode, 404, wrong)
})
