// Permissions: sends every operation as every kind of caller. Review the snapshot of the statuses
// (authorization-matrix.txt; to update it, run `UPDATE_MATRIX=1 npm test -- all-operations`). Separate tests check the
// general rules. Every operation needs an entry in samples.ts.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { ALL_SCOPES, SCOPES, type ScopeName } from '#features/basics/access/scopes.ts'
import type { RouteEntry } from '#platform/http/route-config.ts'
import { assertSameRows } from '#test/support/http/compare-text.ts'
import { opened, t } from './fixture.ts'
import {
  ANYONE,
  type Answer,
  authorizationOf,
  bareRequest,
  buildRequest,
  CALLERS,
  type Caller,
  namedBy,
  operationsOf,
  send,
  sendAsEach,
  unchanged,
} from './requests.ts'
import { SAMPLES } from './samples.ts'
import { createWorld, HIDDEN_THINGS, type Role, type World } from './world.ts'

/** Public, and yet the answer depends on the Authorization header, which stands for something else than a viewer. */
const READS_ITS_OWN_HEADER = new Set(['refreshSession', 'exchangeCode', 'introspectToken', 'revokeToken'])
/** A token without this scope still sees the other half: the organization of a hidden project, as other users see it. */
const OPENS_ITS_OWN_HALF = new Set(['getProjectOrganization ORGANIZATION_READ'])
const NEVER_TWICE_THE_SAME = ['listRandomProjects', 'listRandomProjectsV2']
/** For readers by name, and yet 401: callers are known by a flow instead, or are led to signing in. */
const KNOWS_ANOTHER_WAY = new Set(['authorize', 'changePassword'])

export let routes: RouteEntry[]
/** The answers of each operation to each caller. */
export const matrix = new Map<string, Map<Caller, Answer>>()

before(async () => {
  await opened
  routes = operationsOf(t.app.routeTable())
  const moveClock = routes.filter(({ url }) => url.startsWith('/_internal/auth'))
  const others = routes.filter((route) => !moveClock.includes(route))
  // Operations on the same things are adjacent, and must not run at the same time.
  const size = Math.ceil(others.length / 3)
  const lanes = [moveClock, ...[0, 1, 2].map((lane) => others.slice(lane * size, (lane + 1) * size))]
  await Promise.all(lanes.map(walk))
})

async function walk(lane: RouteEntry[]): Promise<void> {
  let world = createWorld(t)
  for (const route of lane) {
    const sent = await sendAsEach(unchanged(world, route), route)
    matrix.set(route.operationId, sent.answers)
    world = sent.world
  }
}

/** Lists the responses that break a rule. The rule holds if the list is empty. */
function problems(
  wanted: (route: RouteEntry) => boolean,
  judge: (answer: Answer, caller: Caller, route: RouteEntry) => string | undefined,
): string[] {
  return routes.filter(wanted).flatMap((route) =>
    [...(matrix.get(route.operationId) ?? [])].flatMap(([caller, answer]) => {
      const problem = judge(answer, caller, route)
      return problem === undefined
        ? []
        : [`${route.operationId} as ${caller}: ${problem}, but ${answer.status} ${answer.body.slice(0, 200)}`]
    }),
  )
}

const scopesOf = ({ config: { auth } }: RouteEntry): readonly ScopeName[] | undefined =>
  typeof auth === 'object' && 'scope' in auth ? auth.scope : undefined
const isRead = ({ config: { auth } }: RouteEntry): boolean => typeof auth === 'object' && 'read' in auth
const readScopesOf = ({ config: { auth } }: RouteEntry): readonly ScopeName[] =>
  typeof auth === 'object' && 'read' in auth ? auth.read : []
const bitOf = (name: ScopeName): number => SCOPES.find((scope) => scope.name === name)?.value ?? 0
/** Returns a token with all scopes but one. */
const tokenWithout = (world: World, role: Role, name: ScopeName): Promise<string> =>
  world.once(`token of ${role} without ${name}`, async () => {
    const { token } = await t.make.pat(await world.person(role), ALL_SCOPES - bitOf(name))
    return token
  })
const errorOf = ({ body }: Answer): { error?: unknown; description?: unknown; details?: { scope?: unknown } } => {
  try {
    return JSON.parse(body)
  } catch {
    return {}
  }
}

