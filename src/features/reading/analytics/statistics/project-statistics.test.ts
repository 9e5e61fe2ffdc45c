// GET /v3/project/{id}/statistics and its page: the counted events, and who can see them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import { openLazily } from '#ports/analytics-store/lazy-store.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { aDownload, times } from '#test/support/factories/analytics-events.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { assertSays, visitor } from '#test/support/http/visitor.ts'

let t: TestApp
let owner: Person
before(async () => {
  t = await testApp()
  owner = await t.make.account()
  // No test sees midnight pass.
  t.freeze()
})
after(() => t?.close())

const midnight = () => Math.floor(t.deps.now() / DAY_MS) * DAY_MS

/** A project with two listed versions and a draft, and downloads of all on four days. */
async function makeDownloaded(): Promise<{ project: MadeProject; versions: Record<'both' | 'one' | 'draft', string> }> {
  const project = await t.make.project({ owner })
  const both = await t.make.version({ project, version_number: '1', loaders: ['fabric', 'quilt'] })
  const one = await t.make.version({ project, version_number: '2', loaders: ['fabric'], game_versions: ['1.19.2'] })
  const draft = await t.make.version({ project, version_number: '3', loaders: ['forge'], status: 'draft' })
  const add = (version: { id: string }, count: number, recorded_at: number, country = 'DE') =>
    times(count, () =>
      t.deps.events.add(
        'download',
        aDownload({ project_id: project.id, version_id: version.id, recorded_at, country }),
      ),
    )
  add(both, 60, midnight() - 1)
  add(one, 3, midnight() - 2 * DAY_MS, 'FR')
  add(draft, 2, midnight() - 2 * DAY_MS, 'FR')
  add(both, 7, midnight() - 40 * DAY_MS)
  add(one, 4, midnight() + Math.min(HOUR_MS, t.deps.now() - midnight()))
  await t.deps.events.flush()
  return { project, versions: { both: both.id, one: one.id, draft: draft.id } }
}

test('downloads are counted by whole days, listed version, loader, game version and country', async () => {
  const { project, versions } = await makeDownloaded()
  const answer = await t.anyone.get(`/v3/project/${project.slug}/statistics`)
  assert.equal(answer.statusCode, 200)
  const { series, ...rest } = answer.json()
  assert.deepEqual(rest, {
    project_id: project.id,
    downloads: 76,
    public_statistics: true,
    start: new Date(midnight() - 30 * DAY_MS).toISOString(),
    end: new Date(midnight()).toISOString(),
  })
  assert.equal(series.days.length, 30)
  assert.deepEqual(
    series.days.slice(-3).map((day: { downloads: number }) => day.downloads),
    [0, 5, 60],
  )
  assert.equal(series.days.at(-1).date, new Date(midnight() - 1).toISOString().slice(0, 10))
  assert.equal(series.today, 4)
  assert.deepEqual(series.versions, [
    { version_id: versions.both, downloads: 60 },
    { version_id: versions.one, downloads: 3 },
  ])
  // Periods of two days: the last one has all downloads but those of the day before.
  assert.equal(series.periods.length, 15)
  assert.deepEqual(series.periods.at(-1), {
    start: new Date(midnight() - 2 * DAY_MS).toISOString(),
    downloads: 65,
    versions: [
      { version_id: versions.both, downloads: 60 },
      { version_id: versions.one, downloads: 3 },
    ],
  })
  assert.deepEqual(series.loaders, [
    { loader: 'fabric', downloads: 63 },
    { loader: 'quilt', downloads: 60 },
  ])
  assert.deepEqual(series.game_versions.at(-1), { game_version: '1.19.2', downloads: 3 })
  // Five of a country are too few to name it.
  assert.deepEqual(series.countries, [
    { country: 'DE', downloads: 60 },
    { country: 'XX', downloads: 5 },
  ])
  const longer = (await t.anyone.get(`/v3/project/${project.slug}/statistics`, { query: { days: 90 } })).json()
  assert.equal(longer.series.days.length, 90)
  assert.equal(longer.series.versions[0].downloads, 67)
})

test('only members with VIEW_ANALYTICS and admins see private statistics', async () => {
  const { project } = await makeDownloaded()
  const blind = await t.make.account()
  await t.make.member({ teamId: project.teamId, accountId: blind.id, permissions: 255 })
  const address = `/v3/project/${project.id}/statistics`
  const isSeen = async (who: { get: typeof t.anyone.get }) => {
    const { series, downloads } = (await who.get(address)).json()
    assert.equal(downloads, 76)
    return series !== null
  }
  assert.equal(await isSeen(t.anyone), true)
  const changed = await t.as(owner).patch(`/v3/project/${project.id}`, { public_statistics: false })
  assert.equal(changed.statusCode, 204)
  const stranger = await t.make.account()
  const moderator = await t.make.account({ role: 'moderator' })
  const admin = await t.make.account({ role: 'admin' })
  for (const [who, sees] of [
    [t.anyone, false],
    [t.as(stranger), false],
    [t.as(blind), false],
    [t.as(moderator), false],
    [t.as(admin), true],
    [t.as(owner), true],
  ] as const)
    assert.equal(await isSeen(who), sees)
  const page = await visitor(t).get(`/mod/${project.slug}/statistics`)
  assertSays(page, 200, 'The authors have not made detailed statistics public')
  assertValidHtml(page.body)
  assert.equal((await visitor(t).get(`/mod/${project.slug}/statistics.csv?by=day`)).statusCode, 404)
  assertSays(await visitor(t, owner.token).get(`/mod/${project.slug}/statistics`), 200, 'Downloads per day')
  assert.match(
    (await visitor(t, owner.token).get(`/mod/${project.slug}/statistics.csv?by=day`)).body,
    /^Day,Downloads\r\n/,
  )
})

