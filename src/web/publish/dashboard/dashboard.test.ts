// The dashboard: attention list with its buttons, figures, projects with bulk changes, and the chooser.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { projectData } from '#test/support/http/forms.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const HOSTILE = '"><script>alert(1)</script>'
const HOME = '/dashboard'
const PROJECTS = '/dashboard/projects'

let t: TestApp
before(async () => {
  t = await testApp()
})
after(() => t?.close())

const projectsOf = (owner: Person, count: number): Promise<MadeProject[]> =>
  Promise.all(
    Array.from({ length: count }, (_, n) => t.make.project({ owner, name: `Lantern ${n}`, categories: ['magic'] })),
  )
const categoriesOf = async ({ id }: { id: string }): Promise<string[]> =>
  (await t.anyone.get(`/v3/project/${id}`)).json().categories

test('without projects, every page says what to do first', async () => {
  const browser = visitor(t, (await t.make.account()).token)
  for (const path of [HOME, PROJECTS, '/dashboard/publish']) {
    const page = await browser.get(path)
    assertSays(page, 200, 'You have no projects.')
    assertSays(page, 200, 'href="/new/project"')
    assertValidHtml(page.body)
    assertLeads(await visitor(t).get(path), `/account/sign-in?return=${encodeURIComponent(path)}`)
  }
  assertSays(await browser.get(HOME), 200, 'Nothing needs your attention.')
})

test('an incomplete draft can be put off and brought back', async () => {
  const owner = await t.make.account()
  const draft = projectData('put-off', { name: `Draft ${HOSTILE}`, description: '' })
  assert.equal((await t.as(owner).post('/v3/project', draft)).statusCode, 201)
  const browser = visitor(t, owner.token)
  const page = await browser.get(HOME)
  assertSays(page, 200, 'Finish your draft of')
  assertSays(page, 200, 'Missing: Description and Public version')
  assertValidHtml(page.body)
  assert.ok(!page.body.includes('<script>alert'))
  const hidden = await browser.sendFrom(page, HOME)
  assert.match(String(hidden.headers.location), /^\/dashboard\?done=dismissed&item=incomplete_draft/)
  const after = await browser.get(String(hidden.headers.location))
  assertSays(after, 200, 'hidden for 30 days')
  assertSays(after, 200, 'Nothing needs your attention.')
  assertLeads(await browser.sendFrom(after, HOME), HOME)
  assertSays(await browser.get(HOME), 200, 'Finish your draft of')
  assertSays(await browser.sendFrom(after, HOME, { do: 'dismiss', item: 'scheduled:AABBCCDD' }), 400, 'item must begin')
})

test('an invitation is answered on the page', async () => {
  const [owner, guest] = [await t.make.account(), await t.make.account()]
  for (const answer of ['join', 'decline'] as const) {
    const project = await t.make.project({ owner, name: 'Fair Winds' })
    await t.make.member({ teamId: project.teamId, accountId: guest.id, accepted: false })
    const browser = visitor(t, guest.token)
    const page = await browser.get(HOME)
    assertSays(page, 200, 'You are invited to <bdi>Fair Winds</bdi>')
    const done = answer === 'join' ? 'joined' : 'declined'
    assertLeads(await browser.sendFrom(page, HOME, { do: answer }), `${HOME}?done=${done}`)
    const members = (await t.as(owner).get(`/v3/project/${project.id}/members`)).json()
    assert.equal(members.length, answer === 'join' ? 2 : 1)
    assertSays(await browser.sendFrom(page, HOME, { do: answer }), answer === 'join' ? 400 : 404, 'problem')
  }
})

