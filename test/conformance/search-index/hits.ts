import assert from 'node:assert/strict'
import { type Each, makeDocument, makeVersion, where } from './tools.ts'

const HIT_KEYS = (
  'version_id latest_version project_id project_types all_project_types slug author author_id organization ' +
  'organization_id name summary categories display_categories downloads follows icon_url date_created date_modified ' +
  'license gallery featured_gallery color dependency_project_ids compatible_dependency_project_ids ' +
  'required_dependency_project_ids optional_dependency_project_ids embedded_dependency_project_ids ' +
  'incompatible_dependency_project_ids dependencies disclosure_types loaders project_loader_fields ' +
  'game_versions environment client_side server_side'
).split(' ')

export function testHits(each: Each): void {
  each('an empty index answers an empty page', async ({ ask }) => {
    assert.deepEqual(await ask({ text: 'x', offset: 30 }), { hits: [], page: 4, hits_per_page: 10, total_hits: 0 })
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
    const { hits } = await ask({ filter: where('loaders NOT EXISTS AND categories=magic') })
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
      const version = async (written: string) => (await ask({ filter: where(written) })).hits[0]?.version_id
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
    assert.deepEqual(await slugs({ sort: 'downloads' }), ['bbb', 'ccc', 'aaa', 'ddd'])
    assert.deepEqual(await slugs({ sort: 'follows' }), ['ccc', 'ddd', 'bbb', 'aaa'])
    assert.deepEqual(await slugs({ sort: 'newest' }), ['ccc', 'ddd', 'bbb', 'aaa'])
    assert.deepEqual(await slugs({ sort: 'updated' }), ['aaa', 'bbb', 'ddd', 'ccc'])
  })
}
