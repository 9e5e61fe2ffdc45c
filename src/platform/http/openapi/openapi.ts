// Serves an OpenAPI 3.0 description of each API version, generated from the routes, and a viewer without external content.
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import Type from 'typebox'
import { bytesToKeep, JsonEntity } from '#lib/text/json-bytes.ts'
import { sendBytes } from '../responses/entity-tags.ts'
import { type App, VIEWER_PREFIX } from '../server.ts'
import { toV2Paths } from '../v2-paths.ts'
import { describeDocument, describeRoute } from './document.ts'
import { describeErrors } from './error-responses.ts'
import { INTRODUCTION, INTRODUCTION_V2, TAGS } from './texts.ts'

/** `v3` also contains the operations without a version. */
export type ApiVersion = 'v2' | 'v3'

const DOCUMENTS = {
  v3: { decorator: 'swagger', url: '/docs/openapi.json', operationId: 'getOpenApi', introduction: INTRODUCTION },
  v2: {
    decorator: 'swaggerV2',
    url: '/docs/v2/openapi.json',
    operationId: 'getOlderOpenApi',
    introduction: INTRODUCTION_V2,
  },
} as const satisfies Record<ApiVersion, object>

const LIST_LENGTH_MAX = 100

declare module 'fastify' {
  interface FastifyInstance {
    swaggerV2: FastifyInstance['swagger']
  }
}

const versionOf = (url: string): ApiVersion => (url.startsWith('/v2/') ? 'v2' : 'v3')

/** Call it before the routes are registered. */
export async function registerOpenApi(app: App, about: { version: string; baseUrl: string }): Promise<void> {
  for (const version of ['v3', 'v2'] as const) await registerDocument(app, version, about)
  await app.register(swaggerUi, {
    routePrefix: VIEWER_PREFIX,
    // The base layout has no top bar with the library's logo and a field for other URLs.
    uiConfig: { layout: 'BaseLayout', deepLinking: true, validatorUrl: null as never },
    staticCSP: viewerPolicy(about.baseUrl),
    theme: { title: 'Depot API' },
  })
  for (const version of ['v3', 'v2'] as const) {
    const { url, operationId } = DOCUMENTS[version]
    app.get(
      url,
      {
        config: { auth: 'public', cache: 'shared' },
        schema: {
          operationId,
          summary: version === 'v3' ? 'Get this OpenAPI description' : 'Get the OpenAPI description of version 2',
          tags: ['meta'],
          produces: ['application/json'],
          response: { 200: Type.Unsafe<string>({ type: 'object', description: 'OpenAPI 3.0' }) },
        },
      },
      async (_req, reply) => {
        const { bytes, etag } = openApiEntity(app, version)
        return sendBytes(reply, bytes, etag)
      },
    )
  }
}

async function registerDocument(
  app: App,
  described: ApiVersion,
  about: { version: string; baseUrl: string },
): Promise<void> {
  await app.register(swagger, {
    decorator: DOCUMENTS[described].decorator,
    openapi: {
      openapi: '3.0.3',
      info: {
        title: described === 'v3' ? 'Depot' : 'Depot, version 2',
        version: about.version,
        description: DOCUMENTS[described].introduction,
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
        ...describeRoute((schema ?? {}) as Record<string, unknown>, route),
        ...(url.includes('*') || versionOf(url) !== described ? { hide: true } : {}),
      } as never,
      url,
    }),
    transformObject: (document) =>
      'openapiObject' in document
        ? (describeErrors(describeDocument(document.openapiObject as never), app.routeTable()) as never)
        : (document.swaggerObject as never),
  })
}

const entities = new WeakMap<object, Partial<Record<ApiVersion, JsonEntity>>>()

/** Returns a description. Cached, because it cannot change while the server runs. */
function openApiEntity(app: App, version: ApiVersion): JsonEntity {
  const cached = entities.get(app) ?? {}
  entities.set(app, cached)
  cached[version] ??= new JsonEntity(bytesToKeep(writeDocument(app, version)))
  return cached[version]
}

/** Returns a description as JSON. */
export function openApiText(app: App, version: ApiVersion = 'v3'): string {
  return openApiEntity(app, version).bytes.toString()
}

function writeDocument(app: App, version: ApiVersion): string {
  const text = toText(app[DOCUMENTS[version].decorator]())
  return version === 'v2' ? toV2Paths(text) : text
}

const SCALAR = /"(?:[^"\\\n]|\\.)*"|[\w.+-]+/.source
const SHORT_LIST = new RegExp(`\\[\\s+(?:(?:${SCALAR}),?\\s+)+\\]`, 'g')

/** Writes references and short lists in one line, so that the committed file is easier to read. */
function toText(document: unknown): string {
  const text = JSON.stringify(document, null, 2)
    .replaceAll(/\{\s+("\$ref": "[^"]+")\s+\}/g, '{ $1 }')
    .replaceAll(SHORT_LIST, (list) => {
      const line = list.replaceAll(/,\n\s+/g, ', ').replaceAll(/\n\s+/g, '')
      return line.length <= LIST_LENGTH_MAX ? line : list
    })
  return `${text}\n`
}

/** The viewer can only connect to this service. It also works without TLS. */
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
