// What every search adapter must do, as tests over an adapter. Only tests import it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#lib/errors.ts'
import type { SearchDocument, SearchVersion } from './document.ts'
import { parseSearchRequest, type SearchRequest } from './request.ts'
import type { SearchChange, SearchIndex } from './search-index.ts'

type Hit = Record<string, unknown> & { slug: string; version_id: string | null }
type Body = { hits: Hit[]; page: number; hits_per_page: number; total_hits: number }

const HIT_KEYS = (
  'version_id latest_version project_id project_types all_project_types slug author author_id organization ' +
  'organization_id name summary categories display_categories downloads follows icon_url date_created date_modified ' +
  'license gallery featured_gallery color dependency_project_ids compatible_dependency_project_ids ' +
  'required_dependency_project_ids optional_dependency_project_ids embedded_dependency_project_ids ' +
  'incompatible_dependency_project_ids dependencies disclosure_types loaders project_loader_fields ' +
  'game_versions environment client_side server_side'
).split(' ')

/** A project with one version; `id` follows from the slug, the name too where none is given. */
export function makeDocument(slug: string, values: Partial<SearchDocument> = {}): SearchDocument {
  return {
    id: slug
      .replaceAll(/[^A-Za-z0-9]/g, '')
      .padEnd(8, '0')
      .slice(0, 8),
    slug,
    name: slug,
    summary: 'Nothing said.',
    author: 'somebody',
    author_id: 'AAAAAAAA',
    organization: null,
    organization_id: null,
    license: 'MIT',
    open_source: true,
    downloads: 0,
    follows: 0,
    icon_url: null,
    color: null,
    gallery: [],
    featured_gallery: null,
    date_created: '2024-01-01T00:00:00.000Z',
    date_modified: '2024-01-01T00:00:00.000Z',
    categories: [],
    display_categories: [],
    disclosure_types: [],
    dependencies: [],
    fields: { game_versions: [], environment: [] },
    versions: [makeVersion(`${slug.slice(0, 8)}V1`)],
    ...values,
  }
}

type VersionValues = {
  date?: string
  status?: 'listed' | 'archived'
  types?: string[]
  loaders?: string[]
  games?: string[]
}

export function makeVersion(id: string, values: VersionValues = {}): SearchVersion {
  const loaders = values.loaders ?? []
  return {
    id: id.replaceAll(/[^A-Za-z0-9]/g, '').slice(0, 11),
    date_published: values.date ?? '2024-01-01T00:00:00.000Z',
    status: values.status ?? 'listed',
    project_types: values.types ?? ['mod'],
    loaders,
    categories: loaders,
    fields: {
      game_versions: values.games ?? [],
      environment: ['unknown'],
      client_side: ['unknown'],
      server_side: ['unknown'],
    },
  }
}

/** Runs the suite; `open` gives a new, empty index each time. */
export function testSearchIndex(name: string, open: () => Promise<SearchIndex>): void {
  const each = (sentence: string, run: (tools: Tools) => Promise<void>) =>
    test(`${name}: ${sentence}`, async () => {
      const index = await open()
      try {
        await run(toolsFor(index))
      } finally {
        await index.close()
      }
    })
  testHits(each)
  testFilters(each)
  testText(each)
  testChanges(each)
  testRebuild(each)
}

type Tools = {
  readonly index: SearchIndex
  readonly put: (...documents: SearchDocument[]) => Promise<void>
  readonly ask: (request: SearchRequest) => Promise<Body>
  readonly slugs: (request: SearchRequest) => Promise<string[]>
}
type Each = (sentence: string, run: (tools: Tools) => Promise<void>) => void

function toolsFor(index: SearchIndex): Tools {
  let sequence = 0
  const ask = async (request: SearchRequest): Promise<Body> => {
    const answer = await index.search(parseSearchRequest(request))
    const body = JSON.parse(Buffer.from(answer.body).toString()) as Body
    assert.equal(body.total_hits, answer.totalHits)
    return body
  }
  const put = (...documents: SearchDocument[]) =>
    index.apply(
      documents.map((document): SearchChange => {
        sequence += 1
        return { kind: 'upsert', sequence, document }
      }),
    )
  const slugs = async (request: SearchRequest) => (await ask(request)).hits.map((hit) => hit.slug)
  return { index, put, ask, slugs }
}

