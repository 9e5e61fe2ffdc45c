// Behaviour that all v2 routes share.
import type { FastifyError, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import Type from 'typebox'
import { asApiError, handleError } from '#platform/http/error-handler.ts'
import type { App } from '#platform/http/server.ts'
import type { Log } from '#platform/telemetry/log.ts'

const Absent = Type.Null({ description: 'The resource does not exist or is hidden from the caller. No body' })

/**
 * Registers `routes` below `/v2`. These routes return 404 without a body, because clients rely on it; only routes that
 * accept a form describe the missing resource. Queries are read more leniently than in the v3 API.
 */
export function v2Scope(app: App, { log }: { log: Log }, routes: (scope: App) => void): void {
  app.register(
    async (scope) => {
      scope.setErrorHandler(answerError(log))
      scope.addHook('preValidation', adaptQuery)
      scope.addHook('onRoute', (route) => {
        if (route.schema === undefined) return
        route.schema.operationId = withSuffix(route.schema)
        if (route.config?.formData !== undefined) return
        route.schema = { ...route.schema, response: { 404: Absent, ...(route.schema.response as object | undefined) } }
      })
      routes(scope as App)
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
    const isAbsent = asApiError(thrown).status === 404 && req.routeOptions.config.formData === undefined
    if (!isAbsent) return answer(thrown, req, reply)
    void reply.removeHeader('etag').removeHeader('content-type').header('cache-control', 'no-store').status(404).send()
  }
}

/** Values that some clients send as JSON strings. */
const QUOTED = ['algorithm', 'version_id', 'type']
/** Numbers that are limited to the range of the schema instead of rejected. */
const CLAMPED = ['limit', 'offset', 'count']

/** Removes empty values and quotes, and limits the numbers of pages. */
function adaptQuery(req: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const query = req.query as Record<string, unknown>
  const { properties = {} } = (req.routeOptions.schema?.querystring ?? {}) as { properties?: Record<string, Range> }
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== 'string') continue
    if (value === '') delete query[name]
    else if (QUOTED.includes(name)) query[name] = value.replace(/^"([^"]*)"$/, '$1')
    else if (CLAMPED.includes(name)) query[name] = clamp(value, properties[name])
  }
  done()
}

type Range = { minimum?: number; maximum?: number }

function clamp(text: string, { minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Range = {}): string {
  const number = /^\d{1,17}$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(number) ? String(Math.min(maximum, Math.max(minimum, number))) : text
}
