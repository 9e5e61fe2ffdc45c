// The site under input that nobody means well with, or that is simply large.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { Person } from '#test/support/factories.ts'
import { BYPASS_KEY, type TestApp, testApp } from '#test/support/harness.ts'
import { assertValidHtml } from '#test/support/html-page.ts'
import { assertSays, visitor } from '#test/support/visitor.ts'

let t: TestApp
let owner: Person
before(async () => {
  t = await testApp()
  owner = await t.make.account()
})
after(() => t?.close())

const BELOW = ['', '/gallery', '/versions', '/changelog', '/dependencies', '/used-by', '/statistics']

test('a project with nothing, and one with 3,000 versions for everything, are pages like others', async () => {
  const bare = await t.make.project({ owner, slug: 'bare', name: '\u{1f9d9}'.repeat(64) })
  const large = await t.make.project({ owner, slug: 'large' })
  await t.deps.db
    .updateTable('project')
    .set({ description: '- '.repeat(32_000) })
    .where('id', '=', large.id)
    .execute()
  const first = await t.make.version({ project: large, version_number: 'v0' })
  const { loaders, games } = {
    loaders: [...t.deps.taxonomy.loaders.keys()].slice(0, 60),
    games: [...(t.deps.taxonomy.fields.get('game_versions')?.enumValues?.keys() ?? [])].slice(0, 60),
  }
  await sql`insert into version (id, project_id, author_id, name, version_number, version_type, status, loaders, fields, changelog)
    select 'Lg' || lpad(n::text, 6, '0'), project_id, author_id, name, 'v' || n, version_type, status, ${loaders}::text[],
      ${JSON.stringify({ game_versions: games })}::jsonb, 'Change ' || n
    from version, generate_series(1, 2999) n where id = ${first.id}`.execute(t.deps.db)
  for (const below of BELOW) {
    const empty = await visitor(t).get(`/project/${bare.slug}${below}`)
    assert.equal(empty.statusCode, 200, `bare${below}`)
    assertValidHtml(empty.body, `bare${below}`)
    const path = `/${t.deps.taxonomy.projectTypes.includes('mod') ? 'mod' : 'project'}/large${below}`
    const full = await visitor(t).get(path)
    assert.equal(full.statusCode, 200, path)
    assertValidHtml(full.body, path)
    // However much there is of it, a page stays one.
    assert.ok(full.body.length < 700_000, `${path}: ${full.body.length}`)
  }
  assertSays(await visitor(t).get('/mod/large/versions?page=60'), 200, 'v')
  assertSays(await visitor(t).get('/mod/large/versions?page=61'), 404, 'The list ends before this page')
  assertSays(await visitor(t).get('/mod/large/changelog?from=v10&to=v2999'), 200, 'Change')
})

test('cookies with garbage change nothing', async () => {
  await t.make.project({ owner, slug: 'steady' })
  const usual = (await visitor(t).get('/project/steady')).statusCode
  for (const name of ['setup', 'theme', 'language', 'session', 'csrf']) {
    for (const value of [
      '',
      '%',
      '%00',
      '"',
      '\u00ff',
      '<script>',
      '__proto__',
      'x'.repeat(4000),
      '1'.repeat(40),
      ';;=;',
    ]) {
      const someone = visitor(t)
      someone.cookies.set(`__Host-depot-${name}`, value)
      const answer = await someone.get('/project/steady')
      assert.equal(answer.statusCode, usual, `${name}=${value.slice(0, 20)}`)
      assertValidHtml(answer.body, name)
    }
  }
})

test('whatever a program accepts, an address of the site answers without an error of ours', async () => {
  await t.make.project({ owner, slug: 'accepted' })
  await t.searchable()
  const accepts = [
    'text/html',
    'image/*',
    'application/xml',
    '*/*;q=0',
    'text/*;q=x',
    ',,,',
    'a'.repeat(8000),
    '\u00e9',
  ]
  for (const accept of accepts) {
    for (const url of [
      '/',
      '/mods',
      '/project/accepted',
      '/mods.atom',
      '/nothing',
      '/sitemap.xml',
      '/report',
      '/project/accepted/statistics.csv?by=day',
    ]) {
      const headers = { accept, 'user-agent': 'tests', 'x-ratelimit-key': BYPASS_KEY }
      const answer = await t.inject({ method: 'GET', url, headers })
      assert.ok(answer.statusCode < 500, `${accept.slice(0, 20)} ${url}: ${answer.statusCode}`)
    }
  }
})

test('hostile text in every field that a page shows runs nothing', async () => {
  const hostile = `"><img src=x onerror=alert(1)><svg onload=alert(1)>'\u202e{{1}}`
  const person = await t.make.account()
  const { db } = t.deps
  await db.updateTable('account').set({ bio: hostile }).where('id', '=', person.id).execute()
  const project = await t.make.project({ owner: person, slug: 'hostile', name: hostile.slice(0, 60) })
  await t.make.version({
    project,
    version_number: hostile.slice(0, 30),
    name: hostile.slice(0, 60),
    changelog: hostile,
  })
  const made = await t
    .as(person)
    .post('/v3/collection', { name: hostile.slice(0, 60), description: hostile, projects: [project.id] })
  assert.equal(made.statusCode, 201, made.body)
  const reader = visitor(t, (await t.make.account()).token)
  const paths = [
    ...BELOW.map((below) => `/mod/hostile${below}`),
    '/mod/hostile/save',
    `/report?item=project&id=${project.id}`,
    `/report?item=user&id=${person.id}`,
    `/user/${person.username}`,
    `/collection/${made.json().id}`,
    `/search?q=${encodeURIComponent(hostile)}`,
    `/mods?c=${encodeURIComponent(hostile)}&l=${encodeURIComponent(hostile)}&view=${encodeURIComponent(hostile)}`,
  ]
  for (const path of paths) {
    const answer = await reader.get(path)
    assert.equal(answer.statusCode, 200, path)
    assertValidHtml(answer.body, path)
    assert.doesNotMatch(answer.body, /<img src=x|<svg onload/, path)
  }
})
