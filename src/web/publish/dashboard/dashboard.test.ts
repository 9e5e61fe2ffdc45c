// The dashboard: attention list with its buttons, figures, projects with bulk changes, and the chooser.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { releasesOf } from '#features/reading/search/facet-counts.ts'
import { DAY_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { aDownload, aView } from '#test/support/factories/analytics-events.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { form, projectData } from '#test/support/http/forms.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertLeads, assertSays, visitor } from '#test/support/http/visitor.ts'

const HOSTILE = '"><script>alert(1)</script>'
const HOME = '/dashboard'
const PROJECTS = '/dashboard/projects'

let t: TestApp
/** Whether the analytics store does not respond before the page gives up. */
let isSlow = false
before(async () => {
  t = await testApp({
    deps: ({ analytics }) => ({
      analytics: {
        ...analytics,
        query: async (query, options) => {
          if (isSlow) await once(options?.signal ?? new AbortController().signal, 'abort')
          options?.signal?.throwIfAborted()
          return analytics.query(query, options)
        },
      },
    }),
  })
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
  assertSays(plan, 200, 'Storage, Issue tracker: https://example.org/issues')
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
  assertSays(refused, 403, '“Edit details”')
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
  assertSays(page, 200, 'One file, 2 KiB')
  assertSays(page, 200, `href="/project/ember/versions/new?draft=${version.id}"`)
  assertValidHtml(page.body)
  assertSays(await browser.get(HOME), 200, 'Your upload for <bdi>Ember 2.0.0</bdi> is not finished')
  const other = visitor(t, (await t.make.account()).token)
  assertSays(await other.get('/dashboard/uploads'), 200, 'You have no unfinished uploads.')
})

test('several drafts are deleted together after a confirmation, and only drafts', async () => {
  const owner = await t.make.account()
  const project = await t.make.project({ owner, name: 'Cinder', slug: 'cinder' })
  const draft = async (): Promise<string> => {
    const { payload, headers } = await form({ project_id: project.id, status: 'draft' })
    return (await t.as(owner).post('/v3/version', payload, { headers })).json().id
  }
  const [one, two, kept] = [await draft(), await draft(), await draft()]
  const listed = await t.make.version({ project, version_number: '1.0.0', status: 'draft' })
  const browser = visitor(t, owner.token)
  const path = '/dashboard/uploads'
  const page = await browser.get(path)
  assertValidHtml(page.body)
  assert.ok(!page.body.includes(`name="ids" value="${listed.id}"`))
  assertSays(await browser.sendFrom(page, path, { do: 'discard' }), 400, 'Select at least one draft.')
  const confirm = await browser.sendFrom(page, path, { ids: [one, two, listed.id, 'x'], do: 'discard' })
  assertSays(confirm, 200, 'Delete 2 drafts?')
  assertValidHtml(confirm.body)
  const stranger = visitor(t, (await t.make.account()).token)
  await stranger.send(path, path, { ids: [one], do: 'confirm' }).catch(() => undefined)
  await t.as(owner).delete(`/v3/version/${two}`)
  const done = await browser.sendFrom(confirm, path, { ids: [one, two, listed.id], do: 'confirm' })
  assertLeads(done, `${path}?done=drafts-discarded`)
  const left = await t.deps.db.selectFrom('version').select('id').where('project_id', '=', project.id).execute()
  assert.deepEqual(left.map(({ id }) => id).sort(), [kept, listed.id].sort())
})

test('the chooser leads to the upload page of each project', async () => {
  const owner = await t.make.account()
  const project = await t.make.project({ owner, name: 'Chosen', slug: 'chosen' })
  await t.make.version({ project })
  assertSays(await visitor(t, owner.token).get('/dashboard/publish'), 200, 'href="/mod/chosen/versions/new"')
})

test('figures and rows show the trend of 30 days, the latest version and its support; only where the user sees analytics', async () => {
  const [owner, member] = [await t.make.account(), await t.make.account()]
  const make = async (name: string, game_versions: string[]) => {
    const project = await t.make.project({ owner, name })
    await t.make.member({ teamId: project.teamId, accountId: member.id, permissions: 1 })
    await t.make.version({ project, version_number: '1.0.0', game_versions, date_published: new Date(0) })
    await t.make.version({ project, version_number: `2.0.0${HOSTILE}`, game_versions })
    return project.id
  }
  const [latest = ''] = releasesOf(t.deps.taxonomy)
  const [old] = [await make('Old', ['1.16.5']), await make('New', [latest])]
  for (const daysAgo of [1, 1, 2, 40]) {
    const recorded_at = t.deps.now() - daysAgo * DAY_MS
    t.deps.events.add('download', aDownload({ project_id: old, recorded_at }))
    t.deps.events.add('view', aView({ project_id: old, recorded_at }))
  }
  await t.deps.events.flush()
  // On a busy machine, the page can give up before the store responds.
  const load = async (path: string) => {
    let page = await visitor(t, owner.token).get(path)
    for (let tries = 0; tries < 50 && !page.body.includes('class="spark"'); tries += 1)
      page = await visitor(t, owner.token).get(path)
    return page
  }
  for (const path of [HOME, PROJECTS]) {
    const page = await load(path)
    assertValidHtml(page.body)
    assertSays(page, 200, `<bdi>2.0.0${HOSTILE}</bdi>`)
    assertSays(page, 200, `Game version ${latest}`)
    assert.equal(page.body.match(/Not supported<\/span>/g)?.length, 1)
    assertSays(page, 200, '<span class="vh">3 downloads</span>')
    assert.equal(page.body.match(/class="spark"/g)?.length, path === HOME ? 3 : 1, 'downloads, views, one project')
    const blind = await visitor(t, member.token).get(path)
    assertSays(blind, 200, 'Old')
    assert.ok(!blind.body.includes('3 downloads'))
  }
  const home = await load(HOME)
  assertSays(home, 200, 'Up 200%')
  const [, analytics = ''] = /href="([^"]+)">View analytics/.exec(home.body) ?? []
  const numbers = await visitor(t, owner.token).get(analytics)
  for (const label of ['Downloads', 'Views']) {
    const tile = new RegExp(`${label}(?:<[^>]+>)+\\s*3<`)
    for (const page of [home, numbers]) assert.match(page.body, tile, label)
  }
})

