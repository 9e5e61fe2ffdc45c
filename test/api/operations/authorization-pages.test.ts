// Routes that the API description does not contain: pages, which identify a browser by its cookie, and aliases of
// routes. A cookie must not open an API route, and a token must not open a page.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { RouteEntry } from '#platform/http/route-config.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { hiddenFields, visitor } from '#test/support/http/visitor.ts'
import { cookieName } from '#web/kit/cookies.ts'
import { bareRequest, send } from './requests.ts'

let t: TestApp
let routes: RouteEntry[]
let pages: RouteEntry[]
let person: Person
let cookie: string
/** Addresses that have answered a page. */
const valid = new Set<string>()
before(async () => {
  t = await testApp()
  routes = t.app.routeTable()
  pages = routes.filter(({ hidden, url }) => hidden && /^\/account(\/|$)/.test(url))
  person = await t.make.account()
  cookie = `${cookieName(t.deps.config, 'session')}=${person.token}`
})
after(() => t?.close())

/** Returns the statuses of a route for these headers. If the route is a page, the response must be valid HTML. */
async function statusWith(route: RouteEntry, headers: Record<string, string>): Promise<number> {
  const request = bareRequest(route)
  const form: Record<string, string> =
    route.method === 'GET' ? {} : { 'content-type': 'application/x-www-form-urlencoded' }
  const payload = route.method === 'GET' ? {} : { payload: 'field=value' }
  const all = { ...request.headers, ...form, ...headers }
  const { status, body } = await send(t, { ...request, ...payload, headers: all }, undefined)
  if (body.startsWith('<!doctype html>')) {
    assertValidHtml(body, `${route.method} ${route.url}`)
    valid.add(route.url)
  }
  return status
}

test('undocumented routes are pages, their files, retired versions, or aliases of a route', () => {
  const described = new Set(routes.filter(({ hidden }) => !hidden).map(({ operationId }) => operationId))
  const known = new Set(['getAsset', 'setPreferences', 'getViewer', 'retired', 'putAffiliateCode', 'countDownload'])
  const others = routes.filter(
    (route) =>
      route.hidden &&
      !pages.includes(route) &&
      !described.has(route.operationId) &&
      !known.has(route.operationId) &&
      !/^(site|publish|manage|moderate|moderation|operate|own)[A-Z]/.test(route.operationId),
  )
  assert.deepEqual(others, [])
})

test('second addresses of an operation ask for the same credentials as the first', () => {
  const first = new Map(routes.filter(({ hidden }) => !hidden).map((route) => [route.operationId, route.config]))
  const wrong = routes.filter(({ operationId, config }) => {
    const described = first.get(operationId)
    if (described === undefined) return false
    return JSON.stringify([described.auth, described.role]) !== JSON.stringify([config.auth, config.role])
  })
  assert.deepEqual(wrong, [])
})

test('a page shows itself or leads to signing in, and ignores a token in the Authorization header', async () => {
  const wrong: unknown[] = []
  for (const page of pages.filter(({ method }) => method === 'GET')) {
    const anonymous = await statusWith(page, {})
    const withToken = await statusWith(page, { authorization: person.token })
    const withCookie = await statusWith(page, { cookie })
    const isFine = [200, 303, 400, 404].includes(anonymous) && withToken === anonymous && withCookie < 500
    if (!isFine) wrong.push([page.url, { anonymous, withToken, withCookie }])
    if (withCookie !== 303 && !valid.has(page.url)) wrong.push([page.url, 'is not a page'])
  }
  assert.deepEqual(wrong, [])
})

test('a form from another site is rejected for every viewer', async () => {
  const wrong: unknown[] = []
  for (const page of pages.filter(({ method }) => method === 'POST')) {
    // Mail programs send the form of an email, whose key is in the URL.
    const isKeyed = page.url === '/account/unsubscribe'
    const foreign = { cookie, origin: 'https://elsewhere.example' }
    for (const headers of isKeyed ? [foreign] : [{}, { cookie }, foreign]) {
      const status = await statusWith(page, headers)
      // The sample ID names no application, and the instance has no Terms, so that these pages do not exist.
      const isMissing = ['/account/applications/:id', '/account/terms'].includes(page.url)
      const isAbsent = isMissing && !('origin' in headers) && 'cookie' in headers
      if (status !== (isAbsent ? 404 : 403)) wrong.push([page.url, headers, status])
    }
  }
  assert.deepEqual(wrong, [])
})

test('a form of a page that a person cannot see is 404, with a token and without', async () => {
  const hidden = await t.make.project({ status: 'draft' })
  const version = await t.make.version({ project: hidden, status: 'draft' })
  const stranger = visitor(t, (await t.make.account()).token)
  const _csrf = hiddenFields(await stranger.get('/account'), '/account')['_csrf'] ?? ''
  /** Forms whose page is a part of a public page, or needs a query. */
  const others = new Set(['setPreferences', 'siteSetSetup', 'publishFile', 'siteReportForm'])
  const forms = routes.filter(
    ({ hidden: isPage, method, url, operationId }) =>
      isPage && method === 'POST' && !/^\/v\d\/|sign-out|devices|delete$/.test(url) && !others.has(operationId),
  )
  const wrong: unknown[] = []
  let unseen = 0
  for (const { url, operationId } of forms) {
    const named = url.replace(/:(project|slug)\b/, hidden.slug).replace(/:(version|number)\b/, version.id)
    const path = named.replace(/:[a-z_]+/g, 'AAAAAAAA')
    if ((await stranger.get(path)).statusCode !== 404) continue
    unseen += 1
    const withToken = (await stranger.post(path, { _csrf, field: 'x' })).statusCode
    const without = (await stranger.post(path, { field: 'x' })).statusCode
    if (withToken !== 404 || without !== 404) wrong.push([operationId, path, withToken, without])
  }
  assert.ok(unseen > 60, `${unseen} pages`)
  assert.deepEqual(wrong, [])
})

test('a cookie opens no route of the API', async () => {
  const wrong: unknown[] = []
  for (const route of routes.filter(({ config: { auth } }) => auth !== 'public')) {
    const request = bareRequest(route)
    const plain = await send(t, request, undefined)
    const withCookie = await send(t, { ...request, headers: { ...request.headers, cookie } }, undefined)
    const isScoped = typeof route.config.auth === 'object' && 'scope' in route.config.auth
    if (withCookie.status !== plain.status || withCookie.body !== plain.body || (isScoped && plain.status !== 401))
      wrong.push([route.method, route.url, plain, withCookie])
  }
  assert.deepEqual(wrong, [])
})
