// The most expensive request of every route: its sample, the largest that its schemas allow, and bodies at the limit that
// are refused, each by its processor time and by how long it holds the event loop, as on the machine of `slowness`. The costs
// that routes declare in `config.cost` follow from this table.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RouteEntry } from '#http/route-config.ts'
import { type TestApp, testApp } from '#test/support/harness.ts'
import { asList, asObject, type Json, operationsOf, resolve } from '#test/support/openapi-rules.ts'
import { longestHoldMs, slowness } from '#test/support/processor-time.ts'
import { authorizationOf, buildRequest, type Caller, type Request } from '#test/system/authz-requests.ts'
import { createWorld } from '#test/system/authz-world.ts'
import { withPostgres } from './own-postgres.ts'
import { figure, type Row, row } from './table.ts'

const GENERATED = join(import.meta.dirname, '../docs/generated')
/** No request may hold the event loop for longer, in milliseconds of processor time. */
const HOLD_MS_MAX = 20
/** What a request may use of a processor for each unit of the rate limit that it costs its caller. */
const MS_FOR_A_UNIT = 40
const REPEATS = 3
const CANDIDATES = ['sample', 'largest', 'largest, refused', 'numbers', 'brackets', 'keys']
const OPEN_BODY_BYTES = 250_000
const TEXT_LENGTH_MAX = 60_000
const DEPTH_MAX = 5

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
          // It takes long: who reads the log sees how far it is.
          console.error(`${all.length} ${measured.operationId}: ${measured.ms.toFixed(1)} ms`)
        }
      }
      return rowsOf(all)
    } finally {
      await t.close()
    }
  })
}

function rowsOf(all: readonly Measured[]): Row[] {
  const worst = all.reduce((a, b) => (a.holdMs > b.holdMs ? a : b))
  const perUnit = all.map((each) => ({ ...each, unit: each.ms / each.cost })).sort((a, b) => b.unit - a.unit)[0]
  return [
    row(
      'longest hold of the event loop by one request',
      worst.holdMs,
      { atMost: HOLD_MS_MAX },
      ' ms',
      worst.operationId,
    ),
    row(
      'processor time for a unit of the rate limit, at most',
      perUnit?.unit ?? 0,
      { atMost: MS_FOR_A_UNIT },
      ' ms',
      perUnit?.operationId ?? '',
    ),
    ...[...all]
      .sort((a, b) => b.ms - a.ms)
      .map(({ operationId, what, status, ms, holdMs, cost }) =>
        figure(
          operationId,
          `${ms.toFixed(1)} ms, holds ${holdMs.toFixed(1)} ms (${what}, ${status})${cost === 1 ? '' : `, costs ${cost}`}`,
        ),
      ),
  ]
}

type Target = { document: Json; operation: Json; route: RouteEntry }
type Times = { ms: number; holdMs: number; status: number }

/** Of several requests to the route the one that takes most processor time, and the longest hold of any. */
async function mostExpensive(t: TestApp, target: Target): Promise<Measured> {
  const { operationId, config } = target.route
  const { cost = 1 } = config
  let worst: Measured = { operationId, what: 'nothing', status: 0, ms: 0, holdMs: 0, cost }
  for (const what of CANDIDATES.filter((each) => applies(target, each))) {
    const times = await measure(t, target, what)
    if (times === undefined) continue
    const holdMs = Math.max(worst.holdMs, times.holdMs)
    worst = times.ms > worst.ms ? { ...worst, ...times, what, holdMs } : { ...worst, holdMs }
  }
  return worst
}

/** A route without a body or parameters has nothing that could be large. */
function applies({ operation }: Target, what: string): boolean {
  const takesJson = 'application/json' in asObject(asObject(operation['requestBody'])['content'])
  const takesQuery = asList(operation['parameters']).some((parameter) => parameter['in'] === 'query')
  return what === 'sample' || takesJson || (takesQuery && what === 'largest')
}

/** The lowest of several: compiling and collecting belong to nobody. Undefined where there is no such request. */
async function measure(t: TestApp, target: Target, what: string): Promise<Times | undefined> {
  const { auth, role } = target.route.config
  const caller: Caller = auth === 'operator' || role === 'admin' ? 'admin' : (role ?? 'owner')
  let lowest: Times | undefined
  let prepared: Request | undefined
  for (let i = 0; i < REPEATS; i += 1) {
    prepared ??= await prepare(t, target, { what, caller })
    if (prepared === undefined) return undefined
    const request = prepared
    const factor = slowness()
    const before = process.cpuUsage()
    const { result, ms } = await longestHoldMs(async () => t.inject(request))
    const { user, system } = process.cpuUsage(before)
    const times = { ms: (user + system) / 1000 / factor, holdMs: ms / factor, status: result.statusCode }
    // What was changed once is made again: a second creation of the same is refused early.
    if (target.route.method !== 'GET' && times.status < 400) prepared = undefined
    lowest = {
      status: times.status,
      ms: Math.min(times.ms, lowest?.ms ?? times.ms),
      holdMs: Math.min(times.holdMs, lowest?.holdMs ?? times.holdMs),
    }
  }
  return lowest
}

async function prepare(
  t: TestApp,
  target: Target,
  { what, caller }: { what: string; caller: Caller },
): Promise<Request | undefined> {
  const world = createWorld(t)
  const sample = await buildRequest(world, target.route)
  const request = what === 'sample' ? sample : largest(sample, target, what)
  const authorization = request === undefined ? undefined : await authorizationOf(world, caller)
  if (authorization !== undefined && request !== undefined) request.headers['authorization'] = authorization
  return request
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