test('without a response of the analytics store, the dashboard shows everything else', async () => {
  const owner = await t.make.account()
  await projectsOf(owner, 1)
  isSlow = true
  try {
    for (const path of [HOME, PROJECTS]) {
      const page = await visitor(t, owner.token).get(path)
      assertSays(page, 200, 'Lantern 0')
      assert.ok(!page.body.includes('class="spark"'))
    }
    assertSays(await visitor(t, owner.token).get(HOME), 200, 'Statistics are temporarily unavailable.')
  } finally {
    isSlow = false
  }
})

test('a rejected project is shown as rejected, with the message as text', async () => {
  const [owner, moderator] = [await t.make.account(), await t.make.account({ role: 'moderator' })]
  const project = await t.make.project({ owner, name: 'Copied lamp', status: 'processing' })
  const decision = { status: 'rejected', moderation_message: 'See [the rules](https://x.test/rules). **No**' }
  assert.equal((await t.as(moderator).patch(`/v3/project/${project.id}`, decision)).statusCode, 204)
  const browser = visitor(t, owner.token)
  const page = await browser.get(HOME)
  assertValidHtml(page.body)
  assertSays(page, 200, '<bdi>Copied lamp</bdi> was rejected')
  assertSays(page, 200, '<q>See the rules. No</q>')
  assertSays(page, 200, 'View decision')
  for (const shown of [page, await browser.get(PROJECTS)]) {
    assertSays(shown, 200, 'Rejected')
    assert.ok(!shown.body.includes('Reply needed'))
  }
})

test('rows show what is urgent, and the owner filters all parts', async () => {
  const [owner, moderator] = [await t.make.account(), await t.make.account({ role: 'moderator' })]
  const old = await t.make.project({ owner, name: 'Old lamp' })
  const fresh = await t.make.project({ owner, name: 'Fresh lamp' })
  const waiting = await t.make.project({ owner, name: 'Waiting lamp', status: 'processing' })
  const made = await t
    .as(owner)
    .post('/v3/organization', { name: `Ember ${HOSTILE}`, slug: 'ember-x', description: 'Lamps' })
  const organization = made.json().id
  await t.as(owner).post(`/v3/organization/${organization}/projects`, { project_id: fresh.id })
  const { thread_id } = (await t.as(owner).get(`/v3/project/${old.id}`)).json()
  await t.as(moderator).post(`/v3/thread/${thread_id}`, { body: { type: 'text', body: 'Who made the lamp?' } })
  const browser = visitor(t, owner.token)
  for (const path of [HOME, PROJECTS]) {
    const page = await browser.get(path)
    assertValidHtml(page.body)
    assertSays(page, 200, 'Reply needed')
    assertSays(page, 200, 'In review, 1 of 1')
    assertSays(page, 200, `by <bdi>Ember ${HOSTILE}</bdi>`)
    assertSays(await browser.get(`${path}?of=constructor`), 200, 'Fresh lamp')
  }
  const ofOrganization = await browser.get(`${HOME}?of=${organization}`)
  assertSays(ofOrganization, 200, 'Nothing needs your attention.')
  for (const whose of ['', 'own', organization]) {
    const page = await browser.get(`${HOME}?of=${whose}`)
    const [, list = '', count = '1'] = /href="([^"]+)">View (?:the project|all (\d+) projects)</.exec(page.body) ?? []
    assert.equal((await browser.get(list)).body.match(/name="ids"/g)?.length, Number(count), list)
    const [, wants = '0'] = /(\d+|One) items? needs? your attention/.exec(page.body) ?? []
    const [, items = ''] = /<ul class="wants">([\s\S]*?)<\/ul>/.exec(page.body) ?? []
    assert.equal(items.match(/<li>/g)?.length ?? 0, wants === 'One' ? 1 : Number(wants), whose)
    // The page of analytics counts all projects of the user.
    assert.equal(page.body.includes('View analytics'), whose === '', whose)
  }
  assert.ok(ofOrganization.body.includes('Fresh lamp') && !ofOrganization.body.includes('Old lamp'))
  const own = await browser.get(`${PROJECTS}?of=own&sort=name`)
  assertSays(own, 200, '2 projects')
  assertSays(own, 200, '/dashboard/projects?of=own&sort=-name')
  const chosen = await browser.sendFrom(await browser.get(HOME), PROJECTS, { do: 'choose', ids: [waiting.id] })
  assertSays(chosen, 200, new RegExp(`value="${waiting.id}" checked`))
  assertSays(await browser.sendFrom(own, PROJECTS, { do: 'choose' }), 400, 'Select at least one')
})
