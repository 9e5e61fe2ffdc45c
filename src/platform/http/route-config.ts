// What each route says of itself in `config`, and what the hooks put on a request.
import type { FastifyContextConfig } from 'fastify'
import type { TSchema } from 'typebox'
import type { ScopeName } from '#lib/access/scopes.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import type { CachedResponse } from './fast-path/cached-routes.ts'
import type { FastPathSource } from './fast-path/fast-path.ts'
import type { ListBuffers } from './responses/list-buffers.ts'

/**
 * Who may call a route:
 * - `public`: anyone; a token is not even looked at.
 * - `{ read: [...] }`: anyone; a token that holds one of these scopes makes the caller known, any other is ignored.
 * - `{ scope: [...] }`: a valid token that holds all of these scopes (none listed: any valid token).
 * - `operator`: the header X-Admin-Key or an admin's session; for anybody else the route does not exist.
 */
export type RouteAuth = 'public' | { read: readonly ScopeName[] } | { scope: readonly ScopeName[] } | 'operator'

/**
 * How long a response may be cached: `public` revalidates each time and turns `private` for a known
 * caller, `shared` is the same for every caller and stays public, `tags` lives an hour, `private` is for one caller,
 * `no-store` is never kept (the default).
 */
export type CachePolicy = 'public' | 'shared' | 'tags' | 'private' | 'no-store'

/**
 * Against which of an address's request budgets a route counts: `api` (the default), `page` for pages that people open,
 * `asset` for what pages are made of: style, script, fonts, pictures.
 */
export type RateBudget = 'api' | 'page' | 'asset'

/**
 * What requests count for that are expensive by nature: a password that is hashed, a file that is read through, a
 * picture of forty million pixels that is scaled. `npm run bench -- routes` holds them against what they take.
 */
export const COSTS = { password: 5, archive: 3, picture: 3, largePicture: 15, analytics: 5, everything: 20 } as const

/** One operation as the tests walk them. */
export type RouteEntry = {
  readonly method: string
  readonly url: string
  readonly operationId: string
  readonly config: Readonly<FastifyContextConfig>
  /** Left out of the published description: pages, the viewer's files, retired versions, second addresses. */
  readonly hidden: boolean
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Every route but HEAD and preflights, in the order of their registration. */
    routeTable(): RouteEntry[]
    /** Says from now on that this process is about to stop: `/ready` is 503, and connections end with their answer. */
    drain(): void
    isDraining(): boolean
    /** Adds answers that leave before the framework sees the request. */
    addFastPath(source: FastPathSource): void
  }
  interface FastifySchema {
    /** `verbNoun`, unique; every operation has one. */
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
    /** A known caller must also be a moderator or an admin; others get 403. */
    role?: 'moderator' | 'admin'
    /** What becomes of the route in read-only mode, where its method and its `auth` do not say it. */
    whenReadOnly?: 'answers' | 'refused'
    /**
     * How many requests one of these counts for at the rate limit, for what is expensive by nature; 1 unless given:
     * about a unit for each 40 ms of processor time, which `npm run bench -- routes` measures.
     */
    cost?: number
    /**
     * What a route of one path parameter answers everybody whom it does not know, where that is ready bytes at this
     * moment: for a GET of `auth: { read }` that is asked often (`ready-routes.ts`). Undefined: the handler answers.
     */
    ready?: (value: string) => CachedResponse | undefined
    /** The route answers outside limiter, User-Agent rule and rate headers (`/health`, `/ready`, `/metrics`). */
    unlimited?: boolean
    /** For the description alone: the part `data` of a form that the handler reads itself. */
    formData?: { schema: TSchema; isOptional?: boolean }
    /** `__proto__` stays in the body, for routes that refuse unknown keys by name. */
    keepProtoKeys?: boolean
  }
  interface FastifyInstance {
    /** Memory for list answers. */
    listBuffers: ListBuffers
  }
  interface FastifyRequest {
    viewer: Viewer | null
    /** Empty only on unlimited routes, where it is not needed. */
    clientAddress: string
  }
}
