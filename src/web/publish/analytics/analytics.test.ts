// The analytics pages: numbers, links, CSV, the request of the API, permissions and bad input.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '#lib/ids.ts'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { aDownload, aView, somePlaytime, times } from '#test/support/factories/analytics-events.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertSays, type Visitor, visitor } from '#test/support/http/visitor.ts'

const ACCOUNT = '/dashboard/analytics'
const PAGE = '/mod/lantern/settings/analytics'
const HOSTILE = '=cmd|"<script>alert(1)</script>'
const iso = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

let t: TestApp
let owner: Person
let browser: Visitor
let lantern: MadeProject
/** IDs of the versions 1.0.0 and 2.0.0. */
let old: string
let current: string
/** Noon of the present day. The clock is stopped. */
let noon: number
let isDown = false

before(async () => {
  t = await testApp({
    deps: ({ analytics }) => ({
      analytics: {
        ...analytics,
        query: async (...args) => {
          if (isDown) throw new Error('The disk is full')
          return analytics.query(...args)
        },
      },
    }),
  })
  t.freeze()
  noon = (Math.floor(t.deps.now() / DAY_MS) + 1.5) * DAY_MS
  t.advance(noon - t.deps.now())
  owner = await t.make.account()
  browser = visitor(t, owner.token)
  lantern = await t.make.project({ owner, name: 'Lantern', slug: 'lantern' })
  const version = async (version_number: string, game_version: string, loaders: string[], days: number) =>
    (
      await t.make.version({
        project: lantern,
        version_number,
        loaders,
        game_versions: [game_version],
        date_published: new Date(noon - days * DAY_MS),
      })
    ).id
  old = await version('1.0.0', '1.20.1', ['fabric'], 50)
  current = await version('2.0.0', '1.21.8', ['fabric', 'quilt'], 3)
  const at = { project_id: lantern.id, recorded_at: noon - HOUR_MS }
  for (const event of [
    ...times(60, () => aDownload({ ...at, version_id: current, country: 'DE', domain: 'a.example' })),
    ...times(20, () => aDownload({ ...at, version_id: old, country: 'FR', domain: HOSTILE })),
    ...times(20, () => aDownload({ ...at, version_id: 'Deleted1', recorded_at: noon - 3 * DAY_MS })),
    ...times(50, () => aDownload({ ...at, version_id: old, recorded_at: noon - 35 * DAY_MS })),
  ])
    t.deps.events.add('download', event)
  for (const event of times(7, () => aView({ ...at, site_path: '/mod/lantern' }))) t.deps.events.add('view', event)
  t.deps.events.add('playtime', somePlaytime({ ...at, version_id: current, loader: 'quilt', seconds: 5400 }))
  await share(lantern, '12.34')
  await t.deps.events.flush()
})
after(() => t?.close())

async function share(project: { id: string }, amount: string): Promise<void> {
  const day = new Date(noon - 1.5 * DAY_MS)
  const part = await t.deps.db
    .insertInto('revenue_part')
    .values({ external_id: newId(), day, amount })
    .returning('id')
    .executeTakeFirstOrThrow()
  const available = new Date(noon + 60 * DAY_MS)
  await t.deps.db
    .insertInto('revenue_share')
    .values({ part_id: part.id, project_id: project.id, account_id: owner.id, day, amount, available })
    .execute()
}

/** Returns the text of a page without tags. */
const textOf = (body: string): string =>
  body
    .slice(body.indexOf('<main'))
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')

/** Returns the bodies of the API that a page shows: of the chart, then of the table. */
const bodiesOf = ({ body }: { body: string }): object[] =>
  [...body.matchAll(/<pre[^>]*><code>([^<]*)<\/code>/g)].map(([, json = '']) =>
    JSON.parse(json.replaceAll('&quot;', '"').replaceAll('&amp;', '&')),
  )

