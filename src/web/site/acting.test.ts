// Forms of the public site: reports and collections.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { testApp } from '#test/support/app/test-app.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const t = await testApp()
after(() => t.close())
const owner = await t.make.account({ username: 'keeper' })
const project = await t.make.project({ owner, slug: 'lantern', name: 'Lantern <b>' })
const version = await t.make.version({ project, version_number: '1.0.0' })

const HOSTILE = '</textarea><script>alert(1)</script>'

test('a report is filed from the pages of a project, a version and a user, and seen there', async () => {
  const reporter = await t.make.account()
  const person = visitor(t, reporter.token)
  for (const [item, id, path] of [
    ['project', project.id, '/mod/lantern'],
    ['version', version.id, '/mod/lantern/version/1.0.0'],
    ['user', owner.id, '/user/keeper'],
  ] as const) {
    const address = `/report?item=${item}&id=${id}`
    assertSays(await person.get(path), 200, `href="${address}"`)
    const form = await person.get(address)
    assertValidHtml(form.body, address)
    assertSays(form, 200, `href="${path}"`)
    assert.doesNotMatch(form.body, /Moderators have received your report/)
    assertLeads(await person.sendFrom(form, '/report', { reason: 'spam', text: `Bad: ${HOSTILE}` }), address)
    const again = await person.get(address)
    assertSays(again, 200, 'Moderators have received your report')
    assertValidHtml(again.body)
  }
  const reports = (await t.as(reporter).get('/v3/report')).json()
  assert.deepEqual(
    reports.map((report: Record<string, string>) => [report['item_type'], report['item_id'], report['report_type']]),
    [
      ['user', owner.id, 'spam'],
      ['version', version.id, 'spam'],
      ['project', project.id, 'spam'],
    ],
  )
  assert.equal(reports[0].body, `Bad: ${HOSTILE}`)
})

test('a rejected report shows the error next to its field and keeps the text', async () => {
  const person = visitor(t, (await t.make.account()).token)
  const form = await person.get(`/report?item=project&id=${project.id}`)
  const cases = [
    [{ reason: '', text: HOSTILE }, 'reason'],
    [{ reason: 'because', text: HOSTILE }, 'reason'],
    [{ reason: 'spam', text: ' \u200b ' }, 'text'],
    [{ reason: 'spam', text: 'x'.repeat(65_537 - 10_000) + HOSTILE.repeat(400) }, undefined],
  ] as const
  for (const [fields, field] of cases) {
    const answer = await person.sendFrom(form, '/report', fields)
    assert.ok(answer.statusCode === 400 || answer.statusCode === 413, String(answer.statusCode))
    assertValidHtml(answer.body)
    assert.doesNotMatch(answer.body, /<script>/)
    if (field === undefined) continue
    assertSays(answer, 400, `<a href="#${field}">`)
    assertSays(answer, 400, /<title>Error: Report Lantern/)
    assertSays(answer, 400, fields.text)
  }
  assert.deepEqual((await t.as(owner).get('/v3/report')).json(), [])
})

test('hidden or unknown projects cannot be reported or saved, and a forged form does nothing', async () => {
  const secret = await t.make.project({ owner, slug: 'secret', status: 'draft' })
  const person = visitor(t, (await t.make.account()).token)
  for (const query of [
    '',
    '?item=project',
    '?item=project&id=none',
    `?item=project&id=${secret.id}`,
    `?item=version&id=${project.id}`,
    '?item=user&id=nobody-at-all',
    '?item=__proto__&id=x',
    '?item=project&id=%00',
  ]) {
    const answer = await person.get(`/report${query}`)
    assert.ok([400, 404].includes(answer.statusCode), query)
    assertValidHtml(answer.body, query)
  }
  assert.equal((await person.get('/mod/secret/save')).statusCode, 404)
  const forged = await person.post('/report', { item: 'project', id: project.id, reason: 'spam', text: 'x' })
  assert.equal(forged.statusCode, 403)
  assert.equal((await person.post('/mod/lantern/save', { name: 'Mine' })).statusCode, 403)
})

test('signed-out visitors sign in and return', async () => {
  const someone = visitor(t)
  const report = `/report?item=project&id=${project.id}`
  for (const path of [report, '/mod/lantern/save'])
    assertLeads(await someone.get(path), `/account/sign-in?return=${encodeURIComponent(path)}`)
})

