// Authenticates callers by the Authorization header, and checks the requirements of each route.
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { hasScope, type ScopeName } from '#features/basics/access/scopes.ts'
import { isAdmin, isModerator, refuseWithheldRole, type Viewer } from '#features/basics/access/viewer.ts'
import type { Secret } from '#lib/access/secret.ts'
import { parseAuthorization, secretsEqual } from '#lib/access/tokens.ts'
import { ApiError, forbidden, notFound } from '#lib/errors.ts'
import type { AccessControl } from '#platform/http/route-config.ts'
import type { TokenDirectory } from './token-directory.ts'

/**
 * Treatment of fine-grained tokens, which are limited to projects and organizations (`Viewer.limits`):
 * - `resource`: the policies of the route apply the limits.
 * - `versions`: like `resource`; the tokens of trusted publishers have access too.
 * - `own`: the route concerns the token's account and shows nothing that the limits exclude.
 * - `anonymous`: a read that ignores these tokens.
 */
export type LimitedTokens = 'resource' | 'versions' | 'own' | 'anonymous'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Default: fine-grained tokens get 403. Routes that ignore tokens, or accept only sessions, need none. */
    limitedTokens?: LimitedTokens
    /** The caller must also be a moderator or an admin. Others get 403. */
    role?: 'moderator' | 'admin'
  }
  interface FastifyRequest {
    viewer: Viewer | null
  }
}

declare module '#platform/http/route-config.ts' {
  interface ScopeNames extends Record<ScopeName, true> {}
}

/** Maximum number of IDs of a token's limits in the message of an error. */
const NAMED_MAX = 5

type AccessOptions = { tokens: TokenDirectory; adminKey: Secret | undefined }

/** Returns the caller of a route that requires a token. */
export function requireViewer(req: FastifyRequest): Viewer {
  if (req.viewer === null) throw unauthenticated('A token is required')
  return req.viewer
}

/** Whether the caller's token has a scope that adds data to a response, such as the email address. */
export function viewerHas(viewer: Viewer | null, scope: ScopeName): boolean {
  return viewer !== null && hasScope(viewer.scopes, scope)
}

/** Returns the viewer if their token has all of these scopes, otherwise null. */
export function viewerWith(viewer: Viewer | null, scopes: readonly ScopeName[]): Viewer | null {
  return viewer !== null && scopes.every((scope) => hasScope(viewer.scopes, scope)) ? viewer : null
}

/** @throws ApiError 403 with the scope, for parts of a body that need more than the scopes of the route. */
export function requireScope(viewer: Viewer, scope: ScopeName): void {
  if (!hasScope(viewer.scopes, scope)) throw missingScope(scope)
}

/** Returns the checks of the server: by the token, or by the key of the operator. */
export function createAccessControl(options: AccessOptions): AccessControl {
  return {
    hook: (config) => authHook(config, options),
    peek(auth, { headers, clientAddress }) {
      if (headers.authorization === undefined) return 'read' in auth ? null : undefined
      const viewer = options.tokens.peek(headers.authorization, { headers, clientAddress })
      if (typeof viewer !== 'object' || viewer.limits !== undefined) return undefined
      if ('read' in auth) return auth.read.some((scope) => hasScope(viewer.scopes, scope)) ? viewer : null
      return auth.scope.every((scope) => hasScope(viewer.scopes, scope)) ? viewer : undefined
    },
  }
}

/** Returns the onRequest hook that enforces the config of a route; undefined for public routes, which ignore tokens. */
function authHook({ auth, role, limitedTokens }: FastifyContextConfig, { tokens, adminKey }: AccessOptions) {
  if (auth === 'public') return undefined
  if (auth === 'operator') return operatorHook(tokens, adminKey)
  if ('read' in auth) return readHook(auth.read, limitedTokens, tokens)
  const required = auth.scope
  return async (req: FastifyRequest): Promise<void> => {
    const viewer = await tokens.authenticate(req.headers.authorization, req)
    if (viewer === 'missing') throw unauthenticated('A token in the Authorization header is required')
    if (viewer === 'suspended') throw unauthenticated('The account of this token is suspended')
    if (viewer === 'invalid') throw unauthenticated('The token is unknown, expired or revoked')
    requireUnlimited(viewer, limitedTokens)
    for (const scope of required) requireScope(viewer, scope)
    if (role !== undefined) refuseWithheldRole(viewer, role)
    if (role === 'moderator' && !isModerator(viewer)) throw forbidden('Only moderators can do this')
    if (role === 'admin' && !isAdmin(viewer)) throw forbidden('Only admins can do this')
    req.viewer = viewer
  }
}

/** A caller whose token is invalid or lacks the scopes is anonymous. */
function readHook(anyOf: readonly ScopeName[], limitedTokens: LimitedTokens | undefined, tokens: TokenDirectory) {
  const accept = (req: FastifyRequest, viewer: Viewer | string): void => {
    if (typeof viewer === 'string' || !anyOf.some((scope) => hasScope(viewer.scopes, scope))) return
    if (viewer.limits !== undefined && isIgnored(viewer, limitedTokens)) return
    req.viewer = viewer
  }
  return (req: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
    // Avoids a promise for anonymous reads, which are the most frequent.
    if (req.headers.authorization === undefined) return done()
    tokens
      .authenticate(req.headers.authorization, req)
      .then((viewer) => accept(req, viewer))
      .then(() => done(), done)
  }
}

/** Returns whether a read ignores this fine-grained token. @throws ApiError 403 if the route states no treatment. */
function isIgnored(viewer: Viewer, limitedTokens: LimitedTokens | undefined): boolean {
  if (limitedTokens === 'anonymous') return true
  if (viewer.token.kind === 'publisher') return limitedTokens !== 'versions'
  requireUnlimited(viewer, limitedTokens)
  return false
}

/** @throws ApiError 403 naming the limits, for a fine-grained token that the route does not accept. */
function requireUnlimited({ limits, token }: Viewer, limitedTokens: LimitedTokens | undefined): void {
  if (limits === undefined || limitedTokens === 'versions') return
  if (token.kind === 'publisher') throw forbidden('The token of a trusted publisher can only publish versions')
  if (limitedTokens !== undefined) return
  const names = [...limits.projects, ...limits.organizations].slice(0, NAMED_MAX).join(', ')
  const message = `This token is limited to projects or organizations (${names}), which this operation does not support`
  throw new ApiError('forbidden', message, { details: { limits } })
}

function operatorHook(tokens: TokenDirectory, adminKey: Secret | undefined) {
  return async (req: FastifyRequest): Promise<void> => {
    const key = req.headers['x-admin-key']
    if (typeof key === 'string') {
      if (adminKey !== undefined && secretsEqual(key, adminKey.reveal())) return
      throw notFound('route')
    }
    const viewer = await tokens.authenticate(req.headers.authorization, req)
    if (typeof viewer === 'string' || viewer.token.kind !== 'session') throw notFound('route')
    refuseWithheldRole(viewer, 'admin')
    if (!isAdmin(viewer)) throw notFound('route')
    req.viewer = viewer
  }
}

/** Returns the token of a request, for handlers that need it (refreshing a session). */
export function tokenText(req: FastifyRequest): string | undefined {
  return parseAuthorization(req.headers.authorization)
}

export function unauthenticated(description: string): ApiError {
  return new ApiError('unauthorized', description)
}

function missingScope(scope: ScopeName): ApiError {
  return new ApiError('forbidden', `The token lacks the scope ${scope}`, { details: { scope } })
}
