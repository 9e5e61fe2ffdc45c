// The cost of every operation of both API descriptions has a bound, also if an account, a project, an organization and a
// collection have thousands of everything. Rows, statements and bytes are the same at any load of the machine.
import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { after, before, mock, test } from 'node:test'
import type { RouteEntry } from '#platform/http/route-config.ts'
import { measurePool } from '#test/support/app/measured-pool.ts'
import { BYPASS_KEY, type TestApp } from '#test/support/app/test-app.ts'
import { enlarge, renew } from './operations/largest-world.ts'
import { openForSamples } from './operations/open.ts'
import { authorizationOf, buildRequest, operationsOf } from './operations/requests.ts'
import { createWorld, type Role, type World } from './operations/world.ts'

/** More than a list can have that has a limit, for example 1,000 members, and fewer than there are of everything else. */
const ROWS_MAX = 1_050
const STATEMENTS_MAX = 60
const BYTES_MAX = 500_000
/** Five times the entries of a feed. */
const PAGE_ROWS_MAX = 250
/** Maximum number of bytes of a complete list that are composed before other requests get a turn. */
const TURN_BYTES_MAX = 290_000

/** Operations that exceed a bound, by the reason. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  'the response is a complete list, as clients expect it': [
    ...['listUserProjects', 'listUserFollows', 'listProjectVersions', 'listUserNotifications', 'getThread'],
    ...['listUserProjectsV2', 'listUserFollowsV2', 'listProjectVersionsV2', 'listUserNotificationsV2', 'getThreadV2'],
    ...['listThreads', 'listThreadsV2', 'listUserOrganizations', 'listAllUserProjects', 'listOrganizationProjects'],
    ...['listUserCollections', 'getPayoutHistory', 'getMavenMetadata'],
  ],
  'the response is a whole export or document': [
    'exportData',
    'exportUserData',
    'exportAdvisories',
    'exportAuditEntries',
    'getOpenApi',
  ],
  'the result depends on every version of a project': ['getUpdateFile', 'getProjectStatistics'],
  'the archive has the newest version of each of 1,024 projects': ['downloadCollectionArchive'],
  'it deletes, restores, shows or hides everything that belongs to a resource': [
    ...['restoreUser', 'deleteProject', 'deleteProjectV2', 'deleteOrganization', 'deleteReport', 'deleteReportV2'],
    ...['takeDown', 'scheduleProjectV2', 'addOrganizationProject'],
  ],
  'every project of the organization shows its name': ['updateOrganization'],
  'every member of the project is notified': ['rejectAppeal'],
  'it is about all projects of all members, or all failed jobs': ['queryAnalytics', 'distributeRevenue', 'retryJobs'],
}

/** The code is only in an email, the files of the export are not stored, or everything that the account owns moves. */
const NOT_SENT = new Set(['undoEmailChange', 'undoEmailChangeV2', 'exportProject', 'deleteUser', 'deleteUserV2'])

/** Their transactions are rolled back, because the next operations need what they delete, hide or move. */
const UNDONE = new RegExp(
  `^(${[
    ...['addOrganizationProject', 'changeEmail', 'deleteCollection', 'deleteOrganization', 'deleteProject'],
    ...['deleteReport', 'inviteTeamMember', 'joinTeam', 'removeTeamMember', 'scheduleProject'],
    ...['suspendUser', 'takeDown', 'transferTeamOwnership'],
  ].join('|')})(V2)?$`,
)

const CALLERS = ['owner', 'member', 'moderator', 'admin'] as const satisfies readonly Role[]

type Cost = { rows: number; statements: number; bytes: number; isBounded: boolean; turns: number | undefined }

let t: TestApp
let close: () => Promise<void>
let world: World
/** The world of the requests, which is renewed after a request has changed something. */
let own: World | undefined
let pool: ReturnType<typeof measurePool>
const costs = new Map<string, Cost>()
before(async () => {
  // Without the checks of every response, which cost more than the request.
  ;({ t, close } = await openForSamples({
    watch: () => undefined,
    env: { QUOTA_PROJECTS: '10000', QUOTA_ORGANIZATIONS: '10000', QUOTA_COLLECTIONS: '10000' },
  }))
  world = createWorld(t)
  await enlarge(world)
  await t.searchable()
  pool = measurePool(t.deps.pool)
  for (const route of operationsOf(t.app.routeTable())) {
    if (!NOT_SENT.has(route.operationId)) costs.set(route.operationId, await measure(route))
  }
})
after(() => close?.())

