// GET and HEAD, with and without conditions, for every path of both API descriptions and for every page.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RouteEntry } from '#platform/http/route-config.ts'
import { t } from './fixture.ts'
import { authorizedRequest, bareRequest, type Request, unchanged } from './requests.ts'
import { createWorld } from './world.ts'

/** Their responses differ each time: chosen at random, measured, or with a new flow. */
const VARYING = new Set(['listRandomProjects', 'listRandomProjectsV2', 'getMetrics', 'getOverview', 'authorize'])
const VARYING_HEADERS = new Set(['date', 'set-cookie', 'transfer-encoding', 'x-request-id', 'x-ratelimit-remaining'])
const CODINGS = ['identity', 'gzip']

type Answer = Awaited<ReturnType<typeof t.inject>>

const sendWith = (request: Request, method: 'GET' | 'HEAD', headers: Record<string, string>): Promise<Answer> =>
  t.inject({ ...request, method, headers: { ...request.headers, ...headers } })

/** The headers of a response that depend on nothing but its content. A page that sets a cookie contains a new token. */
function ownHeaders({ headers }: Answer): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !VARYING_HEADERS.has(name) && !(name === 'content-length' && 'set-cookie' in headers),
    ),
  )
}

/** Lists what is wrong with the responses to one request with one coding. */
async function problemsOf(
  route: RouteEntry,
  request: Request,
  coding: string,
  notFound: string,
): Promise<{ problems: string[]; isConditional: boolean }> {
  const problems: string[] = []
  const expect = (isFine: boolean, answer: Answer, problem: string) => {
    const shown = `${answer.statusCode} ${JSON.stringify(ownHeaders(answer))}`
    if (!isFine) problems.push(`${route.method} ${route.url} ${coding}: ${problem}, but ${shown}`)
  }
  const accepting = { 'accept-encoding': coding }
  const get = await sendWith(request, 'GET', accepting)
  const head = await sendWith(request, 'HEAD', accepting)
  expect(get.statusCode < 500, get, 'GET without a 5xx')
  // Node.js leaves out the body where no route does, but not in tests.
  const isBodiless = head.body === '' || head.body === notFound
  expect(head.statusCode === get.statusCode && isBodiless, head, `HEAD is ${get.statusCode} without a body`)
  const isSame = JSON.stringify(ownHeaders(head)) === JSON.stringify(ownHeaders(get))
  expect(isSame || VARYING.has(route.operationId), head, `HEAD has the headers ${JSON.stringify(ownHeaders(get))}`)
  const { etag } = get.headers
  if (etag === undefined || VARYING.has(route.operationId)) return { problems, isConditional: false }
  for (const method of ['GET', 'HEAD'] as const) {
    const other = await sendWith(request, method, { ...accepting, 'if-none-match': '"other"' })
    expect(other.statusCode === get.statusCode, other, `${method} without a match is ${get.statusCode}`)
    const isPlain = coding === 'identity' && method === 'GET'
    for (const match of isPlain ? [etag, `W/${etag}`, `"other", ${etag}`, '*'] : [etag]) {
      const answer = await sendWith(request, method, { ...accepting, 'if-none-match': match })
      const { 'content-length': length, 'content-encoding': encoding } = answer.headers
      const isBare = answer.body === '' && length === undefined && encoding === undefined
      expect(answer.statusCode === 304 && isBare, answer, `${method} with ${match} is 304 without a body`)
      expect(answer.headers.etag === etag, answer, `the 304 of ${method} with ${match} has the ETag ${etag}`)
    }
  }
  return { problems, isConditional: true }
}

/** Returns a GET of every path of the descriptions, and every GET that they do not contain. */
async function requestsOf(routes: readonly RouteEntry[]): Promise<[RouteEntry, Request][]> {
  const read = routes.filter(({ method, hidden }) => method === 'GET' && !hidden)
  const paths = new Set(read.map(({ url }) => url))
  const written = routes.filter(({ url, hidden }) => !hidden && !paths.has(url))
  const pages = routes.filter(({ method, hidden }) => method === 'GET' && hidden)
  const bare = [...written, ...pages].map((route): [RouteEntry, Request] => [
    route,
    { ...bareRequest(route), method: 'GET' },
  ])
  const full: [RouteEntry, Request][] = []
  let world = createWorld(t)
  for (const route of read) {
    world = unchanged(world, route)
    full.push([route, await authorizedRequest(world, route)])
  }
  return [...full, ...bare]
}

test('HEAD has the status and the headers of GET, and both are 304 if the client has the response', async () => {
  const wrong: string[] = []
  const { body: notFound } = await t.anyone.get('/v3/no-such-route')
  const requests = await requestsOf(t.app.routeTable())
  assert.ok(requests.length > 200, `${requests.length} requests`)
  for (const [route, request] of requests) {
    for (const coding of CODINGS) {
      const { problems, isConditional } = await problemsOf(route, request, coding, notFound)
      wrong.push(...problems)
      if (!isConditional) break
    }
  }
  assert.deepEqual(wrong, [])
})