function testHits(each: Each): void {
  each('an empty index answers an empty page', async ({ ask }) => {
    assert.deepEqual(await ask({ query: 'x', offset: 30 }), { hits: [], page: 4, hits_per_page: 10, total_hits: 0 })
  })

  each('a hit has every key, from what was indexed alone', async ({ put, ask }) => {
    const document = makeDocument('quiet-harbour', {
      name: 'Quiet "Harbour" \u0001 \ud800 🎮 \\',
      categories: ['storage', 'magic'],
      display_categories: ['storage'],
      disclosure_types: ['ads'],
      downloads: 12,
      follows: 3,
      color: 255,
      gallery: ['https://files.example/1.png'],
      organization: 'Guild',
      organization_id: 'GGGGGGGG',
      dependencies: [
        { project_id: 'DDDDDDDD', dependency_type: 'required', name: 'Base', slug: 'base', icon_url: null },
        { project_id: 'DDDDDDDD', dependency_type: 'optional', name: 'Base', slug: 'base', icon_url: null },
      ],
      fields: { game_versions: ['1.19', '1.20'], environment: ['client_only'], pack_loaders: ['cinder'] },
      versions: [
        makeVersion('old', { loaders: ['drift'], games: ['1.19'], types: ['mod'] }),
        makeVersion('new', {
          loaders: ['cinder'],
          games: ['1.20'],
          types: ['datapack'],
          date: '2024-02-01T00:00:00.000Z',
        }),
      ],
    })
    await put(document)
    const [hit] = (await ask({})).hits
    assert.deepEqual(Object.keys(hit ?? {}).sort(), [...HIT_KEYS, 'pack_loaders'].sort())
    const { name, summary, author, author_id, organization, organization_id, slug, color, gallery, dependencies } =
      document
    const expected = {
      name: name.toWellFormed(),
      ...{ summary, author, author_id, organization, organization_id, slug, color, gallery, dependencies },
      ...{ project_id: document.id, version_id: 'new', latest_version: 'new', license: 'MIT', featured_gallery: null },
      ...{ downloads: 12, follows: 3, icon_url: null, disclosure_types: ['ads'], display_categories: ['storage'] },
      ...{ date_created: document.date_created, date_modified: document.date_modified },
      categories: ['cinder', 'drift', 'magic', 'storage'],
      loaders: ['cinder', 'drift'],
      ...{ project_types: ['datapack', 'mod'], all_project_types: ['datapack', 'mod'] },
      ...{ dependency_project_ids: ['DDDDDDDD'], required_dependency_project_ids: ['DDDDDDDD'] },
      ...{ optional_dependency_project_ids: ['DDDDDDDD'], embedded_dependency_project_ids: [] },
      ...{ compatible_dependency_project_ids: [], incompatible_dependency_project_ids: [] },
      ...document.fields,
      ...{ client_side: ['unknown'], server_side: ['unknown'], project_loader_fields: document.fields },
    }
    assert.deepEqual({ ...hit, name: hit?.['name'] === name ? name.toWellFormed() : hit?.['name'] }, expected)
  })

  each('a project without versions is found and shows none', async ({ put, ask }) => {
    await put(makeDocument('bare', { versions: [], slug: null, categories: ['magic'] }))
    const { hits } = await ask({ new_filters: 'loaders NOT EXISTS AND categories=magic' })
    assert.deepEqual([hits[0]?.version_id, hits[0]?.slug, hits[0]?.['project_types']], [null, null, []])
  })

  each(
    'both version keys name the newest version that the version predicates fit, else the newest listed one',
    async ({ put, ask }) => {
      const versions = [
        makeVersion('a1', { loaders: ['drift'], games: ['1.19'], date: '2024-01-01T00:00:00Z' }),
        makeVersion('a2', { loaders: ['drift'], games: ['1.20'], date: '2024-01-02T00:00:00Z' }),
        makeVersion('a3', { loaders: ['cinder'], games: ['1.20'], date: '2024-01-03T00:00:00Z' }),
        makeVersion('a4', { loaders: ['ember'], date: '2024-01-04T00:00:00Z', status: 'archived' }),
      ]
      await put(makeDocument('many', { versions }))
      const version = async (new_filters: string) => (await ask({ new_filters })).hits[0]?.version_id
      assert.equal(await version(''), 'a3')
      assert.equal(await version('downloads >= 0'), 'a3')
      assert.equal(await version('loaders = drift'), 'a2')
      assert.equal(await version('loaders = drift AND game_versions != 1.20'), 'a1')
      assert.equal(await version('loaders = ember'), 'a4')
      assert.equal(await version('version_published_timestamp < 1704153600'), 'a1')
    },
  )

  each('pages are cut at the exact offset, and beyond the end they are empty', async ({ put, ask, slugs }) => {
    await put(
      ...Array.from({ length: 25 }, (_, i) => makeDocument(`p${String(i).padStart(2, '0')}`, { downloads: 100 - i })),
    )
    assert.deepEqual(await slugs({ offset: 3, limit: 2 }), ['p03', 'p04'])
    assert.deepEqual(await slugs({ offset: 24, limit: 10 }), ['p24'])
    const { page, hits_per_page, total_hits, hits } = await ask({ offset: 9_007_199_254_740_991, limit: 100 })
    assert.deepEqual([hits.length, page > 1, hits_per_page, total_hits], [0, true, 100, 25])
  })

  each('each order is descending, then by newest version, then by ID', async ({ put, slugs }) => {
    const at = (day: number) => `2024-03-0${day}T00:00:00.000Z`
    await put(
      makeDocument('aaa', { downloads: 5, follows: 1, date_created: at(1), date_modified: at(4) }),
      makeDocument('bbb', { downloads: 9, follows: 2, date_created: at(2), date_modified: at(3) }),
      makeDocument('ddd', { downloads: 5, follows: 3, date_created: at(3), date_modified: at(2) }),
      makeDocument('ccc', {
        downloads: 5,
        follows: 4,
        date_created: at(4),
        date_modified: at(1),
        versions: [makeVersion('c', { date: at(9) })],
      }),
    )
    assert.deepEqual(await slugs({}), ['bbb', 'ccc', 'aaa', 'ddd'])
    assert.deepEqual(await slugs({ index: 'downloads' }), ['bbb', 'ccc', 'aaa', 'ddd'])
    assert.deepEqual(await slugs({ index: 'follows' }), ['ccc', 'ddd', 'bbb', 'aaa'])
    assert.deepEqual(await slugs({ index: 'newest' }), ['ccc', 'ddd', 'bbb', 'aaa'])
    assert.deepEqual(await slugs({ index: 'date_modified' }), ['aaa', 'bbb', 'ddd', 'ccc'])
  })
}

