// Downloads of the last weeks in lists, and trending projects, as pages show them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { aDownload, times } from '#test/support/factories/analytics-events.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { visitor } from '#test/support/http/visitor.ts'
import { growthOf } from './download-trends.ts'

let t: TestApp
let owner: Person
let rising: MadeProject
before(async () => {
  t = await testApp()
  t.freeze()
  owner = await t.make.account()
  rising = await make('rising', [4, 4, 4, 40])
  await make('steady', [20, 20, 20, 20, 20])
  await t.deps.events.flush()
  await t.searchable()
})
after(() => t?.close())

/** Creates a project with these numbers of downloads in the last weeks, oldest first. */
async function make(slug: string, weeks: readonly number[]): Promise<MadeProject> {
  const project = await t.make.project({ owner, slug, name: slug })
  const version = await t.make.version({ project })
  const midnight = Math.floor(t.deps.now() / DAY_MS) * DAY_MS
  for (const [index, count] of weeks.entries()) {
    const recorded_at = midnight - (weeks.length - index) * 7 * DAY_MS + HOUR_MS
    times(count, () =>
      t.deps.events.add('download', aDownload({ project_id: project.id, version_id: version.id, recorded_at })),
    )
  }
  return project
}

const home = async () => (await visitor(t).get('/')).body
const risingPart = (body: string) => /aria-labelledby="by-rising"[\s\S]*?<\/section>/.exec(body)?.[0] ?? ''

test('a project with unusually many downloads is trending; every list shows the weeks', async () => {
  const body = await home()
  assertValidHtml(body)
  assert.match(risingPart(body), /href="\/mod\/rising"/)
  assert.doesNotMatch(risingPart(body), /href="\/mod\/steady"/)
  for (const path of ['/mods', '/search', `/user/${owner.username}`]) {
    const list = (await visitor(t).get(path)).body
    assert.equal(list.match(/class="spark"/g)?.length, 2, path)
    assertValidHtml(list, path)
  }
})

test('warm lists ask neither the database nor the store for them', async () => {
  await visitor(t).get('/mods')
  const { queries } = await t.queriesOf(() => visitor(t).get('/mods'))
  assert.deepEqual(queries, [])
})

test('a project with private statistics immediately has no line and is not trending, for its owner either', async () => {
  const path = `/v3/project/${rising.id}`
  assert.equal((await t.as(owner).patch(path, { public_statistics: false })).statusCode, 204)
  assert.equal(risingPart(await home()), '')
  const { body } = await visitor(t).get('/mods')
  assert.equal(body.match(/class="spark"/g)?.length, 1)
  assert.ok(!(await visitor(t).get('/mod/rising')).body.includes('id="by-day"'))
  assert.ok((await visitor(t).get('/mod/steady')).body.includes('id="by-day"'))
  assert.equal((await t.as(owner).patch(path, { public_statistics: true })).statusCode, 204)
  assert.match(risingPart(await home()), /href="\/mod\/rising"/)
})

test('without the store lists are there, without lines; they come back after it', async () => {
  const shut = await testApp()
  try {
    const project = await shut.make.project({ slug: 'lantern' })
    const version = await shut.make.version({ project })
    shut.freeze()
    const recorded_at = Math.floor(shut.deps.now() / DAY_MS) * DAY_MS - 1
    times(20, () =>
      shut.deps.events.add('download', aDownload({ project_id: project.id, version_id: version.id, recorded_at })),
    )
    await shut.deps.events.flush()
    await shut.searchable()
    const query = shut.deps.analytics.query
    shut.deps.analytics.query = () => Promise.reject(new Error('the store is unavailable'))
    const lines = async (path: string) => {
      const { statusCode, body } = await visitor(shut).get(path)
      assert.equal(statusCode, 200, path)
      return body.match(/class="spark"/g)?.length ?? 0
    }
    assert.deepEqual([await lines('/'), await lines('/mods')], [0, 0])
    shut.deps.analytics.query = query
    assert.equal(await lines('/mods'), 0, 'it is left in peace for a while')
    shut.advance(MINUTE_MS)
    assert.equal(await lines('/mods'), 1)
  } finally {
    await shut.close()
  }
})

test('growth is relative to the past of the project, and must exceed the noise of small numbers', () => {
  assert.equal(growthOf([]), 0)
  assert.equal(growthOf([0, 0, 0, 0, 900]), 0, 'no past')
  assert.equal(growthOf([0, 0, 0, 1, 9]), 0, 'too few')
  assert.equal(growthOf([10, 10, 10, 10, 15]), 0, 'chance')
  assert.equal(growthOf([100, 100, 100, 100, 50]), 0)
  assert.ok(growthOf([100, 100, 100, 100, 200]) > growthOf([10_000, 10_000, 10_000, 10_000, 11_000]))
  assert.ok(growthOf([1000, 1000, 1000, 1000, 2000]) > growthOf([0, 0, 0, 4, 40]))
})