describe('the page of a project', () => {
  test('shows tiles, a chart with the releases, and a table with shares', async () => {
    const page = await browser.get(PAGE)
    assertValidHtml(page.body)
    const text = textOf(page.body)
    for (const tile of ['Downloads 100 Up 100%', 'Views 7 None', 'Playtime 1.5 h None', 'Revenue 12.34 None'])
      assert.ok(text.includes(tile), `${tile} is not in ${text}`)
    assert.match(page.body, /<a href="\/mod\/lantern\/settings\/analytics\?m=views">Views<\/a>/)
    assert.match(text, /: 100 in total, on average 3 per day\. The last column is not complete yet\./)
    assert.equal(page.body.match(/class="mark"/g)?.length, 2, 'one release in two sizes of the chart')
    assert.match(text, /2\.0\.0 60%, None in the previous period 60 60%/)
    assert.match(text, /1\.0\.0 20%, Down 60% 20 20% Down 60%/)
    assert.match(text, /Other 20%, None in the previous period 20/)
    assert.match(page.body, /<\/th><td>80<\/td>/)
  })

  test('divides downloads by the loaders and game versions of their versions, playtime by those of the players', async () => {
    const ofDownloads = textOf((await browser.get(`${PAGE}?by=loader`)).body)
    assert.match(ofDownloads, /Fabric 80%, Up 60% 80 /)
    assert.match(ofDownloads, /Quilt 60%, None in the previous period 60 /)
    assert.match(textOf((await browser.get(`${PAGE}?by=game_version`)).body), /1\.21\.8 60%/)
    const ofPlaytime = await browser.get(`${PAGE}?m=playtime&by=loader`)
    assertValidHtml(ofPlaytime.body)
    assert.match(textOf(ofPlaytime.body), /Quilt 100%, None in the previous period 1\.5 h/)
  })

  test('countries below the minimum are in "Other", and hostile names are text', async () => {
    const text = textOf((await browser.get(`${PAGE}?by=country`)).body)
    assert.match(text, /Germany 60%/)
    assert.ok(!text.includes('France'))
    assert.match(text, /Other 40%/)
    const page = await browser.get(`${PAGE}?by=domain`)
    assertSays(page, 200, HOSTILE)
    assert.ok(!page.body.includes('<script>alert'))
    assertValidHtml(page.body)
  })

  test('compares with the previous period, and says when nothing was counted', async () => {
    const page = await browser.get(`${PAGE}?compare=before`)
    assertSays(page, 200, '<th scope="col">Previous period</th>')
    assert.match(page.body, /<td>0<\/td><td>50<\/td>/)
    assertValidHtml(page.body)
    const day = iso(noon - 10 * DAY_MS)
    const empty = await browser.get(`${PAGE}?from=${day}&to=${day}`)
    assertSays(empty, 200, /No downloads from .* to .*\./)
    assertValidHtml(empty.body)
  })

  test('counts one version, which the list of versions links', async () => {
    const path = `${PAGE}?version=${current}`
    assertSays(await browser.get('/mod/lantern/settings/versions'), 200, `href="${path}"`)
    const page = await browser.get(path)
    assertSays(page, 200, 'Only version <bdi>2.0.0</bdi>')
    const text = textOf(page.body)
    assert.match(text, /Downloads 60 .* Playtime 1\.5 h/)
    assert.ok(!/m=(revenue|views)/.test(page.body))
    assertSays(await browser.get(`${path}&m=views`), 400, 'not counted per version')
    const foreign = await t.make.version({ project: await t.make.project() })
    for (const id of [foreign.id, 'Unknown1', '../x', current.toLowerCase().slice(1)])
      assertSays(await browser.get(`${PAGE}?version=${encodeURIComponent(id)}`), 404, 'does not exist')
  })

  test('other paths of the project lead to this one', async () => {
    const moved = await browser.get(`/modpack/lantern/settings/analytics?m=views`)
    assert.deepEqual([moved.statusCode, moved.headers.location], [301, `${PAGE}?m=views`])
  })
})