test('the sample of every operation, or only its path, succeeds for a user', () => {
  const known = new Set(routes.map(({ operationId }) => operationId))
  assert.deepEqual(
    Object.keys(SAMPLES).filter((operationId) => !known.has(operationId)),
    [],
  )
  // These operations need a code that only an email contains; separate tests cover them.
  const byMail = new Set(['undoEmailChange', 'undoEmailChangeV2'])
  const neverDone = [...matrix].filter(
    ([operationId, answers]) => !byMail.has(operationId) && [...answers.values()].every(({ status }) => status >= 400),
  )
  assert.deepEqual(
    neverDone.map(([operationId, answers]) => [operationId, answers.get('owner')]),
    [],
    'add a request to samples.test.ts of the feature',
  )
})

test('nothing answers 5xx, and every refusal has the form of an error', () => {
  const wrong = problems(
    () => true,
    (answer, _caller, { url }) => {
      if (answer.status >= 500) return 'an internal error'
      // The v2 API returns no body for a missing resource.
      if (answer.status < 400 || (url.startsWith('/v2/') && answer.status === 404 && answer.body === ''))
        return undefined
      const { error, description } = errorOf(answer)
      return typeof error === 'string' && typeof description === 'string' ? undefined : 'an error without its form'
    },
  )
  assert.deepEqual(wrong, [])
})

test('a route for tokens answers 401 without one, and 403 naming the scope that a token lacks', () => {
  const wrong = problems(
    (route) => scopesOf(route) !== undefined,
    (answer, caller, route) => {
      const { error, details } = errorOf(answer)
      if (caller === 'anonymous' || caller === 'unknown')
        return answer.status === 401 && error === 'unauthorized' ? undefined : '401 unauthorized'
      const [first] = scopesOf(route) ?? []
      if (caller !== 'weak' || first === undefined) return undefined
      return answer.status === 403 && error === 'unauthorized' && details?.scope === first ? undefined : `403 ${first}`
    },
  )
  assert.deepEqual(wrong, [])
})

