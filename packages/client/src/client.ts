// The client: one function for each HTTP method, typed by the paths of the API.
import createClient, { type Client } from 'openapi-fetch'
import { type AdvisoriesByHash, matchAdvisories } from './advisories.ts'
import { toBaseUrl } from './base-url.ts'
import { type Change, type ChangesOptions, followChanges } from './changes.ts'
import { errorOf } from './errors.ts'
import { Form } from './form.ts'
import type { paths } from './generated/api.ts'
import type { Call, DryCall, Schemas } from './operations.ts'
import { type Lists, makeLists } from './pages.ts'
import { type NewVersion, type PublishOptions, publishVersion } from './publish.ts'
import { type Resolution, type ResolveRequest, resolveItems } from './resolve.ts'
import { asError, asFinal, type RetryOptions, type Send, sendWithRetries } from './retry.ts'
import { type Upload, type UploadOptions, uploadFile } from './upload.ts'

/** A token, or a function that returns the current one. */
export type TokenSource = string | (() => string | undefined | Promise<string | undefined>)

export type DepotOptions = {
  /** URL of the instance, such as `https://depot.example`. */
  url: string
  /** Access token. Default: requests are anonymous. */
  token?: TokenSource
  /** Name and contact of your program, such as `my-tool/1.0 (me@example.org)`. Browsers send their own. */
  userAgent?: string
  /** Function that sends requests. Default: `fetch` of the runtime */
  fetch?: typeof globalThis.fetch
  /** When and how often failed requests are repeated. */
  retry?: RetryOptions
  /** Seconds until a request without files, or with a part of an upload, is given up. Default: 60 */
  timeoutSeconds?: number
}

/** What the other parts of the client use to send a request. */
export type Transport = {
  baseUrl: string
  /** Sends one request with the credentials of the client, without retries. */
  send: Send
  /** Like `send`, for a response that does not end. */
  open: Send
  retry: RetryOptions
}

export type Depot = Lists & {
  get: Call<'get'>
  post: Call<'post'>
  put: Call<'put'>
  patch: Call<'patch'>
  delete: Call<'delete'>
  /** Checks a request completely and stores nothing. Errors are thrown as for the request itself. */
  dryRun: { post: DryCall<'post'>; patch: DryCall<'patch'> }
  /** The `openapi-fetch` client, for programs that read headers: its functions return `{ data, error, response }`. */
  api: Client<paths>
  /** Uploads a file in parts and continues after failures. `upload:ID` in `file_parts` of a version names the upload. */
  upload(file: Blob, options?: UploadOptions): Promise<Upload>
  /** Publishes a version with its files; large files are uploaded first. */
  publish(version: NewVersion, files: readonly File[], options?: PublishOptions): Promise<Schemas['Version']>
  /** Follows the changes of the public catalogue: first those since a cursor, then new ones as they happen. */
  changes(options?: ChangesOptions): AsyncGenerator<Change, void>
  /** Chooses versions for projects and for everything that they require. `store` makes packs of the answer. */
  resolve(request: ResolveRequest, options?: { store?: boolean }): Promise<Resolution>
  /** Finds the published advisories about files by their SHA-1 or SHA-512. Hashes without one are not in the result. */
  matchAdvisories(hashes: readonly string[]): Promise<AdvisoriesByHash>
  transport: Transport
}

/** Creates a client of an instance. */
export function createDepot(options: DepotOptions): Depot {
  const transport = makeTransport(options)
  const api = createClient<paths>({
    baseUrl: transport.baseUrl,
    Request: ReplayableRequest,
    fetch: (request) => sendRequest(transport, request as ReplayableRequest),
    querySerializer: toQuery,
    bodySerializer: toBody,
  })
  const request = async (method: string, path: string, init: Record<string, unknown> = {}): Promise<Response> => {
    // The types of the public functions are exact; here, a path is any text.
    const { response } = await (api.request as unknown as AnyRequest)(method, path, { ...init, parseAs: 'stream' })
    if (!response.ok) throw await failureOf(response)
    return response
  }
  const call = async (...args: Parameters<typeof request>): Promise<unknown> => readBody(await request(...args))
  const method = <Method>(name: string): Method => ((path: string, init = {}) => call(name, path, init)) as Method
  const dry = <Method>(name: string): Method =>
    ((path: string, init: { params?: { query?: object } } = {}) => {
      const params = { ...init.params, query: { ...init.params?.query, dry_run: true } }
      return call(name, path, { ...init, params })
    }) as Method
  const depot: Depot = {
    get: method('get'),
    post: method('post'),
    put: method('put'),
    patch: method('patch'),
    delete: method('delete'),
    dryRun: { post: dry('post'), patch: dry('patch') },
    api,
    upload: (file, uploadOptions) => uploadFile(transport, file, uploadOptions),
    publish: (version, files, publishOptions) => publishVersion(depot, version, files, publishOptions),
    resolve: (request, resolveOptions) => resolveItems(depot, request, resolveOptions),
    matchAdvisories: (hashes) => matchAdvisories(depot, hashes),
    changes: (changesOptions) => followChanges(depot, changesOptions),
    transport,
    ...makeLists(async (path, init) => {
      const response = await request('get', path, init)
      return { data: await readBody(response), link: response.headers.get('link') }
    }),
  }
  return depot
}

