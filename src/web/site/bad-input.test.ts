// The public site with malicious or very large input.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { BYPASS_KEY, testApp } from '#test/support/app/test-app.ts'
import { makeExtremes, PROJECT_PAGES } from '#test/support/factories/extremes.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertSays, visitor } from '#test/support/http/visitor.ts'

const t = await testApp()
after(() => t.close())
const owner = await t.make.account()

test('a project with nothing, and one with 1,000 versions for everything, are pages like others', async () => {
  const { bare } = await makeExtremes(t, owner, 1000)
  for (const below of PROJECT_PAGES) {
    const empty = await visitor(t).get(`/project/${bare.slug}${below}`)
    assert.equal(empty.statusCode, 200, `bare${below}`)
    assertValidHtml(empty.body, `bare${below}`)
    const path = `/${t.deps.taxonomy.projectTypes.includes('mod') ? 'mod' : 'project'}/large${below}`
    const full = await visitor(t).get(path)
    assert.equal(full.statusCode, 200, path)
    assertValidHtml(full.body, path)
    // However much there is of it, a page stays one.
    assert.ok(full.body.length < 140_000, `${path}: ${full.body.length}`)
  }
  assertSays(await visitor(t).get('/mod/large/versions?page=20'), 200, 'v')
  assertSays(await visitor(t).get('/mod/large/versions?page=21'), 404, 'This page does not exist')
  assertSays(await visitor(t).get('/mod/large/changelog?from=v10&to=v999'), 200, 'Change')
})

test('filters that contradict each other find nothing, and the page says which one to drop', async () => {
  await t.make.project({ owner, slug: 'magical', categories: ['magic'] }).then((project) => t.make.version({ project }))
  await t.searchable()
  for (const [query, drop] of [
    ['c=magic&c=-magic', 'Without'],
    ['c=-magic&c=magic&nonsense=1&q[]=2', 'Without'],
    ['l=fabric&l=-fabric', 'Without'],
  ] as const) {
    const answer = await visitor(t).get(`/mods?${query}`)
    assertSays(answer, 200, drop)
    assert.doesNotMatch(answer.body, /class="hits"/, query)
    assertValidHtml(answer.body, query)
  }
})

test('an old slug redirects on each page of the project, also if the page was cached', async () => {
  const project = await t.make.project({ owner, slug: 'early-name' })
  await t.make.version({ project })
  const statuses = async (slug: string) => {
    const answers = []
    for (const below of PROJECT_PAGES) answers.push(await visitor(t).get(`/mod/${slug}${below}`))
    for (const { body, statusCode } of answers) if (statusCode === 200) assertValidHtml(body, slug)
    return [...new Set(answers.map(({ statusCode }) => statusCode))]
  }
  assert.deepEqual(await statuses('early-name'), [200])
  const renamed = await t.as(owner).patch(`/v3/project/${project.id}`, { slug: 'later-name' })
  assert.equal(renamed.statusCode, 204, renamed.body)
  assert.deepEqual(await statuses('early-name'), [301])
  assert.deepEqual(await statuses('later-name'), [200])
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

test('no combination of path and Accept header causes a server error', async () => {
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
    .post('/v3/collection', { name: hostile.replace('\u202e', ''), description: hostile, projects: [project.id] })
  assert.equal(made.statusCode, 201, made.body)
  const reader = visitor(t, (await t.make.account()).token)
  const paths = [
    ...PROJECT_PAGES.map((below) => `/mod/hostile${below}`),
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