/** Sends the operation as the first caller who may. */
async function measure(route: RouteEntry): Promise<Cost> {
  if (own?.isChanged !== false) own = await renew(world)
  const request = await buildRequest(own, route)
  const isRead = route.method === 'GET'
  if (!isRead) own.isChanged = true
  const refused: string[] = []
  for (const caller of route.config.auth === 'public' ? (['anonymous', 'owner'] as const) : CALLERS) {
    const authorization = await authorizationOf(own, caller)
    const headers = { ...(authorization === undefined ? {} : { authorization }), ...request.headers }
    const send = () => t.inject({ ...request, headers })
    if (isRead) t.deps.cache.clear()
    const { result, rows, statements: sent } = await pool.measure(send, { isUndone: UNDONE.test(route.operationId) })
    if (result.statusCode >= 400) {
      refused.push(`${caller}: ${result.statusCode} ${result.body.slice(0, 200)}`)
      continue
    }
    const [bytes, statements] = [result.rawPayload.length, sent.length]
    const isBounded = rows <= ROWS_MAX && statements <= STATEMENTS_MAX && bytes <= BYTES_MAX
    return { rows, statements, bytes, isBounded, turns: isRead && !isBounded ? await countTurns(send) : undefined }
  }
  throw new Error(`${route.operationId} fails\n${refused.join('\n')}`)
}

/** Returns how often the code of an operation lets other requests run. Time passes between any two readings of the clock. */
async function countTurns(send: () => Promise<unknown>): Promise<number> {
  t.deps.cache.clear()
  let turns = 0
  const note = (_id: number, type: string): void => {
    if (type === 'Immediate') turns += 1
  }
  const hook = createHook({ init: note }).enable()
  const now = performance.now()
  const clock = mock.method(performance, 'now', () => now + 1000 * clock.mock.callCount())
  await send()
  clock.mock.restore()
  hook.disable()
  return turns
}

test('an operation reads, changes and returns a bounded number of rows and bytes, with few exceptions', () => {
  const exceptions = new Set(Object.values(EXCEPTIONS).flat())
  const unexpected = [...costs].filter(([name, { isBounded }]) => isBounded === exceptions.has(name))
  assert.deepEqual(unexpected, [], 'not bounded, or bounded and yet an exception')
  assert.deepEqual(
    [...exceptions].filter((name) => !costs.has(name)),
    [],
  )
})

test('a complete list is composed in many turns of the event loop', () => {
  const streams = new Set(EXCEPTIONS['the response is a whole export or document'])
  const slow = [...costs].filter(
    ([name, { bytes, turns }]) => !streams.has(name) && bytes / (1 + (turns ?? bytes)) > TURN_BYTES_MAX,
  )
  assert.deepEqual(slow, [])
})

test('feeds, and pages of lists, read only what they show', async () => {
  const [project, organization, owner] = [
    await world.project(),
    await world.organization(),
    await world.person('owner'),
  ]
  const collection = `/collection/${await world.id('collection')}`
  const feeds = [`/user/${owner.username}`, `/organization/${organization.slug}`, collection]
  const paths = [
    ...feeds.flatMap((path) => [`${path}.atom`, `${path}/releases.atom`]),
    collection,
    ...['used-by', 'dependencies', 'gallery'].map((part) => `/mod/${project.slug}/${part}`),
    '/dashboard/notifications',
    // From the index, once.
    '/sitemap.xml',
    '/sitemap-mods-1.xml',
  ]
  const headers = { 'user-agent': 'Mozilla/5.0', accept: 'text/html', 'x-ratelimit-key': BYPASS_KEY }
  const cookie = `__Host-depot-session=${(await renew(world).then((own) => own.person('owner'))).token}`
  for (const url of paths) {
    const send = () => t.inject({ method: 'GET', url, headers: { ...headers, cookie } })
    assert.equal((await send()).statusCode, 200, url)
    const { rows } = await pool.measure(send)
    assert.ok(rows <= PAGE_ROWS_MAX, `${url} reads ${rows} rows`)
  }
})

test('the part of a site map is read from the index once', async () => {
  const search = mock.method(t.deps.search, 'search')
  t.deps.cache.clear()
  const load = () => t.anyone.get('/sitemap-mods-1.xml')
  const first = await load()
  const searches = search.mock.callCount()
  assert.ok(searches > 0)
  assert.equal((await load()).body, first.body)
  assert.equal(search.mock.callCount(), searches)
  search.mock.restore()
})