type AnyRequest = (method: string, path: string, init: Record<string, unknown>) => Promise<{ response: Response }>

/** openapi-fetch has read the body of a failed response, so `sendRequest` has put its error here. */
const failures = new WeakMap<Response, Promise<Error>>()
const failureOf = (response: Response): Promise<Error> => failures.get(response) ?? errorOf(response)

async function sendRequest({ send, retry }: Transport, { url, init }: ReplayableRequest): Promise<Response> {
  const response = await sendWithRetries(send, url, () => init, retry)
  if (!response.ok) failures.set(response, errorOf(response.clone()))
  return response
}

/** Keeps what the request was made of, because the body of a `Request` can be sent only once. */
class ReplayableRequest extends Request {
  readonly init: RequestInit

  constructor(url: string | URL | Request, init: RequestInit = {}) {
    const headers = new Headers(init.headers)
    // openapi-fetch takes every body that is not a form for JSON.
    if (init.body instanceof Blob) headers.set('content-type', init.body.type || 'application/octet-stream')
    super(url, { ...init, headers, body: null })
    this.init = { ...init, headers }
  }
}

function makeTransport({
  url,
  token,
  userAgent,
  fetch = globalThis.fetch,
  retry = {},
  timeoutSeconds = 60,
}: DepotOptions): Transport {
  const sendWithin = async (address: string, init: RequestInit, limit: AbortSignal | undefined): Promise<Response> => {
    const headers = new Headers(init.headers)
    const current = await currentToken(token)
    if (current !== undefined && !headers.has('authorization')) headers.set('authorization', `Bearer ${current}`)
    if (userAgent !== undefined) headers.set('user-agent', userAgent)
    const signals = [init.signal, limit].filter((signal) => signal !== undefined && signal !== null)
    // A caller's own function must not see `this`.
    const send = fetch
    return send(address, {
      ...init,
      headers,
      ...(signals.length > 0 ? { signal: AbortSignal.any(signals) } : {}),
    }).catch((error: unknown) => {
      throw init.signal?.aborted === true ? asError(init.signal.reason) : asError(error)
    })
  }
  return {
    baseUrl: toBaseUrl(url),
    retry,
    send(address, init) {
      const hasFiles = init.body instanceof FormData || init.body instanceof Blob
      return sendWithin(address, init, hasFiles ? undefined : AbortSignal.timeout(timeoutSeconds * 1000))
    },
    open: (address, init) => sendWithin(address, init, undefined),
  }
}

async function currentToken(token: TokenSource | undefined): Promise<string | undefined> {
  if (typeof token !== 'function') return token
  try {
    return await token()
  } catch (error) {
    throw asFinal(error)
  }
}

/** Lists and objects are JSON in queries of Depot. */
function toQuery(query: Record<string, unknown>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null) continue
    params.append(name, typeof value === 'object' ? JSON.stringify(value) : String(value))
  }
  return params.toString()
}

function toBody(body: unknown): unknown {
  if (body instanceof Form) return body.toFormData()
  if (body instanceof Blob || body instanceof URLSearchParams) return body
  return JSON.stringify(body)
}

async function readBody(response: Response): Promise<unknown> {
  if (response.status === 204 || response.headers.get('content-length') === '0') return undefined
  const type = response.headers.get('content-type') ?? ''
  if (/\bjson\b/.test(type) && !/jsonl/.test(type)) return response.json()
  return /^text\/|jsonl/.test(type) ? response.text() : response.blob()
}
