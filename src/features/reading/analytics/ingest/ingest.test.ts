// The views, downloads, playtime and clicks that Depot records, and those that it ignores.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { parseScopeNames } from '#features/basics/access/scopes.ts'
import { HOUR_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { type Question, slicesOf } from '#test/support/http/analytics-queries.ts'

let t: TestApp
before(async () => {
  t = await testApp({
    env: { COUNTRY_HEADER: 'X-Country' },
    deps: () => ({ countryLookup: (address) => (address === '198.51.100.9' ? 'SE' : undefined) }),
  })
})
after(() => t.close())

let lastAddress = 0
const newAddress = () => {
  lastAddress += 1
  return `10.2.${Math.floor(lastAddress / 250)}.${lastAddress % 250}`
}

type Report = { token?: string; address?: string; headers?: Record<string, string> }
const report = (path: string, payload: unknown, { token, address = newAddress(), headers = {} }: Report = {}) =>
  t.inject({
    method: 'POST',
    url: path,
    payload: payload as object,
    remoteAddress: address,
    headers: { 'user-agent': 'depot-tests/1.0', ...(token === undefined ? {} : { authorization: token }), ...headers },
  })
const view = (url: unknown, given: Report & { referrer?: unknown } = {}) => {
  const { referrer, ...rest } = given
  return report('/analytics/view', { url, ...(referrer === undefined ? {} : { referrer }) }, rest)
}
const page = (project: MadeProject) => `https://site.example/project/${project.slug}`

async function pointsOf(project: MadeProject, metric: string, asked: string[] | object = []) {
  const question: Question = { metrics: { [metric]: asked }, project_ids: [project.id] }
  return (await slicesOf(t, project.owner, question)).flat()
}
const total = async (project: MadeProject, metric: string, value: string) =>
  (await pointsOf(project, metric)).reduce((sum, point) => sum + Number(point[value]), 0)

describe('views', () => {
  test('a page of a project counts, by slug and by ID, below any project type', async () => {
    const project = await t.make.project()
    for (const path of [
      `project/${project.slug}`,
      `mod/${project.id}`,
      `modpack/${project.slug.toUpperCase()}/versions`,
    ])
      assert.equal((await view(`https://site.example/${path}?a=1#b`)).statusCode, 204)
    const points = await pointsOf(project, 'project_views', ['site_path', 'domain'])
    assert.deepEqual(points.map((point) => point['site_path']).sort(), [
      `/mod/${project.id}`,
      `/modpack/${project.slug.toUpperCase()}/versions`,
      `/project/${project.slug}`,
    ])
    assert.ok(points.every((point) => point['domain'] === 'site.example'))
  })

  test('the domain is where the visitor came from, when that is known', async () => {
    const project = await t.make.project()
    await view(page(project), { referrer: 'https://Search.Example/q?x=1' })
    await view(page(project), { referrer: 'nonsense' })
    await view(page(project), { referrer: null })
    const points = await pointsOf(project, 'project_views', ['domain'])
    assert.deepEqual(
      points.map(({ domain, views }) => [domain, views]),
      [
        ['search.example', 1],
        ['site.example', 2],
      ],
    )
  })

  test('hidden, unknown and other pages are 204 and recorded nowhere; members do count', async () => {
    const project = await t.make.project({ status: 'draft' })
    const answers = await Promise.all([
      view(page(project)),
      view(page(project), { token: 'dpp_broken' }),
      view('https://site.example/project/nobody-made-this'),
      view('https://site.example/'),
      view('https://site.example/mod/%E0%A4%A'),
      view(`https://site.example/elsewhere/${project.slug}`),
    ])
    assert.deepEqual(new Set(answers.map(({ statusCode }) => statusCode)), new Set([204]))
    assert.equal(await total(project, 'project_views', 'views'), 0)
    assert.equal((await view(page(project), { token: project.owner.token })).statusCode, 204)
    assert.equal(await total(project, 'project_views', 'views'), 1)
  })

  test('rejects invalid web URLs', async () => {
    for (const url of ['', 'nonsense', '/project/x', 'ftp://a.example/x', 'javascript:alert(1)', 'https://', 5, null]) {
      const answer = await view(url)
      assert.equal(answer.statusCode, 400, String(url))
      assert.deepEqual([answer.json().error, answer.json().details.field], ['validation_error', 'url'])
    }
    assert.equal((await view(`https://a.example/${'x'.repeat(9000)}`)).statusCode, 400)
    assert.equal((await report('/analytics/view', {})).json().details.field, 'url')
  })

  test('every view counts, the first three of an address and project in six hours earn money', async () => {
    const project = await t.make.project()
    const address = '192.0.2.77'
    await Promise.all(Array.from({ length: 10 }, () => view(page(project), { address })))
    await view(page(project), { address: '192.0.2.78' })
    const split = async () =>
      (await pointsOf(project, 'project_views', ['monetized'])).map(({ monetized, views }) => [monetized, views])
    assert.deepEqual(await split(), [
      [false, 7],
      [true, 4],
    ])
    t.advance(6 * HOUR_MS + 1)
    await view(page(project), { address })
    assert.deepEqual(await split(), [
      [false, 7],
      [true, 5],
    ])
  })

  test('views of a project that is not monetized earn nothing', async () => {
    const project = await t.make.project()
    await t.as(project.owner).patch(`/v3/project/${project.id}`, { monetization_status: 'demonetized' })
    await view(page(project))
    assert.deepEqual(
      (await pointsOf(project, 'project_views', ['monetized'])).map(({ monetized }) => monetized),
      [false],
    )
  })

  test('addresses of one /64 are one visitor', async () => {
    const project = await t.make.project()
    for (const end of ['1', '2', '3:4', 'ffff', '99']) await view(page(project), { address: `2001:db8:1:2::${end}` })
    const points = await pointsOf(project, 'project_views', { filter_by: { monetized: [true] } })
    assert.deepEqual(
      points.map(({ views }) => views),
      [3],
    )
  })

  test('the country comes from the header, then from the address, and is shown from 50 on', async () => {
    const project = await t.make.project()
    for (let i = 0; i < 50; i += 1) await view(page(project), { headers: { 'x-country': 'de' } })
    for (let i = 0; i < 50; i += 1) await view(page(project), { address: '198.51.100.9' })
    for (let i = 0; i < 49; i += 1) await view(page(project), { headers: { 'x-country': 'FR' } })
    await view(page(project), { headers: { 'x-country': 'T1' } })
    assert.deepEqual(
      (await pointsOf(project, 'project_views', ['country'])).map(({ country, views }) => [country, views]),
      [
        ['DE', 50],
        ['SE', 50],
        ['XX', 50],
      ],
    )
  })

  test('stores the kind of program, but nothing else of the User-Agent', async () => {
    const project = await t.make.project()
    await view(page(project), { headers: { 'user-agent': 'Mozilla/5.0 (secret details)' } })
    await view(page(project), { headers: { 'user-agent': 'somebody/unknown' } })
    const points = await pointsOf(project, 'project_views', { filter_by: { user_agent: ['website'] } })
    assert.deepEqual(
      points.map(({ views }) => views),
      [1],
    )
  })
})

describe('downloads', () => {
  test('a download records its referrer, its hints and whether the user was signed in', async () => {
    const project = await t.make.project()
    const version = await t.make.version({ project })
    await t.make.file({ version, project, bytes: Buffer.from('analytics bytes') })
    const url = `/data/${project.id}/versions/${version.id}/test.jar`
    const get = (query: string, headers: Record<string, string> = {}) =>
      t.inject({
        method: 'GET',
        url: url + query,
        remoteAddress: newAddress(),
        headers: { 'user-agent': 'x', ...headers },
      })
    const answers = await Promise.all([
      get('?reason=update&loader=fabric&game_version=1.20.1', { referer: 'https://site.example/mod/x?y' }),
      get('?reason=nonsense&loader=nonsense&game_version=0', { authorization: project.owner.token }),
      get('?reason=update&reason=update'),
    ])
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      [200, 200, 200],
      'a wrong hint costs neither the file nor the count',
    )
    const points = await pointsOf(project, 'project_downloads', ['version_id', 'domain', 'site_path'])
    assert.deepEqual(points, [
      {
        source_project: project.id,
        metric_kind: 'downloads',
        version_id: version.id,
        domain: '',
        site_path: '',
        downloads: 2,
      },
      {
        source_project: project.id,
        metric_kind: 'downloads',
        version_id: version.id,
        domain: 'site.example',
        site_path: '/mod/x',
        downloads: 1,
      },
    ])
    for (const [field, value] of [
      ['reason', 'update'],
      ['loader', 'fabric'],
      ['game_version', '1.20.1'],
      ['monetized', true],
    ] as const) {
      const filtered = await pointsOf(project, 'project_downloads', { filter_by: { [field]: [value] } })
      assert.deepEqual(
        filtered.map(({ downloads }) => downloads),
        [1],
        field,
      )
    }
  })
})

