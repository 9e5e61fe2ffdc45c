// Many expensive requests from one address do not delay other clients: search, analytics queries, uploads and downloads
// of archives. src/features/people/accounts/sign-up/fairness.test.ts covers passwords and images.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get as httpGet, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { newId } from '#lib/ids.ts'
import { BYPASS_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import { questionBody } from '#test/support/http/analytics-queries.ts'
import { form, modJar, versionData } from '#test/support/http/forms.ts'

const LOUD = '192.0.2.1'
const QUIET = '192.0.2.2'

/**
 * Blocks calls until the expected number has arrived, then releases them in the order loud, quiet, so that all wait in
 * the queue when the work begins. `done` lists the finished calls in order.
 */
function createGate() {
  let expected = 0
  let held: { caller: string; go: () => void }[] = []
  const done: string[] = []
  return {
    done,
    expect(count: number): void {
      expected = count
      done.length = 0
    },
    async pass<T>(caller: string, work: () => Promise<T>): Promise<T> {
      if (expected > 0) {
        const { promise, resolve } = Promise.withResolvers<void>()
        held.push({ caller, go: resolve })
        if (held.length === expected) {
          expected = 0
          const all = held.sort((a, b) => a.caller.localeCompare(b.caller))
          held = []
          for (const { go } of all) go()
        }
        await promise
      }
      const result = await work()
      done.push(caller)
      return result
    },
  }
}

let t: TestApp
const gate = createGate()
const callers = new Set<string | undefined>()
before(async () => {
  t = await testApp({
    deps: ({ search, analytics, archives }) => ({
      search: {
        ...search,
        search: (query, caller) => {
          callers.add(caller)
          return gate.pass(caller ?? '', () => search.search(query, caller))
        },
        count: (query, caller) => {
          callers.add(caller)
          return search.count(query, caller)
        },
      },
      analytics: {
        ...analytics,
        query: (query, options) => gate.pass(options?.caller ?? '', () => analytics.query(query, options)),
      },
      archives: {
        ...archives,
        inspect: (path, options) => gate.pass(options.caller, () => archives.inspect(path, options)),
      },
    }),
  })
})
after(() => t?.close())

const send = (remoteAddress: string, { headers, ...request }: InjectOptions): Promise<LightMyRequestResponse> =>
  t.inject({
    ...request,
    remoteAddress,
    headers: { 'user-agent': 'depot-tests/1.0', 'x-ratelimit-key': BYPASS_KEY, ...headers },
  })

/** Sends many requests from one address and then one request from another address. */
async function flood(count: number, loud: (n: number) => InjectOptions, quiet: InjectOptions) {
  gate.expect(count + 1)
  const answers = Array.from({ length: count }, (_, n) => send(LOUD, loud(n)))
  const answer = await send(QUIET, quiet)
  return { answer, place: gate.done.indexOf(QUIET), others: await Promise.all(answers) }
}

function assertOverload(answers: LightMyRequestResponse[], success: number): void {
  for (const answer of answers) {
    if (answer.statusCode === success) continue
    assert.equal(answer.statusCode, 503, answer.body)
    assert.ok(Number(answer.headers['retry-after']) > 0, answer.body)
  }
}

test('searches of one IP address wait for each other; another address is served between them', async () => {
  await t.make.project({ status: 'approved' })
  await t.searchable()
  const asked = (n: number): InjectOptions => ({ url: '/v3/search', query: { query: `lantern ${n}`, limit: '100' } })
  const { answer, place, others } = await flood(200, asked, asked(200))
  assert.equal(answer.statusCode, 200, answer.body)
  // Maximum number of requests that the index receives at the same time.
  assert.ok(place <= 40, `${place} searches of the other address came before`)
  assertOverload(others, 200)
})

test('whatever searches does so for the address that asks', async () => {
  const urls = ['/v3/search', '/v3/search/facets', '/v2/search', '/', '/search?q=a', '/search?q=b&sort=newest']
  for (const url of [...urls, '/sitemap.xml', '/sitemap-projects-1.xml']) {
    callers.clear()
    const answer = await send(QUIET, { url, headers: { accept: 'text/html' } })
    assert.equal(answer.statusCode, 200, `${url}: ${answer.body}`)
    assert.deepEqual([...callers], [QUIET], url)
  }
})

test('rejects excess analytics queries of one address and serves another address', async () => {
  const [loud, quiet] = [await t.make.project(), await t.make.project()]
  const asked = ({ owner, id }: typeof loud): InjectOptions => ({
    url: '/v3/analytics',
    method: 'POST',
    headers: { authorization: owner.token },
    payload: questionBody(t, { metrics: { project_views: [] }, project_ids: [id] }),
  })
  const { answer, place, others } = await flood(150, () => asked(loud), asked(quiet))
  assert.equal(answer.statusCode, 200, answer.body)
  assert.ok(place <= 4, `${place} queries of the other address came before`)
  assertOverload(others, 200)
  assert.ok(others.some(({ statusCode }) => statusCode === 503))
})

test('archives that are uploaded: too many of one address are rejected, another address publishes', async () => {
  const [loud, quiet] = [await t.make.project(), await t.make.project()]
  const upload = async (project: typeof loud, n: number): Promise<InjectOptions> => {
    const data = { ...versionData({ version_number: `1.0.${n}` }), project_id: project.id }
    const { payload, headers } = await form(data, [{ name: 'file', bytes: modJar(newId()) }])
    return { url: '/v3/version', method: 'POST', headers: { ...headers, authorization: project.owner.token }, payload }
  }
  const uploads = await Promise.all(Array.from({ length: 60 }, (_, n) => upload(loud, n)))
  const { answer, place, others } = await flood(60, (n) => uploads[n] ?? {}, await upload(quiet, 0))
  assert.equal(answer.statusCode, 201, answer.body)
  assert.ok(place <= 4, `${place} archives of the other address came before`)
  assertOverload(others, 201)
  assert.ok(others.some(({ statusCode }) => statusCode === 503))
})

test('archives that are downloaded: they cost their caller more, and readers who do not read delay no one', async () => {
  const project = await t.make.project()
  const version = await t.make.version({ project })
  // More than the buffers of a connection hold.
  await t.make.file({ version, project, filename: 'large.jar', bytes: Buffer.alloc(16 * 1024 * 1024, 7) })
  const path = `/v3/version/${version.id}/archive`
  t.freeze()
  const [plain, archive] = [`/v3/version/${version.id}`, path].map((url) =>
    t.inject({ url, method: 'HEAD', remoteAddress: '192.0.2.3', headers: { 'user-agent': 'depot-tests/1.0' } }),
  )
  const left = (answer: LightMyRequestResponse | undefined) => Number(answer?.headers['x-ratelimit-remaining'])
  assert.deepEqual([left(await plain), left(await archive)], [299, 296])
  t.thaw()

  await t.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = t.app.server.address() as AddressInfo
  const headers = { 'user-agent': 'depot-tests/1.0', 'x-ratelimit-key': BYPASS_KEY }
  const open = async (localAddress: string): Promise<IncomingMessage> => {
    const [answer] = await once(httpGet({ port, path, headers, agent: false, localAddress }), 'response')
    return answer as IncomingMessage
  }
  const unread = await Promise.all(Array.from({ length: 64 }, () => open('127.0.0.1')))
  const answer = await open('127.0.0.2')
  const bytes = await buffer(answer)
  assert.deepEqual([answer.statusCode, String(bytes.length)], [200, answer.headers['content-length']])
  for (const each of unread) assert.deepEqual([each.statusCode, each.complete], [200, false])
  for (const each of unread) each.destroy()
})
