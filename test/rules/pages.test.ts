// Every operation of the API is on a page or declares why it is on none, and each page is open to the users of the map.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { visitor } from '#test/support/http/visitor.ts'
import { routeBlocks, withBlocks } from '../../scripts/document-blocks.ts'
import { operationsWithoutPage, pageMap } from '../../scripts/page-map.ts'

const t = await testApp()
after(() => t.close())
const pages = pageMap(t.app.routeTable())

test('the map of the pages is up to date', () => {
  const document = readFileSync(join(import.meta.dirname, '../../docs/contributors/pages.md'), 'utf8')
  assert.equal(withBlocks(document, routeBlocks(t.app.routeTable())), document, 'run npm run gen')
})

test('every operation of the API is reachable from a page, or declares the reason', () => {
  const ids = t.app
    .routeTable()
    .filter(({ hidden, url }) => !hidden && !url.startsWith('/v2/'))
    .map(({ operationId }) => operationId)
  const offered = new Set(pages.flatMap(({ api }) => api))
  const excepted = [...operationsWithoutPage(t.app.routeTable()).values()].flat()
  assert.deepEqual(
    {
      missing: ids.filter((id) => !offered.has(id) && !excepted.includes(id)),
      unknown: [...offered].filter((id) => !ids.includes(id)),
      both: excepted.filter((id) => offered.has(id)),
    },
    { missing: [], unknown: [], both: [] },
    'add the operation to "api" of a page, or "withoutPage" to its route',
  )
})

test('each page is open to the users whom the map names', async () => {
  const [user, moderator] = [await t.make.account(), await t.make.account({ role: 'moderator' })]
  const sample = (path: string): string => path.replace('{type}', 'mod').replace(/\{\w+\}/g, 'categories')
  const statusOf = async (path: string, token?: string): Promise<number> =>
    (await visitor(t, token).get(sample(path))).statusCode
  const problems: string[] = []
  for (const { path, who, operation } of pages) {
    if (/^\/(?:moderation|operator)(?:\/|$)/.test(path) && !['moderators', 'operators'].includes(who))
      problems.push(`${operation}: no role is required`)
    if (who === 'everyone') continue
    if ((await statusOf(path)) !== 303) problems.push(`${operation}: a visitor is not led to sign in`)
    const isFor = { moderators: 'moderator', operators: 'admin' }[who as string]
    if (isFor === undefined) continue
    if ((await statusOf(path, user.token)) !== 404) problems.push(`${operation}: a user sees it`)
    const byModerator = await statusOf(path, moderator.token)
    if (isFor === 'admin' && byModerator !== 404) problems.push(`${operation}: a moderator sees it`)
  }
  assert.deepEqual(problems, [])
})
