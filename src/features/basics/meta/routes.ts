// The root document, removed API versions, health, readiness and metrics.
import Type from 'typebox'
import { parseAuthorization, secretsEqual } from '#lib/access/tokens.ts'
import { notFound } from '#lib/errors.ts'
import { commitId, VERSION } from '#platform/config/version.ts'
import { rejectRetired } from '#platform/http/mounts.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { Readiness, ReadinessQuery, STOPPING, type sharedChecks } from './readiness.ts'
import { Health, RootDocument } from './views.ts'

type MetaDeps = Deps & { checks: ReturnType<typeof sharedChecks> }

export function metaRoutes(app: App, deps: MetaDeps): void {
  const root = {
    name: 'depot',
    version: VERSION,
    commit: commitId(),
    documentation: `${deps.config.http.baseUrl}/docs/swagger-ui`,
    about: 'A content hosting service: projects, versions and files, with search, teams and analytics.',
  }
  app.get('/', {
    config: { auth: 'public', cache: 'shared' },
    schema: {
      operationId: 'getRoot',
      summary: 'Get the name and version of this service',
      response: { 200: RootDocument },
    },
    handler: async (_req, reply) => {
      void reply.header('vary', 'accept')
      return root
    },
  })
  rejectRetired(
    app,
    ['/v1', '/v1/*', '/api/v1', '/api/v1/*'],
    'This version of the API was removed. Update your application.',
  )
  operatorProbes(app, deps)
}

function operatorProbes(app: App, { checks, ...deps }: MetaDeps): void {
  const config = { auth: 'public', unlimited: true } as const
  app.get('/health', {
    config: { ...config, withoutPage: 'For programs and monitoring' },
    schema: { operationId: 'getHealth', summary: 'Check that the process is running', response: { 200: Health } },
    handler: () => ({ status: 'ok' as const }),
  })
  app.get('/ready', {
    config: { ...config, errors: ['400 invalid_input'] },
    schema: {
      operationId: 'getReadiness',
      summary: 'Check each dependency',
      description:
        'Returns 503 without the database or the files, and while the server drains connections before it stops ' +
        '(`DRAIN_SECONDS`). If another part does not work, returns 200 with the status `degraded`.',
      querystring: ReadinessQuery,
      response: { 200: Readiness, 503: Readiness },
    },
    handler: async (req, reply) => {
      const readiness = app.isDraining() ? STOPPING : await checks(req.query.for)
      return reply.status(readiness.status === 'unavailable' ? 503 : 200).send(readiness)
    },
  })
  app.get('/metrics', {
    config: { ...config, errors: ['404 not_found'], withoutPage: 'For programs and monitoring' },
    schema: {
      operationId: 'getMetrics',
      summary: 'Get metrics in the Prometheus text format',
      produces: ['text/plain'],
      response: { 200: Type.String() },
    },
    handler: async (req, reply) => {
      const key = deps.config.http.metricsToken
      if (key !== undefined && !secretsEqual(parseAuthorization(req.headers.authorization) ?? '', key.reveal()))
        throw notFound('route')
      const { registry } = deps.metrics
      return reply.type(registry.contentType).send(await registry.metrics())
    },
  })
}
