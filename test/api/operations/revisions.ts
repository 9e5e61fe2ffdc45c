// Revisions: each write that changes a view raises the revision in it, and `If-Match` rejects an edit of an old one.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { RouteEntry } from '#platform/http/route-config.ts'
import { scopeBits } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { t } from './fixture.ts'
import { authorizedRequest } from './requests.ts'
import { createWorld, type Thing, type World } from './world.ts'

type View = Record<string, unknown> & { revision: number }
type Kind = {
  /** Table with the revision, and the thing whose ID is its key. */
  table: string
  thing: Thing
  view: (id: string) => string
  /** A request body that changes the thing, another for each number. */
  edit: (n: number) => object
  path: (world: World) => Promise<string>
}

const of = (prefix: string, thing: Thing) => async (world: World) => `${prefix}/${await world.id(thing)}`

const KINDS: Record<string, Kind> = {
  project: {
    table: 'project',
    thing: 'project',
    view: (id) => `/v3/project/${id}`,
    edit: (n) => ({ summary: `Another summary ${n}` }),
    path: of('/v3/project', 'project'),
  },
  version: {
    table: 'version',
    thing: 'version',
    view: (id) => `/v3/version/${id}`,
    edit: (n) => ({ changelog: `Another changelog ${n}` }),
    path: of('/v3/version', 'version'),
  },
  organization: {
    table: 'organization',
    thing: 'organization',
    view: (id) => `/v3/organization/${id}`,
    edit: (n) => ({ description: `Another description ${n}` }),
    path: of('/v3/organization', 'organization'),
  },
  collection: {
    table: 'collection',
    thing: 'collection',
    view: (id) => `/v3/collection/${id}`,
    edit: (n) => ({ name: `Another name ${n}` }),
    path: of('/v3/collection', 'collection'),
  },
  pack: {
    table: 'pack',
    thing: 'pack',
    view: (id) => `/v3/pack/${id}`,
    edit: (n) => ({ name: `Another name ${n}` }),
    path: of('/v3/pack', 'pack'),
  },
  user: {
    table: 'account',
    thing: 'owner',
    view: () => '/v3/user',
    edit: (n) => ({ bio: `Another text ${n}` }),
    path: of('/v3/user', 'owner'),
  },
  'team of a project': {
    table: 'team',
    thing: 'team',
    view: (id) => `/v3/team/${id}/members`,
    edit: (n) => ({ role: `Another role ${n}` }),
    path: async (world) => `/v3/team/${await world.id('team')}/members/${await world.id('member')}`,
  },
  'team of an organization': {
    table: 'team',
    thing: 'organizationTeam',
    view: (id) => `/v3/team/${id}/members`,
    edit: (n) => ({ ordering: n + 1 }),
    path: async (world) => `/v3/team/${await world.id('organizationTeam')}/members/${await world.id('member')}`,
  },
}

/** The view for the owner, by default with their session; undefined if they no longer see the thing. */
async function viewOf(world: World, { view, thing }: Kind, reader?: { token: string }): Promise<unknown> {
  const answer = await t.as(reader ?? (await world.person('owner'))).get(view(await world.id(thing)))
  return answer.statusCode === 200 ? answer.json() : undefined
}

const revisionOf = (view: unknown): number => (Array.isArray(view) ? view[0] : (view as View)).revision
const quoted = (revision: number): string => `"${revision}"`

async function storedRevision(world: World, { table, thing }: Kind): Promise<number | undefined> {
  const id = await world.id(thing)
  const { rows } = await sql<{ revision: number }>`select revision from ${sql.table(table)} where id = ${id}`.execute(
    t.deps.db,
  )
  return rows[0]?.revision
}

/** The view without its revision, counters and the users inside it, which have their own revisions. */
function contentOf(view: unknown): unknown {
  return JSON.parse(JSON.stringify(view ?? null), (key, value) =>
    ['revision', 'downloads', 'followers', 'user', 'payout_data'].includes(key) ? undefined : value,
  )
}

/** Writes by accounts; those of operators need another key. */
const isWrite = ({ method, hidden, url }: RouteEntry): boolean =>
  method !== 'GET' && !hidden && /^\/(v3|_internal)\//.test(url)

/** Sends the sample of an operation, and compares what each view showed before and after it. */
async function problemsOf(route: RouteEntry, changes: Set<string>): Promise<string[]> {
  const world = createWorld(t)
  const request = await authorizedRequest(world, route)
  // Some writes end the owner's session.
  const reader = await t.make.pat(await world.person('owner'))
  const read = () => Promise.all(Object.values(KINDS).map((kind) => viewOf(world, kind, reader)))
  const before = await read()
  await t.inject(request)
  const after = await read()
  const stored = await Promise.all(Object.values(KINDS).map((kind) => storedRevision(world, kind)))
  return Object.keys(KINDS).flatMap((name, index) => {
    const [earlier, later, latest] = [before[index], after[index], stored[index]]
    if (earlier === undefined || later === undefined || latest === undefined) return []
    const shown = revisionOf(later)
    if (shown !== latest) return [`${route.operationId}: ${name} shows ${shown}, not ${latest}`]
    if (isDeepStrictEqual(contentOf(earlier), contentOf(later))) return []
    changes.add(name)
    return shown > revisionOf(earlier) ? [] : [`${route.operationId}: ${name} still has ${shown}`]
  })
}

/** More operations at the same time take no less time. */
const AT_ONCE = 4

