// Operator routes for request rates of single tokens and IP ranges.

import Type from 'typebox'
import { operatorOf } from '#features/basics/audit/actor.ts'
import { parseId } from '#lib/ids.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import { IdParams } from '#platform/http/query-values.ts'
import type { App } from '#platform/http/server.ts'
import { createRateLimit, type RateLimitDeps } from './create-rate-limit.ts'
import { deleteRateLimit } from './delete-rate-limit.ts'
import { GRANTS_MAX, getGrant, listGrants } from './queries.ts'
import { RateLimitInput, toGrantSubject } from './requests.ts'
import { RateLimitView, toRateLimitView } from './views.ts'

export function rateLimitRoutes(app: App, deps: RateLimitDeps): void {
  mountInternal(app, (scope) => {
    readRoute(scope, deps)
    writeRoutes(scope, deps)
  })
}

function readRoute(app: App, { db }: RateLimitDeps): void {
  app.get('/admin/rate-limits', {
    config: { auth: 'operator' },
    schema: {
      operationId: 'listRateLimits',
      summary: 'List the request rates granted to tokens and IP ranges',
      response: { 200: Type.Array(RateLimitView, { maxItems: GRANTS_MAX }) },
    },
    handler: async () => (await listGrants(db)).map(toRateLimitView),
  })
}

function writeRoutes(app: App, deps: RateLimitDeps): void {
  app.post('/admin/rate-limits', {
    config: { auth: 'operator', errors: ['409 conflict'] },
    schema: {
      operationId: 'createRateLimit',
      summary: 'Grant a request rate to a token or an IP range',
      description:
        'A token has its own limit, independent of the IP address. In a range, each client IP address has its own ' +
        'limit. A token takes precedence over a range, and a narrow range over a wide one. The rate takes effect ' +
        'within seconds.',
      body: RateLimitInput,
      response: { 201: RateLimitView },
    },
    handler: async (req, reply) => {
      const { requests_per_minute: requestsPerMinute, note = '' } = req.body
      const id = await createRateLimit(deps, operatorOf(req), {
        subject: toGrantSubject(req.body),
        requestsPerMinute,
        note,
      })
      return reply.status(201).send(toRateLimitView(await getGrant(deps.db, id)))
    },
  })
  app.delete('/admin/rate-limits/:id', {
    config: { auth: 'operator' },
    schema: { operationId: 'deleteRateLimit', summary: 'Revoke a granted request rate', params: IdParams },
    handler: (req): Promise<void> => deleteRateLimit(deps, operatorOf(req), parseId(req.params.id, 'id')),
  })
}
