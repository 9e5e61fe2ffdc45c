// Sentences of the API description about the credentials and the cost of a route.
import type { FastifyContextConfig } from 'fastify'
import { SCOPES, type ScopeName } from '#features/basics/access/scopes.ts'
import type { LimitedTokens } from './access-control.ts'

/** Describes the required credentials and the cost of a route; undefined if there is nothing to say. */
export function describeAccess(config: FastifyContextConfig): string | undefined {
  const { cost = 1 } = config
  const parts = [
    describeCaller(config),
    describeLimits(config),
    cost === 1 ? undefined : `Counts as ${cost} requests at the rate limit.`,
  ]
  const sentences = parts.filter((part) => part !== undefined)
  return sentences.length === 0 ? undefined : sentences.join(' ')
}

function describeCaller({ auth, role }: FastifyContextConfig): string | undefined {
  if (auth === 'public') return 'Requires no token.'
  if (auth === 'operator') return 'Operators only: requires the header `X-Admin-Key` or the session of an admin.'
  if ('read' in auth) return optionalToken(auth.read)
  const requirement =
    auth.scope.length === 0 ? 'Requires a token.' : `Requires a token with ${listed(auth.scope, 'and')}.`
  return role === undefined
    ? requirement
    : `${requirement} ${role === 'admin' ? 'Admins' : 'Moderators and admins'} only.`
}

const LIMITS: Readonly<Record<LimitedTokens, string>> = {
  resource: 'Fine-grained tokens work within their limits.',
  versions: 'Fine-grained tokens and those of trusted publishers work within their limits.',
  own: 'Fine-grained tokens work, without private data.',
  anonymous: 'Ignores fine-grained tokens.',
}

function describeLimits({ auth, role, limitedTokens }: FastifyContextConfig): string | undefined {
  if (auth === 'public' || auth === 'operator' || role !== undefined) return undefined
  return limitedTokens === undefined ? 'Rejects fine-grained tokens.' : LIMITS[limitedTokens]
}

function optionalToken(scopes: readonly ScopeName[]): string {
  if (scopes.length === SCOPES.length) return 'Token optional, with any scope.'
  return `Token optional. A token with ${listed(scopes, 'or')} identifies the caller.`
}

function listed(scopes: readonly ScopeName[], conjunction: 'and' | 'or'): string {
  return scopes.map((scope) => `\`${scope}\``).join(` ${conjunction} `)
}
