// Converts the schemas of the routes to OpenAPI 3.0 and adds what the schemas do not express.
import type { FastifyContextConfig, RouteOptions } from 'fastify'
import { declareNulls } from '../bodies/patch-nulls.ts'
import type { RouteAuth } from '../route-config.ts'

type Json = Record<string, unknown>

/** Describes what a route requires of its callers; undefined if it requires nothing. */
export type DescribeAccess = (config: FastifyContextConfig) => string | undefined

/** The default description of each response status. */
export const STATUS_DESCRIPTIONS: Readonly<Record<string, string>> = {
  200: 'Success',
  201: 'Created',
  202: 'Accepted: the work continues after the response',
  204: 'Success, without a body',
  206: 'The requested range',
  303: 'Redirect to `Location`',
  304: 'Not modified',
  307: 'Redirect to `Location`',
  400: 'The request is invalid',
  401: 'Credentials are missing or invalid',
  403: 'Permission denied',
  404: 'Not found, or not visible to the caller',
  408: 'The request was not complete in time',
  409: 'Conflicts with existing data',
  410: 'Permanently removed',
  414: 'The path is too long',
  416: 'The range is outside the file',
  424: 'Another service did not respond',
  429: 'Too many requests',
  500: 'Internal error',
  503: 'Unavailable',
}

/** Adds the required credentials, unvalidated bodies and nulls in a PATCH to the schema of a route. */
export function describeRoute(
  schema: Json,
  { method, config }: Pick<RouteOptions, 'method' | 'config'>,
  describeAccess: DescribeAccess,
): Json {
  return {
    ...schema,
    ...(method === 'PATCH' && 'body' in schema ? { body: declareNulls(schema['body']) } : {}),
    ...describeUnvalidated(schema, config),
    ...withAccess(schema, config === undefined ? undefined : describeAccess(config)),
    security: securityOf(config?.auth),
  }
}

/** Corrects and completes the document of the library. */
export function describeDocument(document: Json): Json {
  return toOpenApi30(withUsedTags(correctResponses(withJsonForms(document))))
}

/** Returns the operations of a document. */
export function operationsOf<Operation = Json>(document: Json): Operation[] {
  return Object.values(document['paths'] as Json).flatMap((item) => Object.values(item as Record<string, Operation>))
}

/** Removes tags without operations. */
function withUsedTags(document: Json): Json {
  const used = new Set(operationsOf<{ tags?: unknown[] }>(document).flatMap(({ tags = [] }) => tags))
  return { ...document, tags: (document['tags'] as Json[]).filter(({ name }) => used.has(name)) }
}

const Bytes = { type: 'string', format: 'binary' }

function withAccess({ description }: Json, access: string | undefined): Json {
  if (access === undefined) return {}
  return { description: description === undefined ? access : `${description}\n\n${access}` }
}

/** Describes bodies that the handler reads or streams itself, and queries with arbitrary keys. */
function describeUnvalidated(schema: Json, config: FastifyContextConfig | undefined): Json {
  type Parts = { consumes?: string[]; produces?: string[]; querystring?: Json; response?: Json }
  const { consumes = [], produces = [], querystring, response } = schema as Parts
  const read: Json = {}
  if (querystring !== undefined && !('properties' in querystring)) read['querystring'] = openQuery(querystring)
  // Streams bypass the serialiser, so their routes have no schema for 200.
  if (produces.length > 0 && response !== undefined && !Object.keys(response).some((status) => status.startsWith('2')))
    read['response'] = {
      200: { content: Object.fromEntries(produces.map((type) => [type, { schema: Bytes }])) },
      ...response,
    }
  const form = config?.formData
  if ('body' in schema) return read
  if (consumes.includes('image/*') || consumes.includes('application/offset+octet-stream')) read['body'] = Bytes
  if (config?.rawBody !== undefined) read['body'] = config.rawBody
  if (form !== undefined) {
    const required = form.isOptional === true ? {} : { required: ['data'] }
    read['body'] = { type: 'object', ...required, properties: { data: form.schema }, additionalProperties: Bytes }
  }
  return read
}

/** Returns one parameter for all keys: OpenAPI describes them as an object with `style: form`. */
function openQuery({ description, patternProperties = {} }: Json): Json {
  const [values] = Object.values(patternProperties as Json)
  return { type: 'object', properties: { keys: { type: 'object', description, additionalProperties: values } } }
}

/** If a route also accepts JSON instead of a form, the JSON has the schema of the part `data`. */
function withJsonForms(document: Json): Json {
  for (const { requestBody } of operationsOf<{ requestBody?: { content?: Json } }>(document)) {
    const content = requestBody?.content
    const form = content?.['multipart/form-data'] as { schema: { properties?: Json } } | undefined
    const data = form?.schema.properties?.['data']
    if (content?.['application/json'] !== undefined && data !== undefined)
      content['application/json'] = { schema: data }
  }
  return document
}

/**
 * Adds descriptions of statuses, and corrects content types: only successful responses have the declared types, errors
 * and redirects are JSON, and text has no JSON schema.
 */
function correctResponses(document: Json): Json {
  for (const { responses = {} } of operationsOf<{ responses?: Json }>(document)) {
    for (const [status, answer] of Object.entries(responses)) correctResponse(status, answer as Json)
  }
  return document
}

function correctResponse(status: string, answer: Json): void {
  if (answer['description'] === 'Default Response') answer['description'] = STATUS_DESCRIPTIONS[status]
  const content = answer['content'] as Record<string, Json> | undefined
  if (content === undefined) return
  const [any] = Object.values(content)
  answer['content'] = status.startsWith('2')
    ? Object.fromEntries(
        Object.entries(content).map(([type, media]) =>
          type.startsWith('text/') ? [type, { schema: { type: 'string' } }] : [type, media],
        ),
      )
    : { 'application/json': any }
}

function securityOf(auth: RouteAuth | undefined): Json[] | undefined {
  if (auth === undefined || auth === 'public') return []
  if (auth === 'operator') return [{ adminKey: [] }, { token: [] }]
  return 'read' in auth ? [{}, { token: [] }] : [{ token: [] }]
}

/**
 * Converts the JSON Schema of TypeBox to OpenAPI 3.0: `null` in a union becomes `nullable`, constants become enums with one
 * value, and schemas with a `title` move to `components.schemas`.
 */
function toOpenApi30(document: Json & { components?: Json }): Json {
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

function simplify({ describedAs, ...schema }: Json): Json {
  if (describedAs !== undefined) {
    // Adds to the properties of the schema, and replaces everything else.
    const { properties } = describedAs as Json
    const all = properties === undefined ? {} : { properties: { ...(schema['properties'] as Json), ...properties } }
    return simplify({ ...schema, ...(describedAs as Json), ...all })
  }
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