function testFilters(each: Each): void {
  each('predicates of one group, negated ones included, meet on one version', async ({ put, slugs }) => {
    await put(
      makeDocument('split', {
        versions: [
          makeVersion('s1', { loaders: ['drift'], games: ['1.19'] }),
          makeVersion('s2', { loaders: ['cinder'], games: ['1.20'] }),
        ],
      }),
      makeDocument('whole', { versions: [makeVersion('w1', { loaders: ['drift'], games: ['1.20'] })] }),
    )
    const filter = (new_filters: string) => slugs({ new_filters, index: 'newest' })
    assert.deepEqual(await filter('loaders=drift AND game_versions="1.20"'), ['whole'])
    assert.deepEqual(await filter('loaders=drift AND game_versions!="1.20"'), ['split'])
    assert.deepEqual(await filter('NOT (loaders=drift OR game_versions="1.19")'), ['split'])
    assert.deepEqual(await filter('loaders != drift'), ['split'])
    assert.deepEqual(await slugs({ facets: '[["loaders:drift"],["versions:1.20"]]' }), ['whole'])
    assert.deepEqual(
      await slugs({ facets: '[["loaders:drift"]]', new_filters: 'game_versions=1.20', version: 'project_type=mod' }),
      ['whole'],
    )
    assert.deepEqual((await filter('loaders IN [cinder, drift] AND categories=drift')).sort(), ['split', 'whole'])
  })

  each('a project category counts for every version', async ({ put, slugs }) => {
    await put(makeDocument('magical', { categories: ['magic'], versions: [makeVersion('m', { loaders: ['drift'] })] }))
    assert.deepEqual(await slugs({ new_filters: 'categories=magic AND categories=drift AND loaders=drift' }), [
      'magical',
    ])
    assert.deepEqual(await slugs({ new_filters: 'project_categories=drift' }), [])
  })

  each(
    'numbers, booleans, authors, dates and live components are compared as what they are',
    async ({ put, slugs }) => {
      await put(
        makeDocument('big', {
          downloads: 1000,
          open_source: false,
          author: 'Some_One',
          date_created: '2024-01-01T00:00:00.900Z',
        }),
        makeDocument('small', {
          downloads: 7,
          components: { 'x_java_server.ping.data.players_online': 12.5, 'x_java_server.content.kind': 'vanilla' },
        }),
      )
      const cases: [string, string[]][] = [
        ['downloads > 7', ['big']],
        ['downloads >= 7', ['big', 'small']],
        ['downloads < 1000', ['small']],
        ['downloads <= -1', []],
        ['downloads IN [7, 8.5]', ['small']],
        ['downloads != 7', ['big']],
        ['open_source = false', ['big']],
        ['author = some-one', ['big']],
        ["name = 'big'", ['big']],
        ['created_timestamp = 1704067200', ['big', 'small']],
        ['created_timestamp > 1704067200', []],
        ['x_java_server.ping.data.players_online > 12', ['small']],
        ['NOT x_java_server.ping.data.players_online > 12', ['big']],
        ['components.x_java_server.content.kind = vanilla', ['small']],
        ['y_java_server.verified_plays_2w EXISTS', []],
        ['x_java_server.ping.data.players_online EXISTS', ['small']],
        ['license EXISTS AND downloads EXISTS', ['big', 'small']],
        ['disclosure_types NOT EXISTS', ['big', 'small']],
        ['dependency_project_ids EXISTS', []],
      ]
      for (const [new_filters, expected] of cases) assert.deepEqual(await slugs({ new_filters }), expected, new_filters)
    },
  )
}

