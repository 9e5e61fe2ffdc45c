// Sends the sample request of an operation as each kind of caller.
import assert from 'node:assert/strict'
import type { InjectOptions } from 'fastify'
import { GRANTABLE_SCOPES } from '#features/basics/access/scopes.ts'
import type { RouteEntry } from '#platform/http/route-config.ts'
import { BYPASS_KEY, type TestApp } from '#test/support/app/test-app.ts'
import { limitedToken, publisherToken } from '#test/support/factories/token-factories.ts'
import type { Sample } from './sample.ts'
import { SAMPLES } from './samples.ts'
import { absentThing, createWorld, type Role, type Thing, unknownToken, type World } from './world.ts'

/**
 * `unknown` sends a token that does not exist, `weak` a token of the owner without scopes, `token` a token of the admin
 * with every scope that a token can have, `limited` a token of the owner that is limited to their project and
 * organization, `publisher` the token of a trusted publisher of their project, the others a session.
 */
export const CALLERS = [
  'anonymous',
  'unknown',
  'weak',
  'stranger',
  'member',
  'moderator',
  'admin',
  'token',
  'limited',
  'publisher',
  'owner',
] as const
export type Caller = (typeof CALLERS)[number]
/** Callers for routes that do not check the caller. */
export const ANYONE = ['anonymous', 'unknown', 'owner'] as const satisfies readonly Caller[]

/** `sent` is the request that got this answer. */
export type Answer = { status: number; body: string; type: string; sent: Request }
export type Request = Omit<InjectOptions, 'headers'> & { headers: Record<string, string> }

const COMMON_HEADERS = { 'user-agent': 'depot-tests/1.0 (tests)', 'x-ratelimit-key': BYPASS_KEY }

/** The request as the sample describes it, without credentials; `absent` names parameters that are to name nothing. */
export async function buildRequest(world: World, route: RouteEntry, absent: readonly string[] = []): Promise<Request> {
  const sample = sampleOf(route)
  if (sample.before !== undefined) {
    world.isChanged = true
    await sample.before(world)
  }
  for (const thing of sample.shows ?? []) await world.id(thing)
  const query = await resolveGiven(sample.query, world)
  const raw = await resolveGiven(sample.raw, world)
  const body = await resolveGiven(sample.body, world)
  return {
    method: route.method as 'GET',
    url: await pathOf(world, route, absent),
    headers: { ...COMMON_HEADERS, ...raw?.headers, ...sample.headers },
    ...(query === undefined ? {} : { query }),
    ...(raw === undefined && body === undefined ? {} : { payload: raw?.payload ?? body ?? {} }),
  }
}

/** Returns the sample request of a route by a caller who may send it. */
export async function authorizedRequest(world: World, route: RouteEntry): Promise<Request> {
  const request = await buildRequest(world, route)
  const { auth, role } = route.config
  const caller = auth === 'operator' || role !== undefined ? 'admin' : 'owner'
  const authorization = await authorizationOf(world, caller)
  return { ...request, headers: { ...request.headers, ...(authorization === undefined ? {} : { authorization }) } }
}

/**
 * Returns a request to the route with placeholder IDs and an empty body, for checks that reject it before its content
 * matters.
 */
export function bareRequest({ method, url }: RouteEntry): Request {
  // A stream only ends by itself if its cursor has expired.
  const path = url.endsWith('/stream') ? `${url}?since=00000000-0` : url
  return { method: method as 'GET', url: path.replace(/:[a-z_]+/g, 'AAAAAAAA'), headers: COMMON_HEADERS }
}

/** Each operation once: those that are described, and those that are not though they ask who calls. */
export function operationsOf(table: RouteEntry[]): RouteEntry[] {
  const wanted = table.filter(({ hidden, config }) => !hidden || config.auth !== 'public')
  const byId = new Map<string, RouteEntry>()
  for (const route of [...wanted.filter(({ hidden }) => !hidden), ...wanted]) {
    if (!byId.has(route.operationId)) byId.set(route.operationId, route)
  }
  return [...byId.values()]
}

/** Returns the sample of an operation. Default: the path only. Operations of the v2 API send the request of v3. */
export function sampleOf({ operationId }: Pick<RouteEntry, 'operationId'>): Sample {
  return SAMPLES[operationId] ?? SAMPLES[operationId.replace(/V2$/, '')] ?? {}
}

/** The default thing of a path parameter, by the segment before it. */
const THING_AFTER: Readonly<Record<string, Thing>> = {
  affiliate: 'affiliateCode',
  app: 'application',
  collection: 'collection',
  deliveries: 'webhookDelivery',
  members: 'member',
  message: 'message',
  notification: 'notification',
  organization: 'organization',
  pack: 'pack',
  pat: 'pat',
  payout: 'payout',
  project: 'project',
  projects: 'project',
  'rate-limits': 'grant',
  replies: 'savedReply',
  report: 'report',
  reports: 'report',
  scans: 'version',
  'service-accounts': 'serviceAccount',
  session: 'session',
  team: 'team',
  thread: 'thread',
  tokens: 'serviceToken',
  updates: 'project',
  upload: 'upload',
  user: 'owner',
  users: 'stranger',
  version: 'version',
  version_file: 'fileHash',
  versions: 'version',
  webhook: 'webhook',
}

