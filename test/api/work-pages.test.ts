// The pages that the browser suite looks at are those of the map; for publishers, moderators and operators, their size and
// statements.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { BYPASS_KEY, type TestApp, testApp } from '#test/support/app/test-app.ts'
import { makeAccountPages } from '#test/support/pages/account-pages.ts'
import { makeMoreWork } from '#test/support/pages/more-work.ts'
import type { ShownPage } from '#test/support/pages/shown-page.ts'
import { makeSitePages } from '#test/support/pages/site-pages.ts'
import { makeWorkPages } from '#test/support/pages/work-pages.ts'
import { pageMap } from '../../scripts/page-map.ts'

const DOCUMENT_BYTES_MAX = 12 * 1024

let t: TestApp
let all: Awaited<ReturnType<typeof makeWorkPages>>
/** Size and statements of each page, by its path. */
let visits: Map<string, { bytes: number; queries: string[] }>
before(async () => {
  t = await testApp()
  // Ages, and pages that are cached for a second, are the same on every visit.
  t.freeze()
  all = await makeWorkPages(t)
  visits = await visitAll('br')
})
after(() => t?.close())

const open = ({ path, by }: ShownPage, headers: Record<string, string> = {}) =>
  t.inject({
    method: 'GET',
    url: path,
    headers: {
      accept: 'text/html',
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0',
      'x-ratelimit-key': BYPASS_KEY,
      cookie: `__Host-depot-session=${by?.token}`,
      ...headers,
    },
  })

test('the browser suite looks at every page of the map', async () => {
  const other = await testApp()
  const listed = [...all.pages, ...(await makeSitePages(other, 20)).pages, ...(await makeAccountPages(other))]
  await other.close()
  const operations = new Set(listed.map(({ operation }) => operation))
  const routes = pageMap(t.app.routeTable())
  const missing = routes.filter(({ operation }) => !operations.has(operation)).map(({ operation }) => operation)
  assert.deepEqual(missing, [], 'add them to test/support/pages')
  const others = t.app
    .routeTable()
    .filter(({ operationId }) => !routes.some(({ operation }) => operation === operationId))
  const known = new Set(others.map(({ operationId }) => operationId))
  const wrong = listed.filter(
    ({ path, operation }) =>
      !known.has(operation) && !routes.some((route) => route.operation === operation && route.matches(path)),
  )
  assert.deepEqual(wrong, [], 'the path belongs to another operation')
})

test('every page has at most 12 KB compressed', () => {
  const large = [...visits].filter(([, { bytes }]) => bytes > DOCUMENT_BYTES_MAX)
  assert.deepEqual(
    large.map(([path, { bytes }]) => `${path} has ${bytes} bytes`),
    [],
  )
})

test('a page does not need more statements when there are more items', async () => {
  await makeMoreWork(t, all.people)
  await t.searchable()
  // It can need fewer: the dashboard shows 8 projects, and only a project under review has a place in the queue.
  const grown = [...(await visitAll())].flatMap(([path, { queries: now }]) => {
    const { queries = [] } = visits.get(path) ?? {}
    if (now.length <= queries.length) return []
    const added = now.filter((query) => !queries.includes(query)).map((query) => query.slice(0, 200))
    return [`${path}: ${queries.length}, then ${now.length} ${added.join('\n')}`]
  })
  assert.deepEqual(grown, [])
})

/** Opens each page twice, the second time with a warm cache. */
async function visitAll(coding = 'identity'): Promise<typeof visits> {
  const visited: typeof visits = new Map()
  for (const page of all.pages) {
    const answer = await open(page, { 'accept-encoding': coding })
    assert.equal(answer.statusCode, page.status ?? 200, `${page.path} ${answer.headers.location ?? ''}`)
    assert.equal(answer.headers['content-encoding'] ?? 'identity', coding, page.path)
    const { queries } = await t.queriesOf(() => open(page))
    visited.set(page.path, { bytes: answer.rawPayload.length, queries })
  }
  return visited
}
