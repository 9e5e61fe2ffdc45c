import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ADMIN_KEY, testApp } from '#test/support/app/test-app.ts'
import { makeCatalogue, type TestCatalogue } from '#test/support/factories/resolve-catalogue.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { LEVELS_MAX, loadWorld } from './load/load-world.ts'
import { toTarget } from './load/target.ts'
import type { AnswerView } from './views.ts'

const t = await testApp()
after(() => t.close())

const PATH = '/v3/resolve'
const FABRIC = { loaders: ['fabric'], game_versions: ['1.20.1'] }

async function resolve(body: object): Promise<AnswerView> {
  const answer = await t.anyone.post(PATH, body)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

const items = (made: TestCatalogue, ...slugs: string[]) => slugs.map((slug) => ({ project: made.projects[slug]?.slug }))
const statesOf = (answer: AnswerView) => answer.items.map(({ state }) => state)

/** The chosen versions as `project/version`. */
function namesOf(made: TestCatalogue, { chosen }: AnswerView): string[] {
  const names = new Map(Object.entries(made.versions).map(([name, id]) => [id, name]))
  return chosen.map(({ version_id }) => names.get(version_id) ?? version_id).sort()
}

test('chooses the newest versions and everything that they require, each once', async () => {
  const made = await makeCatalogue(t, {
    lantern: { '2': ['required engine', 'optional map', 'required extra.jar'], '1': [] },
    torch: { '1': ['required engine'] },
    engine: { '3': { loaders: ['forge'] }, '2': ['required base'], '1': [] },
    base: { '1': [] },
    map: { '1': [] },
  })
  const answer = await resolve({ items: items(made, 'lantern', 'torch'), ...FABRIC })
  assert.deepEqual(namesOf(made, answer), ['base/1', 'engine/2', 'lantern/2', 'torch/1'])
  assert.deepEqual([answer.complete, answer.exact, statesOf(answer)], [true, true, ['chosen', 'chosen']])
  const engine = answer.chosen.find(({ version_id }) => version_id === made.versions['engine/2'])
  assert.deepEqual(engine?.required_by, [made.versions['lantern/2'], made.versions['torch/1']].sort())
  assert.equal(engine?.file?.hashes.sha1, made.hashes['engine/2'])
  assert.deepEqual(answer.suggested, [
    { project_id: made.projects['map']?.id, suggested_by: [made.versions['lantern/2']] },
  ])
  assert.deepEqual(answer.external, [{ file_name: 'extra.jar', required_by: [made.versions['lantern/2']] }])
  assert.deepEqual(
    answer.chosen.map(({ project_id }) => project_id),
    answer.chosen.map(({ project_id }) => project_id).sort(),
  )
  const file = await t.anyone.get(new URL(engine?.file?.url ?? '').pathname)
  assert.equal(file.statusCode, 200)
  assert.match(answer.lock, /^[0-9A-Za-z]{22}$/)
})

test('equal requests of different callers have equal bytes', async () => {
  const made = await makeCatalogue(t, { lantern: { '1': ['required engine'] }, engine: { '1': [] } })
  const body = { items: items(made, 'lantern'), ...FABRIC, name: 'Evening' }
  const first = await t.anyone.post(PATH, body)
  const second = await t.as(made.projects['lantern']?.owner ?? assert.fail()).post(PATH, body)
  assert.equal(first.body, second.body)
  const other = await resolve({ ...body, name: 'Morning' })
  assert.notEqual(other.lock, first.json().lock)
})

test('without a conflict, the result is the choice of the update check', async () => {
  const made = await makeCatalogue(t, {
    one: { '3': { version_type: 'beta' }, '2': { game_versions: ['1.20.2'] }, '1': [] },
    two: { '2': { loaders: ['quilt'] }, '1': { loaders: ['fabric', 'quilt'] } },
    three: { '2': {}, '1': { ordering: 1 } },
    four: { '2': { status: 'unlisted' }, '1': { status: 'archived' } },
    five: { '2': { loaders: ['minecraft'] }, '1': { loaders: ['minecraft'], game_versions: ['1.19'] } },
    six: { '1': { loaders: ['paper'] } },
  })
  const hashes = Object.entries(made.hashes).flatMap(([name, hash]) => (name.endsWith('/1') ? [hash] : []))
  const filters = [
    {},
    FABRIC,
    { ...FABRIC, version_types: ['release'] },
    { game_versions: ['1.19'] },
    { loaders: ['quilt'] },
    { loaders: ['minecraft'] },
    { loaders: ['paper', 'fabric'] },
    { loaders: ['forge'], loader_fields: { environment: ['unknown'] } },
  ]
  for (const filter of filters) {
    const updates = (await t.anyone.post('/v3/version_files/update', { hashes, ...filter })).json()
    const answer = await resolve({ items: items(made, ...Object.keys(made.projects)), ...filter })
    for (const [index, slug] of Object.keys(made.projects).entries()) {
      const item = answer.items[index]
      const update = updates[made.hashes[`${slug}/1`] ?? '']?.id
      // Projects that do not run on the requested loaders ignore them, as requirements do.
      if (update === undefined && item?.state === 'chosen' && filter.loaders !== undefined) continue
      assert.equal(item?.version_id, update, `${slug} ${JSON.stringify(filter)}`)
    }
  }
})

describe('items', () => {
  let made: TestCatalogue
  before(async () => {
    made = await makeCatalogue(t, {
      lantern: { '2': [], '1': { game_versions: ['1.19'] } },
      hidden: { '1': [] },
      wants: { '1': ['required hidden'] },
      old: { '1': { game_versions: ['1.12'] } },
      wantsold: { '1': ['required old'] },
    })
    await t.deps.db
      .updateTable('project')
      .set({ status: 'private' })
      .where('id', '=', made.projects['hidden']?.id ?? '')
      .execute()
  })
  test('by ID, slug in any case, version and hash', async () => {
    const lantern = made.projects['lantern'] ?? assert.fail()
    for (const item of [{ project: lantern.id }, { project: lantern.slug.toUpperCase() }])
      assert.deepEqual(namesOf(made, await resolve({ items: [item], ...FABRIC })), ['lantern/2'])
    const version = made.versions['lantern/1']
    for (const item of [
      { version },
      { project: lantern.slug, version },
      { hash: made.hashes['lantern/1']?.toUpperCase() },
    ]) {
      const answer = await resolve({ items: [item], ...FABRIC })
      assert.deepEqual([namesOf(made, answer), answer.chosen[0]?.outside_filter], [['lantern/1'], true])
    }
  })
  test('that do not exist or are hidden are unknown, also for members', async () => {
    const hidden = made.projects['hidden'] ?? assert.fail()
    const asked = [
      { project: 'no-such-project' },
      { project: hidden.id },
      { version: made.versions['hidden/1'] },
      { hash: made.hashes['hidden/1'] },
      { hash: 'zz' },
      { project: made.projects['lantern']?.id, version: made.versions['old/1'] },
    ]
    const answer = await t.as(hidden.owner).post(PATH, { items: asked, ...FABRIC })
    assert.deepEqual(
      statesOf(answer.json()),
      asked.map(() => 'unknown'),
    )
    assert.deepEqual([answer.json().complete, answer.json().chosen], [false, []])
  })
  test('that require something hidden are missing, and those without a version name the nearest', async () => {
    const answer = await resolve({ items: items(made, 'wants', 'old', 'wantsold', 'lantern'), ...FABRIC })
    assert.deepEqual(statesOf(answer), ['missing', 'no_version', 'no_version', 'chosen'])
    assert.deepEqual([answer.complete, answer.exact], [false, true])
    const old = { project_id: made.projects['old']?.id, version_id: made.versions['old/1'] }
    assert.deepEqual([answer.items[1]?.nearest, answer.items[2]?.nearest], [old, old])
    assert.deepEqual(answer.items[0]?.because, [
      { version_id: made.versions['wants/1'], requires: { project_id: made.projects['hidden']?.id, version_id: null } },
    ])
  })
  test('at most 1,000, and each names one thing', async () => {
    const item = { project: made.projects['lantern']?.id }
    const thousand = await resolve({ items: Array.from({ length: 1000 }, () => item), ...FABRIC })
    assert.deepEqual([thousand.items.length, thousand.chosen.length], [1000, 1])
    const tooMany = await t.anyone.post(PATH, { items: Array.from({ length: 1001 }, () => item) })
    assert.equal(tooMany.statusCode, 400)
    assert.equal(tooMany.json().details.field, 'items')
  })
})

test('bad requests name the field', async () => {
  const hash = 'a'.repeat(40)
  const cases: [object, string][] = [
    [{}, 'items'],
    [{ items: [] }, 'items'],
    [{ items: [{}] }, 'items.0'],
    [{ items: [{ hash }, { hash, project: 'x' }] }, 'items.1'],
    [{ items: [{ version: 'not an id' }] }, 'items.0.version'],
    [{ items: [{ hash }], loaders: ['fabric', 'no-loader'] }, 'loaders.1'],
    [{ items: [{ hash }], version_types: ['nightly'] }, 'version_types.0'],
    [{ items: [{ hash }], pins: 'loose' }, 'pins'],
    [{ items: [{ hash }], strategy: 'oldest' }, 'strategy'],
    [{ items: [{ hash }], keep: { 'not an id': 'AABBCCDD' } }, 'keep'],
    [{ items: [{ hash }], keep: { AABBCCDD: '' } }, 'keep.AABBCCDD'],
    [{ items: [{ hash }], name: ' ' }, 'name'],
    [{ items: [{ hash }], name: 'two\nlines' }, 'name'],
    [{ items: [{ hash }], loader_version: '' }, 'loader_version'],
    [{ items: [{ hash }], loader_version: 'not a version!!' }, 'loader_version'],
  ]
  for (const [body, field] of cases) {
    const answer = await t.anyone.post(PATH, body)
    assert.equal(answer.statusCode, 400, `${JSON.stringify(body)}: ${answer.body}`)
    assert.equal(answer.json().details?.field, field, answer.body)
  }
})

describe('conflicts', () => {
  test('name both sides, and an older version avoids them', async () => {
    const made = await makeCatalogue(t, {
      left: { '2': ['incompatible right'], '1': [] },
      right: { '1': [] },
      stubborn: { '1': ['incompatible right'] },
    })
    const fits = await resolve({ items: items(made, 'left', 'right'), ...FABRIC })
    assert.deepEqual([namesOf(made, fits), fits.exact], [['left/1', 'right/1'], true])
    const left = fits.chosen.find(({ version_id }) => version_id === made.versions['left/1'])
    assert.equal(left?.instead_of, made.versions['left/2'])
    const clash = await resolve({ items: items(made, 'right', 'stubborn', 'left'), ...FABRIC })
    assert.deepEqual([statesOf(clash), clash.exact], [['chosen', 'conflict', 'chosen'], false])
    assert.deepEqual(namesOf(made, clash), ['left/1', 'right/1'])
    assert.deepEqual(clash.items[1]?.because?.[0], {
      version_id: made.versions['stubborn/1'],
      incompatible: { project_id: made.projects['right']?.id, version_id: made.versions['right/1'] },
    })
  })
  test('pins are preferred, or binding on request', async () => {
    const made = await makeCatalogue(t, {
      first: { '1': ['required library/1'] },
      second: { '1': ['required library/2'] },
      library: { '3': [], '2': [], '1': { game_versions: ['1.16'] } },
    })
    const asked = { items: items(made, 'first', 'second'), ...FABRIC }
    const preferred = await resolve(asked)
    assert.deepEqual(namesOf(made, preferred), ['first/1', 'library/2', 'second/1'])
    assert.deepEqual(preferred.unmet_pins, [
      {
        version_id: made.versions['first/1'],
        project_id: made.projects['library']?.id,
        pin: made.versions['library/1'],
        chosen: made.versions['library/2'],
      },
    ])
    const strict = await resolve({ ...asked, pins: 'strict' })
    assert.deepEqual(statesOf(strict), ['chosen', 'conflict'])
    assert.deepEqual(namesOf(made, strict), ['first/1', 'library/1'])
  })
  test('two versions of one project', async () => {
    const made = await makeCatalogue(t, { lantern: { '2': [], '1': [] } })
    const answer = await resolve({
      items: [{ version: made.versions['lantern/1'] }, { version: made.versions['lantern/2'] }],
    })
    assert.deepEqual([statesOf(answer), namesOf(made, answer)], [['chosen', 'conflict'], ['lantern/1']])
  })
  test('a project between two that exclude each other is tried in all its versions', async () => {
    const made = await makeCatalogue(t, {
      pack: { '1': ['required common'] },
      common: Object.fromEntries(
        Array.from({ length: 25 }, (_, n) => [`${25 - n}`, n < 10 ? ['incompatible pack'] : []]),
      ),
    })
    const answer = await resolve({ items: items(made, 'pack'), ...FABRIC })
    assert.deepEqual(namesOf(made, answer), ['common/15', 'pack/1'])
  })
})

test('kept versions stay with the strategy minimal only', async () => {
  const made = await makeCatalogue(t, { lantern: { '2': [], '1': [] } })
  const keep = { [made.projects['lantern']?.id ?? '']: made.versions['lantern/1'] }
  const minimal = await resolve({ items: items(made, 'lantern'), ...FABRIC, keep, strategy: 'minimal' })
  assert.deepEqual([statesOf(minimal), namesOf(made, minimal), minimal.complete], [['kept'], ['lantern/1'], true])
  const newest = await resolve({ items: items(made, 'lantern'), ...FABRIC, keep })
  assert.deepEqual([statesOf(newest), namesOf(made, newest)], [['chosen'], ['lantern/2']])
})

test('a project that is only required stays at its kept version, like an item, also if an update check would not choose it', async () => {
  const made = await makeCatalogue(t, {
    lantern: { '1': ['required engine'] },
    engine: { '2': ['required base'], '1': { game_versions: ['1.19'], dependencies: ['required base'] } },
    base: { '2': [], '1': { game_versions: ['1.19'] } },
  })
  const keep = Object.fromEntries(
    ['engine', 'base'].map((slug) => [made.projects[slug]?.id ?? '', made.versions[`${slug}/1`]]),
  )
  for (const slug of ['lantern', 'engine']) {
    const minimal = await resolve({ items: items(made, slug), ...FABRIC, keep, strategy: 'minimal' })
    const names = namesOf(made, minimal).filter((name) => name !== 'lantern/1')
    assert.deepEqual(names, ['base/1', 'engine/1'], slug)
  }
})

test('loaders of a family follow after the requested loader', async () => {
  const made = await makeCatalogue(t, {
    both: { '2': { loaders: ['spigot'] }, '1': { loaders: ['paper'] } },
    only: { '1': { loaders: ['bukkit'] } },
    excluded: {
      '2': { loaders: ['spigot'], dependencies: [] },
      '1': { loaders: ['paper'], dependencies: ['incompatible both'] },
    },
  })
  const answer = await resolve({ items: items(made, 'both', 'only', 'excluded'), loaders: ['paper'] })
  assert.deepEqual(namesOf(made, answer), ['both/1', 'excluded/2', 'only/1'])
  const neo = await resolve({ items: items(made, 'both'), loaders: ['neo'] })
  assert.deepEqual(neo.loaders, ['neoforge'])
})

test('substitutes replace requirements on their loader', async () => {
  const made = await makeCatalogue(t, {
    lantern: { '1': { loaders: ['fabric', 'quilt'], dependencies: ['required library/1', 'required builtin'] } },
    library: { '1': { loaders: ['fabric', 'quilt'] } },
    replacement: { '1': { loaders: ['quilt'] } },
    builtin: { '1': { loaders: ['fabric', 'quilt'] } },
  })
  const project = (slug: string) => made.projects[slug]?.id ?? ''
  const resolving = {
    ...t.deps.resolving,
    substitutes: [
      { loader: 'quilt', project: project('library'), by: project('replacement') },
      { loader: 'quilt', project: project('builtin'), by: null },
    ],
  }
  const request = {
    items: [{ index: 0, projectId: project('lantern'), versionId: undefined }],
    kept: new Map(),
    candidatesMax: 1,
  }
  const idsFor = async (loader: string) => {
    const target = toTarget({ ...t.deps, resolving }, { loaders: [loader] })
    return [...(await loadWorld(t.deps.db, { viewer: null, ...request, target })).keys()].sort()
  }
  assert.deepEqual(await idsFor('quilt'), [project('lantern'), project('replacement')].sort())
  assert.deepEqual(await idsFor('fabric'), [project('lantern'), project('library'), project('builtin')].sort())
})

describe('size', () => {
  test('a chain that is too long is a limit, and other items are resolved', async () => {
    const slugs = Array.from({ length: LEVELS_MAX + 3 }, (_, n) => `link${n}`)
    const made = await makeCatalogue(t, {
      other: { '1': [] },
      ...Object.fromEntries(
        slugs.map((slug, n) => [slug, { '1': n + 1 < slugs.length ? [`required ${slugs[n + 1]}`] : [] }]),
      ),
    })
    const answer = await resolve({ items: items(made, 'link0', 'link2'), ...FABRIC })
    assert.deepEqual([statesOf(answer), answer.complete], [['chosen', 'chosen'], true])
    const long = await resolve({ items: items(made, 'link0', 'other'), ...FABRIC })
    assert.deepEqual([statesOf(long), long.complete, long.exact], [['limit', 'chosen'], false, true])
  })
  test('too many projects are a limit of the item that requires them', async () => {
    const made = await makeCatalogue(t, {
      greedy: { '1': ['required a', 'required b', 'required c'] },
      modest: { '1': ['required d'] },
      a: { '1': [] },
      b: { '1': [] },
      c: { '1': [] },
      d: { '1': [] },
    })
    const projectId = (slug: string) => made.projects[slug]?.id ?? ''
    const world = await loadWorld(t.deps.db, {
      target: toTarget(t.deps, {}),
      viewer: null,
      items: ['greedy', 'modest'].map((slug, index) => ({ index, projectId: projectId(slug), versionId: undefined })),
      kept: new Map(),
      candidatesMax: 20,
      projectsMax: 4,
    })
    const stateOf = (slug: string) => world.get(projectId(slug))?.state
    assert.deepEqual(['a', 'b', 'c', 'd'].map(stateOf), ['limit', 'limit', 'limit', 'known'])
  })
  test('a cycle', async () => {
    const made = await makeCatalogue(t, {
      a: { '1': ['required b'] },
      b: { '1': ['required c'] },
      c: { '1': ['required a'] },
    })
    assert.deepEqual(namesOf(made, await resolve({ items: items(made, 'a'), ...FABRIC })), ['a/1', 'b/1', 'c/1'])
  })
  test('a level has the same number of statements, however many projects it has', async () => {
    const wide = (count: number) =>
      Object.fromEntries([
        ['top', { '1': Array.from({ length: count }, (_, n) => `required w${n}`) }],
        ...Array.from({ length: count }, (_, n): [string, Record<string, string[]>] => [
          `w${n}`,
          { '1': ['required deep'] },
        ]),
        ['deep', { '1': [] }],
      ])
    const counts: number[] = []
    for (const count of [1, 12]) {
      const made = await makeCatalogue(t, wide(count))
      const body = { items: items(made, 'top'), ...FABRIC }
      counts.push((await t.queriesOf(() => resolve(body))).queries.length)
    }
    assert.equal(counts[0], counts[1])
    // Three levels with two statements each, the items, and the files.
    assert.ok((counts[0] ?? 0) <= 9, `${counts[0]} statements`)
  })
})

test('read-only mode answers, but stores nothing', async () => {
  const made = await makeCatalogue(t, { lantern: { '1': [] } })
  const body = { items: items(made, 'lantern') }
  const stored = await t.anyone.post(`${PATH}?store=true`, body)
  const switchTo = (read_only: boolean) =>
    t.anyone.patch('/_internal/admin/settings', { read_only }, { headers: { 'x-admin-key': ADMIN_KEY } })
  assert.equal((await switchTo(true)).statusCode, 204)
  try {
    assert.equal((await t.anyone.post(PATH, body)).body, stored.body)
    assertError(await t.anyone.post(`${PATH}?store=true`, body), 503, 'service_unavailable')
    assertError(await t.anyone.post('/v3/lock', { versions: [made.versions['lantern/1']] }), 503, 'service_unavailable')
    assert.equal((await t.anyone.get(`/v3/lock/${stored.json().lock}`)).body, stored.body)
  } finally {
    await switchTo(false)
  }
})

test('withdrawn versions are chosen only if they are pinned, kept or named', async () => {
  const made = await makeCatalogue(t, {
    lantern: { '2': [], '1': [] },
    pins: { '1': ['required lantern/2'] },
    gone: { '1': [] },
  })
  for (const name of ['lantern/2', 'gone/1']) {
    await t.deps.db
      .updateTable('version')
      .set({ withdrawn_at: new Date(), withdrawn_kind: 'broken', withdrawn_reason: 'It crashes' })
      .where('id', '=', made.versions[name] ?? '')
      .execute()
  }
  const chosenFor = async (body: object) => namesOf(made, await resolve({ ...FABRIC, ...body }))
  assert.deepEqual(await chosenFor({ items: items(made, 'lantern') }), ['lantern/1'])
  assert.deepEqual(await chosenFor({ items: items(made, 'pins') }), ['lantern/2', 'pins/1'])
  assert.deepEqual(await chosenFor({ items: [{ version: made.versions['lantern/2'] }] }), ['lantern/2'])
  assert.deepEqual(await chosenFor({ items: [{ hash: made.hashes['gone/1'] }] }), ['gone/1'])
  const gone = { items: items(made, 'gone') }
  assert.deepEqual(statesOf(await resolve({ ...gone, ...FABRIC })), ['no_version'])
  const keep = { [made.projects['gone']?.id ?? '']: made.versions['gone/1'] }
  for (const strategy of ['newest', 'minimal'])
    assert.deepEqual(statesOf(await resolve({ ...gone, ...FABRIC, keep, strategy })), ['kept'])
})
