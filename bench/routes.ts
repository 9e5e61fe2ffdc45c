// The most expensive request of every route: its sample, the largest that its schemas allow, and rejected bodies of the
// maximum size. Measures the processor time and how long the request blocks the event loop, scaled to the machine of
// `slowness`. Public routes are also called without an account. The costs in `config.cost` of the routes follow from
// this table.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import type { RouteEntry } from '#platform/http/route-config.ts'
import { authorizationOf, buildRequest, type Caller, type Request } from '#test/api/operations/requests.ts'
import { createWorld } from '#test/api/operations/world.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { asList, asObject, type Json, operationsOf, resolve } from '#test/support/http/openapi-rules.ts'
import { longestHoldMs, slowness } from '#test/support/processes/processor-time.ts'
import { withPostgres } from './kit/own-postgres.ts'
import { figure, type Row, row } from './kit/table.ts'

const GENERATED = join(import.meta.dirname, '../docs/generated')
/** No request may hold the event loop for longer, in milliseconds of processor time. */
const HOLD_MS_MAX = 20
/** Maximum processor time of a request per unit of its cost at the rate limit. */
const MS_FOR_A_UNIT = 40
const REPEATS = 3
const CHEAP_MS = 10
/** Requests that are always rejected: they cost the same for every caller. */
const REFUSED = ['largest, refused', 'numbers', 'brackets', 'keys']
const CANDIDATES = ['sample', 'largest', 'largest image', ...REFUSED]
const OPEN_BODY_BYTES = 250_000
const TEXT_LENGTH_MAX = 60_000
const DEPTH_MAX = 5
/** Number of operations between two progress messages. */
const PROGRESS_EVERY = 20

type Measured = { operationId: string; what: string; status: number; ms: number; holdMs: number; cost: number }

export async function benchRoutes(): Promise<Row[]> {
  return withPostgres(async (url) => {
    process.env['TEST_DATABASE_URL'] = url
    const t = await testApp({ env: { SCANNER_COMMAND: 'true' }, watch: () => undefined })
    try {
      await t.searchable()
      const routes = new Map(
        t.app.routeTable().flatMap((route) => (route.hidden ? [] : [[`${route.method} ${route.url}`, route] as const])),
      )
      const all: Measured[] = []
      for (const name of ['openapi.json', 'openapi-v2.json']) {
        const document = JSON.parse(readFileSync(join(GENERATED, name), 'utf8')) as Json
        for (const { path, method, operation } of operationsOf(document)) {
          const route = routes.get(`${method.toUpperCase()} ${path.replace(/\{([^}]+)\}/g, ':$1')}`)
          if (route === undefined) continue
          const measured = await mostExpensive(t, { document, operation, route })
          all.push(measured)
          if (all.length % PROGRESS_EVERY === 0) console.error(`${all.length} of about ${routes.size} operations`)
        }
      }
      return rowsOf(all)
    } finally {
      await t.close()
    }
  })
}

/** First what misses a bound, by name; then every operation, the most expensive first. */
function rowsOf(all: readonly Measured[]): Row[] {
  const dearest = [...all].sort((a, b) => b.ms - a.ms)
  const holding = all.filter(({ holdMs }) => holdMs > HOLD_MS_MAX)
  const underpaid = all.filter(({ ms, cost }) => ms > cost * MS_FOR_A_UNIT)
  return [
    figure('measured operations', String(all.length)),
    row(
      'longest hold of the event loop by one request',
      Math.max(...all.map(({ holdMs }) => holdMs)),
      { atMost: HOLD_MS_MAX },
      ' ms',
    ),
    row('operations that hold it longer', holding.length, { atMost: 0 }, '', namesOf(holding)),
    row(
      'processor time for a unit of the rate limit, at most',
      Math.max(...all.map(({ ms, cost }) => ms / cost)),
      { atMost: MS_FOR_A_UNIT },
      ' ms',
    ),
    row('operations that take more for a unit', underpaid.length, { atMost: 0 }, '', namesOf(underpaid)),
    ...dearest.map(({ operationId, what, status, ms, holdMs, cost }) =>
      figure(
        operationId,
        `${ms.toFixed(1)} ms, holds ${holdMs.toFixed(1)} ms (${what}, ${status})${cost === 1 ? '' : `, costs ${cost}`}`,
      ),
    ),
  ]
}

const namesOf = (some: readonly Measured[]): string => some.map(({ operationId }) => operationId).join(', ')

