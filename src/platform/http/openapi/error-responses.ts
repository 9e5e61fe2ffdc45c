// Describes the errors of each operation: the statuses, their error codes, and the example of each code.
import { ERROR_EXAMPLES, ERRORS, type ErrorKind } from '#lib/errors.ts'
import type { RouteEntry } from '../route-config.ts'
import { generalErrors, ownErrors } from './declared-errors.ts'
import { operationsOf, STATUS_DESCRIPTIONS } from './document.ts'
import { errorHeaders, headerComponents, headersOf } from './headers.ts'

/** The request ID of all examples. */
const REQUEST_ID = '0f8fad5b-d9cb-469f-a165-70867728950e'

type Json = Record<string, unknown>
type Response = {
  description: string
  headers?: Json
  content?: { 'application/json': { schema: Json; examples?: Json } }
}
type Operation = { operationId: string; responses: Record<string, Response> }

/**
 * Replaces `4XX` and `5XX`, which only hold the schema of an error, by the statuses that the operation can return.
 * Operations refer to shared responses; `default` contains the errors that every operation can return.
 */
export function describeErrors(document: Json, routes: readonly RouteEntry[]): Json {
  const shared = new Map<string, Response>()
  const described = new Map(routes.filter(({ hidden }) => !hidden).map((route) => [route.operationId, route]))
  for (const operation of operationsOf<Operation>(document)) {
    const route = described.get(operation.operationId)
    if (route !== undefined) Object.assign(operation, { responses: describeResponses(operation, route, shared) })
  }
  const responses = Object.fromEntries([...shared].sort(([a], [b]) => (a < b ? -1 : 1)))
  const text = JSON.stringify(responses)
  const used = Object.entries(examples()).filter(([name]) => text.includes(`examples/${name}"`))
  return {
    ...document,
    components: {
      ...(document['components'] as Json),
      headers: headerComponents(),
      examples: Object.fromEntries(used),
      responses,
    },
  }
}

function describeResponses({ responses }: Operation, route: RouteEntry, shared: Map<string, Response>): Json {
  const { '4XX': clientError, '5XX': serverError, ...declared } = responses
  const share = (name: string, response: Response): Json => {
    shared.set(name, response)
    return { $ref: `#/components/responses/${name}` }
  }
  const isUnlimited = route.config.unlimited === true
  const general = generalErrors(route.config)
  // Every operation can reject a request, and the limit of requests applies to it.
  const own = [...ownErrors(route), ...(isUnlimited ? general : general.filter((key) => /^4(?:00|29) /.test(key)))]
  const all = withoutForeign([...general, ...own], clientError)
  // A plugin declares some error responses for all its routes; only 503 of `/ready` has its own schema.
  const result: Record<string, Response | Json> = Object.fromEntries(
    Object.entries(declared).filter(([status]) => status < '400' || status === '503'),
  )
  const isCached = (route.config.cache ?? 'no-store') !== 'no-store'
  if (route.method === 'GET' && isCached) result[304] = { description: STATUS_DESCRIPTIONS['304'] as string }
  for (const status of new Set(own.map(statusOf))) {
    const schema = schemaOf(declared[status] ?? (status < '500' ? clientError : serverError))
    const codes = all.filter((key) => statusOf(key) === status).map(codeOf)
    if (status < '300') result[status] = { ...declared[200], description: STATUS_DESCRIPTIONS[status] }
    else if (status < '400') result[status] = { description: STATUS_DESCRIPTIONS[status] }
    else result[status] = share(nameOf(status, codes, schema), errorResponse(status, codes, schema))
  }
  for (const [status, response] of Object.entries(result)) {
    if (!('$ref' in response)) result[status] = { ...response, headers: headersOf(status, route) }
  }
  if (!isUnlimited) result['default'] = share('Error', defaultResponse(general))
  return result
}

/** The OAuth endpoints report every 400 with a code of the OAuth specification. */
function withoutForeign(keys: readonly string[], clientError: Response | undefined): string[] {
  const isForeign = isOAuth(schemaOf(clientError))
  return keys.filter((key) => !isForeign || statusOf(key) !== '400' || !(codeOf(key) in ERRORS))
}

function errorResponse(status: string, codes: readonly string[], schema: Json): Response {
  const description = STATUS_DESCRIPTIONS[status] ?? 'Error'
  if (codes.includes(''))
    return { headers: errorHeaders(status), description: `${description}. The response has no body` }
  const names = [...new Set(codes)].sort()
  return {
    headers: errorHeaders(status),
    description: `${description}: ${names.map((code) => `\`${code}\``).join(', ')}`,
    content: { 'application/json': { schema, ...exampleRefs(status, names, schema) } },
  }
}

function defaultResponse(keys: readonly string[]): Response {
  const listed = [...keys].sort().map((key) => `${statusOf(key)} \`${codeOf(key)}\``)
  return {
    headers: errorHeaders('429'),
    description: `Errors of every operation: ${listed.join(', ')}`,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  }
}

/** Such as `400.json_error.validation_error`. */
function nameOf(status: string, codes: readonly string[], schema: Json): string {
  const prefix = isOAuth(schema) ? ['oauth'] : []
  return [...prefix, status, ...[...new Set(codes)].sort()].filter((part) => part !== '').join('.')
}

/** An error of the OAuth specification has no details. */
function exampleRefs(status: string, codes: readonly string[], schema: Json): { examples?: Json } {
  const fits = (name: string): boolean => !isOAuth(schema) || !('details' in (ERROR_EXAMPLES[name as ErrorKind] ?? {}))
  const refs = Object.entries(ERRORS)
    .filter(
      ([name, kind]) =>
        name in ERROR_EXAMPLES && fits(name) && `${kind.status}` === status && codes.includes(kind.error),
    )
    .map(([name, { error }]) => [error, { $ref: `#/components/examples/${name}` }])
  return refs.length === 0 ? {} : { examples: Object.fromEntries(refs) }
}

/** One example per kind of error. */
function examples(): Json {
  const entries = Object.entries(ERROR_EXAMPLES).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(
    entries.map(([name, { description, ...details }]) => {
      const { error, status } = ERRORS[name as ErrorKind]
      const suffix = status >= 500 ? ` (request ${REQUEST_ID})` : ''
      return [name, { value: { error, description: description + suffix, ...details } }]
    }),
  )
}

const isOAuth = (schema: Json): boolean => String(schema['$ref']).endsWith('/OAuthError')

function schemaOf(response: Response | undefined): Json {
  return response?.content?.['application/json'].schema ?? { $ref: '#/components/schemas/Error' }
}

const statusOf = (key: string): string => key.slice(0, 3)
const codeOf = (key: string): string => key.slice(4)
