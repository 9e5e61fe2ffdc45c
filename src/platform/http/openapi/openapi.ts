// Serves an OpenAPI 3.0 description of each API version, generated from the routes, and a viewer without external content.
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import Type from 'typebox'
import { bytesToKeep, JsonEntity } from '#lib/text/json-bytes.ts'
import { sendBytes } from '../responses/entity-tags.ts'
import { type App, VIEWER_PREFIX } from '../server.ts'
import { describeProperties } from './complete.ts'
import { type DescribeAccess, describeDocument, describeRoute } from './document.ts'
import { describeErrors } from './error-responses.ts'
import { addExamples, type RecordedExample } from './examples.ts'

/** A description of the operations whose path it covers. */
export type ApiDescription = {
  /** Property of the server with the document. The viewer shows the one of `swagger`. */
  decorator: 'swagger' | 'swaggerV2'
  title: string
  /** Markdown. */
  introduction: string
  /** The groups of operations in reading order. Contains every tag of a route. */
  tags: readonly { name: string; description: string }[]
  describeAccess: DescribeAccess
  /** The scopes that an OAuth application can request, with their descriptions. */
  scopes: Readonly<Record<string, string>>
  /** Descriptions of properties that have none in their schema, by name. */
  properties: Readonly<Record<string, string>>
  /** Recorded requests and responses, by operation. */
  examples: Readonly<Record<string, RecordedExample>>
  /** Path at which the description is served, and its operation. */
  url: string
  operationId: string
  summary: string
  covers(url: string): boolean
  /** Changes the text of the description before it is sent. Default: no change */
  correctText?(text: string): string
}

const LIST_LENGTH_MAX = 100

declare module 'fastify' {
  interface FastifyInstance {
    swaggerV2: FastifyInstance['swagger']
  }
}

/** Call it before the routes are registered. */
export async function registerOpenApi(
  app: App,
  about: { version: string; baseUrl: string },
  descriptions: readonly ApiDescription[],
): Promise<void> {
  for (const description of descriptions) await registerDocument(app, description, about)
  await app.register(swaggerUi, {
    routePrefix: VIEWER_PREFIX,
    // The base layout has no top bar with the library's logo and a field for other URLs.
    uiConfig: { layout: 'BaseLayout', deepLinking: true, validatorUrl: null as never },
    staticCSP: viewerPolicy(about.baseUrl),
    theme: { title: 'Depot API' },
  })
  for (const description of descriptions) {
    const { url, operationId, summary } = description
    app.get(url, {
      config: { auth: 'public', cache: 'shared', withoutPage: 'For programs and monitoring' },
      schema: {
        operationId,
        summary,
        tags: ['meta'],
        produces: ['application/json'],
        response: { 200: Type.Unsafe<string>({ type: 'object', description: 'OpenAPI 3.0' }) },
      },
      handler: async (_req, reply) => {
        const { bytes, etag } = openApiEntity(app, description)
        return sendBytes(reply, bytes, etag)
      },
    })
  }
}

async function registerDocument(
  app: App,
  described: ApiDescription,
  about: { version: string; baseUrl: string },
): Promise<void> {
  await app.register(swagger, {
    decorator: described.decorator,
    openapi: {
      openapi: '3.0.3',
      info: {
        title: described.title,
        version: about.version,
        description: described.introduction,
        license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
        contact: { name: 'This instance', url: about.baseUrl },
      },
      servers: [{ url: about.baseUrl }],
      tags: [...described.tags],
      components: {
        securitySchemes: {
          token: {
            type: 'apiKey',
            in: 'header',
            name: 'Authorization',
            description: 'The token, raw or as `Bearer <token>`',
          },
          oauth: {
            type: 'oauth2',
            description: 'Access of an application that the user has authorized',
            flows: {
              authorizationCode: {
                authorizationUrl: `${about.baseUrl}/v2/_internal/oauth/authorize`,
                tokenUrl: `${about.baseUrl}/v2/_internal/oauth/token`,
                scopes: { ...described.scopes },
              },
            },
          },
          adminKey: { type: 'apiKey', in: 'header', name: 'X-Admin-Key', description: 'The operator’s key' },
        },
      },
    },
    transform: ({ schema, url, route }) => ({
      schema: {
        ...describeRoute((schema ?? {}) as Record<string, unknown>, route, described),
        ...(url.includes('*') || !described.covers(url) ? { hide: true } : {}),
      } as never,
      url,
    }),
    transformObject: (document) =>
      'openapiObject' in document
        ? (describeRest(app, described, describeDocument(document.openapiObject as never)) as never)
        : (document.swaggerObject as never),
  })
}

function describeRest(app: App, { properties, examples }: ApiDescription, document: Record<string, unknown>) {
  return addExamples(describeProperties(describeErrors(document, app.routeTable()), properties), examples)
}

const entities = new WeakMap<object, Map<ApiDescription, JsonEntity>>()

/** Returns a description. Cached, because it cannot change while the server runs. */
function openApiEntity(app: App, described: ApiDescription): JsonEntity {
  const cached = entities.get(app) ?? new Map<ApiDescription, JsonEntity>()
  entities.set(app, cached)
  const entity = cached.get(described) ?? new JsonEntity(bytesToKeep(writeDocument(app, described)))
  cached.set(described, entity)
  return entity
}

/** Returns a description as JSON. */
export function openApiText(app: App, described: ApiDescription): string {
  return openApiEntity(app, described).bytes.toString()
}

function writeDocument(app: App, described: ApiDescription): string {
  const text = toText(app[described.decorator]())
  return described.correctText?.(text) ?? text
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
