// The fast path sends the same responses as the framework.
import assert from 'node:assert/strict'
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { suspendAccount } from '#features/people/accounts/administration/suspend-account.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'

let t: TestApp
let port: number
/** Paths of the requests that reached the framework. */
let throughFramework: string[] = []
/** Runs once while the counters decide. */
let whileCounting: (() => Promise<void>) | undefined

before(async () => {
  t = await testApp({
    env: { RATE_LIMIT_COUNT_304: 'false' },
    watch: (app) => app.addHook('onSend', async (req) => void throughFramework.push(req.url)),
    deps: ({ counters }) => ({
      counters: {
        ...counters,
        take: (key, rate, cost) => {
          const act = whileCounting
          whileCounting = undefined
          return act === undefined ? counters.take(key, rate, cost) : act().then(() => counters.take(key, rate, cost))
        },
      },
    }),
  })
  await t.app.listen({ port: 0, host: '127.0.0.1' })
  port = (t.app.server.address() as AddressInfo).port
})
after(() => t.close())

type Answer = { status: number; headers: IncomingHttpHeaders; body: string }

const AGENT = { 'user-agent': 'depot-tests/1.0' }
/** This header sends a request to the framework and has no other effect. */
const THROUGH_FRAMEWORK = { 'content-length': '0' }

async function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, method, headers: { ...AGENT, ...headers } }, resolve)
      .on('error', reject)
      .end()
  })
  const body = Buffer.concat(await answer.toArray()).toString()
  return { status: answer.statusCode ?? 0, headers: answer.headers, body }
}

/** The answer, and whether the framework has seen the request. */
async function watched(path: string, headers: Record<string, string> = {}, method = 'GET') {
  throughFramework = []
  const answer = await ask(path, headers, method)
  return { ...answer, byFramework: throughFramework.length > 0 }
}

/** Creates a project, and returns the path of its page. */
async function pagePath(): Promise<string> {
  const project = await t.make.project()
  await t.make.version({ project })
  return `/mod/${project.slug}`
}

const remaining = ({ headers }: Answer): number => Number(headers['x-ratelimit-remaining'])

function withoutItsOwn({ status, headers, body }: Answer) {
  const { date: _, 'x-request-id': __, 'x-ratelimit-remaining': ___, 'x-ratelimit-reset': ____, ...rest } = headers
  return { status, headers: rest, body }
}

test('API responses equal those of the framework in every form and for every caller, and are current after a write', async () => {
  const owner = await t.make.account()
  const reader = await t.make.account({ username: 'reader' })
  const project = await t.make.project({ owner, slug: 'lantern-2.0' })
  const description = 'Licht: 日本語. '.repeat(100)
  assert.equal((await t.as(owner).patch(`/v3/project/${project.id}`, { description })).statusCode, 204)
  const version = await t.make.version({ project, changelog: 'Änderungen: 日本語. '.repeat(100) })
  const paths = [
    `/v3/project/${project.id}`,
    `/v3/project/${project.slug.toUpperCase()}`,
    `/v2/project/${project.id}`,
    `/v3/version/${version.id}`,
    `/v2/version/${version.id}`,
    '/v3/user/READER',
    '/v2/user/reader',
  ]
  t.freeze()
  for (const path of paths) {
    for (const coding of [
      undefined,
      'gzip',
      'br',
      'zstd',
      'gzip, deflate, br',
      'deflate',
      'br;q=0, zstd;q=0.5, gzip;q=0.4',
    ]) {
      for (const authorization of [undefined, reader.token, owner.token, 'Bearer nonsense']) {
        const headers = {
          ...(coding === undefined ? {} : { 'accept-encoding': coding }),
          ...(authorization === undefined ? {} : { authorization }),
        }
        const name = `${path} ${JSON.stringify(headers)}`
        await ask(path, headers)
        const ready = await watched(path, headers)
        const usual = await watched(path, { ...headers, ...THROUGH_FRAMEWORK })
        assert.deepEqual([ready.byFramework, usual.byFramework], [authorization === 'Bearer nonsense', true], name)
        assert.equal(ready.status, 200)
        assert.deepEqual(withoutItsOwn(ready), withoutItsOwn(usual), name)
        const known = { ...headers, 'if-none-match': ready.headers.etag as string }
        const again = await watched(path, known)
        assert.deepEqual([again.status, again.body], [304, ''], name)
        assert.deepEqual(withoutItsOwn(again), withoutItsOwn(await ask(path, { ...known, ...THROUGH_FRAMEWORK })), name)
        t.advance(60_000)
      }
    }
  }
  t.thaw()
  assert.equal((await t.as(owner).patch(`/v3/project/${project.id}`, { name: 'New name' })).statusCode, 204)
  for (const _ of [1, 2]) assert.equal(JSON.parse((await ask(`/v3/project/${project.id}`)).body).name, 'New name')
  assert.equal((await watched(`/v3/project/${project.id}?x=1`)).byFramework, true)
  const encoded = `%${project.id.charCodeAt(0).toString(16)}${project.id.slice(1)}`
  assert.deepEqual(
    [(await watched(`/v3/project/${encoded}`)).status, (await watched(`/v3/project/${project.id}/`)).status],
    [200, 404],
  )
})

