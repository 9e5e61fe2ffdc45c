// POST /v3/analytics: permissions, the response format, money metrics, CSV and errors.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { parseScopeNames } from '#features/basics/access/scopes.ts'
import { newId } from '#lib/ids.ts'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { openLazily } from '#ports/analytics-store/lazy-store.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { aClick, aDownload, aView, somePlaytime } from '#test/support/factories/analytics-events.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { ask, type Question, questionBody, slicesOf } from '#test/support/http/analytics-queries.ts'

const { t } = await teamApp()

const START = Date.UTC(2024, 1, 28)
const iso = (ms: number) => new Date(ms).toISOString()
/** Three days around a leap day, in days. */
const LEAP = { start: iso(START), end: iso(START + 3 * DAY_MS), resolution: { minutes: 1440 } }

const viewAt = (project: { id: string }, recorded_at: number, more = {}) =>
  t.deps.events.add('view', aView({ project_id: project.id, recorded_at, ...more }))
const sourcesOf = (slices: Record<string, unknown>[][]) => [
  ...new Set(slices.flat().map((point) => point['source_project'])),
]

async function share(
  project: { id: string },
  account: { id: string } | null,
  amount: string,
  day: number,
): Promise<void> {
  const part = await t.deps.db
    .insertInto('revenue_part')
    .values({ external_id: newId(), day: new Date(day), amount })
    .returning('id')
    .executeTakeFirstOrThrow()
  await t.deps.db
    .insertInto('revenue_share')
    .values({
      part_id: part.id,
      project_id: project.id,
      account_id: account?.id ?? null,
      day: new Date(day),
      amount,
      available: new Date(day + 60 * DAY_MS),
    })
    .execute()
}

describe('permissions', () => {
  const asked: Question = { ...LEAP, metrics: { project_views: [] } }

  test('without a token 401, without ANALYTICS 403 naming it, both before the body is read', async () => {
    assert.equal((await t.anyone.post('/v3/analytics', 'x')).statusCode, 401)
    const token = await t.make.pat(await t.make.account(), parseScopeNames('PROJECT_READ PAYOUTS_READ').bits)
    const answer = await t.as(token).post('/v3/analytics', {})
    assert.equal(answer.statusCode, 403)
    assert.match(answer.json().description, /ANALYTICS/)
  })

  test('without names: projects of own teams and of organizations with VIEW_ANALYTICS, in every status', async () => {
    const { organization, member } = teamFactories(t.deps.db)
    const person = await t.make.account()
    const owned = await t.make.project({ owner: person, status: 'draft' })
    const joined = await t.make.project()
    await t.make.member({ teamId: joined.teamId, accountId: person.id, permissions: 256 })
    const blind = await t.make.project()
    await t.make.member({ teamId: blind.teamId, accountId: person.id, permissions: 255 + 512 })
    const pending = await t.make.project()
    await t.make.member({ teamId: pending.teamId, accountId: person.id, accepted: false })
    const boss = await t.make.account()
    const home = await organization(boss)
    await member(home.teamId, person, { permissions: 256, organization_permissions: 0 })
    const ofHome = await t.make.project({ owner: boss, organization_id: home.id })
    // A row in the project's own team replaces that of the organization.
    const narrowed = await t.make.project({ owner: boss, organization_id: home.id })
    await t.make.member({ teamId: narrowed.teamId, accountId: person.id, permissions: 1 })
    const all = [owned, joined, blind, pending, ofHome, narrowed]
    for (const project of all) viewAt(project, START)
    const readable = [owned.id, joined.id, ofHome.id].sort()
    assert.deepEqual(sourcesOf(await slicesOf(t, person, asked)), readable)
    const named = { ...asked, project_ids: [...all.map(({ slug }) => slug), 'nobody-made-this', 'Unknown1'] }
    assert.deepEqual(sourcesOf(await slicesOf(t, person, named)), readable)
    const admin = await t.make.account({ role: 'admin' })
    assert.deepEqual(sourcesOf(await slicesOf(t, admin, asked)), [])
    assert.deepEqual(sourcesOf(await slicesOf(t, admin, named)), all.map(({ id }) => id).sort())
    const moderator = await t.make.account({ role: 'moderator' })
    assert.deepEqual(sourcesOf(await slicesOf(t, moderator, named)), [])
  })

  test('an ID and a slug of one project are one source', async () => {
    const project = await t.make.project()
    viewAt(project, START)
    const slices = await slicesOf(t, project.owner, { ...asked, project_ids: [project.id, project.slug.toUpperCase()] })
    assert.equal(slices.flat().length, 1)
  })

  test('affiliate metrics are of own codes, for admins too', async () => {
    const person = await t.make.account()
    const admin = await t.make.account({ role: 'admin' })
    const body = { source_name: 'Mine', affiliate: person.id }
    const { id } = (await t.as(admin).post('/_internal/affiliate', body)).json()
    t.deps.events.add('affiliate_click', aClick({ affiliate_code_id: id, recorded_at: START }))
    const metrics = {
      affiliate_code_clicks: { bucket_by: ['affiliate_code_id'], filter_by: { affiliate_code_id: [id] } },
    }
    assert.deepEqual((await slicesOf(t, person, { ...LEAP, metrics })).flat(), [
      { source_affiliate_code: id, metric_kind: 'clicks', affiliate_code_id: id, clicks: 1 },
    ])
    assert.deepEqual((await slicesOf(t, admin, { ...LEAP, metrics })).flat(), [])
  })

  test('the number of statements does not grow with the projects', async () => {
    const person = await t.make.account()
    const counts: number[] = []
    await ask(t, person, asked)
    for (let made = 0; made < 12; made += 1) {
      await t.make.project({ owner: person })
      if (made === 0 || made === 11) counts.push((await t.queriesOf(() => ask(t, person, asked))).queries.length)
    }
    assert.equal(counts[0], counts[1])
  })
})

