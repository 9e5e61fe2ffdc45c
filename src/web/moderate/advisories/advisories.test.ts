// The pages of advisories for moderators.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, type Visitor, visitor } from '#test/support/http/visitor.ts'

let t: TestApp
let project: MadeProject
let version: string
let moderator: Visitor
const LIST = '/moderation/advisories'
before(async () => {
  t = await testApp()
  project = await t.make.project({ slug: 'lantern', name: 'Lantern' })
  version = (await t.make.version({ project, version_number: '1.0' })).id
  moderator = visitor(t, (await t.make.account({ role: 'moderator', username: 'mira' })).token)
})
after(() => t?.close())

async function submit(summary: string): Promise<string> {
  const body = { project: project.id, versions: [version], summary, details: '', withdraw: true }
  const answer = await t.as(project.owner).post('/v3/advisory', body)
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().id
}
const statusOf = async (id: string) =>
  (await t.as(project.owner).get(`/v3/advisory/${id}`)).json().database_specific.status

test('a moderator publishes an advisory, which withdraws its version, and withdraws the advisory later', async () => {
  const id = await submit('Steals <b>tokens</b>')
  const path = `${LIST}/${id}`
  assertSays(await moderator.get('/moderation'), 200, /href="\/moderation\/advisories".*Advisories <span class="n">1</)
  const list = await moderator.get(LIST)
  assertValidHtml(list.body)
  assert.ok(list.body.includes(`href="${path}"><bdi>Steals &lt;b&gt;tokens`))
  const page = await moderator.get(path)
  assertValidHtml(page.body)
  for (const text of ['In review', 'Lantern', 'The versions are withdrawn']) assertSays(page, 200, text)
  assertLeads(
    await moderator.sendFrom(page, path, { decision: 'published', do: 'decide' }),
    `${path}?done=advisory-published`,
  )
  const read = (await t.anyone.get(`/v3/version/${version}`)).json()
  assert.equal(read.withdrawn.kind, 'security')
  assertSays(await moderator.get(`${LIST}?status=published`), 200, 'Steals <b>tokens')
  assert.ok(!(await moderator.get(LIST)).body.includes('Steals'))
  const published = await moderator.get(path)
  assertLeads(await moderator.sendFrom(published, path, { do: 'withdraw' }), `${path}?done=advisory-withdrawn`)
  assert.equal(await statusOf(id), 'withdrawn')
  assert.doesNotMatch((await moderator.get(path)).body, /name="do"/)
  // A second moderator has the page of the advisory in review open.
  const late = await moderator.sendFrom(page, path, { decision: 'rejected', do: 'decide' }).catch(() => undefined)
  assertSays(late ?? page, 400, 'withdrawn')
})

test('a moderator rejects an advisory', async () => {
  const id = await submit('Nothing')
  const path = `${LIST}/${id}`
  const page = await moderator.get(path)
  assertLeads(
    await moderator.sendFrom(page, path, { decision: 'rejected', do: 'decide' }),
    `${path}?done=advisory-rejected`,
  )
  assert.equal(await statusOf(id), 'rejected')
  const german = visitor(t, moderator.cookies.get('__Host-depot-session'))
  german.cookies.set('__Host-depot-language', 'de')
  assertSays(await german.get(`${LIST}?status=rejected`), 200, 'Abgelehnt')
})

test('a moderator publishes an advisory about files without a project', async () => {
  const path = `${LIST}/new`
  const page = await moderator.get(path)
  assertValidHtml(page.body)
  const hash = randomBytes(64).toString('hex')
  const fields = {
    summary: 'A bad file',
    details: '',
    hashes: '',
    severity: '',
    references: '',
    aliases: '',
    do: 'create',
  }
  assertSays(await moderator.sendFrom(page, path, fields), 400, 'The hashes must name')
  assertSays(await moderator.sendFrom(page, path, { ...fields, hashes: 'x' }), 400, 'The hash must be a SHA-1')
  const answer = await moderator.sendFrom(page, path, { ...fields, hashes: hash })
  const id = /\/moderation\/advisories\/(\S+)\?/.exec(String(answer.headers.location))?.[1] ?? ''
  assertLeads(answer, `${LIST}/${id}?done=advisory-published`)
  const found = (await t.anyone.post('/v3/advisories/match', { hashes: [hash] })).json()
  assert.equal(found[hash][0].id, id)
})

test('only moderators see these pages', async () => {
  const id = await submit('Hidden')
  for (const path of [LIST, `${LIST}/new`, `${LIST}/${id}`]) {
    assert.equal((await visitor(t, project.owner.token).get(path)).statusCode, 404, path)
    assert.equal((await visitor(t).get(path)).statusCode, 303, path)
  }
  assert.equal((await moderator.get(`${LIST}/x_DEPOT-2026-99999`)).statusCode, 404)
})