test('a deleted session and a suspended account are anonymous with the next request', async () => {
  const path = `/v3/project/${(await t.make.project()).id}`
  const [gone, suspended] = await t.make.people(2)
  const cachingOf = async (token: string) => {
    const { byFramework, headers } = await watched(path, { authorization: token })
    return [byFramework, headers['cache-control']?.split(',')[0]]
  }
  const pat = await t.make.pat(suspended)
  for (const { token } of [gone, pat]) {
    await ask(path, { authorization: token })
    assert.deepEqual(await cachingOf(token), [false, 'private'])
  }
  const [session] = (await t.as(gone).get('/_internal/session/list')).json()
  assert.equal((await t.as(gone).delete(`/_internal/session/${session.id}`)).statusCode, 204)
  assert.deepEqual(await cachingOf(gone.token), [true, 'public'])
  await suspendAccount(t.deps, COMMAND, { name: suspended.username, reason: 'Advertising', until: null })
  assert.deepEqual(await cachingOf(pat.token), [true, 'public'])
})

test('returns 304 to a client with a current copy, without a cost if the route is free', async () => {
  const path = await pagePath()
  t.freeze()
  const known = { 'if-none-match': (await ask(path)).headers.etag as string }
  const left = remaining(await ask(path))
  const ready = await watched(path, known)
  const usual = await watched(path, { ...known, ...THROUGH_FRAMEWORK })
  assert.deepEqual([ready.byFramework, usual.byFramework], [false, true])
  assert.deepEqual([ready.status, ready.body], [304, ''])
  assert.deepEqual(withoutItsOwn(ready), withoutItsOwn(usual))
  assert.deepEqual([remaining(ready), remaining(usual), remaining(await ask(path))], [left, left, left - 1])
  t.thaw()
})

test('cached pages equal the pages of the framework for each kind of request, and are current after a write', async () => {
  const owner = await t.make.account()
  const project = await t.make.project({ owner, slug: 'kept-page', name: 'Kept page' })
  const version = await t.make.version({ project, changelog: 'Änderungen: 日本語' })
  t.freeze()
  const base = { accept: 'text/html' }
  const ways: Record<string, string>[] = [
    {},
    { 'accept-encoding': 'gzip, br, zstd' },
    { 'accept-encoding': 'gzip' },
    { 'accept-language': 'de-AT,de;q=0.9' },
    { cookie: '__Host-depot-theme=dark; other=1' },
    { cookie: '__Host-depot-setup=1.20.1|fabric' },
  ]
  for (const path of ['/mod/kept-page', '/mod/kept-page?from=here', `/mod/kept-page/version/${version.id}`]) {
    for (const way of ways) {
      const headers = { ...base, ...way }
      // The first makes the page, the second its compressed form.
      await ask(path, headers)
      await ask(path, headers)
      const ready = await watched(path, headers)
      const usual = await watched(path, { ...headers, ...THROUGH_FRAMEWORK })
      assert.deepEqual([ready.byFramework, usual.byFramework], [false, true], path)
      assert.equal(ready.status, 200)
      assert.deepEqual(withoutItsOwn(ready), withoutItsOwn(usual))
      assert.equal(remaining(ready) - remaining(usual), 1, 'both are counted')
      const known = { ...headers, 'if-none-match': ready.headers.etag as string }
      const again = await watched(path, known)
      assert.deepEqual([again.byFramework, again.status, again.body], [false, 304, ''])
      assert.deepEqual(withoutItsOwn(again), withoutItsOwn(await ask(path, { ...known, ...THROUGH_FRAMEWORK })))
    }
  }
  for (const way of [{ cookie: '__Host-depot-session=garbage' }, { 'accept-encoding': 'zstd' }]) {
    await ask('/mod/kept-page', way)
    assert.equal((await watched('/mod/kept-page', way)).byFramework, true, JSON.stringify(way))
  }
  assert.equal((await t.as(owner).patch(`/v3/project/${project.id}`, { name: 'New name' })).statusCode, 204)
  for (const _ of [1, 2]) assert.match((await ask('/mod/kept-page', base)).body, /<h1 dir="auto">New name</)
  assert.equal((await watched('/mod/kept-page', base)).byFramework, false)
  t.advance(60_000)
  assert.equal((await watched('/mod/kept-page', base)).byFramework, true, 'it says how long ago things were')
  assert.equal((await t.as(owner).delete(`/v3/project/${project.id}`)).statusCode, 204)
  assert.equal((await ask('/mod/kept-page', base)).status, 404)
  t.thaw()
})