describe('programs', () => {
  test('the bodies on the page return the numbers of the chart and of the table', async () => {
    for (const [query, field] of [
      ['', 'downloads'],
      ['?m=playtime&by=loader&step=week', 'seconds'],
      ['?m=revenue', 'revenue'],
      [`?version=${current}&by=country`, 'downloads'],
    ] as const) {
      for (const path of [PAGE, ACCOUNT]) {
        const bodies = bodiesOf(await browser.get(`${path}${query}`))
        const csv = await browser.get(`${path}.csv${query}`.replace(/&by=\w+/, ''))
        const answers = await Promise.all(bodies.map((body) => t.as(owner).post('/v3/analytics', body)))
        const [chart = [], parts] = answers.map((answer) => answer.json() as Record<string, string>[][])
        const sum = (points: Record<string, string>[]) => points.reduce((all, point) => all + Number(point[field]), 0)
        const scale = field === 'seconds' ? 3600 : 1
        const columns = csv.body.trim().split('\r\n').slice(1)
        assert.deepEqual(
          columns.map((line) => Number(line.split(',')[1])),
          chart.map((points) => sum(points) / scale),
          `${path}${query}`,
        )
        if (parts !== undefined) assert.equal(sum(parts.flat()), sum(chart.flat()))
      }
    }
  })

  test('CSV has the chart, or the whole table, and runs no formula', async () => {
    const chart = await browser.get(`${PAGE}.csv?from=${iso(noon)}&step=hour&compare=before`)
    assert.equal(chart.headers['content-type'], 'text/csv; charset=utf-8')
    assert.match(String(chart.headers['content-disposition']), /filename="lantern-downloads-\d{4}-\d\d-\d\d-.*\.csv"/)
    const [head, ...lines] = chart.body.trim().split('\r\n')
    assert.equal(head, 'Hour from (UTC),Downloads,Previous period')
    assert.equal(lines.length, 13)
    assert.equal(lines[11], `${iso(noon)}T11:00:00.000Z,80,0`)
    const table = await browser.get(`${PAGE}.csv?by=domain`)
    assert.equal(
      table.body,
      `Domain,Downloads,Previous period\r\na.example,60,0\r\n"'${HOSTILE.replaceAll('"', '""')}",20,0\r\nOther,20,50\r\n`,
    )
    const url = `${PAGE}?by=version`
    const accept = { accept: 'text/csv', cookie: `__Host-depot-session=${owner.token}` }
    const preferred = await t.inject({ method: 'GET', url, headers: { ...accept, 'user-agent': 'Test/1' } })
    assert.equal(preferred.headers['content-type'], 'text/csv; charset=utf-8')
    assert.ok(preferred.body.includes(`2.0.0,${current},60,0`))
  })
})

