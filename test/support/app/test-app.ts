// The real application with a real database for each test file, and the users of the tests.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest, InjectOptions, LightMyRequestResponse } from 'fastify'
import type { LogEvent } from 'kysely'
import { Compile } from 'typebox/compile'
import { OperatorError } from '#lib/operator-error.ts'
import { buildApp, jobHandlers } from '#main/app.ts'
import { boot } from '#main/boot.ts'
import { loadConfig } from '#platform/config/load-config.ts'
import type { App } from '#platform/http/server.ts'
import type { JobName, Jobs, NoPayload } from '#platform/jobs/queue.ts'
import { drainJobs } from '#platform/jobs/worker.ts'
import { silentLog } from '#platform/telemetry/log.ts'
import type { Commands } from '#ports/commands.ts'
import type { Deps } from '#ports/deps.ts'
import { createFactories, type Factories, type Person } from '../factories/factories.ts'
import { testDatabase } from './database.ts'
import { answerJudge } from './declared-errors-check.ts'

/** The key with which test clients skip the rate limit; tests of the limiter omit it. */
export const BYPASS_KEY = 'test-bypass-key-0123456789abcdefghij'
export const ADMIN_KEY = 'test-admin-key-0123456789abcdefghijk'

export type Call = { query?: Record<string, string | number | boolean>; headers?: Record<string, string> }
type Send = (path: string, body?: unknown, call?: Call) => Promise<LightMyRequestResponse>
export type Client = {
  get(path: string, call?: Call): Promise<LightMyRequestResponse>
  post: Send
  patch: Send
  put: Send
  delete: Send
}

export type TestApp = {
  app: App
  deps: Deps
  make: Factories
  /** A client with no token. */
  anyone: Client
  /** A client with a session of this person, or with a token of exactly these scopes. */
  as(person: Person | { token: string }): Client
  inject(options: InjectOptions): Promise<LightMyRequestResponse>
  /** Runs the background jobs that are due. */
  runJobs(): Promise<void>
  /** Runs the handler of a scheduled job. */
  runJob(name: { [Name in JobName]: NoPayload extends Jobs[Name] ? Name : never }[JobName]): Promise<void>
  /** Waits until everything written so far can be found, also on cached pages. The first call opens the index. */
  searchable(): Promise<void>
  /** The text of the emails sent so far, oldest first. */
  mails(): Promise<string[]>
  /** The statements that were sent to the database while `act` ran, also by what works in the background. */
  queriesDuring(act: () => Promise<unknown>): Promise<string[]>
  /** The statements that `act` sent to the database. */
  queriesOf<T>(act: () => Promise<T>): Promise<{ result: T; queries: string[] }>
  /** Moves the clock of the application forward. */
  advance(ms: number): void
  /** Stops the clock of the application until `thaw`; `advance` still moves it. */
  freeze(): void
  thaw(): void
  close(): Promise<void>
}

export type TestAppOptions = {
  env?: Record<string, string>
  deps?: (deps: Deps) => Partial<Deps>
  /** Sees the application before it is ready, in place of the check that each answer is as its route declares. */
  watch?: (app: App) => void
}

/** One application with its own database, data folder and clock. Close it when the test file ends. */
/** A command would use the settings of the test process. */
const NO_COMMANDS: Commands = {
  run: async (words) => Promise.reject(new OperatorError(`depot ${words.join(' ')} does not run in tests`)),
  open: (words) => Readable.from([words.join(' ')]),
}

