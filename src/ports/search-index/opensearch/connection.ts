// The connection to OpenSearch: time limits, errors, and a pause after a failure.

import { Client, errors } from '@opensearch-project/opensearch'
import { ApiError } from '#lib/errors.ts'
import { MINUTE_MS } from '#lib/time.ts'

export type ConnectionOptions = {
  /** Can contain a user and a password. */
  readonly url: string
  /** Called after each request. */
  readonly onRequest?: (request: { readonly kind: RequestKind; readonly ok: boolean; readonly seconds: number }) => void
}

/** `status` only reads the state of the server and the index. */
export type RequestKind = 'search' | 'write' | 'manage' | 'status'

export type Call = {
  readonly kind: RequestKind
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean>>
  readonly body?: unknown
  /** Lines of JSON, instead of `body`. */
  readonly lines?: readonly string[]
  /** Error statuses that the caller handles. */
  readonly accept?: readonly number[]
}

export type Response<Body> = { readonly status: number; readonly body: Body }

export type Connection = ReturnType<typeof openConnection>

/** An error response of OpenSearch. */
export class EngineError extends Error {
  readonly status: number
  readonly type: string

  constructor(status: number, type: string, reason: string) {
    super(`OpenSearch returned ${status} ${type}: ${reason}`)
    this.name = 'EngineError'
    this.status = status
    this.type = type
  }
}

/** Documents are large, and the engine can be busy during a rebuild. Health checks have short time limits. */
const LIMITS_MS: Readonly<Record<RequestKind, number>> = {
  search: 5_000,
  write: MINUTE_MS,
  manage: 30_000,
  status: 2_500,
}
/** Pause after a failure. Then one search tries again while the others fail immediately. */
const REST_MS = 1_000
/** More concurrent searches would only wait for each other. */
const MAX_SEARCHES = 256
const RETRY_AFTER_SECONDS = '5'
/** The server is overloaded, or a proxy cannot reach it. */
const UNAVAILABLE_STATUSES = [429, 502, 503, 504]

/** Connects with the first request. */
export function openConnection(options: ConnectionOptions) {
  const client = openClient(options.url)
  const state = { searches: 0, isLost: false, restUntil: 0 }
  return {
    /** @throws ApiError `service_unavailable` if OpenSearch does not respond; `EngineError` if it rejects the request. */
    async request<Body>(call: Call): Promise<Response<Body>> {
      const isSearch = call.kind === 'search'
      if (isSearch) await admit(state)
      const startedAt = performance.now()
      const report = (ok: boolean) =>
        options.onRequest?.({ kind: call.kind, ok, seconds: (performance.now() - startedAt) / 1000 })
      if (isSearch) state.searches += 1
      try {
        const response = await send<Body>(client, call)
        state.isLost = false
        report(true)
        return response
      } catch (error) {
        const failure = toFailure(error)
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
    close: (): Promise<void> => client.close(),
  }
}

type State = { searches: number; isLost: boolean; restUntil: number }

/** Rejects a search if the engine failed a moment ago or is busy. */
async function admit(state: State): Promise<void> {
  if (state.searches >= MAX_SEARCHES) throw unavailable('Too many searches wait for the search engine')
  if (!state.isLost) return
  if (performance.now() < state.restUntil) throw unavailable('The search engine does not respond')
  // This search tries; others are rejected until it succeeds.
  state.restUntil = performance.now() + LIMITS_MS.search
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
    // There is one server; this file and the callers decide about retries.
    maxRetries: 0,
    resurrectStrategy: 'none',
    agent: { keepAlive: true, maxSockets: MAX_SEARCHES },
  })
}

async function send<Body>(client: Client, call: Call): Promise<Response<Body>> {
  const { method, path, query = {}, body, lines } = call
  const params = {
    method,
    path,
    querystring: { ...query },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(lines === undefined ? {} : { bulkBody: `${lines.join('\n')}\n` }),
  }
  const response = await client.transport.request(params, {
    requestTimeout: LIMITS_MS[call.kind],
    maxRetries: 0,
    ignore: [...(call.accept ?? [])],
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' } }),
  })
  return { status: response.statusCode ?? 0, body: response.body as Body }
}

/** Converts temporary failures to `service_unavailable` and others to `EngineError`. */
function toFailure(error: unknown): unknown {
  if (error instanceof errors.ResponseError) {
    const details = error.body?.['error'] ?? {}
    const { type, reason } = details.root_cause?.[0] ?? details
    const failure = new EngineError(error.statusCode, String(type ?? 'error'), String(reason ?? error.message))
    return UNAVAILABLE_STATUSES.includes(error.statusCode)
      ? unavailable('The search engine is overloaded', failure)
      : failure
  }
  if (error instanceof errors.OpenSearchClientError) return unavailable('The search engine does not respond', error)
  return error
}

/** Returns an error 503 with `Retry-After`. */
export function unavailable(message: string, cause?: unknown): ApiError {
  return new ApiError('service_unavailable', `${message}; try again in a moment`, {
    headers: { 'retry-after': RETRY_AFTER_SECONDS },
    cause,
  })
}
