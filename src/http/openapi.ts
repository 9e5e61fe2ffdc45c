// The OpenAPI 3.0 description, drawn from the schemas that run, and its viewer, which loads nothing from elsewhere.
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyContextConfig } from 'fastify'
import Type from 'typebox'
import { ErrorAnswers } from './answers.ts'
import type { RouteAuth } from './route-config.ts'
import { type App, VIEWER_PREFIX } from './server.ts'

type Json = Record<string, unknown>

/** Must be called before the routes are registered. */
export async function registerOpenApi(app: App, about: { version: string; baseUrl: string }): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.0.3',
      info: {
        title: 'Depot',
        version: about.version,
        description: 'A content hosting service: projects, versions and files, with search, teams and analytics.',
        license: { name: 'MIT' },
      },
      servers: [{ url: about.baseUrl }],
      components: {
        securitySchemes: {
          token: {
            type: 'apiKey',
            in: 'header',
            name: 'Authorization',
            description: 'The token, raw or as `Bearer <token>`',
          },
          adminKey: { type: 'apiKey', in: 'header', name: 'X-Admin-Key' },
        },
      },
    },
    transform: ({ schema, url, route }) => ({
      schema: {
        ...(schema as Json),
        ...describeUnread((schema ?? {}) as Json, route.config),
        security: securityOf(route.config?.auth),
        ...(url.includes('*') ? { hide: true } : {}),
      } as never,
      url,
    }),
    transformObject: (document) =>
      'openapiObject' in document
        ? (describeForOpenApi30(withJsonForms(document.openapiObject as never)) as never)
        : (document.swaggerObject as never),
  })
  await app.register(swaggerUi, {
    routePrefix: VIEWER_PREFIX,
    uiConfig: { url: '/docs/openapi.json', deepLinking: true, validatorUrl: null as never },
    staticCSP: viewerPolicy(about.baseUrl),
    theme: { title: 'Depot API' },
  })
  app.get(
    '/docs/openapi.json',
    {
      config: { auth: 'public', cache: 'shared' },
      schema: {
        operationId: 'getOpenApi',
        summary: 'This description',
        tags: ['meta'],
        produces: ['application/json'],
        response: { 200: Type.Unsafe<string>({ type: 'object', description: 'OpenAPI 3.0' }), ...ErrorAnswers },
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

const Bytes = { type: 'string', format: 'binary' }

/** What no schema of the route says: bodies that its handler reads itself, and queries whose keys are not fixed. */
function describeUnread(schema: Json, config: FastifyContextConfig | undefined): Json {
  const { consumes = [], querystring } = schema as { consumes?: string[]; querystring?: Json }
  const query =
    querystring !== undefined && !('properties' in querystring) ? { querystring: openQuery(querystring) } : {}
  if ('body' in schema) return query
  if (consumes.includes('image/*')) return { ...query, body: Bytes }
  const form = config?.formData
  if (form === undefined) return query
  const required = form.isOptional === true ? {} : { required: ['data'] }
  const body = { type: 'object', ...required, properties: { data: form.schema }, additionalProperties: Bytes }
  return { ...query, body }
}

/** One parameter that holds all keys: that is how the format writes `style: form` of an object. */
function openQuery({ description, patternProperties = {} }: Json): Json {
  const [values] = Object.values(patternProperties as Json)
  return { type: 'object', properties: { keys: { type: 'object', description, additionalProperties: values } } }
}

/** Where a form may be JSON as well, the JSON is what the form has as its part `data`. */
function withJsonForms(document: Json): Json {
  for (const item of Object.values(document['paths'] as Json)) {
    for (const operation of Object.values(item as Json)) {
      const content = (operation as { requestBody?: { content?: Json } }).requestBody?.content
      const form = content?.['multipart/form-data'] as { schema: { properties?: Json } } | undefined
      const data = form?.schema.properties?.['data']
      if (content?.['application/json'] !== undefined && data !== undefined)
        content['application/json'] = { schema: data }
    }
  }
  return document
}

function securityOf(auth: RouteAuth | undefined): Json[] | undefined {
  if (auth === undefined || auth === 'public') return []
  if (auth === 'operator') return [{ adminKey: [] }, { token: [] }]
  return 'read' in auth ? [{}, { token: [] }] : [{ token: [] }]
}

/**
 * JSON Schema as TypeBox writes it → the dialect of OpenAPI 3.0: `null` in a choice becomes `nullable`, constants
 * become one-word enumerations, and schemas with a `title` move to `components.schemas`.
 */
export function describeForOpenApi30(document: Json & { components?: Json }): Json {
  const named = new Map<string, unknown>()
  const convert = (value: unknown, isRoot: boolean): unknown => {
    if (Array.isArray(value)) return value.map((item) => convert(item, false))
    if (typeof value !== 'object' || value === null) return value
    const schema = value as Json
    const simple = simplify(schema)
    const title = simple['title']
    const converted = Object.fromEntries(Object.entries(simple).map(([key, inner]) => [key, convert(inner, false)]))
    if (!isRoot && typeof title === 'string' && /^[A-Z][A-Za-z]+$/.test(title) && isSchema(simple)) {
      named.set(title, converted)
      return { $ref: `#/components/schemas/${title}` }
    }
    return converted
  }
  const paths = convert(document['paths'], true)
  const schemas = Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1)))
  return { ...document, paths, components: { ...document.components, schemas } }
}

function isSchema(value: Json): boolean {
  return 'type' in value || 'anyOf' in value || 'allOf' in value
}

function simplify(schema: Json): Json {
  if ('const' in schema) {
    const { const: constant, ...rest } = schema
    return { type: typeof constant, ...rest, enum: [constant] }
  }
  if (schema['type'] === 'null') return { ...schema, type: 'object', nullable: true, enum: [null] }
  const choices = schema['anyOf']
  if (!Array.isArray(choices)) return 'enum' in schema && !('type' in schema) ? { type: 'string', ...schema } : schema
  const others = choices.filter((choice: Json) => choice['type'] !== 'null')
  if (others.length === choices.length) return schema
  const { anyOf: _, ...rest } = schema
  const [only] = others
  if (others.length === 1 && only !== undefined) return { ...simplify(only), ...rest, nullable: true }
  return { ...rest, anyOf: others, nullable: true }
}
