// Types for the `config` of routes, and for the properties that hooks add to a request.
import type { IncomingMessage } from 'node:http'
import type {
  FastifyContextConfig,
  FastifyRequest,
  FastifySchema,
  onRequestAsyncHookHandler,
  onRequestHookHandler,
} from 'fastify'
import type { TSchema } from 'typebox'
import type { ApiError, DeclaredError } from '#lib/errors.ts'
import type { CodedForms } from './responses/content-coding.ts'
import type { ListBuffers } from './responses/list-buffers.ts'

/** The scopes of tokens, which the feature of the tokens declares. */
// biome-ignore lint/suspicious/noEmptyInterface: the feature extends it.
export interface ScopeNames {}
type ScopeName = keyof ScopeNames

/**
 * The callers of a route:
 * - `public`: everyone; the route ignores tokens.
 * - `{ read: [...] }`: everyone; a token with one of these scopes identifies the caller, other tokens are ignored.
 * - `{ scope: [...] }`: a valid token with all of these scopes (empty list: any valid token).
 * - `operator`: the header X-Admin-Key or an admin's session; for all others the route does not exist.
 */
export type RouteAuth = 'public' | { read: readonly ScopeName[] } | { scope: readonly ScopeName[] } | 'operator'

/** The account of a request's token; null: an anonymous caller. */
export type Caller = FastifyRequest['viewer']

/** Identifies the callers of routes, and checks what routes require of them. */
export type AccessControl = {
  /** Returns the onRequest hook of a route; undefined for routes that ignore their callers. */
  hook(config: FastifyContextConfig): onRequestHookHandler | onRequestAsyncHookHandler | undefined
  /** Returns the caller of a read if it is known without waiting; undefined if the framework must decide. */
  peek(auth: Exclude<RouteAuth, string>, req: Pick<FastifyRequest, 'headers' | 'clientAddress'>): Caller | undefined
}

/**
 * Caching of a response by clients and proxies. `public`: revalidated each time; `private` for an identified caller.
 * `shared`: the same for every caller and always public. `tags`: valid for one hour. `private`: only for one caller.
 * `no-store`: never cached (the default).
 */
export type CachePolicy = 'public' | 'shared' | 'tags' | 'private' | 'no-store'

/** The request budget of a client address: `api` (the default), `page`, and `asset` for styles, scripts and images. */
export type RateBudget = 'api' | 'page' | 'asset'

/** Costs of expensive requests. `npm run bench -- routes` compares them with the measured times. */
export const COSTS = {
  password: 5,
  archive: 3,
  resolve: 3,
  picture: 3,
  largePicture: 15,
  analytics: 5,
  everything: 20,
} as const

/** One operation. */
export type RouteEntry = {
  readonly method: string
  readonly url: string
  readonly operationId: string
  readonly config: Readonly<FastifyContextConfig>
  readonly schema: Readonly<FastifySchema>
  /** Whether the API description omits the route: pages, files of the API viewer, retired versions, second paths. */
  readonly hidden: boolean
}

/** A response as cached JSON with its ETag. */
export type CachedResponse = { readonly bytes: Buffer; readonly etag: string }

/** The route of a response that the fast path sends, for the limiter, the metrics and the log. */
export type FastPathRoute = { url: string; operation: string; config: FastifyContextConfig }

/**
 * A response of the fast path. `headers` are names and values in turn, without the headers that every response has. A
 * response without `bytes` is a 304.
 */
export type FastPathResponse = {
  route: FastPathRoute
  headers: readonly string[]
  bytes: Buffer | undefined
  viewerId?: string | undefined
}

/**
 * Returns the cached response to a GET; undefined leaves the request to the framework. A source must return undefined if
 * the response depends on a header that the source does not read.
 */
export type FastPathSource = (req: IncomingMessage, address: string) => FastPathResponse | undefined

/** Returns the URL that a request without a route leads to, or its error. Default: 404 */
export type UnroutedSource = (req: FastifyRequest) => string | ApiError | undefined

/** Dates are the start of a day in UTC: `2027-01-31`. docs/operators/releases.md says how far apart they must be. */
export type Deprecation = {
  since: string
  /** Day from which the operation can be removed. */
  sunset: string
  /** The replacement, for example `GET /v3/changes`. */
  instead: string
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Every route except HEAD and preflight requests, in the order of registration. */
    routeTable(): RouteEntry[]
    /** Announces that this process stops soon: `/ready` returns 503, and connections close after their response. */
    drain(): void
    isDraining(): boolean
    /** Sets the source of responses that are sent without calling the framework. */
    useFastPath(source: FastPathSource): void
    /** Sets the source of responses to requests that no route handles. */
    useUnrouted(source: UnroutedSource): void
    /** Memory for list responses. */
    listBuffers: ListBuffers
    /** Compressed forms of recent responses. */
    codedForms: CodedForms
  }
  interface FastifySchema {
    /** `verbNoun`, unique. Every operation has one. */
    operationId?: string
    summary?: string
    description?: string
    tags?: readonly string[]
    consumes?: readonly string[]
    produces?: readonly string[]
    hide?: boolean
  }
  interface FastifyContextConfig {
    auth: RouteAuth
    cache?: CachePolicy
    budget?: RateBudget
    /**
     * Behaviour in read-only mode. Default: routes that only read work, routes that change data fail. `form`: the handler
     * reads the body and rejects it, so that the page still contains what the user entered.
     */
    whenReadOnly?: 'answers' | 'refused' | 'form'
    /** Number of requests that this one counts as at the rate limit: about 1 per 40 ms of processor time. Default: 1. */
    cost?: number
    /** Errors that do not follow from the rest of the route (`openapi/declared-errors.ts`). Used only in the description. */
    errors?: readonly DeclaredError[]
    /** The reason for an operation that no page of the web site offers. Only `npm run gen` and tests read it. */
    withoutPage?: string
    /**
     * Returns the cached response, or undefined to call the handler: for frequent reads with at most one path parameter,
     * which is `value` (`cached-routes.ts`). The viewer has passed the checks of the route.
     */
    ready?: (value: string, viewer: Caller) => CachedResponse | undefined
    /** The time of a request depends on the connection of the client: files, exports and forms with files. */
    isTransfer?: boolean
    /** The operation will be removed. */
    deprecated?: Deprecation
    /** No rate limit, no rate headers and no required User-Agent (`/health`, `/ready`, `/metrics`). */
    unlimited?: boolean
    /** A JSON body that the handler reads as bytes. Used only in the description. */
    rawBody?: TSchema
    /** The part `data` of a form that the handler reads. Used only in the description. */
    formData?: { schema: TSchema; isOptional?: boolean }
    /** Keeps `__proto__` in the body, for routes that reject unknown keys by name. */
    keepProtoKeys?: boolean
  }
  interface FastifyReply {
    /** Identifies the content of a response that is joined from cached entities. */
    contentTag: string | undefined
  }
  interface FastifyRequest {
    /** Empty on unlimited routes, which do not use it. */
    clientAddress: string
    /** The error code of a response with 5xx. */
    errorCode?: string
  }
}
