// The map of pages names every page of the routes and every operation of the API, each once.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { operationsOf } from '#test/support/http/openapi-rules.ts'
import { visitor } from '#test/support/http/visitor.ts'
import { commandsOfOperations, functionsOfPages } from '#test/support/pages/command-calls.ts'
import { pageRoutes } from '#test/support/pages/page-routes.ts'
import { NO_PAGE } from '../../scripts/page-map/exceptions.ts'
import { PAGE_MAP } from '../../scripts/page-map/page-map.ts'

const ALL = Object.values(PAGE_MAP).flat()
const OPERATIONS = operationsOf(
  JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/generated/openapi.json'), 'utf8')),
).map(({ operation, method }) => ({ id: String(operation['operationId']), method }))

let t: TestApp
before(async () => {
  t = await testApp()
})
after(() => t.close())

const lines = (rows: readonly { operation: string; path: string }[]): string[] =>
  rows.map(({ operation, path }) => `${operation} ${path}`).sort()

test('the map contains the pages that the routes register, and no other', () => {
  assert.deepEqual(lines(ALL), lines(pageRoutes(t.app.routeTable())), 'edit scripts/page-map')
})

test('every operation of the API is reachable from a page, or named with the reason', () => {
  const ids = OPERATIONS.map(({ id }) => id)
  const offered = new Set(ALL.flatMap(({ api }) => api))
  const excepted = NO_PAGE.flatMap(({ api }) => api)
  assert.deepEqual(
    {
      missing: ids.filter((id) => !offered.has(id) && !excepted.includes(id)),
      stale: [...offered, ...excepted].filter((id) => !ids.includes(id)),
      both: excepted.filter((id) => offered.has(id)),
      twice: excepted.filter((id, index) => excepted.indexOf(id) !== index),
    },
    { missing: [], stale: [], both: [], twice: [] },
    'add the operation to a page in scripts/page-map, or to exceptions.ts',
  )
})

/** Operations that read, although they are not GET: their input is too long for a URL, or they begin a job. */
const READING = ['listProjectsOfFiles', 'reportImpact']

test('a page calls the command of each operation that it offers', () => {
  const writing = OPERATIONS.filter(({ id, method }) => method !== 'get' && !READING.includes(id)).map(({ id }) => id)
  const commands = commandsOfOperations(writing)
  const functions = functionsOfPages()
  const problems = ALL.flatMap(({ operation, api }) =>
    api
      .filter((id) => writing.includes(id))
      .filter((id) => !commands.get(id)?.some((name) => functions.get(operation)?.has(name) === true))
      .map((id) => `${operation} calls none of the commands of ${id}: ${commands.get(id)?.join(', ')}`),
  )
  assert.deepEqual(problems, [])
})

test('each page is open to the users whom the map names', async () => {
  const [user, moderator] = [await t.make.account(), await t.make.account({ role: 'moderator' })]
  const sample = (path: string): string => path.replace('{type}', 'mod').replace(/\{\w+\}/g, 'categories')
  const statusOf = async (path: string, token?: string): Promise<number> =>
    (await visitor(t, token).get(sample(path))).statusCode
  const problems: string[] = []
  for (const { path, who, operation } of ALL) {
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
