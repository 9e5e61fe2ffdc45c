// The caller's limits for projects, organizations and collections.
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { getQuota, QUOTA_KINDS, type QuotaKind } from './quota.ts'
import { QuotaView, RateLimitView } from './views.ts'

const OPERATION: Record<QuotaKind, string> = {
  projects: 'getProjectLimit',
  organizations: 'getOrganizationLimit',
  collections: 'getCollectionLimit',
}

export function limitRoutes(app: App, deps: Pick<Deps, 'db' | 'config' | 'now'>): void {
  rateLimitRoute(app, deps)
  for (const kind of QUOTA_KINDS) {
    app.get(`/v3/limits/${kind}`, {
      config: { auth: { scope: [] }, cache: 'private' },
      schema: {
        operationId: OPERATION[kind],
        summary: `Get the number of ${kind} that the caller owns, and the limit`,
        response: { 200: QuotaView },
      },
      handler: (req) => getQuota(deps.db, deps.config, requireViewer(req), kind),
    })
  }
}

/** The limiter has set the headers of the response, from which the body repeats the values. */
function rateLimitRoute(app: App, { now }: Pick<Deps, 'now'>): void {
  app.get('/v3/rate-limit', {
    config: { auth: 'public', cost: 0, withoutPage: 'For programs that have a token' },
    schema: {
      operationId: 'getRateLimit',
      summary: "Get the caller's rate limit and the remaining requests",
      description: 'Costs no request, and works also when the limit is reached.',
      response: { 200: RateLimitView },
    },
    handler: async (_req, reply) => {
      const seconds = Number(reply.getHeader('x-ratelimit-reset'))
      return {
        limit: Number(reply.getHeader('x-ratelimit-limit')),
        remaining: Number(reply.getHeader('x-ratelimit-remaining')),
        reset: new Date(now() + seconds * 1000).toISOString(),
        reset_seconds: seconds,
      }
    },
  })
}
