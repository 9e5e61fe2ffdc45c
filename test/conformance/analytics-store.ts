// The conformance suite of the analytics port. The test of each adapter calls it with a function that opens an empty store.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import {
  type AnalyticsStore,
  APPEND_EVENTS_MAX,
  type DownloadRange,
  type SourcedMetric,
  type StoreQuery,
} from '#ports/analytics-store/analytics-store.ts'
import { columnsOf } from '#ports/analytics-store/events.ts'
import type { MetricKey } from '#ports/analytics-store/metrics.ts'
import { joinSlices, type Point } from '#ports/analytics-store/points.ts'
import { type Resolution, sliceGrid } from '#ports/analytics-store/slices.ts'
import {
  aClick,
  aDownload,
  aView,
  batchOf,
  NOON,
  somePlaytime,
  times,
} from '#test/support/factories/analytics-events.ts'

/** `open` opens the same store every time; a store of one writer gives the one it has opened. */
export function testAnalyticsStore(name: string, open: () => Promise<AnalyticsStore>): void {
  describe(`the ${name} analytics store`, () => {
    let store: AnalyticsStore
    before(async () => {
      store = await open()
    })
    after(() => store.close())

    /** Queries the hour from noon by default. Each test has its own projects. */
    async function ask(metrics: SourcedMetric[], range: Partial<Range> = {}): Promise<Point[][]> {
      const { start = NOON, end = NOON + HOUR_MS, resolution = { slices: 1 } } = range
      const query: StoreQuery = { grid: sliceGrid(start, end, resolution), metrics }
      return joinSlices(await store.query(query), query.grid.count)
    }

    test('answers that it works', async () => {
      await store.check()
    })

    test('has an identity that stays', async () => {
      assert.match(await store.identity(), /^[0-9A-Za-z]+$/)
      assert.equal(await store.identity(), await store.identity())
    })

    test('every event can be read back as it was stored, however many there are', async () => {
      const project_id = 'ReadBack'
      const views = Array.from({ length: 5_000 }, (_, n) =>
        aView({ project_id, recorded_at: NOON + n * HOUR_MS, site_path: `/${n}`, monetized: n % 2 === 0 }),
      )
      const stored = {
        view: views,
        download: [aDownload({ project_id, version_id: 'ReadBckV', reason: 'update', loader: 'fabric' })],
        playtime: [somePlaytime({ project_id, seconds: 65_535, game_version: '1.21.4 "α"' })],
        affiliate_click: [aClick({ affiliate_code_id: project_id, domain: 'example.org' })],
      }
      const kinds = Object.keys(stored) as (keyof typeof stored)[]
      for (const kind of kinds) {
        await store.append(kind, batchOf(stored[kind] as never))
        const found: Record<string, unknown>[] = []
        await store.readEvents(kind, async (lines) => {
          assert.ok(lines.length > 0 && lines.length <= APPEND_EVENTS_MAX)
          for (const line of lines) {
            const values = JSON.parse(line)
            found.push(Object.fromEntries(columnsOf(kind).map(([name], i) => [name, values[i]])))
          }
        })
        const key = kind === 'affiliate_click' ? 'affiliate_code_id' : 'project_id'
        const mine = found.filter((event) => event[key] === project_id)
        assert.deepEqual(
          mine.sort((a, b) => Number(a['recorded_at']) - Number(b['recorded_at'])),
          stored[kind],
        )
      }
    })

    test('lines are stored as their events, in any order of columns, once per batch', async () => {
      const project_id = 'AsLines1'
      const version_id = 'AsLinesV'
      const view = aView({ project_id, site_path: '/a "b"\n\\ α 🌍,[]', domain: '', monetized: true })
      const download = aDownload({ project_id, version_id, reason: 'update', loader: '' })
      const playtime = somePlaytime({ project_id, version_id, seconds: 65_535 })
      const stored = {
        view: [view, { ...view, site_path: '/c' }],
        download: [download, download],
        playtime: [playtime],
      }
      // The store knows the texts of the first event already.
      await store.append('view', batchOf([aView({ ...view, project_id: 'AsLines2' })]))
      for (const kind of ['view', 'download', 'playtime'] as const) {
        const columns = [...columnsOf(kind).map(([name]) => name), 'not_a_column'].reverse()
        const lines = stored[kind].map((event) => JSON.stringify(columns.map((name) => event[name as never] ?? 7)))
        const batch = { ...batchOf([]), columns, lines }
        await store.appendLines(kind, batch)
        await store.appendLines(kind, batch)
        const found: unknown[] = []
        await store.readEvents(kind, async (read) => void found.push(...read.map((line) => JSON.parse(line))))
        assert.deepEqual(
          found.filter((values) => (values as unknown[]).includes(project_id)).sort(),
          stored[kind].map((event) => columnsOf(kind).map(([name]) => event[name as never])).sort(),
        )
        if (kind === 'download') {
          assert.deepEqual(
            (await store.readBatches([batch.id])).get(batch.id)?.map(({ downloads }) => downloads),
            [2],
          )
        }
      }
      const columns = columnsOf('view').flatMap(([name]) => (name === 'country' || name === 'monetized' ? [] : name))
      const former = aView({ project_id: 'AsLines3' })
      const lines = [JSON.stringify(columns.map((name) => former[name as never]))]
      await store.appendLines('view', { ...batchOf([]), columns, lines })
      const found: string[] = []
      await store.readEvents('view', async (read) => void found.push(...read.filter((line) => /AsLines3/.test(line))))
      assert.deepEqual(
        found.map((line) => JSON.parse(line)),
        [columnsOf('view').map(([name]) => ({ ...former, country: '', monetized: false })[name as never])],
      )
      await assert.rejects(store.appendLines('view', { ...batchOf([]), columns, lines: [] }), RangeError)
    })

    test('forgetting a project removes its events and no others, and their batches are not stored again', async () => {
      const [gone, kept] = ['ForgotAA', 'ForgotBB']
      const events = {
        view: batchOf([gone, kept].map((project_id) => aView({ project_id }))),
        download: batchOf([gone, gone, kept].map((project_id) => aDownload({ project_id }))),
        playtime: batchOf([gone, kept].map((project_id) => somePlaytime({ project_id }))),
      }
      const storeAll = async () => {
        for (const kind of ['view', 'download', 'playtime'] as const) await store.append(kind, events[kind] as never)
      }
      await storeAll()
      await store.forgetProjects([gone, 'NeverWas'])
      await storeAll()
      const metrics = (['project_views', 'project_downloads', 'project_playtime'] as const).map((name) =>
        metric(name, [gone, kept]),
      )
      const [points = []] = await ask(metrics)
      assert.deepEqual(
        points.map((point) => point['source_project']),
        [kept, kept, kept],
      )
      const { projects } = await store.countDownloads({ projectIds: [gone, kept] })
      assert.deepEqual(projects, [{ project_id: kept, downloads: 1 }])
      await store.append('view', batchOf([aView({ project_id: gone })]))
      assert.deepEqual((await ask([metric('project_views', [gone])])).map(valuesOf('views')), [[1]])
      await store.forgetProjects([])
    })

    test('a query without sources returns every slice, empty', async () => {
      assert.deepEqual(
        await ask([metric('project_views', ['Nothing1'])], { resolution: { slices: 3 }, end: NOON + DAY_MS }),
        [[], [], []],
      )
      assert.deepEqual(await ask([metric('project_views', [])]), [[]])
      assert.deepEqual(await ask([]), [[]])
    })

    test('a batch without events, or with too many, is refused', async () => {
      for (const count of [0, APPEND_EVENTS_MAX + 1])
        await assert.rejects(store.append('view', batchOf(times(count, () => aView()))), RangeError)
    })

    test('a repeated batch adds nothing, from any process and any number of times', async () => {
      const other = await open()
      try {
        const views = batchOf(times(3, (i) => aView({ project_id: 'TwiceAAA', site_path: `/${i}` })))
        const downloads = batchOf(times(2, () => aDownload({ project_id: 'TwiceAAA' })))
        for (const each of [store, store, other]) {
          await each.append('view', views)
          await each.append('download', downloads)
        }
        const played = batchOf([somePlaytime({ project_id: 'TwiceAAA' })])
        await Promise.all([store, other, store].map((each) => each.append('playtime', played)))
        const metrics = [
          metric('project_views', ['TwiceAAA']),
          metric('project_downloads', ['TwiceAAA']),
          metric('project_playtime', ['TwiceAAA']),
        ]
        const [points = []] = await ask(metrics)
        assert.deepEqual(
          points.map(({ views, downloads, seconds }) => views ?? downloads ?? seconds),
          [3, 2, 60],
        )
        assert.deepEqual((await other.countDownloads({ projectIds: ['TwiceAAA'] })).projects, [
          { project_id: 'TwiceAAA', downloads: 2 },
        ])
      } finally {
        if (other !== store) await other.close()
      }
    })

    test('a batch that is tried again long after it was made adds nothing either', async () => {
      const batch = { ...batchOf([aDownload({ project_id: 'LateAAAA' })]), madeAt: Date.now() - DAY_MS / 24 / 2 }
      await store.append('download', batch)
      await store.append('download', batch)
      const { versions } = await store.countDownloads({ projectIds: ['LateAAAA'] })
      assert.deepEqual(versions, [{ project_id: 'LateAAAA', version_id: 'Version1', downloads: 1 }])
    })

    test('two concurrent writers lose and duplicate nothing, and both see everything', async () => {
      const other = await open()
      try {
        const batches = times(8, (i) =>
          batchOf(times(50, (j) => aDownload({ project_id: 'WritersA', version_id: `V${i}${j % 2}` }))),
        )
        await Promise.all(
          batches.flatMap((batch) => [store.append('download', batch), other.append('download', batch)]),
        )
        for (const each of [store, other]) {
          const { projects } = await each.countDownloads({ projectIds: ['WritersA'] })
          assert.deepEqual(projects, [{ project_id: 'WritersA', downloads: 400 }])
          const ids = (await each.listBatches({ from: 0 })).map(({ id }) => id)
          assert.deepEqual(
            batches.filter(({ id }) => !ids.includes(id)),
            [],
          )
          assert.equal(new Set(ids).size, ids.length)
        }
      } finally {
        if (other !== store) await other.close()
      }
    })

    test('without buckets there is one point for each metric and project that has events', async () => {
      await store.append(
        'view',
        batchOf([
          aView({ project_id: 'PlainBBB', country: 'DE' }),
          aView({ project_id: 'PlainAAA', country: 'FR', monetized: true }),
          aView({ project_id: 'PlainAAA', site_path: '/x' }),
          aView({ project_id: 'PlainCCC' }),
        ]),
      )
      await store.append('download', batchOf([aDownload({ project_id: 'PlainAAA' })]))
      const sources = ['PlainBBB', 'PlainAAA', 'PlainZZZ', 'PlainAAA']
      assert.deepEqual(await ask([metric('project_downloads', sources), metric('project_views', sources)]), [
        [
          { source_project: 'PlainAAA', metric_kind: 'views', views: 2 },
          { source_project: 'PlainBBB', metric_kind: 'views', views: 1 },
          { source_project: 'PlainAAA', metric_kind: 'downloads', downloads: 1 },
        ],
      ])
    })

    test('slices are half-open: an edge belongs to the later slice, the end to none', async () => {
      const at = [NOON - 1, NOON, NOON + HOUR_MS - 1, NOON + HOUR_MS, NOON + 2 * HOUR_MS - 1, NOON + 2 * HOUR_MS]
      await store.append('view', batchOf(at.map((recorded_at) => aView({ project_id: 'EdgesAAA', recorded_at }))))
      const answer = await ask([metric('project_views', ['EdgesAAA'])], {
        end: NOON + 2 * HOUR_MS,
        resolution: { minutes: 60 },
      })
      assert.deepEqual(answer.map(valuesOf('views')), [[2], [2]])
    })

    test('the last slice of a length in minutes is cut at the end of the range', async () => {
      const at = [NOON, NOON + 2 * HOUR_MS, NOON + 2.5 * HOUR_MS - 1, NOON + 2.5 * HOUR_MS]
      await store.append('view', batchOf(at.map((recorded_at) => aView({ project_id: 'CutAAAAA', recorded_at }))))
      const answer = await ask([metric('project_views', ['CutAAAAA'])], {
        end: NOON + 2.5 * HOUR_MS,
        resolution: { minutes: 120 },
      })
      assert.deepEqual(answer.map(valuesOf('views')), [[1], [2]])
    })

    test('days are 24 hours from the start, over a leap day and where clocks change', async () => {
      const start = Date.UTC(2024, 1, 28, 23)
      const days = times(35, (i) => aView({ project_id: 'LeapAAAA', recorded_at: start + i * DAY_MS }))
      await store.append('view', batchOf(days))
      const answer = await ask([metric('project_views', ['LeapAAAA'])], {
        start,
        end: start + 35 * DAY_MS,
        resolution: { minutes: 1440 },
      })
      assert.deepEqual(
        answer.map(valuesOf('views')),
        times(35, () => [1]),
      )
    })

    test('with buckets there is one point for each combination, in order, and a bucket without a value is empty', async () => {
      await store.append(
        'view',
        batchOf([
          aView({ project_id: 'BucketsA', domain: 'b.example', site_path: '/1', monetized: true }),
          aView({ project_id: 'BucketsA', domain: 'b.example', site_path: '/1', monetized: false }),
          aView({ project_id: 'BucketsA', domain: 'a.example', site_path: '/2', monetized: true }),
          aView({ project_id: 'BucketsA', domain: 'a.example', site_path: '/2', monetized: true }),
          aView({ project_id: 'BucketsA', domain: '', site_path: '' }),
        ]),
      )
      const point = { source_project: 'BucketsA', metric_kind: 'views', project_id: 'BucketsA' }
      assert.deepEqual(
        await ask([
          metric('project_views', ['BucketsA'], { bucketBy: ['project_id', 'domain', 'site_path', 'monetized'] }),
        ]),
        [
          [
            { ...point, domain: '', site_path: '', monetized: false, views: 1 },
            { ...point, domain: 'a.example', site_path: '/2', monetized: true, views: 2 },
            { ...point, domain: 'b.example', site_path: '/1', monetized: false, views: 1 },
            { ...point, domain: 'b.example', site_path: '/1', monetized: true, views: 1 },
          ],
        ],
      )
    })

    test('a country with fewer than 50 is merged into XX, one with 50 is shown, XX itself has no floor', async () => {
      const from = (project_id: string, country: string, count: number) =>
        times(count, () => aDownload({ project_id, country }))
      await store.append(
        'download',
        batchOf([...from('FloorAAA', 'DE', 50), ...from('FloorAAA', 'FR', 49), ...from('FloorAAA', 'AT', 1)]),
      )
      await store.append(
        'download',
        batchOf([...from('FloorAAA', 'XX', 3), ...from('FloorBBB', 'FR', 49), ...from('FloorCCC', 'XX', 1)]),
      )
      const answer = await ask([
        metric('project_downloads', ['FloorAAA', 'FloorBBB', 'FloorCCC'], { bucketBy: ['country'] }),
      ])
      assert.deepEqual(
        answer[0]?.map(({ source_project, country, downloads }) => [source_project, country, downloads]),
        [
          ['FloorAAA', 'DE', 50],
          ['FloorAAA', 'XX', 53],
          ['FloorBBB', 'XX', 49],
          ['FloorCCC', 'XX', 1],
        ],
      )
    })

    test('the country floor holds in each slice and each combination by itself', async () => {
      const views = times(120, (i) =>
        aView({ project_id: 'FloorDDD', country: 'SE', monetized: i < 60, recorded_at: NOON + (i % 2) * HOUR_MS }),
      )
      await store.append('view', batchOf(views))
      const range = { end: NOON + 2 * HOUR_MS, resolution: { slices: 2 } }
      const shown = async (bucketBy: string[]) =>
        (await ask([metric('project_views', ['FloorDDD'], { bucketBy })], range)).map((slice) =>
          slice.map(({ country, views }) => `${country} ${views}`),
        )
      assert.deepEqual(await shown(['country']), [['SE 60'], ['SE 60']])
      assert.deepEqual(
        await shown(['monetized', 'country']),
        times(2, () => ['XX 30', 'XX 30']),
      )
    })

    test('a filter cannot look below the country floor', async () => {
      const views = times(60, (i) =>
        aView({ project_id: 'FloorEEE', country: i < 55 ? 'PL' : 'CZ', monetized: i < 30 }),
      )
      await store.append('view', batchOf(views))
      const shown = async (given: Partial<SourcedMetric>) =>
        (await ask([metric('project_views', ['FloorEEE'], given)]))
          .flat()
          .map(({ source_project: _, metric_kind: __, ...rest }) => rest)
      assert.deepEqual(await shown({ filterBy: { country: ['CZ'] } }), [])
      assert.deepEqual(await shown({ filterBy: { country: ['CZ', 'PL'] } }), [{ views: 55 }])
      assert.deepEqual(await shown({ filterBy: { country: ['PL'] }, bucketBy: ['country'] }), [
        { country: 'PL', views: 55 },
      ])
      assert.deepEqual(await shown({ filterBy: { monetized: [true] }, bucketBy: ['country'] }), [
        { country: 'XX', views: 30 },
      ])
      assert.deepEqual(await shown({ filterBy: { monetized: [true] } }), [{ views: 30 }])
    })

    test('filter values of one field are alternatives, fields hold together', async () => {
      await store.append(
        'download',
        batchOf([
          aDownload({ project_id: 'FilterAA', version_id: 'V1', loader: 'fabric' }),
          aDownload({ project_id: 'FilterAA', version_id: 'V2', loader: 'fabric' }),
          aDownload({ project_id: 'FilterAA', version_id: 'V2', loader: 'forge' }),
          aDownload({ project_id: 'FilterAA', version_id: 'V3', loader: 'forge' }),
        ]),
      )
      const count = async (filterBy: SourcedMetric['filterBy']) =>
        (await ask([metric('project_downloads', ['FilterAA'], { filterBy })])).flatMap(valuesOf('downloads'))
      assert.deepEqual(await count({ version_id: ['V1', 'V2'] }), [3])
      assert.deepEqual(await count({ version_id: ['V1', 'V2'], loader: ['forge'] }), [1])
      assert.deepEqual(await count({ version_id: ['Vnever'] }), [])
      assert.deepEqual(await count({ loader: ["o'clock", '"', 'forge'] }), [2])
    })

    test('playtime adds seconds; nothing played makes no point', async () => {
      await store.append(
        'playtime',
        batchOf([
          somePlaytime({ project_id: 'PlayAAAA', loader: 'quilt', seconds: 65_535 }),
          somePlaytime({ project_id: 'PlayAAAA', loader: 'quilt', seconds: 1 }),
          somePlaytime({ project_id: 'PlayAAAA', loader: 'forge', seconds: 0 }),
        ]),
      )
      assert.deepEqual(await ask([metric('project_playtime', ['PlayAAAA'], { bucketBy: ['version_id', 'loader'] })]), [
        [
          {
            source_project: 'PlayAAAA',
            metric_kind: 'playtime',
            version_id: 'Version1',
            loader: 'quilt',
            seconds: 65_536,
          },
        ],
      ])
    })

    test('clicks are counted by affiliate code', async () => {
      await store.append('affiliate_click', batchOf([aClick(), aClick({ affiliate_code_id: 'Code0002' }), aClick()]))
      const sources = ['Code0001', 'Code0002']
      const named = (given: Partial<SourcedMetric>) => ask([metric('affiliate_code_clicks', sources, given)])
      const first = { source_affiliate_code: 'Code0001', metric_kind: 'clicks' }
      assert.deepEqual(
        await named({ bucketBy: ['affiliate_code_id'], filterBy: { affiliate_code_id: ['Code0001', 'Code0003'] } }),
        [[{ ...first, affiliate_code_id: 'Code0001', clicks: 2 }]],
      )
      assert.deepEqual(await named({}), [
        [
          { ...first, clicks: 2 },
          { ...first, source_affiliate_code: 'Code0002', clicks: 1 },
        ],
      ])
    })

    test('texts come back as they went in', async () => {
      const paths = [
        '/plain',
        "/it's",
        '/"quoted"',
        '/back\\slash',
        '/日本語/🚀',
        '/%00',
        '/$1',
        `/${'long'.repeat(100)}`,
      ]
      await store.append('view', batchOf(paths.map((site_path) => aView({ project_id: 'TextsAAA', site_path }))))
      const answer = await ask([metric('project_views', ['TextsAAA'], { bucketBy: ['site_path'] })])
      assert.deepEqual(
        answer[0]?.map(({ site_path }) => site_path),
        paths.toSorted(),
      )
      const one = await ask([metric('project_views', ['TextsAAA'], { filterBy: { site_path: ['/日本語/🚀'] } })])
      assert.deepEqual(one.map(valuesOf('views')), [[1]])
    })

    test('a batch larger than one block of rows is stored whole', async () => {
      await store.append(
        'view',
        batchOf(times(5_001, (i) => aView({ project_id: 'LargeAAA', site_path: `/${i % 3}` }))),
      )
      const answer = await ask([metric('project_views', ['LargeAAA'], { bucketBy: ['site_path'] })])
      assert.deepEqual(answer.map(valuesOf('views')), [[1667, 1667, 1667]])
    })

    test('batches of downloads are listed by when they were stored, and read one by one', async () => {
      const from = await store.settledAt()
      const first = batchOf([
        aDownload({ project_id: 'CountBBB', version_id: 'V2' }),
        aDownload({ project_id: 'CountBBB', version_id: 'V1' }),
        aDownload({ project_id: 'CountAAA', version_id: 'V3' }),
      ])
      const second = batchOf([aDownload({ project_id: 'CountBBB', version_id: 'V2' })])
      await store.append('download', first)
      await store.append('view', batchOf([aView()]))
      await store.append('download', second)
      const listed = (await store.listBatches({ from })).filter(({ id }) => [first.id, second.id].includes(id))
      assert.deepEqual(
        listed.map(({ id }) => id),
        [first.id, second.id],
      )
      const [firstAt = 0, secondAt = 0] = listed.map(({ storedAt }) => storedAt)
      assert.ok(from <= firstAt && firstAt < secondAt)
      const of = (project_id: string, version_id: string, downloads: number) => ({ project_id, version_id, downloads })
      assert.deepEqual(
        await store.readBatches([second.id, first.id, 'never-stored']),
        new Map([
          [first.id, [of('CountAAA', 'V3', 1), of('CountBBB', 'V1', 1), of('CountBBB', 'V2', 1)]],
          [second.id, [of('CountBBB', 'V2', 1)]],
        ]),
      )
      assert.deepEqual(await store.readBatches([]), new Map())
      const projectIds = ['CountAAA', 'CountBBB', 'Unknown1']
      assert.deepEqual(await store.countDownloads({ projectIds }), {
        projects: [
          { project_id: 'CountAAA', downloads: 1 },
          { project_id: 'CountBBB', downloads: 3 },
        ],
        versions: [of('CountAAA', 'V3', 1), of('CountBBB', 'V1', 1), of('CountBBB', 'V2', 2)],
      })
      const before = async (range: DownloadRange) => (await store.countDownloads({ projectIds, ...range })).projects
      assert.deepEqual(await before({ storedBefore: from }), [])
      assert.deepEqual(await before({ storedBefore: from, alsoBatches: [second.id, 'never-stored'] }), [
        { project_id: 'CountBBB', downloads: 1 },
      ])
      assert.deepEqual(await before({ storedBefore: secondAt }), [
        { project_id: 'CountAAA', downloads: 1 },
        { project_id: 'CountBBB', downloads: 2 },
      ])
      assert.deepEqual(await before({ storedBefore: secondAt + 1 }), [
        { project_id: 'CountAAA', downloads: 1 },
        { project_id: 'CountBBB', downloads: 3 },
      ])
      assert.deepEqual(await store.countDownloads({ projectIds: [] }), { projects: [], versions: [] })
    })

    test('concurrent queries return the same', async () => {
      await store.append(
        'view',
        batchOf(times(100, (i) => aView({ project_id: `Many${i % 10}`, domain: `${i % 7}.example` }))),
      )
      const sources = times(10, (i) => `Many${i}`)
      const answers = await Promise.all(
        times(12, () => ask([metric('project_views', sources, { bucketBy: ['domain'] })])),
      )
      assert.equal(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1)
      assert.equal(
        answers[0]?.flatMap(valuesOf('views')).reduce((sum, views) => Number(sum) + Number(views), 0),
        100,
      )
    })
  })
}

type Range = { start: number; end: number; resolution: Resolution }

function metric(key: MetricKey, sources: string[], given: Partial<SourcedMetric> = {}): SourcedMetric {
  return { metric: key, sources, bucketBy: [], filterBy: {}, ...given }
}

function valuesOf(name: string): (slice: Point[]) => Point[string][] {
  return (slice) => slice.map((point) => point[name] ?? 'missing')
}