describe('answers', () => {
  let project: MadeProject
  before(async () => {
    project = await t.make.project()
    viewAt(project, START, { domain: 'a.example', monetized: true })
    viewAt(project, START + DAY_MS - 1)
    viewAt(project, START + DAY_MS, { domain: '=cmd,"x"' })
    viewAt(project, START + 3 * DAY_MS)
    t.deps.events.add('download', aDownload({ project_id: project.id, recorded_at: START + DAY_MS }))
    t.deps.events.add(
      'playtime',
      somePlaytime({ project_id: project.id, recorded_at: START + 2 * DAY_MS, seconds: 90 }),
    )
  })

  test('one list for each slice, one point for each metric and project, half-open edges', async () => {
    const metrics = { project_playtime: [], project_downloads: [], project_views: [] }
    const source_project = project.id
    assert.deepEqual(await slicesOf(t, project.owner, { ...LEAP, metrics }), [
      [{ source_project, metric_kind: 'views', views: 2 }],
      [
        { source_project, metric_kind: 'views', views: 1 },
        { source_project, metric_kind: 'downloads', downloads: 1 },
      ],
      [{ source_project, metric_kind: 'playtime', seconds: 90 }],
    ])
  })

  test('a point has every requested bucket, an unknown one as an empty text', async () => {
    const metrics = { project_views: ['domain', 'site_path'] }
    const [first = []] = await slicesOf(t, project.owner, { ...LEAP, metrics })
    const views = { source_project: project.id, metric_kind: 'views', site_path: '/', views: 1 }
    assert.deepEqual(first, [
      { ...views, domain: '' },
      { ...views, domain: 'a.example' },
    ])
  })

  test('equal queries get identical responses, whatever the order of their values', async () => {
    const answers = []
    for (const metrics of [
      { project_views: ['domain', 'monetized'], project_downloads: [] },
      { project_downloads: [], project_views: ['monetized', 'domain', 'domain'] },
    ])
      answers.push((await ask(t, project.owner, { ...LEAP, metrics })).body)
    assert.equal(answers[0], answers[1])
  })

  test('slices longer than the range are one slice, however long, for events and for records', async () => {
    const metrics = { project_views: [], project_revenue: [] }
    const ask = (minutes: number) => slicesOf(t, project.owner, { ...LEAP, resolution: { minutes }, metrics })
    const whole = await ask(3 * 1440)
    assert.equal(whole.length, 1)
    for (const minutes of [3 * 1440 + 1, 1e12, Number.MAX_SAFE_INTEGER]) assert.deepEqual(await ask(minutes), whole)
  })

  test('no metrics: every slice is there and empty', async () => {
    assert.deepEqual(await slicesOf(t, project.owner, { ...LEAP, resolution: { slices: 4 }, metrics: {} }), [
      [],
      [],
      [],
      [],
    ])
  })

  test('a day is 24 hours where clocks change, and the 29th of February is a day', async () => {
    const own = await t.make.project()
    // In New York, the 10th of March 2024 has 23 hours.
    const spring = Date.UTC(2024, 2, 10, 5)
    for (const at of [spring, spring + DAY_MS - 1, spring + DAY_MS]) viewAt(own, at)
    const days = { start: '2024-03-10T00:00:00-05:00', end: '2024-03-12T00:00:00-04:00', resolution: { minutes: 1440 } }
    const slices = await slicesOf(t, own.owner, { ...days, metrics: { project_views: [] } })
    assert.deepEqual(
      slices.map((slice) => slice.map(({ views }) => views)),
      [[2], [1]],
    )
    const leap = { start: '2024-02-29T00:00:00Z', end: '2024-03-01T00:00:00Z', resolution: { slices: 24 } }
    assert.equal((await slicesOf(t, own.owner, { ...leap, metrics: { project_views: [] } })).length, 24)
  })

  test('CSV has one row per point, the requested buckets, and no value that a spreadsheet would run', async () => {
    const metrics = { project_downloads: ['project_id'], project_views: ['domain', 'country'] }
    const answer = await ask(t, project.owner, { ...LEAP, metrics }, { accept: 'text/csv' })
    assert.equal(answer.statusCode, 200)
    assert.equal(answer.headers['content-type'], 'text/csv; charset=utf-8')
    assert.match(String(answer.headers['vary']), /Accept/)
    const days = [0, 1, 2, 3].map((day) => iso(START + day * DAY_MS))
    const id = project.id
    assert.deepEqual(answer.body.split('\r\n'), [
      'slice_start,slice_end,metric_kind,source_project,source_affiliate_code,project_id,domain,country,value',
      `${days[0]},${days[1]},views,${id},,,,XX,1`,
      `${days[0]},${days[1]},views,${id},,,a.example,XX,1`,
      `${days[1]},${days[2]},views,${id},,,"'=cmd,""x""",XX,1`,
      `${days[1]},${days[2]},downloads,${id},,${id},,,1`,
      '',
    ])
  })

  test('JSON unless CSV is preferred', async () => {
    const preferences: [string, string][] = [
      ['*/*', 'application/json'],
      ['application/json, text/csv;q=0.5', 'application/json'],
      ['text/csv;q=0', 'application/json'],
      ['text/html', 'application/json'],
      ['text/csv;q=0.9, application/json;q=0.1', 'text/csv'],
      ['TEXT/CSV, */*', 'text/csv'],
    ]
    for (const [accept, type] of preferences) {
      const answer = await ask(t, project.owner, { ...LEAP, metrics: {} }, { accept })
      assert.match(String(answer.headers['content-type']), new RegExp(`^${type}`), accept)
    }
  })

  test('a large answer arrives whole, as JSON and as CSV, compressed or not', async () => {
    const own = await t.make.project()
    for (let i = 0; i < 5_000; i += 1) viewAt(own, START + i, { site_path: `/p/${i}` })
    const question: Question = { ...LEAP, metrics: { project_views: ['site_path'] } }
    const slices = await slicesOf(t, own.owner, question)
    assert.equal(slices.flat().length, 5_000)
    assert.equal(new Set(slices.flat().map((point) => point['site_path'])).size, 5_000)
    const csv = await ask(t, own.owner, question, { accept: 'text/csv' })
    assert.equal(csv.body.split('\r\n').length, 5_002)
    const zipped = await ask(t, own.owner, question, { 'accept-encoding': 'gzip' })
    assert.equal(zipped.headers['content-encoding'], 'gzip')
  })
})

