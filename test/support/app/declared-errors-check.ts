// Holds answers against the errors that their operation declares. With RECORD_ERRORS, which `npm run record-errors` sets,
// what is not declared is written down instead.
import { appendFileSync } from 'node:fs'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { declaredErrors, keyOf, readSeenErrors, type SeenErrors } from '#platform/http/openapi/declared-errors.ts'
import type { RouteEntry } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'

/** One answer that was seen, as a line of the file that RECORD_ERRORS names. */
export type SeenAnswer = { operationId: string; key: string; body: SeenErrors[string][string] }

const DESCRIPTION_LENGTH_MAX = 300
const DETAILS_LENGTH_MAX = 300

/** Says what an answer has against the declarations of its route; undefined where it is declared. */
export function answerJudge(app: App): (req: FastifyRequest, reply: FastifyReply, text: string) => string | undefined {
  const seen = readSeenErrors()
  const described = new Map<string, RouteEntry>()
  const declared = new Map<string, Map<string, string>>()
  /** `status word` → the description in the example. */
  const declaredOf = (operationId: string): Map<string, string> | undefined => {
    if (described.size === 0)
      for (const route of app.routeTable()) if (!route.hidden) described.set(route.operationId, route)
    const route = described.get(operationId)
    if (route === undefined) return undefined
    const known =
      declared.get(operationId) ??
      new Map(declaredErrors(route, seen).map((each) => [keyOf(each), each.example?.description ?? '']))
    declared.set(operationId, known)
    return known
  }
  return (req, reply, text) => {
    const { schema, config } = req.routeOptions
    const operationId = schema?.operationId ?? ''
    const known = declaredOf(operationId)
    if (known === undefined) return undefined
    const status = reply.statusCode
    const responses = (schema?.response ?? {}) as Record<string, unknown>
    const isUnchanged = status === 304 && (config.cache ?? 'no-store') !== 'no-store'
    // Bytes are streamed past the serialiser: their routes declare types in the place of a schema.
    const isBytes = status === 200 && (schema?.produces ?? []).length > 0
    if (status < 400 && (responses[status] !== undefined || isUnchanged || isBytes)) return undefined
    const body = status < 400 ? null : readError(text)
    // Its own schema says what it is: readiness.
    if (body === undefined && responses[status] !== undefined) return undefined
    const key = keyOf({ status, error: body?.error ?? '' })
    const file = process.env['RECORD_ERRORS']
    if (file === undefined) return known.has(key) ? undefined : undeclared(operationId, key, text)
    const example = known.get(key)
    if (example === undefined || (body?.description !== undefined && plain(example) !== plain(body.description)))
      appendFileSync(file, `${JSON.stringify(toSeen(operationId, key, body))}\n`)
    return undefined
  }
}

type ErrorText = { error: string; description: string; details?: Record<string, unknown> }

/** The error that a body holds; null where there is no body, undefined where the body is something else. */
function readError(text: string): ErrorText | null | undefined {
  if (text === '') return null
  try {
    const value = JSON.parse(text) as ErrorText
    return typeof value.error === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

function toSeen(operationId: string, key: string, body: ErrorText | null | undefined): SeenAnswer {
  if (body === null || body === undefined) return { operationId, key, body: null }
  const { error: _, ...rest } = body
  const details = JSON.stringify(rest.details ?? {}).length > DETAILS_LENGTH_MAX ? undefined : rest.details
  const description = rest.description.slice(0, DESCRIPTION_LENGTH_MAX).toWellFormed()
  return { operationId, key, body: { ...rest, description, ...(details === undefined ? {} : { details }) } }
}

/** Without what differs from one answer to the next: numbers and request IDs. */
function plain(description: string): string {
  return description.replace(/\(request [0-9a-f-]+\)$/, '').replaceAll(/\d+/g, '0')
}

function undeclared(operationId: string, key: string, text: string): string {
  const answer = text.slice(0, 300)
  return `${operationId} answers ${key}, which its description does not have (npm run record-errors -- FILE): ${answer}`
}