test('each scope of a route is needed: a token with all others is rejected by its name', async () => {
  const wrong: string[] = []
  const world = createWorld(t)
  for (const route of routes) {
    for (const name of scopesOf(route) ?? []) {
      const answer = await send(t, bareRequest(route), await tokenWithout(world, 'admin', name))
      const { description } = errorOf(answer)
      if (answer.status !== 403 || !String(description).includes(name))
        wrong.push(`${route.operationId} without ${name}: ${answer.status} ${answer.body}`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('checks credentials before the body: anonymous uploads fail', async () => {
  const wrong: string[] = []
  for (const route of routes.filter((each) => scopesOf(each) !== undefined && each.method !== 'GET')) {
    const request = bareRequest(route)
    const headers = { ...request.headers, 'content-type': 'application/json' }
    const answer = await send(t, { ...request, headers, payload: '{"cut off' }, undefined)
    if (answer.status !== 401) wrong.push(`${route.operationId}: ${answer.status} ${answer.body}`)
  }
  assert.deepEqual(wrong, [])
})

test('a read is never rejected for its token: one that is unknown or too weak means anonymous', () => {
  const wrong = problems(
    (route) => isRead(route) && !KNOWS_ANOTHER_WAY.has(route.operationId),
    (answer, caller, route) => {
      if (answer.status === 401 || answer.status === 403) return 'neither 401 nor 403'
      const anonymous = matrix.get(route.operationId)?.get('anonymous')
      if (caller !== 'unknown' && caller !== 'weak') return undefined
      return answer.status === anonymous?.status ? undefined : `${anonymous?.status} as for an anonymous caller`
    },
  )
  assert.deepEqual(wrong, [])
})

test('each scope of a read is needed to see more there than everyone does', async () => {
  const wrong: string[] = []
  const world = createWorld(t, { hidden: true })
  const others = new Set([...KNOWS_ANOTHER_WAY, ...NEVER_TWICE_THE_SAME])
  for (const route of routes.filter((each) => isRead(each) && !others.has(each.operationId))) {
    const request = await buildRequest(world, route)
    const anonymous = await send(t, request, undefined)
    for (const name of readScopesOf(route)) {
      if (OPENS_ITS_OWN_HALF.has(`${route.operationId} ${name}`)) continue
      const answer = await send(t, request, await tokenWithout(world, 'owner', name))
      if (answer.body !== anonymous.body)
        wrong.push(`${route.operationId} without ${name}: ${answer.body.slice(0, 300)}`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('a route for moderators or admins rejects others with 403', () => {
  const wrong = problems(
    ({ config }) => config.role !== undefined,
    (answer, caller, { config }) => {
      const others =
        config.role === 'admin' ? ['stranger', 'member', 'owner', 'moderator'] : ['stranger', 'member', 'owner']
      return !others.includes(caller) || answer.status === 403 ? undefined : '403'
    },
  )
  assert.deepEqual(wrong, [])
})

test("a route for operators does not exist for anybody without the key or an admin's session", () => {
  const wrong = problems(
    ({ config }) => config.auth === 'operator',
    (answer, caller) => {
      if (caller === 'admin') return answer.status < 400 ? undefined : 'success'
      return answer.status === 404 && errorOf(answer).error === 'not_found' ? undefined : '404 not_found'
    },
  )
  assert.deepEqual(wrong, [])
})

test('a public route does not look at the caller', () => {
  const wrong = problems(
    ({ config, operationId }) => config.auth === 'public' && !READS_ITS_OWN_HEADER.has(operationId),
    (answer, _caller, { operationId }) => {
      const anonymous = matrix.get(operationId)?.get('anonymous')
      return answer.status === anonymous?.status ? undefined : `${anonymous?.status} as for an anonymous caller`
    },
  )
  assert.deepEqual(wrong, [])
})

test('hidden resources look absent: other users get the response for an unknown name on every path', async () => {
  const wrong: string[] = []
  let world = createWorld(t, { hidden: true })
  for (const route of routes) {
    const parameters = Object.entries(namedBy(route)).flatMap(([name, thing]) =>
      typeof thing === 'string' && HIDDEN_THINGS.has(thing) ? [name] : [],
    )
    if (parameters.length === 0 || route.config.auth === 'public') continue
    world = unchanged(world, route)
    const token = await authorizationOf(world, 'stranger')
    const hidden = await send(t, await buildRequest(world, route), token)
    const absent = await send(t, await buildRequest(unchanged(world, route), route, parameters), token)
    const anonymous = isRead(route) ? await send(t, await buildRequest(world, route), undefined) : hidden
    if (
      (hidden.status !== 404 && route.config.role === undefined) ||
      hidden.body !== absent.body ||
      anonymous.body !== hidden.body
    ) {
      wrong.push(
        `${route.operationId}: hidden ${hidden.status} ${hidden.body} absent ${absent.status} ${absent.body} anonymous ${anonymous.status} ${anonymous.body}`,
      )
    }
  }
  assert.deepEqual(wrong, [])
})

const MATRIX = join(import.meta.dirname, 'authorization-matrix.txt')

test('the statuses are those that were read and found right', () => {
  const text = describeMatrix()
  if (process.env['UPDATE_MATRIX'] !== undefined) writeFileSync(MATRIX, text)
  assertSameRows(text, readFileSync(MATRIX, 'utf8'))
})

/** One line an operation, in the order of their paths. */
function describeMatrix(): string {
  const byPath = [...routes].sort((a, b) => (a.url === b.url ? order(a.method, b.method) : order(a.url, b.url)))
  const lines = byPath.map(({ method, url, operationId, config }) => {
    const answers = matrix.get(operationId)
    const statuses = CALLERS.map((caller) => String(answers?.get(caller)?.status ?? '').padEnd(10))
    const isSame = new Set(ANYONE.map((caller) => answers?.get(caller)?.status)).size === 1
    const cells =
      config.auth === 'public' && isSame ? `${answers?.get('anonymous')?.status} for anyone` : statuses.join('')
    return `${operationId.padEnd(28)}${`${method} ${url}`.padEnd(66)}${cells}`.trimEnd()
  })
  const head =
    `${'operation'.padEnd(28)}${'request'.padEnd(66)}${CALLERS.map((caller) => caller.padEnd(10)).join('')}`.trimEnd()
  return `${[head, ...lines].join('\n')}\n`
}

function order(a: string, b: string): number {
  return a < b ? -1 : 1
}