export async function testApp({ env = {}, deps: override, watch }: TestAppOptions = {}): Promise<TestApp> {
  const dataDir = await mkdtemp(join(tmpdir(), 'depot-test-'))
  const database = await testDatabase()
  const clock = testClock()
  const queries = recordQueries()
  const booted = await boot({
    config: loadConfig({
      DATA_DIR: dataDir,
      DATABASE_URL: database.connectionString,
      ADMIN_KEY,
      RATE_LIMIT_BYPASS_KEY: BYPASS_KEY,
      BASE_URL: 'https://depot.test',
      LOG_LEVEL: 'silent',
      ...env,
    }),
    log: silentLog(),
    mode: 'server',
    now: clock.now,
    test: { onQuery: queries.onQuery, poolSize: 10, cacheBytes: 32 * 1024 * 1024 },
  })
  // Without `listen`: no other process changes this database.
  booted.deps.cache.enable()
  const deps = { ...booted.deps, commands: NO_COMMANDS, ...override?.(booted.deps) }
  const app = await buildApp(deps)
  const undeclared = new Set<string>()
  if (watch === undefined) checkAnswers(app, undeclared)
  else watch(app)
  await app.ready()
  const requests = sendTo(app)
  const client = (headers: Record<string, string>): Client => makeClient(requests.inject, headers)
  const common = { 'user-agent': 'depot-tests/1.0 (tests)', 'x-ratelimit-key': BYPASS_KEY }
  const t: TestApp = {
    app,
    deps,
    make: createFactories(deps),
    anyone: client(common),
    as: ({ token }) => client({ ...common, authorization: token }),
    inject: requests.inject,
    runJob: (name) => jobHandlers(deps)[name]({}, new AbortController().signal),
    runJobs: () => drainJobs({ pool: deps.pool, handlers: jobHandlers(deps), log: deps.log, metrics: deps.metrics }),
    searchable: async () => {
      await deps.search.caughtUp()
      // Pages with search results are cached for a second.
      clock.advance(1000)
    },
    mails: async () => {
      const folder = join(dataDir, 'outbox')
      const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.eml')).sort()
      return Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
    },
    queriesDuring: queries.during,
    queriesOf: queries.of,
    advance: clock.advance,
    freeze: clock.freeze,
    thaw: clock.thaw,
    close: async () => {
      const { metrics } = deps
      await app.close()
      await booted.close()
      await database.close()
      await rm(dataDir, { recursive: true, force: true })
      // The variables of a test file outlive it: a process that runs many files would keep all their applications.
      for (const key of Object.keys(t)) Reflect.deleteProperty(t, key)
      requests.forget()
      // Statements are counted by them: every variable with a database handle would keep what they observe.
      metrics.registry.clear()
      assert.deepEqual([...undeclared], [], 'answers that no description has')
    },
  }
  return t
}

// The following are functions outside `testApp`, because a function that outlives the test keeps all variables around it.

function testClock() {
  let skewMs = 0
  let frozenAt: number | undefined
  return {
    now: () => (frozenAt ?? Date.now()) + skewMs,
    advance: (ms: number): void => {
      skewMs += ms
    },
    freeze: (): void => {
      frozenAt = Date.now()
    },
    thaw: (): void => {
      frozenAt = undefined
    },
  }
}

/** Assigns statements to the call that requested them: background work, such as storing counters, is not part of the call. */
function recordQueries() {
  const recorded = new AsyncLocalStorage<string[]>()
  const everything = new Set<string[]>()
  return {
    onQuery: ({ query }: LogEvent): void => {
      for (const list of everything) list.push(query.sql)
      recorded.getStore()?.push(query.sql)
    },
    during: async (act: () => Promise<unknown>): Promise<string[]> => {
      const queries: string[] = []
      everything.add(queries)
      await act().finally(() => everything.delete(queries))
      return queries
    },
    of: async <T>(act: () => Promise<T>): Promise<{ result: T; queries: string[] }> => {
      const queries: string[] = []
      return { result: await recorded.run(queries, act), queries }
    },
  }
}

/** Sends requests to the application until it is forgotten. */
function sendTo(app: App) {
  let open: App | undefined = app
  return {
    inject: async (options: InjectOptions): Promise<LightMyRequestResponse> => {
      assert.ok(open !== undefined, 'The test application is closed')
      return open.inject(options)
    },
    forget: (): void => {
      open = undefined
    },
  }
}

