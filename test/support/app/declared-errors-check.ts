// Compares responses with the errors that their operation declares.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
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
    const place = fileOf(operationId) ?? `${req.method} ${req.routeOptions.url}`
    return `${operationId} returns "${key}", which its route does not declare (${place}): ${text.slice(0, 300)}`
  }
}

/** Returns the file of the route, unless a template makes the ID. */
function fileOf(operationId: string): string | undefined {
  const id = `operationId: '${operationId.replace(/V2$/, '')}`
  const root = join(import.meta.dirname, '../../..')
  return globSync('src/**/*.ts', { cwd: root }).find((path) => readFileSync(join(root, path), 'utf8').includes(id))
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