describe('money', () => {
  test('revenue needs PAYOUTS_READ, which is checked before any lookup', async () => {
    const person = await t.make.account()
    const token = await t.make.pat(person, parseScopeNames('ANALYTICS').bits)
    for (const metric of ['project_revenue', 'affiliate_code_revenue']) {
      const metrics = { project_views: [], [metric]: [] }
      const body = questionBody(t, { ...LEAP, metrics })
      await t.as(token).post('/v3/analytics', body)
      const { result, queries } = await t.queriesOf(() => t.as(token).post('/v3/analytics', body))
      assert.deepEqual([result.statusCode, result.json().error, queries], [403, 'unauthorized', []])
      assert.match(result.json().description, /PAYOUTS_READ/)
    }
    const body = questionBody(t, { ...LEAP, metrics: { affiliate_code_conversions: [] } })
    assert.equal((await t.as(token).post('/v3/analytics', body)).statusCode, 200)
  })

  test("a project's revenue is public, dated by its day and exact to the last digit", async () => {
    const project = await t.make.project()
    const other = await t.make.account()
    await share(project, project.owner, '0.1', START)
    await share(project, other, '0.2', START)
    await share(project, null, '0.00000001', START)
    await share(project, project.owner, '999999999999.99', START + DAY_MS)
    await share(project, project.owner, '5', START + 3 * DAY_MS)
    const metrics = { project_revenue: ['project_id'] }
    const point = { source_project: project.id, metric_kind: 'revenue', project_id: project.id }
    assert.deepEqual(await slicesOf(t, project.owner, { ...LEAP, metrics }), [
      [{ ...point, revenue: '0.30000001' }],
      [{ ...point, revenue: '999999999999.99' }],
      [],
    ])
    const later = { ...LEAP, start: iso(START + 1) }
    const shifted = await slicesOf(t, project.owner, { ...later, metrics: { project_revenue: [] } })
    assert.deepEqual(
      shifted.flat().map(({ revenue }) => revenue),
      ['999999999999.99'],
      'midnight lies before the range',
    )
  })

  test('conversions are counted and their revenue added up, by code and slice', async () => {
    const admin = await t.make.account({ role: 'admin' })
    const person = await t.make.account()
    const codes: string[] = []
    for (const name of ['One', 'Two']) {
      const made = await t.as(admin).post('/_internal/affiliate', { source_name: name, affiliate: person.id })
      codes.push(made.json().id)
    }
    const convert = (code = '', at = START, amount = '10') =>
      t
        .as(admin)
        .post('/_internal/admin/affiliate-conversion', {
          external_id: newId(),
          affiliate_code_id: code,
          at: iso(at),
          amount,
        })
    const [one = '', two = ''] = codes
    const edges = [
      convert(one),
      convert(one, START + DAY_MS - 1, '0.05'),
      convert(one, START + DAY_MS),
      convert(two, START, '0'),
    ]
    for (const answer of await Promise.all(edges)) assert.equal(answer.statusCode, 201, answer.body)
    const metrics = { affiliate_code_revenue: [], affiliate_code_conversions: [] }
    const [first, second] = await slicesOf(t, person, { ...LEAP, metrics })
    assert.deepEqual(
      first,
      [
        ...[one, two]
          .sort()
          .map((code) => ({
            source_affiliate_code: code,
            metric_kind: 'conversions',
            conversions: code === one ? 2 : 1,
          })),
        { source_affiliate_code: one, metric_kind: 'revenue', revenue: '1.00' },
      ],
      'half a hundredth earns nothing, and nothing earned makes no point',
    )
    assert.equal(second?.length, 2)
  })
})