function testText(each: Each): void {
  each('exact slug comes before exact name, name prefix and words, each by downloads', async ({ put, slugs }) => {
    await put(
      makeDocument('lamp', { name: 'Something', downloads: 1 }),
      makeDocument('x-one', { name: 'Lamp', downloads: 2 }),
      makeDocument('x-two', { name: 'Lamplighter', downloads: 3 }),
      makeDocument('x-three', { name: 'Lamps and more', downloads: 4 }),
      makeDocument('x-four', { name: 'Big Lamp', downloads: 5 }),
      makeDocument('x-five', { name: 'Other', summary: 'Adds a lamp.', downloads: 6 }),
      makeDocument('x-six', { name: 'Other', author: 'lampman', downloads: 7 }),
      makeDocument('x-seven', { name: 'Lump', downloads: 800 }),
    )
    assert.deepEqual(await slugs({ query: 'lamp' }), ['lamp', 'x-one', 'x-three', 'x-two', 'x-six', 'x-five', 'x-four'])
    assert.deepEqual(await slugs({ query: 'lamp', index: 'downloads' }), [
      'x-six',
      'x-five',
      'x-four',
      'x-three',
      'x-two',
      'x-one',
      'lamp',
    ])
  })

  each('all words must be found, each by its beginning, in any field', async ({ put, slugs }) => {
    await put(
      makeDocument('red-door', { name: 'Red Door', summary: 'Opens.', author: 'maria' }),
      makeDocument('red-wall', { name: 'Red Wall', summary: 'Stands.', author: 'maria' }),
    )
    assert.deepEqual(await slugs({ query: 'door mar' }), ['red-door'])
    assert.deepEqual(await slugs({ query: 're op' }), ['red-door'])
    assert.deepEqual(await slugs({ query: 'red nothing' }), [])
  })

  each('case, accents, width, apostrophes, - and _ do not count', async ({ put, slugs }) => {
    await put(
      makeDocument('zoe-s-cafe', { name: "Zoë's Café_Straße" }),
      makeDocument('wide', { name: 'Ｗｉｄｅ Ｌｅｔｔｅｒｓ' }),
    )
    for (const query of ["ZOE'S cafe", 'zoes-café', 'zoe’s cafe strasse', 'Zoë_s']) {
      assert.deepEqual(await slugs({ query }), ['zoe-s-cafe'], query)
    }
    assert.deepEqual(await slugs({ query: 'wide letters' }), ['wide'])
    assert.deepEqual(await slugs({ query: 'ｗｉｄｅ' }), ['wide'])
  })

  each('CJK is found by parts, words run together by their whole and by their parts', async ({ put, slugs }) => {
    await put(
      makeDocument('mori', { name: '静かな森の冒険' }),
      makeDocument('town-crier', { name: 'TownCrier' }),
      makeDocument('low-tide-bell', { name: 'Low Tide Bell' }),
    )
    for (const query of ['森', '冒険', '森の冒', '静かな森の冒険'])
      assert.deepEqual(await slugs({ query }), ['mori'], query)
    assert.deepEqual(await slugs({ query: '冒森' }), [])
    for (const query of ['crier', 'towncr', 'town crier'])
      assert.deepEqual(await slugs({ query }), ['town-crier'], query)
    assert.deepEqual(await slugs({ query: 'lowtideb' }), ['low-tide-bell'])
  })

  each(
    'typos count only when nothing is exact, filters notwithstanding; one comes before two',
    async ({ put, slugs }) => {
      await put(
        makeDocument('lantern', { name: 'Lantern', downloads: 1 }),
        makeDocument('lanterns-galore', { name: 'Galore of Lanterns', downloads: 2 }),
        makeDocument('carpenters-bench', { name: 'Carpenters Bench', downloads: 3 }),
        makeDocument('carpentors', { name: 'Carpentors', downloads: 2 }),
      )
      assert.deepEqual(await slugs({ query: 'lantren' }), ['lanterns-galore', 'lantern'])
      assert.deepEqual(await slugs({ query: 'latern' }), ['lanterns-galore', 'lantern'])
      assert.deepEqual(await slugs({ query: 'lantern', new_filters: 'downloads > 2' }), [])
      assert.deepEqual(await slugs({ query: 'carpentorz' }), ['carpentors', 'carpenters-bench'])
      assert.deepEqual(await slugs({ query: 'lxntxrn' }), [])
      assert.deepEqual(await slugs({ query: 'carpen tors' }), ['carpentors'])
      assert.deepEqual(await slugs({ query: 'lan' }), ['lantern', 'lanterns-galore'])
    },
  )

  each('hostile text gives an answer', async ({ put, ask }) => {
    await put(makeDocument('fine'))
    for (const query of ['\0', '&', '...', '   '])
      assert.equal((await ask({ query })).total_hits, 1, JSON.stringify(query))
    for (const query of ['🎮', '\ud800', '(a+)+$', '%00', "' OR 1=1 --", 'x'.repeat(1024), 'ab '.repeat(340)]) {
      assert.equal((await ask({ query })).total_hits, 0, JSON.stringify(query))
    }
  })
}