test('bulk changes are shown for each project, then applied to all or none', async () => {
  const owner = await t.make.account()
  const [one, two] = (await projectsOf(owner, 2)) as [MadeProject, MadeProject]
  const browser = visitor(t, owner.token)
  const page = await browser.get(PROJECTS)
  assertValidHtml(page.body)
  assertSays(
    await browser.sendFrom(page, PROJECTS, { do: 'review', add_categories: 'storage' }),
    400,
    'Select at least one',
  )
  assertSays(await browser.sendFrom(page, PROJECTS, { do: 'review', ids: [one.id] }), 400, 'Choose a change.')
  const change = {
    ids: [one.id, two.id],
    add_categories: 'storage',
    platform: 'issues',
    link_urls: 'https://example.org/issues',
  }
  const plan = await browser.sendFrom(page, PROJECTS, { ...change, do: 'review' })
  assertSays(plan, 200, 'Apply to 2 projects')
  assertSays(plan, 200, 'Storage, Issues: https://example.org/issues')
  assertValidHtml(plan.body)
  assert.deepEqual(await categoriesOf(one), ['magic'], 'the second page changes nothing yet')
  const applied = await browser.sendFrom(plan, PROJECTS, { ids: [one.id, two.id], do: 'apply' })
  assertLeads(applied, `${PROJECTS}?done=saved`)
  assert.deepEqual(await Promise.all([one, two].map(categoriesOf)), [
    ['magic', 'storage'],
    ['magic', 'storage'],
  ])
  const foreign = await t.make.project({ categories: ['magic'] })
  const refused = await browser.sendFrom(page, PROJECTS, {
    ...change,
    ids: [one.id, foreign.id],
    do: 'apply',
    add_categories: 'mobs',
  })
  assertSays(refused, 403, 'EDIT_DETAILS')
  assert.deepEqual(await categoriesOf(one), ['magic', 'storage'])
  const wrong = await browser.sendFrom(page, PROJECTS, { ...change, do: 'review', link_urls: 'http://example.org' })
  assertSays(wrong, 400, 'href="#link_urls"')
})

test('the order and the page are in the URL, and 50 projects are on a page', async () => {
  const owner = await t.make.account()
  await projectsOf(owner, 51)
  const browser = visitor(t, owner.token)
  const first = await browser.get(`${PROJECTS}?sort=name`)
  assertSays(first, 200, '51 projects')
  assert.equal(first.body.match(/name="ids"/g)?.length, 50)
  assert.match(first.body, /aria-sort="ascending"><a href="\/dashboard\/projects\?sort=-name"/)
  const second = await browser.get(`${PROJECTS}?sort=name&page=2`)
  assert.equal(second.body.match(/name="ids"/g)?.length, 1)
  assertSays(await browser.get(`${PROJECTS}?sort=constructor&page=-1`), 200, '51 projects')
})

test('the dashboard takes as many statements for many projects as for one', async () => {
  const [few, many] = [await t.make.account(), await t.make.account()]
  await projectsOf(few, 1)
  await projectsOf(many, 40)
  const counts = []
  for (const person of [few, many]) {
    const browser = visitor(t, person.token)
    await browser.get(HOME)
    counts.push((await t.queriesOf(() => browser.get(HOME))).queries.length)
  }
  assert.equal(counts[0], counts[1])
})

test('unfinished uploads are listed with their files and lead back to the upload', async () => {
  const owner = await t.make.account()
  const project = await t.make.project({ owner, name: 'Ember', slug: 'ember' })
  const version = await t.make.version({ project, version_number: '2.0.0', status: 'draft' })
  await t.make.file({ version, project, bytes: Buffer.alloc(2000), filename: 'ember.jar', primary: true })
  await t.deps.db
    .updateTable('version')
    .set({ draft_expires: new Date(t.deps.now() + 1000) })
    .execute()
  const browser = visitor(t, owner.token)
  const page = await browser.get('/dashboard/uploads')
  assertSays(page, 200, 'One file, 2 kB')
  assertSays(page, 200, `href="/project/ember/versions/new?draft=${version.id}"`)
  assertValidHtml(page.body)
  assertSays(await browser.get(HOME), 200, 'Your upload for <bdi>Ember 2.0.0</bdi> is not finished')
  const other = visitor(t, (await t.make.account()).token)
  assertSays(await other.get('/dashboard/uploads'), 200, 'You have no unfinished uploads.')
})

test('the chooser leads to the upload page of each project', async () => {
  const owner = await t.make.account()
  const project = await t.make.project({ owner, name: 'Chosen', slug: 'chosen' })
  await t.make.version({ project })
  assertSays(await visitor(t, owner.token).get('/dashboard/publish'), 200, 'href="/mod/chosen/versions/new"')
})