test('a project is saved to a new collection and to others, and removed again, without touching the rest', async () => {
  const account = await t.make.account()
  const person = visitor(t, account.token)
  const hidden = await t.make.project({ owner: account, status: 'draft' })
  const first = await person.get('/mod/lantern/save')
  assertValidHtml(first.body)
  assertSays(first, 200, 'Name of a new collection')
  assertLeads(
    await person.sendFrom(first, '/mod/lantern/save', { name: HOSTILE.slice(0, 60) }),
    '/mod/lantern?done=collected',
  )
  assertSays(await person.get('/mod/lantern?done=collected'), 200, 'Your collections are saved.')
  const other = (await t.as(account).post('/v3/collection', { name: 'Others', projects: [hidden.id] })).json()
  const form = await person.get('/mod/lantern/save')
  assertValidHtml(form.body)
  const shown = [...form.body.matchAll(/name="shown" value="(\w+)"/g)].map(([, id = '']) => id)
  assert.equal(shown.length, 2)
  assert.equal(form.body.match(/type="checkbox"[^>]* checked/g)?.length, 1)
  await person.sendFrom(form, '/mod/lantern/save', { shown, collection: [other.id], name: '' })
  const projectsOf = async (id: string) => (await t.as(account).get(`/v3/collection/${id}`)).json().projects
  assert.deepEqual(await projectsOf(other.id), [hidden.id, project.id])
  const mine = shown.find((id) => id !== other.id) ?? assert.fail()
  assert.deepEqual(await projectsOf(mine), [])
  // Collections that the form did not show stay unchanged.
  await person.sendFrom(await person.get('/mod/lantern/save'), '/mod/lantern/save', {
    shown: [],
    collection: [],
    name: '',
  })
  assert.deepEqual(await projectsOf(other.id), [hidden.id, project.id])
  const refused = await person.sendFrom(form, '/mod/lantern/save', { shown, collection: [mine], name: 'x' })
  assertSays(refused, 400, '<a href="#name">')
  assertValidHtml(refused.body)
  assert.deepEqual(await projectsOf(mine), [])
})

test('another account’s collection is never changed, and parallel saves lose nothing', async () => {
  const account = await t.make.account()
  const { id } = (await t.as(owner).post('/v3/collection', { name: 'Not yours' })).json()
  const person = visitor(t, account.token)
  const form = await person.get('/mod/lantern/save')
  await person.sendFrom(form, '/mod/lantern/save', { shown: [id], collection: [id], name: '' })
  assert.deepEqual((await t.anyone.get(`/v3/collection/${id}`)).json().projects, [])
  const mine = (await t.as(account).post('/v3/collection', { name: 'Many' })).json()
  const projects = await Promise.all(Array.from({ length: 6 }, () => t.make.project()))
  for (const one of projects) await t.make.version({ project: one })
  await Promise.all(
    projects.map(async ({ slug }) => {
      const page = await person.get(`/mod/${slug}/save`)
      return person.sendFrom(page, `/mod/${slug}/save`, { shown: [mine.id], collection: [mine.id], name: '' })
    }),
  )
  const saved = (await t.anyone.get(`/v3/collection/${mine.id}`)).json().projects
  assert.deepEqual(saved.toSorted(), projects.map(({ id: each }) => each).sort())
})

test('gaps of deleted projects are closed, and a collection that is full takes no more', async () => {
  const account = await t.make.account()
  const person = visitor(t, account.token)
  const { id } = (await t.as(account).post('/v3/collection', { name: 'Full' })).json()
  const kept = await t.make.project()
  await t.deps.db
    .insertInto('collection_project')
    .values({ collection_id: id, project_id: kept.id, position: 1023 })
    .execute()
  const form = await person.get('/mod/lantern/save')
  assertLeads(
    await person.sendFrom(form, '/mod/lantern/save', { shown: [id], collection: [id], name: '' }),
    '/mod/lantern?done=collected',
  )
  assert.deepEqual((await t.anyone.get(`/v3/collection/${id}`)).json().projects, [kept.id, project.id])
  await sql`with made as (select 'Fu' || lpad(n::text, 6, '0') as id from generate_series(1, 1022) n),
    teams as (insert into team (id) select id from made returning id),
    projects as (insert into project (id, slug, name, summary, description, status, license, team_id)
      select id, lower(id), id, id, '', 'draft', 'MIT', id from teams returning id)
    insert into collection_project (collection_id, project_id, position)
      select ${id}, id, 1 + row_number() over () from projects`.execute(t.deps.db)
  const late = await t.make.project({ slug: 'too-late' })
  await t.make.version({ project: late })
  const full = await person.get('/mod/too-late/save')
  const refused = await person.sendFrom(full, '/mod/too-late/save', { shown: [id], collection: [id], name: '' })
  assertSays(refused, 400, 'Full is full')
  assertValidHtml(refused.body)
})
