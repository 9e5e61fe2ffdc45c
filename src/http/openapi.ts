// The OpenAPI 3.0 description, drawn from the schemas that run, and its viewer, which loads nothing from elsewhere.
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import Type from 'typebox'
import { describeDocument, describeRoute } from './openapi-document.ts'
import { INTRODUCTION, TAGS } from './openapi-text.ts'
import { type App, VIEWER_PREFIX } from './server.ts'

/** Must be called before the routes are registered. */
export async function registerOpenApi(app: App, about: { version: string; baseUrl: string }): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.0.3',
      info: {
        title: 'Depot',
        version: about.version,
        description: INTRODUCTION,
        license: { name: 'MIT' },
      },
      servers: [{ url: about.baseUrl }],
      tags: [...TAGS],
      components: {
        securitySchemes: {
          token: {
            type: 'apiKey',
            in: 'header',
            name: 'Authorization',
            description: 'The token, raw or as `Bearer <token>`',
          },
          adminKey: { type: 'apiKey', in: 'header', name: 'X-Admin-Key', description: 'The operator’s key' },
        },
      },
    },
    transform: ({ schema, url, route }) => ({
      schema: {
        ...describeRoute((schema ?? {}) as Record<string, unknown>, route.config),
        ...(url.includes('*') ? { hide: true } : {}),
      } as never,
      url,
    }),
    transformObject: (document) =>
      'openapiObject' in document
        ? (describeDocument(document.openapiObject as never) as never)
        : (document.swaggerObject as never),
  })
  await app.register(swaggerUi, {
    routePrefix: VIEWER_PREFIX,
    // The base layout has no bar at the top, with the library's logo and a field for other addresses.
    uiConfig: { layout: 'BaseLayout', deepLinking: true, validatorUrl: null as never },
    staticCSP: viewerPolicy(about.baseUrl),
    theme: { title: 'Depot API' },
  })
  app.get(
    '/docs/openapi.json',
    {
      config: { auth: 'public', cache: 'shared' },
      schema: {
        operationId: 'getOpenApi',
        summary: 'Get this OpenAPI description',
        tags: ['meta'],
        produces: ['application/json'],
        response: { 200: Type.Unsafe<string>({ type: 'object', description: 'OpenAPI 3.0' }) },
      },
    },
    async (_req, reply) => reply.type('application/json; charset=utf-8').send(openApiText(app)),
  )
}

const texts = new WeakMap<object, string>()

/** The description as text; made once, it cannot change while the server runs. */
export function openApiText(app: App): string {
  let text = texts.get(app)
  if (text === undefined) {
    text = `${JSON.stringify(app.swagger(), null, 2)}\n`
    texts.set(app, text)
  }
  return text
}

/** The viewer reaches this service and nobody else; it works without TLS, where an operator has none. */
function viewerPolicy(baseUrl: string): string {
  return [
    "default-src 'self'",
    `connect-src 'self' ${new URL(baseUrl).origin}`,
    "img-src 'self' data:",
    "object-src 'none'",
    "script-src-attr 'none'",
    "base-uri 'self'",
    "frame-ancestors 'self'",
  ].join('; ')
}