function testChanges(each: Each): void {
  each(
    'an upsert replaces all of a project, a deletion removes it, and both show at once',
    async ({ index, put, slugs }) => {
      await put(makeDocument('ring', { name: 'Old Words', versions: [makeVersion('r', { loaders: ['drift'] })] }))
      await put(makeDocument('ring', { name: 'New Words', downloads: 4 }))
      assert.deepEqual(
        [await slugs({ query: 'old' }), await slugs({ new_filters: 'loaders=drift' }), await slugs({})],
        [[], [], ['ring']],
      )
      assert.equal((await index.status()).documents, 1)
      await index.apply([
        { kind: 'delete', sequence: 3, id: makeDocument('ring').id },
        { kind: 'delete', sequence: 4, id: 'unknown1' },
      ])
      assert.deepEqual([await slugs({}), (await index.status()).documents, (await index.status()).sequence], [[], 0, 4])
    },
  )

  each('a change no newer than what is there changes nothing, deletions included', async ({ index, slugs }) => {
    const upsert = (sequence: number, name: string): SearchChange => ({
      kind: 'upsert',
      sequence,
      document: makeDocument('ring', { name }),
    })
    await index.apply([upsert(5, 'Five'), upsert(4, 'Four'), upsert(5, 'Again')])
    assert.deepEqual(
      [await slugs({ query: 'five' }), await slugs({ query: 'four' }), await slugs({ query: 'again' })],
      [['ring'], [], []],
    )
    await index.apply([{ kind: 'delete', sequence: 7, id: makeDocument('ring').id }, upsert(6, 'Six')])
    assert.deepEqual(await slugs({}), [])
    await index.apply([upsert(8, 'Eight')])
    assert.deepEqual([await slugs({ query: 'eight' }), (await index.status()).sequence], [['ring'], 8])
  })

  each('changed counts move a project in every order that follows them', async ({ put, slugs, ask }) => {
    const counts = [3, 1, 2]
    await put(...counts.map((count, i) => makeDocument(`n${i}`, { downloads: count, follows: count })))
    await put(makeDocument('n1', { downloads: 9, follows: 1 }))
    assert.deepEqual(
      [await slugs({}), await slugs({ index: 'follows' })],
      [
        ['n1', 'n0', 'n2'],
        ['n0', 'n2', 'n1'],
      ],
    )
    const [first] = (await ask({ new_filters: 'downloads >= 9' })).hits
    assert.deepEqual([first?.slug, first?.['downloads']], ['n1', 9])
  })

  each('too many changes at once are refused, and a closed index fails with search_error', async ({ index }) => {
    const change: SearchChange = { kind: 'delete', sequence: 1, id: 'x' }
    await assert.rejects(index.apply(Array(1001).fill(change)), isSearchError)
    await index.close()
    await assert.rejects(index.search(parseSearchRequest({})), isSearchError)
    await assert.rejects(index.apply([change]), isSearchError)
  })
}