type Target = { document: Json; operation: Json; route: RouteEntry }
type Times = { ms: number; holdMs: number; status: number }

/**
 * Returns the highest processor time of several requests to the route, and the longest time that any of them blocks the
 * event loop.
 */
async function mostExpensive(t: TestApp, target: Target): Promise<Measured> {
  const { operationId, config } = target.route
  const { cost = 1 } = config
  let worst: Measured = { operationId, what: 'nothing', status: 0, ms: 0, holdMs: 0, cost }
  for (const what of CANDIDATES.filter((each) => applies(target, each))) {
    for (const caller of callersOf(target.route, what)) {
      const times = await measure(t, target, { what, caller })
      if (times === undefined) continue
      const holdMs = Math.max(worst.holdMs, times.holdMs)
      const named = caller === 'anonymous' ? `${what}, anonymous` : what
      worst = times.ms > worst.ms ? { ...worst, ...times, what: named, holdMs } : { ...worst, holdMs }
    }
  }
  return worst
}

/**
 * Returns the callers with the most permissions. Public routes also have anonymous callers, who use other cache
 * entries.
 */
function callersOf({ config }: RouteEntry, what: string): Caller[] {
  const { auth, role } = config
  if (auth === 'public') return REFUSED.includes(what) ? ['anonymous'] : ['anonymous', 'owner']
  return [auth === 'operator' || role === 'admin' ? 'admin' : (role ?? 'owner')]
}

/** A route without a body or parameters has nothing that could be large. */
function applies({ operation }: Target, what: string): boolean {
  if (what === 'largest image') return 'image/*' in asObject(asObject(operation['requestBody'])['content'])
  const takesJson = 'application/json' in asObject(asObject(operation['requestBody'])['content'])
  const takesQuery = asList(operation['parameters']).some((parameter) => parameter['in'] === 'query')
  return what === 'sample' || takesJson || (takesQuery && what === 'largest')
}

type Asked = { what: string; caller: Caller }

/**
 * Returns the lowest of several measurements, because compilation and garbage collection are not part of a request;
 * undefined if there is no such request. Watching the event loop uses processor time, so separate requests measure the
 * two values.
 */
async function measure(t: TestApp, target: Target, asked: Asked): Promise<Times | undefined> {
  let lowest: Times | undefined
  let prepared: Request | undefined
  const factor = slowness()
  for (let i = 0; i < 2 * REPEATS && !(i >= 2 && isCheap(lowest)); i += 1) {
    prepared ??= await prepare(t, target, asked)
    if (prepared === undefined) return undefined
    const request = prepared
    const watched = i % 2 === 1
    const { result, ms } = await (watched ? longestHoldMs : cpuMs)(async () => t.inject(request))
    const status = result.statusCode
    // Prepares the request again after a change, because creating the same resource twice fails early.
    if (target.route.method !== 'GET' && status < 400) prepared = undefined
    const times = { ms: Infinity, holdMs: Infinity, ...lowest, status }
    lowest = watched
      ? { ...times, holdMs: Math.min(times.holdMs, ms / factor) }
      : { ...times, ms: Math.min(times.ms, ms / factor) }
  }
  return lowest
}

/** Whether nothing that is measured again could make a difference to a bound. */
function isCheap(times: Times | undefined): boolean {
  return times !== undefined && times.ms < CHEAP_MS && times.holdMs < CHEAP_MS
}

/**
 * Returns the processor time of all threads of this process, in milliseconds: hashing and images run in other threads.
 */
async function cpuMs<T>(act: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const before = process.cpuUsage()
  const result = await act()
  const { user, system } = process.cpuUsage(before)
  return { result, ms: (user + system) / 1000 }
}

async function prepare(t: TestApp, target: Target, { what, caller }: Asked): Promise<Request | undefined> {
  const world = createWorld(t)
  const sample = await buildRequest(world, target.route)
  const request =
    what === 'largest image'
      ? await withPicture(sample, target.route)
      : what === 'sample'
        ? sample
        : largest(sample, target, what)
  const authorization = request === undefined ? undefined : await authorizationOf(world, caller)
  if (authorization !== undefined && request !== undefined) request.headers['authorization'] = authorization
  return request
}

/** As many pixels as the route takes, in few bytes: each is decoded. */
async function withPicture(sample: Request, { operationId }: RouteEntry): Promise<Request> {
  const [width, height] = /Gallery|Image/.test(operationId) ? [8192, 5120] : [4096, 4096]
  const name = `${width} × ${height}`
  const made = pictures.get(name) ?? (await drawPicture(width, height))
  pictures.set(name, made)
  return { ...sample, payload: made }
}