describe('the framework answers', () => {
  test('special requests', async () => {
    const owner = await t.make.account()
    const path = await pagePath()
    t.freeze()
    await ask(path)
    assert.equal((await watched(path)).byFramework, false)
    const known = await watched(path, { authorization: owner.token })
    assert.deepEqual([known.byFramework, known.status], [true, 200])
    const head = await watched(path, {}, 'HEAD')
    assert.deepEqual([head.byFramework, head.status, head.body], [true, 200, ''])
    const nameless = await watched(path, { 'user-agent': ' ' })
    assert.deepEqual([nameless.byFramework, nameless.status], [true, 400])
    const draft = await t.make.project({ owner, status: 'draft' })
    assert.equal((await ask(`/v3/project/${draft.id}`, { authorization: owner.token })).status, 200)
    const hidden = await watched(`/mod/${draft.slug}`)
    assert.deepEqual([hidden.byFramework, hidden.status], [true, 404])
    t.thaw()
  })

  test('a resource that was hidden while the counters decided, and counts it once', async () => {
    const owner = await t.make.account()
    const project = await t.make.project({ owner })
    await t.make.version({ project })
    const path = `/mod/${project.slug}`
    const other = await pagePath()
    t.freeze()
    const before = remaining(await ask(path))
    whileCounting = async () => {
      assert.equal((await t.as(owner).delete(`/v3/project/${project.id}`)).statusCode, 204)
    }
    const gone = await watched(path)
    assert.deepEqual([gone.byFramework, gone.status], [true, 404])
    await ask(other)
    whileCounting = async () => {}
    const later = await watched(other)
    assert.deepEqual([later.byFramework, later.status], [false, 200])
    assert.ok(before - remaining(later) <= 3, 'three requests, each counted once')
    t.thaw()
  })
})

describe('Accept-Encoding that is odd', () => {
  for (const [accepted, coding] of [
    ['gzip;q=2, br;q=-1', undefined],
    ['gzip;q=1.0000', undefined],
    ['gzip;q=abc, br', 'br'],
    ['gzip ; Q = 0.001', 'gzip'],
    ['x-gzip', 'gzip'],
    ['compress, snappy;q=1', undefined],
    ['*', 'gzip'],
    ['*;q=0', undefined],
    ['identity;q=0', undefined],
    ['identity;q=0, br;q=0.1', 'br'],
    [',,;q=1,', undefined],
    [['gzip;q=0.5', 'br;q=0.7'], 'br'],
    [['br', 'br;q=0'], undefined],
  ] as const) {
    test(`${JSON.stringify(accepted)} gets ${coding ?? 'the response as it is'}`, async () => {
      const owner = await t.make.account()
      const project = await t.make.project({ owner })
      const description = 'A sentence that is repeated. '.repeat(100)
      assert.equal((await t.as(owner).patch(`/v3/project/${project.id}`, { description })).statusCode, 204)
      const path = `/v3/project/${project.id}`
      const headers = { 'accept-encoding': accepted as string, range: 'bytes=0-9' }
      await ask(path)
      for (const by of [{}, THROUGH_FRAMEWORK]) {
        const answer = await watched(path, { ...headers, ...by })
        assert.equal(answer.byFramework, by === THROUGH_FRAMEWORK)
        assert.deepEqual([answer.status, answer.headers['content-encoding']], [200, coding])
        assert.equal(answer.headers.vary, 'accept-encoding')
        assert.equal(answer.headers.etag?.endsWith(`-${coding}"`), coding !== undefined)
      }
    })
  }
})

test('counts requests in the metrics, rejects them beyond the limit, and closes connections during shutdown', async () => {
  const path = await pagePath()
  await ask(path)
  const counted = async () => {
    const text = await t.deps.metrics.registry.metrics()
    return Number(/depot_http_requests_total\{operation="siteProject",status="200"\} (\d+)/.exec(text)?.[1])
  }
  const before = await counted()
  t.freeze()
  const left = remaining(await ask(path))
  const answers = await Promise.all(Array.from({ length: left + 1 }, () => watched(path)))
  const refused = answers.filter(({ status }) => status !== 200)
  assert.deepEqual(
    refused.map(({ status, headers }) => [status, headers['x-ratelimit-remaining']]),
    [[429, '0']],
  )
  assert.equal(answers.filter(({ status }) => status === 200).length, left)
  assert.equal((await counted()) - before, left + 1)
  t.thaw()
  t.advance(60_000)
  await ask(path)
  assert.equal((await watched(path)).byFramework, false)
  t.app.drain()
  const last = await watched(path)
  assert.deepEqual([last.byFramework, last.status, last.headers.connection], [true, 200, 'close'])
})