describe('playtime', () => {
  let launcher: { token: string }
  let player: Person
  before(async () => {
    player = await t.make.account()
    launcher = await t.make.pat(player, parseScopeNames('PERFORM_ANALYTICS').bits)
  })
  const play = (body: unknown, token = launcher.token) => report('/analytics/playtime', body, { token })
  const entry = { seconds: 60, loader: 'fabric', game_version: '1.20.1' }

  test('seconds are added up by version, loader and game version', async () => {
    const project = await t.make.project()
    const version = await t.make.version({ project })
    assert.equal((await play({ [version.id]: entry })).statusCode, 204)
    assert.equal((await play({ [version.id]: { seconds: 300, loader: 'never-heard-of' } })).statusCode, 204)
    assert.equal((await play({ [version.id]: { seconds: 0 } })).statusCode, 204)
    const points = await pointsOf(project, 'project_playtime', ['version_id', 'loader', 'game_version'])
    const common = { source_project: project.id, metric_kind: 'playtime', version_id: version.id }
    assert.deepEqual(points, [
      { ...common, loader: 'fabric', game_version: '1.20.1', seconds: 60 },
      { ...common, loader: 'unknown', game_version: '', seconds: 300 },
    ])
  })

  test('unknown and hidden versions and entries above 300 seconds are left out, the rest counts', async () => {
    const project = await t.make.project()
    const listed = await t.make.version({ project })
    const draft = await t.make.version({ project, status: 'draft', version_number: '2.0.0' })
    const body = { [listed.id]: entry, [draft.id]: entry, Unknown1: entry }
    assert.equal((await play(body)).statusCode, 204)
    assert.equal((await play({ [listed.id]: { ...entry, seconds: 301 } })).statusCode, 204)
    assert.equal(await total(project, 'project_playtime', 'seconds'), 60)
  })

  test('playtime in a bundle also counts for the bundle', async () => {
    const project = await t.make.project()
    const bundle = await t.make.project()
    const version = await t.make.version({ project })
    const sibling = await t.make.version({ project, version_number: '2.0.0' })
    const pack = await t.make.version({ project: bundle })
    await play({ [version.id]: { ...entry, parent: pack.id }, [sibling.id]: { ...entry, parent: version.id } })
    assert.equal(await total(bundle, 'project_playtime', 'seconds'), 60)
    assert.equal(await total(project, 'project_playtime', 'seconds'), 120)
  })

  test('an account adds at most 14,400 seconds in a clock hour, to the second', async () => {
    const project = await t.make.project()
    const versions = []
    for (let i = 0; i < 30; i += 1) versions.push(await t.make.version({ project, version_number: `1.${i}` }))
    const greedy = await t.make.account()
    const body = Object.fromEntries(versions.map(({ id }) => [id, { seconds: 290 }]))
    t.freeze()
    t.advance(HOUR_MS - (t.deps.now() % HOUR_MS))
    await Promise.all([play(body, greedy.token), play(body, greedy.token), play(body, greedy.token)])
    assert.equal(await total(project, 'project_playtime', 'seconds'), 14_400)
    t.advance(3_599_000)
    await play(body, greedy.token)
    assert.equal(await total(project, 'project_playtime', 'seconds'), 14_400)
    t.advance(1_000)
    await play(body, greedy.token)
    assert.equal(await total(project, 'project_playtime', 'seconds'), 14_400 + 30 * 290)
    t.thaw()
  })

  test('bad bodies are rejected whole, with the field', async () => {
    const problems: [unknown, string][] = [
      [{ 'not-an-id': entry }, 'not-an-id'],
      [{ Version1: { ...entry, parent: 'no id' } }, 'Version1.parent'],
      [{ Version1: { ...entry, seconds: -1 } }, 'Version1.seconds'],
      [{ Version1: { ...entry, seconds: 65_536 } }, 'Version1.seconds'],
      [{ Version1: { ...entry, seconds: 1.5 } }, 'Version1.seconds'],
      [{ Version1: { loader: 'fabric' } }, 'Version1.seconds'],
      [{ Version1: { ...entry, loader: 'x'.repeat(65) } }, 'Version1.loader'],
      [Object.fromEntries(Array.from({ length: 2001 }, (_, i) => [`v${i}`, entry])), 'body'],
    ]
    for (const [body, field] of problems) {
      const answer = await play(body)
      assert.deepEqual(
        [answer.statusCode, answer.json().error, answer.json().details.field],
        [400, 'validation_error', field],
      )
    }
    assert.equal(
      (await play(Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`v${i}`, entry])))).statusCode,
      204,
    )
  })

  test('requires a token with PERFORM_ANALYTICS before it reads the body', async () => {
    assert.equal((await report('/analytics/playtime', 'x')).statusCode, 401)
    const other = await t.make.pat(player, parseScopeNames('ANALYTICS').bits)
    const answer = await play({ 'not-an-id': 1 }, other.token)
    assert.equal(answer.statusCode, 403)
    assert.match(answer.json().description, /PERFORM_ANALYTICS/)
  })

  test('the number of statements does not grow with the entries', async () => {
    const project = await t.make.project()
    const bodies = [1, 40].map(async (count) => {
      const ids = []
      for (let i = 0; i < count; i += 1)
        ids.push((await t.make.version({ project, version_number: `${count}.${i}` })).id)
      return Object.fromEntries(ids.map((id) => [id, entry]))
    })
    const counts = []
    for (const body of await Promise.all(bodies)) counts.push((await t.queriesOf(() => play(body))).queries.length)
    assert.equal(counts[0], counts[1])
  })
})

describe('affiliate clicks', () => {
  test('a click on a code counts; one on an unknown code looks the same and is stored nowhere', async () => {
    const person = await t.make.account()
    await t.deps.db.updateTable('account').set({ badges: 128 }).where('id', '=', person.id).execute()
    const code = (await t.as(person).post('/_internal/affiliate', { source_name: 'A video' })).json()
    const click = (id: unknown, url: unknown = 'https://shop.example/x') =>
      report('/analytics/affiliate-click', { url, affiliate_code_id: id })
    assert.equal((await click(code.id)).statusCode, 204)
    assert.equal((await click(code.id)).statusCode, 204)
    const before = t.deps.events.stats().affiliate_click
    assert.equal((await click('Unknown1')).statusCode, 204)
    assert.deepEqual(t.deps.events.stats().affiliate_click, before)
    assert.deepEqual((await click('not an id')).json().details.field, 'affiliate_code_id')
    assert.deepEqual((await click(code.id, 'nowhere')).json().details.field, 'url')
    const slices = await slicesOf(t, person, { metrics: { affiliate_code_clicks: [] } })
    assert.deepEqual(slices, [[{ source_affiliate_code: code.id, metric_kind: 'clicks', clicks: 2 }]])
  })
})