test('bad spans are rejected, hidden projects are not there', async () => {
  const project = await t.make.project({ owner })
  for (const days of ['0', '366', '1.5', 'x', '-1', '']) {
    const answer = await t.anyone.get(`/v3/project/${project.id}/statistics`, { query: { days } })
    assert.equal(answer.statusCode, 400, days)
    assert.match(answer.body, /days/)
  }
  const hidden = await t.make.project({ owner, status: 'draft' })
  assert.equal((await t.anyone.get(`/v3/project/${hidden.id}/statistics`)).statusCode, 404)
  assert.equal((await t.as(await t.make.account()).get(`/v3/project/${hidden.id}/statistics`)).statusCode, 404)
  assert.equal((await t.as(owner).get(`/v3/project/${hidden.id}/statistics`)).statusCode, 200)
  assert.equal((await t.anyone.get('/v3/project/nobody-made-this/statistics')).statusCode, 404)
})

test('the page has the same numbers as plots, tables and CSV; unknown spans are the usual one', async () => {
  const { project } = await makeDownloaded()
  for (const query of ['', '?d=30', '?d=365', '?d=x', '?d=0&d=30']) {
    const page = await visitor(t).get(`/mod/${project.slug}/statistics${query}`)
    assert.equal(page.statusCode, 200)
    assertValidHtml(page.body, query)
  }
  const page = await visitor(t).get(`/mod/${project.slug}/statistics`)
  assertSays(page, 200, '72 downloads in this period, about 1 per day; 4 so far today')
  assertSays(page, 200, /<bdi>Germany<\/bdi><\/th><td class="length">.*<\/td><td>67<\/td><td class="soft">93\.1%<\/td>/)
  assertSays(page, 200, 'Share of versions')
  const shares = await visitor(t).get(`/mod/${project.slug}/statistics.csv?by=share&d=30`)
  assert.match(shares.body, /^From,[^\r]+,Other versions\r\n/)
  assert.equal(shares.body.trim().split('\r\n').length, 16)
  const csv = await visitor(t).get(`/mod/${project.slug}/statistics.csv?by=loader&d=30`)
  assert.match(String(csv.headers['content-type']), /^text\/csv/)
  assert.equal(csv.body, 'Loader,Downloads\r\nFabric,63\r\nQuilt,60\r\n')
  assert.equal((await visitor(t).get(`/mod/${project.slug}/statistics.csv`)).statusCode, 404)
  assert.equal((await visitor(t).get(`/mod/${project.slug}/statistics.csv?by=__proto__`)).statusCode, 404)
})

test('numbers are counted once a minute, however many ask', async () => {
  const { project } = await makeDownloaded()
  const address = `/v3/project/${project.id}/statistics`
  const read = async () => (await t.anyone.get(address)).json().series.today
  assert.deepEqual(
    await Promise.all(times(8, read)),
    times(8, () => 4),
  )
  t.deps.events.add('download', aDownload({ project_id: project.id, recorded_at: t.deps.now() }))
  await t.deps.events.flush()
  assert.equal(await read(), 4)
  t.advance(MINUTE_MS + 1)
  assert.equal(await read(), 5)
})

test('if the store does not respond, the page shows its totals only', async () => {
  const broken = await testApp({
    deps: () => ({ analytics: openLazily({ open: () => Promise.reject(new Error('disk on fire')) }) }),
  })
  try {
    const project = await broken.make.project()
    await broken.make.version({ project })
    const page = await visitor(broken).get(`/mod/${project.slug}/statistics`)
    assertSays(page, 200, 'Download statistics are temporarily unavailable')
    assertSays(page, 200, 'downloads')
    assertValidHtml(page.body)
    const csv = await visitor(broken).get(`/mod/${project.slug}/statistics.csv?by=day`)
    assert.deepEqual([csv.statusCode, /fire/.test(csv.body)], [503, false])
    const answer = await broken.anyone.get(`/v3/project/${project.slug}/statistics`)
    assert.deepEqual([answer.statusCode, answer.json().error], [500, 'analytics_database_error'])
  } finally {
    await broken.close()
  }
})
