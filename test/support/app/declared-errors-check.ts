// Compares responses with the errors that their operation declares.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorKey, generalErrors, ownErrors } from '#platform/http/openapi/declared-errors.ts'
import type { App } from '#platform/http/server.ts'

/** Returns a function that describes an undeclared error of a response; undefined if the response is declared. */
export function answerJudge(app: App): (req: FastifyRequest, reply: FastifyReply, text: string) => string | undefined {
  let declared: Map<string, Set<string>> | undefined
  return (req, reply, text) => {
    declared ??= new Map(
      app
        .routeTable()
        .filter(({ hidden }) => !hidden)
        .map((route) => [route.operationId, new Set([...generalErrors(route.config), ...ownErrors(route)])]),
    )
    const { schema, config } = req.routeOptions
    const operationId = schema?.operationId ?? ''
    const keys = declared.get(operationId)
    if (keys === undefined) return undefined
    const status = reply.statusCode
    const responses = (schema?.response ?? {}) as Record<string, unknown>
    const isUnchanged = status === 304 && (config.cache ?? 'no-store') !== 'no-store'
    // Routes that stream files declare content types instead of a schema.
    const isFile = status === 200 && (schema?.produces ?? []).length > 0
    if (status < 400 && (responses[status] !== undefined || isUnchanged || isFile)) return undefined
    const code = status < 400 || text === '' ? undefined : readCode(text)
    // The 503 of `/ready` has its own schema.
    if (code === null && responses[status] !== undefined) return undefined
    const key = errorKey(status, code ?? undefined)
    if (keys.has(key)) return undefined
    const file = 'src/platform/http/openapi/operation-errors.json'
    return `${operationId} returns an undeclared error. Add "${key}" to "${operationId}" in ${file}: ${text.slice(0, 300)}`
  }
}

/** Returns the error code of a body; null if the body is not an error. */
function readCode(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    return typeof error === 'string' ? error : null
  } catch {
    return null
  }
}