const pictures = new Map<string, Buffer>()

function drawPicture(width = 1, height = 1): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background: '#336699' } })
    .png({ compressionLevel: 9 })
    .toBuffer()
}

/** The sample with its query and body replaced by what costs most to read; undefined where there is nothing to replace. */
function largest(sample: Request, { document, operation }: Target, what: string): Request | undefined {
  const content = asObject(asObject(operation['requestBody'])['content'])
  const json = asObject(content['application/json'])['schema']
  const query = asList(operation['parameters']).filter((parameter) => parameter['in'] === 'query')
  if (json === undefined && (query.length === 0 || what !== 'largest')) return undefined
  const body = json === undefined ? undefined : bodyOf(document, asObject(json), what)
  return {
    ...sample,
    headers: { ...sample.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(query.length === 0 ? {} : { query: largestQuery(sample, query) }),
    ...(body === undefined ? {} : { payload: body.slice(0, OPEN_BODY_BYTES) }),
  }
}

function bodyOf(document: Json, schema: Json, what: string): string {
  switch (what) {
    case 'numbers':
      return `{"a":[${'1,'.repeat(OPEN_BODY_BYTES / 2 - 10)}1]}`
    case 'brackets':
      return `{"a":${'['.repeat(OPEN_BODY_BYTES / 2 - 10)}${']'.repeat(OPEN_BODY_BYTES / 2 - 10)}}`
    case 'keys':
      return `{${Array.from({ length: 9_000 }, (_, n) => `"__proto__${n}":{"__proto__":1}`).join()}}`.slice(
        0,
        OPEN_BODY_BYTES,
      )
    default: {
      const value = largestValue(document, schema, 0)
      const text = JSON.stringify(value)
      return what === 'largest' ? text : text.replace(/"([^"]*)"\]?\}*$/, '1]}')
    }
  }
}

function largestQuery(sample: Request, parameters: readonly Json[]): Record<string, string> {
  const known = (sample.query ?? {}) as Record<string, string>
  return Object.fromEntries(
    parameters.flatMap(({ name, schema }): [string, string][] => {
      const key = String(name)
      const { type, maximum, enum: words } = asObject(schema)
      if (key === 'ids' || key === 'hashes') return [[key, JSON.stringify(Array.from({ length: 1000 }, unknownId))]]
      if (known[key] !== undefined) return [[key, known[key]]]
      if (Array.isArray(words)) return [[key, String(words[0])]]
      if (type === 'integer') return key === 'offset' ? [] : [[key, String(maximum ?? 100)]]
      if (type !== 'string') return []
      // Words that are all different, as a search would look each of them up.
      return key === 'query'
        ? [
            [
              key,
              Array.from({ length: 100 }, (_, n) => `lantern${n}`)
                .join(' ')
                .slice(0, 1000),
            ],
          ]
        : []
    }),
  )
}

const unknownId = (_: unknown, n: number): string => n.toString(36).padStart(8, 'A')

function largestValue(document: Json, schema: Json, depth: number): unknown {
  const target = resolve(document, schema)
  if (Array.isArray(target['enum'])) return target['enum'].at(-1)
  const choices = asList(target['anyOf'])
  if (choices.length > 0) return largestValue(document, choices.at(-1) ?? {}, depth)
  switch (target['type']) {
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return target['maximum'] ?? 1
    case 'array': {
      const count = Math.min(Number(target['maxItems'] ?? 100), depth === 0 ? 1000 : 1000 / depth)
      return Array.from({ length: count }, () => largestValue(document, asObject(target['items']), depth + 1))
    }
    case 'object':
      if (depth > DEPTH_MAX) return {}
      return Object.fromEntries(
        Object.entries(asObject(target['properties']))
          // Nothing that follows would be answered.
          .filter(([name]) => name !== 'read_only')
          .map(([name, inner]) => [name, largestValue(document, asObject(inner), depth + 1)]),
      )
    default: {
      if (target['format'] === 'date-time') return '2026-01-31T18:30:00.000Z'
      const length = Math.min(Number(target['maxLength'] ?? 64), TEXT_LENGTH_MAX)
      return depth > 1 ? unknownId(0, depth) : 'w'.repeat(length)
    }
  }
}
