// Behaviour that all v2 routes share.
import type { FastifyError, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import Type from 'typebox'
import { asApiError, handleError } from '#platform/http/error-handler.ts'
import { openScope } from '#platform/http/mounts.ts'
import type { App } from '#platform/http/server.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { withV2Paths } from './error-names.ts'

const Absent = Type.Null({ description: 'The resource does not exist or is hidden from the caller. No body' })

/**
 * Registers `routes` below `/v2`. These routes return 404 without a body, because clients rely on it; only routes that
 * accept a form describe the missing resource. Queries are read more leniently than in the v3 API.
 */
export function v2Scope(app: App, { log }: { log: Log }, routes: (scope: App) => void): void {
  openScope(
    app,
    (scope) => {
      scope.setErrorHandler(answerError(log))
      scope.addHook('preValidation', adaptQuery)
      scope.addHook('onRoute', (route) => {
        if (route.schema === undefined) return
        // Views of the v2 API have no revision.
        const { headers: _, ...schema } = route.schema
        route.schema = { ...schema, operationId: withSuffix(schema) }
        if (route.config?.formData !== undefined) return
        route.schema = { ...route.schema, response: { 404: Absent, ...(route.schema.response as object | undefined) } }
      })
      routes(scope)
    },
    { prefix: '/v2' },
  )
}

/** Routes that v3 has too are registered with the name of the v3 operation. */
function withSuffix({ operationId = '', hide }: FastifySchema): string {
  return hide === true || operationId.endsWith('V2') ? operationId : `${operationId}V2`
}

function answerError(log: Log) {
  const answer = handleError(log)
  return (thrown: FastifyError | Error, req: FastifyRequest, reply: FastifyReply): void => {
    const error = asApiError(thrown, req.routeOptions.bodyLimit)
    const isAbsent = error.status === 404 && req.routeOptions.config.formData === undefined
    if (!isAbsent) return answer(withV2Paths(error), req, reply)
    void reply.removeHeader('etag').removeHeader('content-type').header('cache-control', 'no-store').status(404).send()
  }
}

/** Values that some clients send as JSON strings. */
const QUOTED = ['algorithm', 'version_id', 'type']
/** Numbers that are limited to the range of the schema instead of rejected. */
const CLAMPED = ['limit', 'offset', 'count']

/** Filters that are ignored if they are not JSON lists of strings. */
const LISTS = ['loaders', 'game_versions']

/** Removes empty values, quotes, unreadable lists and `If-Match`, and limits the numbers of pages. */
function adaptQuery(req: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  delete req.headers['if-match']
  const query = req.query as Record<string, unknown>
  const { properties = {} } = (req.routeOptions.schema?.querystring ?? {}) as { properties?: Record<string, Range> }
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== 'string') continue
    if (value === '' || (LISTS.includes(name) && !isListOfStrings(value))) delete query[name]
    else if (QUOTED.includes(name)) query[name] = value.replace(/^"([^"]*)"$/, '$1')
    else if (CLAMPED.includes(name)) query[name] = clamp(value, properties[name])
  }
  done()
}

type Range = { minimum?: number; maximum?: number }

function clamp(text: string, { minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Range = {}): string {
  return /^-?\d+$/.test(text) ? String(Math.min(maximum, Math.max(minimum, Number(text)))) : text
}

function isListOfStrings(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) && value.every((item) => typeof item === 'string')
  } catch {
    return false
  }
}