describe('the page of the account', () => {
  test('counts all projects with VIEW_ANALYTICS; rows lead to the project', async () => {
    const member = await t.make.account()
    const seen = await t.make.project({ name: 'Seen', slug: 'seen' })
    const blind = await t.make.project({ name: 'Blind', slug: 'blind' })
    await t.make.member({ teamId: seen.teamId, accountId: member.id, permissions: 256 })
    await t.make.member({ teamId: blind.teamId, accountId: member.id, permissions: 255 })
    for (const { id } of [seen, seen, blind]) t.deps.events.add('view', aView({ project_id: id, recorded_at: noon }))
    await t.deps.events.flush()
    const own = visitor(t, member.token)
    const page = await own.get(`${ACCOUNT}?m=views`)
    assertValidHtml(page.body)
    assertSays(page, 200, 'href="/project/seen/settings/analytics?m=views"')
    assert.match(textOf(page.body), /Views 2 /)
    assert.ok(!page.body.includes('Blind') && !page.body.includes('m=revenue'))
    assertSays(await own.get(`${ACCOUNT}?m=revenue`), 400, 'You cannot see the revenue')
    assert.match(textOf((await own.get(`${ACCOUNT}?m=views&project=seen`)).body), /Only Seen .* Views 2/)
    assertSays(await own.get(`${ACCOUNT}?project=blind`), 403, 'VIEW_ANALYTICS')
    for (const name of ['lantern', 'nobody-made-this', '..%2F'])
      assertSays(await own.get(`${ACCOUNT}?project=${name}`), 404, 'does not exist')
    assertSays(await own.get(`${ACCOUNT}?version=${current}`), 404, 'does not exist')
  })

  test('without projects it says what to do first', async () => {
    assertSays(await visitor(t, (await t.make.account()).token).get(ACCOUNT), 200, 'You have no projects.')
  })

  test('100 projects: the largest are rows, the search finds the others, with the same number of statements', async () => {
    const person = await t.make.account()
    const own = visitor(t, person.token)
    const add = async (from: number, to: number) => {
      const made = await Promise.all(
        Array.from({ length: to - from }, (_, n) => t.make.project({ owner: person, name: `Torch ${from + n}` })),
      )
      for (const { id } of made) t.deps.events.add('download', aDownload({ project_id: id, recorded_at: noon }))
      await t.deps.events.flush()
      await own.get(ACCOUNT)
      return (await t.queriesOf(() => own.get(ACCOUNT))).queries.length
    }
    assert.equal(await add(0, 2), await add(2, 100))
    const page = await own.get(ACCOUNT)
    assert.equal(page.body.match(/settings\/analytics"><bdi>|<bdi>Torch/g)?.length, 50)
    assert.match(textOf(page.body), /Other 50%.* 50 /)
    assertSays(page, 200, 'The table shows the 50 largest of 100 rows.')
    const found = await own.get(`${ACCOUNT}?q=torch%2099&sort=name`)
    assert.equal(found.body.match(/<bdi>Torch/g)?.length, 1)
    assertSays(found, 200, 'aria-sort="ascending"')
    assertSays(await own.get(`${ACCOUNT}?q=%3Cnothing`), 200, 'No results for “<nothing”.')
    const rows = (await own.get(`${ACCOUNT}.csv?by=project`)).body.trim().split('\r\n')
    assert.equal(rows.length, 101)
    assertSays(await own.get(`${ACCOUNT}?step=hour&from=${iso(noon - 41 * DAY_MS)}`), 200, '100 in total')
  })
})

describe('access', () => {
  test('visitors sign in, others get 404, members see who can grant the permission', async () => {
    const signedOut = await visitor(t).get(PAGE)
    assert.equal(signedOut.statusCode, 303)
    const stranger = visitor(t, (await t.make.account()).token)
    for (const path of [PAGE, `${PAGE}.csv`]) assertSays(await stranger.get(path), 404, 'does not exist')
    const member = await t.make.account()
    await t.make.member({ teamId: lantern.teamId, accountId: member.id, permissions: 255 + 512 })
    const blind = visitor(t, member.token)
    const page = await blind.get(PAGE)
    assertSays(page, 200, 'To see this, ask <bdi>')
    assert.ok(!page.body.includes('class="tiles') && !page.body.includes('<figure'))
    assertSays(await blind.get(`${PAGE}.csv`), 403, 'VIEW_ANALYTICS')
  })

  test('revenue needs VIEW_PAYOUTS', async () => {
    const member = await t.make.account()
    await t.make.member({ teamId: lantern.teamId, accountId: member.id, permissions: 256 })
    const own = visitor(t, member.token)
    const page = await own.get(PAGE)
    assertSays(page, 200, 'Downloads')
    assert.ok(!page.body.includes('m=revenue') && !page.body.includes('12.34'))
    const revenue = await own.get(`${PAGE}?m=revenue`)
    assertSays(revenue, 200, '<em>View revenue</em>')
    assert.ok(!revenue.body.includes('12.34'))
    assertSays(await own.get(`${PAGE}.csv?m=revenue`), 403, 'VIEW_PAYOUTS')
  })

  test('admins see every project, moderators do not', async () => {
    const admin = visitor(t, (await t.make.account({ role: 'admin' })).token)
    assertSays(await admin.get(PAGE), 200, '<figure')
    assertSays(await admin.get(`${ACCOUNT}?project=lantern`), 200, '<figure')
    const moderator = visitor(t, (await t.make.account({ role: 'moderator' })).token)
    assertSays(await moderator.get(PAGE), 200, 'To see this, ask')
    assertSays(await moderator.get(`${ACCOUNT}?project=lantern`), 404, 'does not exist')
  })
})

describe('bad input', () => {
  test('each error names its field, and the form keeps what was typed', async () => {
    const cases = [
      ['from=tomorrow', 'from', 'The first day must be a day since 1970'],
      ['from=2025-02-30', 'from', 'The first day must be a day since 1970'],
      ['from=1969-12-31', 'from', 'The first day must be a day since 1970'],
      ['to=2025-13-01', 'to', 'The last day must be a day since 1970'],
      ['from=2025-03-02&to=2025-03-01', 'to', 'must not be before the first day'],
      [`from=${iso(noon + DAY_MS)}`, 'from', 'The first day must not be after today'],
      ['to=9999-12-31', 'to', 'The last day must not be after today'],
      ['from=1975-01-01', 'from', 'can have at most 1,024'],
      ['from=1975-01-01&step=day', 'step', 'can have at most 1,024'],
      [`from=${iso(noon - 60 * DAY_MS)}&step=hour`, 'step', 'The chart would have 1,464 columns'],
      ['step=second', 'step', 'The step must be hour, day or week'],
    ] as const
    for (const [query, field, message] of cases) {
      const page = await browser.get(`${PAGE}?${query}`)
      assertSays(page, 400, message)
      assert.match(page.body, new RegExp(`<a href="#${field}">`), query)
      assert.ok(!page.body.includes('<figure'), query)
      assertValidHtml(page.body, query)
      assertSays(await browser.get(`${PAGE}.csv?${query}`), 400, message)
    }
    for (const [query, message] of [
      ['m=secrets', 'The metric must be'],
      ['m=constructor', 'The metric must be'],
      ['by=user_agent', 'cannot be divided'],
      ['m=revenue&by=country', 'cannot be divided'],
      ['by=project', 'cannot be divided'],
    ])
      assertSays(await browser.get(`${PAGE}?${query}`), 400, message ?? '')
    for (const query of ['sort=constructor', 'compare=x', 'm=views&m=downloads', 'q=%25', 'from=&to=&step='])
      assertSays(await browser.get(`${PAGE}?${query}`), 200, 'Analytics')
  })

  test('a day and a year are slices of 24 hours and of weeks, also when clocks change', async () => {
    const year = new Date(noon).getUTCFullYear() - 1
    const lines = async (query: string) =>
      (await browser.get(`${PAGE}.csv?${query}`)).body.trim().split('\r\n').slice(1)
    assert.equal((await lines(`from=${year}-03-30&to=${year}-03-30&step=hour`)).length, 24)
    assert.equal((await lines(`from=${year}-01-01&to=${year}-12-31`)).length, 53)
  })

  test('if the analytics store is down, the counters and the time are shown, and CSV is 503', async () => {
    isDown = true
    try {
      for (const path of [PAGE, ACCOUNT]) {
        const page = await browser.get(path)
        assertSays(page, 200, 'Analytics is temporarily unavailable.')
        assertSays(page, 200, `It has not responded since <time datetime="${new Date(noon).toISOString()}">`)
        assertSays(page, 200, 'Downloads since publication')
        assertValidHtml(page.body)
      }
      assertSays(await browser.get(`${PAGE}.csv`), 503, 'Analytics is temporarily unavailable.')
      t.advance(HOUR_MS)
      assertSays(await browser.get(PAGE), 200, `<time datetime="${new Date(noon).toISOString()}">`)
    } finally {
      isDown = false
      t.advance(-HOUR_MS)
    }
    assertSays(await browser.get(PAGE), 200, '<figure')
  })
})