export function makeClient(inject: TestApp['inject'], headers: Record<string, string>): Client {
  const send =
    (method: 'POST' | 'PATCH' | 'PUT' | 'DELETE'): Send =>
    (path, body, call = {}) =>
      inject({
        method,
        url: path,
        query: stringValues(call.query),
        headers: { ...headers, ...call.headers },
        ...(body === undefined ? {} : { payload: body as never }),
      })
  return {
    get: (path, call = {}) =>
      inject({ method: 'GET', url: path, query: stringValues(call.query), headers: { ...headers, ...call.headers } }),
    post: send('POST'),
    patch: send('PATCH'),
    put: send('PUT'),
    delete: send('DELETE'),
  }
}

function stringValues(query: Call['query'] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(query).map(([key, value]) => [key, String(value)]))
}

const validators = new WeakMap<object, ReturnType<typeof Compile>>()

/**
 * Returns whether a request overlapped with a write. The loser of a race gets one of many errors, for example of an
 * account that was deleted in the meantime. Timing decides which error it gets, so the error is recorded where it
 * occurs and fails no run.
 */
function overlaps(app: App): (req: FastifyRequest) => boolean {
  const running = new Set<FastifyRequest>()
  const overlapped = new WeakSet<FastifyRequest>()
  const writes = ({ method }: FastifyRequest) => method !== 'GET' && method !== 'HEAD'
  app.addHook('onRequest', (req, _reply, done) => {
    for (const other of running) {
      if (writes(req)) overlapped.add(other)
      if (writes(other)) overlapped.add(req)
    }
    running.add(req)
    done()
  })
  app.addHook('onSend', (req, _reply, payload, done) => {
    running.delete(req)
    done(null, payload)
  })
  app.addHook('onResponse', (req, _reply, done) => {
    running.delete(req)
    done()
  })
  app.addHook('onRequestAbort', (req, done) => {
    running.delete(req)
    done()
  })
  return (req) => overlapped.has(req)
}

/**
 * Holds every JSON answer against the schema its route declares, and every refusal against the errors that it declares:
 * ready bytes bypass the serialiser, not the contract.
 */
function checkAnswers(app: App, undeclared: Set<string>): void {
  const overlapped = overlaps(app)
  const judge = answerJudge(app)
  app.addHook('onSend', (req, reply, payload, done) => {
    const { text, problems } = judgeAnswer(req, reply, payload)
    const problem = judge(req, reply, text)
    if (problem !== undefined && !overlapped(req)) undeclared.add(problem)
    assert.deepEqual(
      problems,
      [],
      `${req.method} ${req.url} answered ${reply.statusCode} against its schema: ${text.slice(0, 500)}`,
    )
    done(null, payload)
  })
}

/** Cached compressed forms bypass the compressor. */
const DECODERS: Record<string, (bytes: Uint8Array) => Buffer> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
}

/** Lists how a JSON response violates the schema that its route declares for this status. Other responses pass. */
export function judgeAnswer(
  req: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): { text: string; problems: unknown[] } {
  const responses = req.routeOptions.schema?.response as Record<string, object> | undefined
  const schema = responses?.[reply.statusCode] ?? responses?.[`${Math.floor(reply.statusCode / 100)}xx`]
  const type = String(reply.getHeader('content-type') ?? '')
  const decode = DECODERS[String(reply.getHeader('content-encoding'))] ?? Buffer.from
  const text =
    typeof payload === 'string' ? payload : payload instanceof Uint8Array ? decode(payload).toString('utf8') : ''
  if (schema === undefined || text === '' || !type.startsWith('application/json')) return { text, problems: [] }
  const validator = validators.get(schema) ?? Compile(schema as never)
  validators.set(schema, validator)
  return { text, problems: [...validator.Errors(JSON.parse(text))] }
}
