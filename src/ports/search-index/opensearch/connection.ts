// The connection to OpenSearch: time limits, what its failures mean, and leaving it alone for a moment after one.

import { Client, errors } from '@opensearch-project/opensearch'
import { ApiError } from '#lib/errors.ts'
import { MINUTE_MS } from '#lib/time.ts'

export type ConnectionOptions = {
  /** With user and password, where it has them. */
  readonly url: string
  /** Called for each request that was answered or failed. */
  readonly onRequest?: (request: { readonly kind: RequestKind; readonly ok: boolean; readonly seconds: number }) => void
}

/** `status` only looks. */
export type RequestKind = 'search' | 'write' | 'manage' | 'status'

export type Call = {
  readonly kind: RequestKind
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean>>
  readonly body?: unknown
  /** Lines of JSON, in place of `body`. */
  readonly lines?: readonly string[]
  /** Statuses that are answers and no failures. */
  readonly accept?: readonly number[]
}

export type Answer<Body> = { readonly status: number; readonly body: Body }

export type Connection = {
  /** @throws ApiError `service_unavailable` when it does not answer; `EngineError` when it refuses. */
  request<Body>(call: Call): Promise<Answer<Body>>
  close(): Promise<void>
}

/** An answer that is an error, as OpenSearch words it. */
export class EngineError extends Error {
  readonly status: number
  readonly type: string

  constructor(status: number, type: string, reason: string) {
    super(`OpenSearch answered ${status} ${type}: ${reason}`)
    this.name = 'EngineError'
    this.status = status
    this.type = type
  }
}

/** A search that takes longer is given up: the caller has long gone. */
const SEARCH_MS = 5_000
/** Documents are large, and a rebuild may find the engine busy. */
const WRITE_MS = MINUTE_MS
const MANAGE_MS = 30_000
/** Health is asked for by those who do not wait long. */
const STATUS_MS = 2_500
/** After a failure one search tries again in this time; the others are refused at once. */
const REST_MS = 1_000
/** More would only wait for one another. */
const MAX_SEARCHES = 256
const RETRY_AFTER_SECONDS = '5'
/** Overloaded, or a proxy before it that does not reach it. */
const AWAY_STATUSES = [429, 502, 503, 504]

const LIMITS_MS: Readonly<Record<RequestKind, number>> = {
  search: SEARCH_MS,
  write: WRITE_MS,
  manage: MANAGE_MS,
  status: STATUS_MS,
}

/** Connects with the first request. */
export function openConnection(options: ConnectionOptions): Connection {
  const client = openClient(options.url)
  const state = { searches: 0, isLost: false, restUntil: 0 }
  return {
    async request<Body>(call: Call): Promise<Answer<Body>> {
      const isSearch = call.kind === 'search'
      if (isSearch) await admit(state)
      const startedAt = performance.now()
      const report = (ok: boolean) =>
        options.onRequest?.({ kind: call.kind, ok, seconds: (performance.now() - startedAt) / 1000 })
      if (isSearch) state.searches += 1
      try {
        const answer = await send<Body>(client, call)
        state.isLost = false
        report(true)
        return answer
      } catch (error) {
        const failure = meaningOf(error)
        if (isSearch && failure instanceof ApiError) {
          state.isLost = true
          state.restUntil = performance.now() + REST_MS
        }
        report(failure instanceof EngineError)
        throw failure
      } finally {
        if (isSearch) state.searches -= 1
      }
    },
    close: () => client.close(),
  }
}

type State = { searches: number; isLost: boolean; restUntil: number }

/** Refuses where the engine was lost a moment ago, or has enough to do. */
async function admit(state: State): Promise<void> {
  if (state.searches >= MAX_SEARCHES) throw unavailable('Too many searches wait for the search engine')
  if (!state.isLost) return
  if (performance.now() < state.restUntil) throw unavailable('The search engine does not answer')
  // This one tries; those that come meanwhile are refused.
  state.restUntil = performance.now() + SEARCH_MS
}

function openClient(text: string): Client {
  const url = new URL(text)
  const auth =
    url.username === ''
      ? {}
      : { auth: { username: decodeURIComponent(url.username), password: decodeURIComponent(url.password) } }
  url.username = ''
  url.password = ''
  return new Client({
    node: url.href,
    ...auth,
    // There is one address; whether it is tried again is decided here and by the callers.
    maxRetries: 0,
    resurrectStrategy: 'none',
    agent: { keepAlive: true, maxSockets: MAX_SEARCHES },
  })
}

async function send<Body>(client: Client, call: Call): Promise<Answer<Body>> {
  const { method, path, query = {}, body, lines } = call
  const params = {
    method,
    path,
    querystring: { ...query },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(lines === undefined ? {} : { bulkBody: `${lines.join('\n')}\n` }),
  }
  const answer = await client.transport.request(params, {
    requestTimeout: LIMITS_MS[call.kind],
    maxRetries: 0,
    ignore: [...(call.accept ?? [])],
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' } }),
  })
  return { status: answer.statusCode ?? 0, body: answer.body as Body }
}

/** As `service_unavailable` what another try may mend, as `EngineError` what it may not. */
function meaningOf(error: unknown): unknown {
  if (error instanceof errors.ResponseError) {
    const whole = error.body?.['error'] ?? {}
    const { type, reason } = whole.root_cause?.[0] ?? whole
    const failure = new EngineError(error.statusCode, String(type ?? 'error'), String(reason ?? error.message))
    return AWAY_STATUSES.includes(error.statusCode) ? unavailable('The search engine is overloaded', failure) : failure
  }
  if (error instanceof errors.OpenSearchClientError) return unavailable('The search engine does not answer', error)
  return error
}

/** 503 with Retry-After. */
export function unavailable(message: string, cause?: unknown): ApiError {
  return new ApiError('service_unavailable', `${message}; try again in a moment`, {
    headers: { 'retry-after': RETRY_AFTER_SECONDS },
    ...(cause === undefined ? {} : { cause }),
  })
}
