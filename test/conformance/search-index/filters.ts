import assert from 'node:assert/strict'
import { type Each, makeDocument, makeVersion, where } from './tools.ts'

export function testFilters(each: Each): void {
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
    const filter = (written: string) => slugs({ filter: where(written), sort: 'newest' })
    assert.deepEqual(await filter('loaders=drift AND game_versions="1.20"'), ['whole'])
    assert.deepEqual(await filter('loaders=drift AND game_versions!="1.20"'), ['split'])
    assert.deepEqual(await filter('NOT (loaders=drift OR game_versions="1.19")'), ['split'])
    assert.deepEqual(await filter('loaders != drift'), ['split'])
    assert.deepEqual((await filter('loaders IN [cinder, drift] AND categories=drift')).sort(), ['split', 'whole'])
  })

  each('a project category counts for every version', async ({ put, slugs }) => {
    await put(makeDocument('magical', { categories: ['magic'], versions: [makeVersion('m', { loaders: ['drift'] })] }))
    assert.deepEqual(await slugs({ filter: where('categories=magic AND categories=drift AND loaders=drift') }), [
      'magical',
    ])
    assert.deepEqual(await slugs({ filter: where('project_categories=drift') }), [])
  })

  each('numbers, booleans, authors, dates and live components are compared by their types', async ({ put, slugs }) => {
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
    for (const [written, expected] of cases)
      assert.deepEqual(await slugs({ filter: where(written) }), expected, written)
  })
}