function testRebuild(each: Each): void {
  each('a rebuild answers from the old index until it swaps, and loses no change', async ({ index, put, slugs }) => {
    await put(makeDocument('old-one'), makeDocument('old-two'))
    const batches = async function* () {
      yield [makeDocument('new-one'), makeDocument('gone'), makeDocument('changed', { name: 'Stale' })]
      assert.deepEqual((await slugs({})).sort(), ['old-one', 'old-two'])
      assert.equal((await index.status()).rebuilding, true)
      await index.apply([
        { kind: 'upsert', sequence: 101, document: makeDocument('changed', { name: 'Fresh' }) },
        { kind: 'delete', sequence: 102, id: makeDocument('gone').id },
        { kind: 'delete', sequence: 103, id: makeDocument('late').id },
      ])
      await assert.rejects(
        index.rebuild(async () => ({ sequence: 1, batches: batches() })),
        isSearchError,
      )
      yield [makeDocument('late'), makeDocument('last')]
    }
    await index.rebuild(async () => ({ sequence: 100, batches: batches() }))
    assert.deepEqual((await slugs({})).sort(), ['changed', 'last', 'new-one'])
    assert.deepEqual(await slugs({ query: 'fresh' }), ['changed'])
    const { sequence, rebuilding, documents } = await index.status()
    assert.deepEqual({ sequence, rebuilding, documents }, { sequence: 103, rebuilding: false, documents: 3 })
  })

  each('a rebuild that fails leaves the running index, and another may follow', async ({ index, put, slugs }) => {
    await put(makeDocument('stays'))
    const failing = async function* () {
      yield [makeDocument('half')]
      throw new Error('the database went away')
    }
    await assert.rejects(
      index.rebuild(async () => ({ sequence: 9, batches: failing() })),
      /went away/u,
    )
    assert.deepEqual([await slugs({}), (await index.status()).rebuilding], [['stays'], false])
    const nothing = async function* (): AsyncGenerator<SearchDocument[]> {}
    await index.rebuild(async () => ({ sequence: 9, batches: nothing() }))
    assert.deepEqual([await slugs({}), (await index.status()).sequence], [[], 9])
  })
}

function isSearchError(error: unknown): boolean {
  return error instanceof ApiError && error.fault === 'search_error'
}