test('every write that changes a view raises the revision in it, and the cache has the new one', async () => {
  const wrong: string[] = []
  const changes = new Set<string>()
  const routes = t.app.routeTable().filter(isWrite)
  for (let start = 0; start < routes.length; start += AT_ONCE) {
    const problems = routes.slice(start, start + AT_ONCE).map((route) => problemsOf(route, changes))
    wrong.push(...(await Promise.all(problems)).flat())
  }
  assert.deepEqual(wrong, [])
  assert.deepEqual([...changes].sort(), Object.keys(KINDS).sort(), 'some write changes each kind')
})

describe('If-Match', () => {
  for (const [name, kind] of Object.entries(KINDS)) {
    test(`of the ${name}`, async () => {
      const world = createWorld(t)
      const owner = t.as(await world.person('owner'))
      const path = await kind.path(world)
      await world.id(kind.thing)
      const edit = (n: number, match?: string) =>
        owner.patch(path, kind.edit(n), match === undefined ? {} : { headers: { 'if-match': match } })
      const first = revisionOf(await viewOf(world, kind))

      for (const malformed of ['7', '"x"', '""', '*', 'W/"7"', '"-1"', '"01"', '"1", "2"', `"${'9'.repeat(16)}"`])
        assertError(await edit(0, malformed), 400, 'invalid_input', 'if-match')
      assert.equal(revisionOf(await viewOf(world, kind)), first, 'a refused edit changes nothing')
      assert.equal((await edit(1, quoted(first))).statusCode, 204)
      const second = revisionOf(await viewOf(world, kind))
      assert.ok(second > first, `${second} after ${first}`)

      for (const stale of [first, second + 1, 0]) {
        const refused = await edit(2, quoted(stale))
        assertError(refused, 409, 'conflict', 'if-match')
        assert.deepEqual(refused.json().details.current, await viewOf(world, kind), 'the current state')
      }
      assert.equal(revisionOf(await viewOf(world, kind)), second)
      assertError(await owner.patch(path, {}, { headers: { 'if-match': quoted(first) } }), 409, 'conflict', 'if-match')

      const statuses = await Promise.all([3, 4, 5, 6].map(async (n) => (await edit(n, quoted(second))).statusCode))
      assert.deepEqual(statuses.sort(), [204, 409, 409, 409], 'one of several editors')
      assert.equal((await edit(7)).statusCode, 204, 'without If-Match')
    })
  }

  test('shows a token only what it can read, and no state to a stranger', async () => {
    const world = createWorld(t, { hidden: true })
    const owner = await world.person('owner')
    const { token } = await t.make.pat(owner, scopeBits('ONLY', 'PROJECT_WRITE'))
    const path = `/v3/project/${await world.id('project')}`
    const headers = { 'if-match': '"999"' }
    const refused = await t.as({ token }).patch(path, { summary: 'Another summary' }, { headers })
    assertError(refused, 409, 'conflict', 'if-match')
    assert.equal(refused.json().details.current, null)
    const stranger = t.as(await world.person('stranger'))
    assertError(await stranger.patch(path, { summary: 'Another summary' }, { headers }), 404, 'not_found')
    const open = `/v3/organization/${await world.id('organization')}`
    assert.equal((await stranger.patch(open, { name: 'Another name' }, { headers })).statusCode, 403)
  })

  test('is not a condition of the v2 API, whose views have no revision', async () => {
    const world = createWorld(t)
    const owner = t.as(await world.person('owner'))
    const team = `/v2/team/${await world.id('team')}/members`
    const headers = { 'if-match': '"999"' }
    const answer = await owner.patch(`${team}/${await world.id('member')}`, { role: 'Artist' }, { headers })
    assert.equal(answer.statusCode, 204, answer.body)
    const paths = [team, '/v2/user', `/v2/user/${await world.id('owner')}`, `/v2/project/${await world.id('project')}`]
    for (const path of [
      ...paths,
      `/v2/version/${await world.id('version')}`,
      `/v2/thread/${await world.id('thread')}`,
    ]) {
      const view = await owner.get(path)
      assert.equal(view.statusCode, 200, path)
      assert.doesNotMatch(view.body, /"revision"/, path)
    }
  })
})

test('a transfer of ownership depends on the revision of the team', async () => {
  const world = createWorld(t)
  const owner = t.as(await world.person('owner'))
  const team = await world.id('team')
  const body = { user_id: await world.id('member') }
  const transfer = (match: string) => owner.patch(`/v3/team/${team}/owner`, body, { headers: { 'if-match': match } })
  const kind = KINDS['team of a project']
  assert.ok(kind !== undefined)
  const revision = revisionOf(await viewOf(world, kind))
  assertError(await transfer('1'), 400, 'invalid_input', 'if-match')
  const refused = await transfer(quoted(revision + 1))
  assertError(refused, 409, 'conflict', 'if-match')
  assert.equal(refused.json().details.current.length, 2)
  assert.equal((await transfer(quoted(revision))).statusCode, 204)
})

test('counters do not raise a revision, and neither do writes that change nothing', async () => {
  const world = createWorld(t)
  const owner = t.as(await world.person('owner'))
  const path = `/v3/project/${await world.id('project')}`
  const read = async () => (await owner.get(path)).json()
  const before = await read()
  assert.equal((await t.as(await world.person('stranger')).post(`${path}/follow`)).statusCode, 204)
  const followed = await read()
  assert.equal(followed.followers, before.followers + 1)
  assert.equal(followed.revision, before.revision)
  const organization = `/v3/organization/${await world.id('organization')}`
  const { revision, name } = (await owner.get(organization)).json()
  assert.equal((await owner.patch(organization, { name })).statusCode, 204)
  assert.equal((await owner.get(organization)).json().revision, revision)
})
