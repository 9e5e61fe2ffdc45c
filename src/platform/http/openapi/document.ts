// Converts the schemas of the routes to OpenAPI 3.0 and adds what the schemas do not express.
import type { FastifyContextConfig, RouteOptions } from 'fastify'
import { declareNulls } from '../bodies/patch-nulls.ts'
import type { RouteAuth } from '../route-config.ts'
import { TUS_HEADER } from './headers.ts'
import { toOpenApi30 } from './schemas.ts'

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
  { method, url, config }: Pick<RouteOptions, 'method' | 'url' | 'config'>,
  { describeAccess, scopes }: { describeAccess: DescribeAccess; scopes: Readonly<Record<string, string>> },
): Json {
  const isTus = /^\/v[23]\/upload\b/.test(url) && config?.cache === undefined && !/GET|OPTIONS/.test(String(method))
  const headers = { type: 'object', required: ['Tus-Resumable'], properties: TUS_HEADER }
  return {
    ...schema,
    ...(method === 'PATCH' && 'body' in schema ? { body: declareNulls(schema['body']) } : {}),
    ...describeUnvalidated(schema, config),
    ...withAccess(schema, config === undefined ? undefined : describeAccess(config)),
    ...(isTus ? { headers } : {}),
    security: securityOf(config?.auth, scopes),
  }
}

/** Corrects and completes the document of the library. */
export function describeDocument(document: Json): Json {
  return withOneSuccess(toOpenApi30(withUsedTags(correctResponses(withOneBody(document)))))
}

/**
 * Leaves out the response of a dry run, which the text of the parameter `dry_run` describes: a union with the created
 * resource would hide its fields from typed clients. The component `DryRun` stays.
 */
function withOneSuccess(document: Json): Json {
  for (const { responses } of operationsOf<{ responses: Record<string, Json> }>(document)) {
    const isDryRun = JSON.stringify(responses[200] ?? {}).includes('schemas/DryRun"')
    if (isDryRun && Object.keys(responses).some((status) => /^20[1-9]$/.test(status))) delete responses[200]
  }
  return document
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
/** Generators ignore the parts that have no name in the description. */
const FilePart = {
  ...Bytes,
  description: 'A file. A form can have more files, in parts with any names that `file_parts` lists',
}

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
  if (consumes.some((type) => type.endsWith('octet-stream'))) read['body'] = Bytes
  if (config?.rawBody !== undefined) read['body'] = config.rawBody
  if (form !== undefined) {
    const required = form.isOptional === true ? {} : { required: ['data'] }
    read['body'] = { type: 'object', ...required, properties: { data: form.schema, file: FilePart } }
  }
  return read
}

/** Returns one parameter for all keys: OpenAPI describes them as an object with `style: form`. */
function openQuery({ description, patternProperties = {} }: Json): Json {
  const [values] = Object.values(patternProperties as Json)
  return { type: 'object', properties: { keys: { type: 'object', description, additionalProperties: values } } }
}

/**
 * Describes a form only as a form: the text of the operation describes JSON instead. Generators write one function for an
 * operation, and would send the header of one type with the body of the other.
 */
function withOneBody(document: Json): Json {
  for (const { requestBody } of operationsOf<{ requestBody?: { content?: Json } }>(document)) {
    const content = requestBody?.content
    if (content?.['multipart/form-data'] !== undefined) delete content['application/json']
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

/** Returns the alternatives of credentials. OAuth tokens cannot have restricted scopes, which are not in `grantable`. */
function securityOf(auth: RouteAuth | undefined, grantable: Readonly<Record<string, string>>): Json[] {
  if (auth === undefined || auth === 'public') return []
  if (auth === 'operator') return [{ adminKey: [] }, { token: [] }]
  const needed: readonly string[] = 'read' in auth ? auth.read.filter((scope) => scope in grantable) : auth.scope
  const isGrantable = needed.every((scope) => scope in grantable)
  return [...('read' in auth ? [{}] : []), { token: [] }, ...(isGrantable ? [{ oauth: needed }] : [])]
}
