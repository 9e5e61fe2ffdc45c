import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { findFinishedRebuild } from '#ports/search-index/feed/changes.ts'
import type { Call } from '#test/support/app/test-app.ts'
import { ADMIN_KEY, testApp } from '#test/support/app/test-app.ts'

const t = await testApp()
after(() => t.close())

type Hit = Record<string, unknown> & { project_id: string; slug: string }
type Result = { hits: Hit[]; page: number; hits_per_page: number; total_hits: number }

async function search(query: NonNullable<Call['query']> = {}): Promise<Result> {
  await t.searchable()
  const answer = await t.anyone.get('/v3/search', { query })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
const slugs = async (query?: NonNullable<Call['query']>) => (await search(query)).hits.map(({ slug }) => slug)
const hitOf = async (projectId: string): Promise<Hit | undefined> =>
  (await search({ new_filters: `project_id=${projectId}` })).hits[0]

test('a project is found from its approval on, under every name it takes, until it is hidden or deleted', async () => {
  const moderator = await t.make.account({ role: 'moderator' })
  const project = await t.make.project({ slug: 'lantern-works', name: 'Lantern Works', status: 'processing' })
  const owner = t.as(project.owner)
  await t.make.version({ project })
  const words = { query: 'lantern works' }
  assert.deepEqual(await slugs(words), [])
  const patch = async (person: typeof owner, body: object) =>
    assert.equal((await person.patch(`/v3/project/${project.id}`, body)).statusCode, 204)
  await patch(t.as(moderator), { status: 'approved' })
  assert.deepEqual(await slugs(words), ['lantern-works'])
  await patch(owner, { name: 'Beacon Forge', slug: 'beacon-forge' })
  assert.deepEqual([await slugs(words), await slugs({ query: 'beacon' })], [[], ['beacon-forge']])
  for (const status of ['private', 'archived', 'unlisted', 'approved']) {
    await patch(owner, { status })
    const expected = status === 'archived' || status === 'approved' ? ['beacon-forge'] : []
    assert.deepEqual(await slugs({ query: 'beacon' }), expected, status)
  }
  assert.equal((await owner.delete(`/v3/project/${project.id}`)).statusCode, 204)
  assert.deepEqual(await slugs({ query: 'beacon' }), [])
})

test('an ordering decides which version a hit names, with and without a filter of versions', async () => {
  const project = await t.make.project({ name: 'Ordered Lamp' })
  const [older, newer] = [
    await t.make.version({ project, date_published: new Date('2026-01-01'), game_versions: ['1.20.1'] }),
    await t.make.version({ project, date_published: new Date('2026-02-01'), game_versions: ['1.20.1'] }),
  ]
  const latest = async () => [
    (await hitOf(project.id))?.['latest_version'],
    (await search({ new_filters: `project_id=${project.id} AND game_versions=1.20.1` })).hits[0]?.['version_id'],
    (await t.anyone.get(`/v3/project/${project.id}/version`)).json()[0].id,
  ]
  assert.deepEqual(await latest(), Array(3).fill(newer.id))
  const path = `/v3/version/${older.id}`
  assert.equal((await t.as(project.owner).patch(path, { ordering: 1 })).statusCode, 204)
  assert.deepEqual(await latest(), Array(3).fill(older.id))
  assert.equal((await t.as(project.owner).patch(path, { ordering: null })).statusCode, 204)
  assert.deepEqual(await latest(), Array(3).fill(newer.id))
})

test('projects that are not approved or archived are never found, with a token or without', async () => {
  const owner = await t.make.account({ role: 'admin' })
  const hidden = ['rejected', 'draft', 'unlisted', 'processing', 'withheld', 'scheduled', 'private', 'unknown']
  const ids: string[] = []
  for (const status of hidden) {
    const project = await t.make.project({ owner, status, name: `Hidden Veil ${status}` })
    await t.make.version({ project })
    ids.push(project.id)
  }
  assert.deepEqual(await slugs({ query: 'hidden veil' }), [])
  for (const query of [{ query: 'veil' }, { new_filters: `project_id IN [${ids.join()}]` }]) {
    const answer = await t.as(owner).get('/v3/search', { query })
    assert.deepEqual(answer.json().hits, [])
  }
})

test('follows and downloads reach the hit and the order', async () => {
  const [first, second] = [await t.make.project({ name: 'Tally Alpha' }), await t.make.project({ name: 'Tally Beta' })]
  const version = await t.make.version({ project: second })
  const bytes = Buffer.from(`tally ${second.id}`)
  await t.make.file({ version, project: second, bytes, filename: 'tally.jar' })
  const follower = await t.make.account()
  await t.as(follower).post(`/v3/project/${first.id}/follow`)
  assert.deepEqual(await slugs({ query: 'tally', index: 'follows' }), [first.slug, second.slug])
  await t.anyone.get(`/data/${second.id}/versions/${version.id}/tally.jar`)
  await t.deps.events.flush()
  assert.deepEqual(await slugs({ query: 'tally', index: 'downloads' }), [second.slug, first.slug])
  const [a, b] = [await hitOf(first.id), await hitOf(second.id)]
  assert.deepEqual([a?.['follows'], a?.['downloads'], b?.['follows'], b?.['downloads']], [1, 0, 0, 1])
  await t.as(follower).delete(`/v3/project/${first.id}/follow`)
  assert.equal((await hitOf(first.id))?.['follows'], 0)
})

test('new names of people, organizations and dependencies reach the projects that show them', async () => {
  const owner = await t.make.account({ username: 'old-hand' })
  const library = await t.make.project({ owner, name: 'Rope Library' })
  const user = await t.make.project({ owner, name: 'Rope User' })
  const version = await t.make.version({ project: user })
  await t.deps.db
    .insertInto('dependency')
    .values({ dependent_id: version.id, project_id: library.id, dependency_type: 'required' })
    .execute()
  const before = await hitOf(user.id)
  assert.deepEqual(
    [before?.['author'], before?.['required_dependency_project_ids'], before?.['dependencies']],
    [
      'old-hand',
      [library.id],
      [
        {
          project_id: library.id,
          dependency_type: 'required',
          name: 'Rope Library',
          slug: library.slug,
          icon_url: null,
        },
      ],
    ],
  )
  await t.as(owner).patch(`/v3/user/${owner.id}`, { username: 'new-hand' })
  await t.as(owner).patch(`/v3/project/${library.id}`, { name: 'Cord Library' })
  const renamed = await hitOf(user.id)
  const named = renamed?.['dependencies'] as { name: string }[]
  assert.deepEqual([renamed?.['author'], named[0]?.name], ['new-hand', 'Cord Library'])
  assert.deepEqual((await slugs({ new_filters: 'author = "New Hand"' })).sort(), [library.slug, user.slug].sort())

  const created = await t
    .as(owner)
    .post('/v3/organization', { slug: 'rope-guild', name: 'Rope Guild', description: 'Makers of ropes' })
  const guild = created.json().id
  await t.as(owner).post(`/v3/organization/${guild}/projects`, { project_id: user.id })
  assert.equal((await hitOf(user.id))?.['organization'], 'Rope Guild')
  await t.as(owner).patch(`/v3/organization/${guild}`, { name: 'Cord Guild' })
  assert.equal((await hitOf(user.id))?.['organization'], 'Cord Guild')

  await t.as(owner).patch(`/v3/project/${library.id}`, { status: 'private' })
  const alone = await hitOf(user.id)
  assert.deepEqual([alone?.['dependencies'], alone?.['dependency_project_ids']], [[], []])
  await t.as(owner).patch(`/v3/project/${library.id}`, { status: 'approved' })
  await t.as(owner).delete(`/v3/project/${library.id}`)
  assert.deepEqual((await hitOf(user.id))?.['dependencies'], [])
})

test('a new owner is the author, and a deleted one leaves the placeholder', async () => {
  const project = await t.make.project({ name: 'Heirloom' })
  const heir = await t.make.account({ username: 'the-heir' })
  await t.make.member({ teamId: project.teamId, accountId: heir.id })
  const body = { user_id: heir.id }
  assert.equal((await t.as(project.owner).patch(`/v3/team/${project.teamId}/owner`, body)).statusCode, 204)
  assert.deepEqual((await hitOf(project.id))?.['author'], 'the-heir')
  assert.equal((await t.as(heir).delete(`/v3/user/${heir.id}`)).statusCode, 204)
  assert.equal((await hitOf(project.id))?.['author'], 'deleted-user')
})

test('versions come into the hit and leave it, and only listed and archived ones are there', async () => {
  const project = await t.make.project({ name: 'Version Wheel', categories: ['magic'] })
  const day = (n: number) => new Date(Date.UTC(2024, 0, n))
  const old = await t.make.version({ project, game_versions: ['1.20.1'], date_published: day(1) })
  const newer = await t.make.version({ project, loaders: ['forge'], game_versions: ['1.20.2'], date_published: day(2) })
  await t.make.version({ project, status: 'draft', game_versions: ['1.19'], date_published: day(3) })
  const hit = await hitOf(project.id)
  assert.deepEqual(
    [hit?.['version_id'], hit?.['latest_version'], hit?.['loaders'], hit?.['categories'], hit?.['display_categories']],
    [newer.id, newer.id, ['fabric', 'forge'], ['fabric', 'forge', 'magic'], ['magic']],
  )
  assert.deepEqual(hit?.['game_versions'], ['1.20.1', '1.20.2'])
  assert.deepEqual((hit as { project_loader_fields?: Hit }).project_loader_fields?.['game_versions'], [
    '1.20.1',
    '1.20.2',
  ])
  const matching = await search({ new_filters: `project_id=${project.id} AND loaders=fabric AND game_versions=1.20.1` })
  assert.equal(matching.hits[0]?.['version_id'], old.id)
  assert.deepEqual(
    await slugs({ new_filters: `project_id=${project.id} AND loaders=fabric AND game_versions=1.20.2` }),
    [],
  )
  assert.equal((await t.as(project.owner).delete(`/v3/version/${newer.id}`)).statusCode, 204)
  assert.deepEqual(
    [(await hitOf(project.id))?.['version_id'], (await hitOf(project.id))?.['loaders']],
    [old.id, ['fabric']],
  )
  await t.as(project.owner).patch(`/v3/version/${old.id}`, { status: 'draft' })
  assert.deepEqual(
    [(await hitOf(project.id))?.['version_id'], (await hitOf(project.id))?.['game_versions']],
    [null, undefined],
  )
})

test('the gallery, without its featured image, and the times follow the project', async () => {
  const project = await t.make.project({ name: 'Image Wall' })
  const picture = (n: number, featured: boolean) => ({
    id: `pic${n}${project.id}`.slice(0, 11),
    project_id: project.id,
    url: `https://depot.test/${project.id}/${n}.webp`,
    raw_url: `https://depot.test/${project.id}/${n}.png`,
    content_sha1: `${project.id}${n}`,
    featured,
    ordering: 9 - n,
  })
  await t.deps.db
    .insertInto('gallery_item')
    .values([picture(1, false), picture(2, true), picture(3, false)])
    .execute()
  const hit = await hitOf(project.id)
  const url = (n: number) => `https://depot.test/${project.id}/${n}.webp`
  assert.deepEqual([hit?.['gallery'], hit?.['featured_gallery']], [[url(3), url(1)], url(2)])
  const view = (await t.anyone.get(`/v3/project/${project.id}`)).json()
  assert.deepEqual([hit?.['date_created'], hit?.['date_modified']], [view.approved, view.updated])
  assert.deepEqual([hit?.['license'], hit?.['color'], hit?.['icon_url']], ['MIT', null, null])
  const filters = { new_filters: `open_source = true AND project_id = ${project.id}` }
  assert.deepEqual(await slugs(filters), [project.slug])
})

test('pages are exact, and GET and POST agree in every form of filter', async () => {
  const owner = await t.make.account({ username: 'pager' })
  for (let i = 0; i < 7; i += 1) {
    const project = await t.make.project({ owner, name: `Pager ${i}`, categories: i % 2 === 0 ? ['magic'] : ['mobs'] })
    await t.make.version({ project, loaders: i < 4 ? ['fabric'] : ['quilt'] })
  }
  const all = await slugs({ query: 'pager', limit: 100 })
  const page = await search({ query: 'pager', limit: 3, offset: 5 })
  assert.deepEqual(
    [page.hits.map(({ slug }) => slug), page.page, page.hits_per_page, page.total_hits],
    [all.slice(5), 2, 3, 7],
  )
  assert.deepEqual(await search({ query: 'pager', offset: 1_000_000 }), {
    hits: [],
    page: 100_001,
    hits_per_page: 10,
    total_hits: 7,
  })
  const forms: Record<string, unknown>[] = [
    { new_filters: 'author=pager AND categories=["magic"] AND loaders IN [quilt]' },
    { facets: [['author:pager'], ['categories:magic'], ['loaders:quilt', 'categories:nothing']] },
    { facets: '[["author:pager"],["categories:magic"],["loaders:quilt"]]', filters: '' },
    { filters: 'author=pager AND categories=magic', version: 'loaders=quilt', limit: '20', offset: 0 },
    { facets: [['author:pager'], [['categories:magic', 'loaders:quilt']]], index: 'newest', limit: 20 },
  ]
  for (const form of forms) {
    const text = Object.entries(form).map(([key, value]) => [
      key,
      typeof value === 'string' ? value : JSON.stringify(value),
    ])
    const byGet = await search(Object.fromEntries(text))
    const byPost = await t.anyone.post('/v3/search', form)
    assert.deepEqual([byPost.statusCode, byPost.json()], [200, byGet])
    assert.equal(byGet.total_hits, 2, JSON.stringify(form))
  }
  const empty = await t.anyone.post('/v3/search', {})
  assert.equal(empty.json().hits_per_page, 10)
})

test('a response has an ETag, is public for every caller, and is not sent again to clients that have it', async () => {
  await t.searchable()
  const person = await t.make.account()
  const answer = await t.as(person).get('/v3/search')
  const { etag = '' } = answer.headers
  assert.deepEqual([answer.headers['cache-control'], typeof etag], ['public, max-age=0, must-revalidate', 'string'])
  const again = await t.anyone.get('/v3/search', { headers: { 'if-none-match': String(etag) } })
  assert.deepEqual([again.statusCode, again.body], [304, ''])
  await t.make.project({ name: 'Something New' })
  await t.searchable()
  const later = await t.anyone.get('/v3/search', { headers: { 'if-none-match': String(etag) } })
  assert.equal(later.statusCode, 200)
})

test('an operator can ask for a new index under either name; for others the route does not exist', async () => {
  await t.searchable()
  const finished = await findFinishedRebuild(t.deps.db)
  const paths = ['/_internal/admin/reindex', '/_internal/admin/_force_reindex', '/v2/_internal/admin/reindex']
  for (const path of paths) {
    const asOperator = await t.anyone.post(path, undefined, { headers: { 'x-admin-key': ADMIN_KEY } })
    assert.equal(asOperator.statusCode, 204, asOperator.body)
    assert.equal((await t.as(await t.make.account()).post(path)).statusCode, 404)
  }
  await t.searchable()
  assert.equal(await findFinishedRebuild(t.deps.db), finished + paths.length)
})

test('a rebuild reads the catalogue in pages, and loses and doubles nothing at their edges', async () => {
  const owner = await t.make.account({ username: 'edge-keeper' })
  const ids = Array.from({ length: 450 }, (_, i) => `edge${String(i).padStart(4, '0')}`)
  await t.deps.db
    .insertInto('team')
    .values(ids.map((id) => ({ id })))
    .execute()
  await t.deps.db
    .insertInto('team_member')
    .values(ids.map((id) => ({ team_id: id, account_id: owner.id, role: 'Owner', is_owner: true, accepted: true })))
    .execute()
  const texts = { summary: 'At the edge.', description: '', license: 'MIT', status: 'approved' as const }
  const projects = ids.map((id) => ({ id, slug: `${id}-slug`, name: `Edge ${id}`, team_id: id, ...texts }))
  await t.deps.db.insertInto('project').values(projects).execute()
  const count = async () => (await search({ new_filters: 'author=edge-keeper', limit: 1 })).total_hits
  assert.equal(await count(), 450)
  await t.anyone.post('/_internal/admin/reindex', undefined, { headers: { 'x-admin-key': ADMIN_KEY } })
  assert.equal(await count(), 450)
})

test('reading what is searched takes as many statements for many projects as for one', async () => {
  await t.searchable()
  const touch = (count: number) =>
    t.deps.db
      .updateTable('project')
      .set({ summary: `Touched ${count}.` })
      .where('id', 'in', (eb) =>
        eb.selectFrom('project').select('id').where('status', '=', 'approved').orderBy('id').limit(count),
      )
      .execute()
  const statements = async (count: number) => {
    const queries = await t.queriesDuring(async () => {
      await touch(count)
      await t.searchable()
    })
    return queries.filter((query) => /left join organization on/.test(query)).length
  }
  assert.deepEqual([await statements(1), await statements(90)], [1, 1])
})