export function resolveGiven<T>(
  given: T | ((world: World) => T | Promise<T>) | undefined,
  world: World,
): T | Promise<T> | undefined {
  return typeof given === 'function' ? (given as (world: World) => T | Promise<T>)(world) : given
}

/** Returns what the path parameters of a route name. */
export function namedBy(route: RouteEntry): NonNullable<Sample['at']> {
  const defaults = [...route.url.matchAll(/([\w-]+)\/:(\w+)/g)].flatMap(([, before = '', name = '']) => {
    const thing = THING_AFTER[before]
    return thing === undefined ? [] : [[name, thing] as const]
  })
  return { ...Object.fromEntries(defaults), ...sampleOf(route).at }
}

async function pathOf(world: World, route: RouteEntry, absent: readonly string[]): Promise<string> {
  const parts = route.url.split('/').map(async (part) => {
    if (!part.startsWith(':')) return part
    const [name = '', ...extension] = part.slice(1).split('.')
    const ending = extension.map((text) => `.${text}`).join('')
    const named = namedBy(route)[name]
    assert.ok(
      named !== undefined,
      `samples.test.ts of the feature does not say what :${name} of ${route.operationId} is`,
    )
    if (typeof named === 'function') return encodeURIComponent(await named(world)) + ending
    return encodeURIComponent(absent.includes(name) ? absentThing(named) : await world.id(named)) + ending
  })
  return (await Promise.all(parts)).join('/')
}

export async function authorizationOf(world: World, caller: Caller): Promise<string | undefined> {
  if (caller === 'anonymous') return undefined
  return world.once(`token ${caller}`, () => tokenOf(world, caller))
}

async function tokenOf(world: World, caller: Exclude<Caller, 'anonymous'>): Promise<string> {
  const { t } = world
  if (caller === 'unknown') return unknownToken()
  if (caller === 'weak') return (await t.make.pat(await world.person('owner'), 0)).token
  if (caller === 'token') return (await t.make.pat(await world.person('admin'), GRANTABLE_SCOPES)).token
  if (caller === 'limited') {
    const limits = { projects: [(await world.project()).id], organizations: [(await world.organization()).id] }
    return limitedToken(t, await world.person('owner'), limits)
  }
  if (caller === 'publisher') return publisherToken(t, await world.person('owner'), await world.project())
  return (await world.person(caller satisfies Role)).token
}

export async function send(t: TestApp, request: Request, authorization: string | undefined): Promise<Answer> {
  const headers = { ...request.headers, ...(authorization === undefined ? {} : { authorization }) }
  const answer = await t.inject({ ...request, headers })
  const type = String(answer.headers['content-type'] ?? '')
  return { status: answer.statusCode, body: answer.body, type, sent: request }
}

/** Sends a request of the route as one of the people of a world. */
export async function sendAs(world: World, route: RouteEntry, request: Request, caller: Caller): Promise<Answer> {
  const answer = await send(world.t, request, await authorizationOf(world, caller))
  if (route.method !== 'GET' && answer.status < 400) world.isChanged = true
  return answer
}

/** Returns this world for the next route, unless something has changed in it or the sample of the route changes it. */
export function unchanged(world: World, route: RouteEntry): World {
  const isShared = !world.isChanged && sampleOf(route).before === undefined
  return isShared ? world : createWorld(world.t, { hidden: world.hidden })
}

/** Sends the operation as each caller, callers with the most permissions last, and returns the responses. */
export async function sendAsEach(
  first: World,
  route: RouteEntry,
): Promise<{ answers: Map<Caller, Answer>; world: World }> {
  const answers = new Map<Caller, Answer>()
  const callers = route.config.auth === 'public' ? ANYONE : CALLERS
  let world = first
  // Tokens first, because a request can delete what they belong to.
  for (const caller of callers) await authorizationOf(world, caller)
  let request = await buildRequest(world, route)
  let isRepeated = false
  for (const [index, caller] of callers.entries()) {
    let answer = await sendAs(world, route, request, caller)
    // The same request of an earlier caller can be the cause, for example if it deleted the thing.
    if (answer.status >= 400 && isRepeated) {
      world = createWorld(world.t)
      for (const caller of callers.slice(index)) await authorizationOf(world, caller)
      request = await buildRequest(world, route)
      isRepeated = false
      answer = await sendAs(world, route, request, caller)
    }
    answers.set(caller, answer)
    isRepeated ||= route.method !== 'GET' && answer.status < 400
  }
  return { answers, world }
}