describe('errors', () => {
  let person: Person
  before(async () => {
    person = await t.make.account()
  })
  const good = { ...questionBodyOf({ ...LEAP, metrics: { project_views: [] } }) }
  const problems: [string, unknown, string][] = [
    ['no body', {}, 'time_range'],
    ['reversed', withTime({ start: LEAP.end, end: LEAP.start }), 'time_range.end'],
    ['empty', withTime({ end: LEAP.start }), 'time_range.end'],
    ['an invalid day', withTime({ start: '2023-02-29T00:00:00Z' }), 'time_range.start'],
    ['no offset', withTime({ start: '2024-02-28T00:00:00' }), 'time_range.start'],
    [
      '1025 slices',
      withTime({ end: iso(START + 1025 * HOUR_MS), resolution: { slices: 1025 } }),
      'time_range.resolution.slices',
    ],
    ['59 minutes', withTime({ resolution: { minutes: 59 } }), 'time_range.resolution.minutes'],
    ['both resolutions', withTime({ resolution: { slices: 1, minutes: 60 } }), 'time_range.resolution'],
    ['a fraction', withTime({ resolution: { slices: 1.5 } }), 'time_range.resolution.slices'],
    [
      'centuries in hours',
      withTime({ end: '9999-01-01T00:00:00Z', resolution: { minutes: 60 } }),
      'time_range.resolution.minutes',
    ],
    ['an unknown key', withTime({ zone: 'UTC' }), 'time_range.zone'],
    ['no metrics', { ...good, return_metrics: undefined }, 'return_metrics'],
    ['an unknown metric', { ...good, return_metrics: { project_likes: {} } }, 'return_metrics.project_likes'],
    [
      'an unknown bucket',
      { ...good, return_metrics: { project_views: { bucket_by: ['version_id'] } } },
      'return_metrics.project_views.bucket_by.0',
    ],
    [
      'an unknown filter',
      { ...good, return_metrics: { project_views: { filter_by: { planet: [] } } } },
      'return_metrics.project_views.filter_by.planet',
    ],
    ['thousands of projects', { ...good, project_ids: Array.from({ length: 1001 }, (_, i) => `p${i}`) }, 'project_ids'],
    ['no project', { ...good, project_ids: ['../x'] }, 'project_ids.0'],
  ]
  for (const [name, body, field] of problems) {
    test(`${name}: 400 with the field ${field}`, async () => {
      const answer = await t.as(person).post('/v3/analytics', body)
      assert.equal(answer.statusCode, 400, answer.body)
      assert.deepEqual([answer.json().error, answer.json().details.field], ['validation_error', field])
    })
  }

  test('__proto__ is an unknown key like another', async () => {
    const payload = JSON.stringify(good).replace('"project_views"', '"__proto__":{},"project_views"')
    const headers = { 'user-agent': 'x', authorization: person.token, 'content-type': 'application/json' }
    const answer = await t.inject({ method: 'POST', url: '/v3/analytics', payload, headers })
    assert.equal(answer.json().details.field, 'return_metrics.__proto__')
  })

  test('ignores unknown keys in addition to the query', async () => {
    assert.equal((await t.as(person).post('/v3/analytics', { ...good, include: ['x'] })).statusCode, 200)
  })

  function withTime(more: object): object {
    return { ...good, time_range: { ...good.time_range, ...more } }
  }
})

test('a store that fails answers analytics_database_error, and what needs no store is answered', async () => {
  const broken = await testApp({
    deps: () => ({ analytics: openLazily({ open: () => Promise.reject(new Error('disk on fire')) }) }),
  })
  try {
    const person = await broken.make.account()
    const ofViews = await ask(broken, person, { ...LEAP, metrics: { project_views: [] } })
    assert.deepEqual([ofViews.statusCode, ofViews.json().error], [500, 'analytics_database_error'])
    assert.doesNotMatch(ofViews.body, /fire/)
    assert.equal((await ask(broken, person, { ...LEAP, metrics: { project_revenue: [] } })).statusCode, 200)
  } finally {
    await broken.close()
  }
})

function questionBodyOf(question: Question & { start: string; end: string }) {
  const { start, end, resolution } = question
  return { time_range: { start, end, resolution }, return_metrics: { project_views: { bucket_by: [] } } }
}
