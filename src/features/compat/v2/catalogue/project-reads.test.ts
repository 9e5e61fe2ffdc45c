import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'

const t = await testApp()
after(() => t.close())

const at = (day: number) => new Date(Date.UTC(2026, 0, day))
const RATE_HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']

async function read(path: string, query: Record<string, string> = {}) {
  const answer = await t.anyone.get(path, { query })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

test('a project has every key of its older shape, with the facts of the newer one', async () => {
  const project = await t.make.project({ categories: ['magic'] })
  await t.make.version({ project, date_published: at(1), fields: { environment: 'client_only' } })
  const newest = await t.make.version({ project, date_published: at(2), fields: { environment: 'server_only' } })
  await t.deps.db
    .updateTable('project')
    .set({
      link_urls: JSON.stringify({
        issues: 'https://example.org/issues',
        discord: 'https://example.org/chat',
        'ko-fi': 'https://example.org/coffee',
        bmac: 'https://example.org/cake',
        site: 'https://example.org',
      }),
    })
    .where('id', '=', project.id)
    .execute()
  await t.deps.db
    .insertInto('gallery_item')
    .values({
      id: 'picture1',
      project_id: project.id,
      url: 'https://example.org/a.webp',
      raw_url: 'https://example.org/a.png',
      content_sha1: 'a'.repeat(40),
      featured: true,
      name: 'The tower',
      description: null,
      ordering: 3,
      created: at(3),
    })
    .execute()
  const older = await read(`/v2/project/${project.slug.toUpperCase()}`)
  const newer = await read(`/v3/project/${project.id}`)
  assert.deepEqual(older, {
    id: project.id,
    slug: project.slug,
    project_type: 'mod',
    team: project.teamId,
    organization: null,
    title: newer.name,
    description: newer.summary,
    body: newer.description,
    body_url: null,
    published: newer.published,
    updated: newer.updated,
    approved: newer.approved,
    queued: null,
    status: 'approved',
    requested_status: 'approved',
    moderator_message: null,
    license: { id: 'MIT', name: 'MIT License', url: null },
    downloads: 0,
    followers: 0,
    categories: ['magic'],
    additional_categories: [],
    loaders: ['fabric'],
    game_versions: ['1.20.1'],
    environment: newer.environment,
    versions: [newer.versions[0], newest.id],
    client_side: 'unsupported',
    server_side: 'required',
    icon_url: null,
    raw_icon_url: null,
    issues_url: 'https://example.org/issues',
    source_url: null,
    wiki_url: null,
    discord_url: 'https://example.org/chat',
    donation_urls: [
      { id: 'bmac', platform: 'Bmac', url: 'https://example.org/cake' },
      { id: 'ko-fi', platform: 'Ko-fi', url: 'https://example.org/coffee' },
    ],
    gallery: [
      {
        url: 'https://example.org/a.webp',
        raw_url: 'https://example.org/a.png',
        featured: true,
        title: 'The tower',
        description: null,
        created: at(3).toISOString(),
        ordering: 3,
      },
    ],
    color: null,
    thread_id: newer.thread_id,
    monetization_status: 'monetized',
  })
  assert.ok(older.published.endsWith('Z'))
})

describe('types, loaders and sides', () => {
  type Made = { loaders: string[]; fields?: Record<string, unknown>; ordering?: number; date_published?: Date }
  const cases: [string, Made[], object][] = [
    ['without versions', [], { project_type: 'project', loaders: [], client_side: 'unknown', server_side: 'unknown' }],
    [
      'a plugin',
      [{ loaders: ['paper'] }],
      { project_type: 'mod', loaders: ['paper'], client_side: 'unsupported', server_side: 'required' },
    ],
    [
      'a data pack',
      [{ loaders: ['datapack'] }],
      { project_type: 'mod', loaders: ['datapack'], client_side: 'optional', server_side: 'required' },
    ],
    [
      'a resource pack',
      [{ loaders: ['minecraft'] }],
      { project_type: 'resourcepack', client_side: 'required', server_side: 'unsupported' },
    ],
    ['a shader', [{ loaders: ['iris'] }], { project_type: 'shader', client_side: 'required' }],
    [
      'a pack with its loaders inside',
      [{ loaders: ['mrpack'], fields: { mrpack_loaders: ['quilt', 'fabric'], environment: 'client_only' } }],
      { project_type: 'modpack', client_side: 'required', server_side: 'unsupported' },
    ],
    [
      'a mod that prefers both sides',
      [{ loaders: ['forge'], fields: { environment: 'client_or_server_prefers_both' } }],
      { project_type: 'mod', client_side: 'optional', server_side: 'optional' },
    ],
    [
      'the sides of the version that `ordering` puts first',
      [
        { loaders: ['forge'], fields: { environment: 'client_only' }, ordering: 1, date_published: new Date(0) },
        { loaders: ['forge'], fields: { environment: 'server_only' } },
      ],
      { client_side: 'required', server_side: 'unsupported' },
    ],
  ]
  for (const [name, versions, expected] of cases) {
    test(name, async () => {
      const project = await t.make.project()
      for (const version of versions) await t.make.version({ project, ...version })
      const view = await read(`/v2/project/${project.id}`)
      const shown = Object.fromEntries(Object.keys(expected).map((key) => [key, view[key]]))
      assert.deepEqual(shown, expected)
    })
  }

  test("a pack shows the loaders inside, never the pack's own", async () => {
    const project = await t.make.project()
    await t.make.version({ project, loaders: ['mrpack'], fields: { mrpack_loaders: ['quilt', 'fabric'] } })
    assert.deepEqual((await read(`/v2/project/${project.id}`)).loaders.toSorted(), ['fabric', 'quilt'])
    const [version] = await read(`/v2/project/${project.id}/version`)
    assert.deepEqual(version.loaders, ['quilt', 'fabric'])
  })
})

test('absent or hidden resources are 404 without a body, with the rate headers', async () => {
  const draft = await t.make.project({ status: 'draft' })
  const version = await t.make.version({ project: draft })
  const paths = [
    '/v2/project/unknown-project',
    '/v2/project/unknown-project/check',
    '/v2/project/unknown-project/version',
    '/v2/project/unknown-project/dependencies',
    `/v2/project/${draft.id}`,
    `/v2/project/${draft.id}/version/1.0.0`,
    `/v2/version/${version.id}`,
    '/v2/version/AAAAAAAA',
    `/v2/version_file/${'a'.repeat(40)}`,
    `/v2/version_file/${'a'.repeat(40)}/download`,
    '/v2/tag/license/Unknown-1.0',
  ]
  for (const path of paths) {
    const answer = await t.anyone.get(path)
    assert.deepEqual([answer.statusCode, answer.body, answer.headers['content-length']], [404, '', '0'], path)
    for (const header of RATE_HEADERS) assert.match(String(answer.headers[header]), /^\d+$/, `${path} ${header}`)
  }
  assert.equal((await t.as(draft.owner).get(`/v2/project/${draft.id}`)).statusCode, 200)
  assert.equal((await t.as(draft.owner).get(`/v2/version/${version.id}`)).statusCode, 200)
  const route = await t.anyone.get('/v2/no-such-route')
  assert.deepEqual([route.statusCode, route.json().error], [404, 'not_found'])
})

test('other errors have the form of every error', async () => {
  for (const path of ['/v2/projects', '/v2/projects?ids=x', '/v2/version/not-an-id', '/v2/versions?ids=[1]']) {
    const answer = await t.anyone.get(path)
    assert.equal(answer.statusCode, 400, path)
    assert.equal(typeof answer.json().error, 'string', path)
    assert.equal(typeof answer.json().description, 'string', path)
  }
})

test('lists keep the order asked for, leave out what is unknown or hidden, and ignore unknown keys', async () => {
  const [a, b, draft] = [await t.make.project(), await t.make.project(), await t.make.project({ status: 'draft' })]
  const query = { ids: JSON.stringify([b.slug, 'unknown', draft.id, a.id]), whatever: '1' }
  const idsOf = (list: { id: string }[]) => list.map(({ id }) => id)
  assert.deepEqual(idsOf(await read('/v2/projects', query)), [b.id, a.id])
  const asOwner = await t.as(draft.owner).get('/v2/projects', { query })
  assert.deepEqual(idsOf(asOwner.json()), [b.id, draft.id, a.id])
  assert.deepEqual(await read('/v2/projects?ids=[]'), [])
  assert.deepEqual(await read(`/v2/project/${a.slug}/check`), { id: a.id })
})

test('random projects are cut to a hundred and are never none for want of a number', async () => {
  await t.make.project()
  for (const count of ['', '0', '1', '100', '100000']) {
    const projects = await read('/v2/projects_random', { count })
    assert.ok(projects.length >= 1 && projects.length <= 100, count)
  }
  const answer = await t.anyone.get('/v2/projects_random', { query: { count: 'many' } })
  assert.deepEqual([answer.statusCode, answer.json().details.field], [400, 'count'])
})

test('dependencies are shown in their older shapes', async () => {
  const [project, library] = [await t.make.project(), await t.make.project()]
  const [dependent, needed] = [await t.make.version({ project }), await t.make.version({ project: library })]
  await t.deps.db
    .insertInto('dependency')
    .values({ dependent_id: dependent.id, project_id: library.id, version_id: needed.id, dependency_type: 'required' })
    .execute()
  const { projects, versions } = await read(`/v2/project/${project.id}/dependencies`)
  assert.deepEqual(projects, [await read(`/v2/project/${library.id}`)])
  assert.deepEqual(versions, [await read(`/v2/version/${needed.id}`)])
})

test('a change is visible immediately in both APIs, and neither needs another statement', async () => {
  const project = await t.make.project()
  await t.make.version({ project })
  const cost = async (path: string) => (await t.queriesOf(() => t.anyone.get(path))).queries.length
  assert.equal(await cost(`/v2/project/${project.id}`), 1)
  for (const path of [`/v3/project/${project.slug}`, `/v2/project/${project.slug}`]) assert.equal(await cost(path), 0)
  const tag = (await t.anyone.get(`/v2/project/${project.id}`)).headers['etag']
  const patch = { summary: 'Another summary.' }
  assert.equal((await t.as(project.owner).patch(`/v3/project/${project.id}`, patch)).statusCode, 204)
  const after = await t.anyone.get(`/v2/project/${project.id}`, { headers: { 'if-none-match': String(tag) } })
  assert.deepEqual([after.statusCode, after.json().description], [200, 'Another summary.'])
  const again = { headers: { 'if-none-match': String(after.headers['etag']) } }
  assert.equal((await t.anyone.get(`/v2/project/${project.id}`, again)).statusCode, 304)
  const many = await Promise.all(Array.from({ length: 30 }, () => t.make.project()))
  const list = `/v2/projects?ids=${encodeURIComponent(JSON.stringify(many.map(({ id }) => id)))}`
  assert.deepEqual([await cost(list), await cost(list)], [1, 0])
})
