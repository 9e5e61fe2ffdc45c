// The errors of each operation: those that follow from its route, and those that the route declares. The description
// lists them, and tests reject a response with any other error.
import type { FastifyContextConfig } from 'fastify'
import { ERRORS, type ErrorKind } from '#lib/errors.ts'
import { IdParams } from '../query-values.ts'
import type { RouteEntry } from '../route-config.ts'

/** Errors that every operation can return. */
const GENERAL: readonly ErrorKind[] = [
  'invalid_input',
  'unauthorized',
  'forbidden',
  'path_too_long',
  'ratelimit_error',
  'internal_error',
  'database_error',
  'unavailable',
  'service_unavailable',
]

/** Returns the errors that do not depend on the operation, each as status and error code: `503 database_error`. */
export function generalErrors({ unlimited }: FastifyContextConfig): string[] {
  return keysOf(unlimited === true ? ['internal_error'] : GENERAL)
}

/** Returns the other errors of an operation, in the order of their status. */
export function ownErrors({ method, url, config: { auth, errors = [] }, schema }: RouteEntry): string[] {
  const hasBody = method !== 'GET'
  const needsToken = typeof auth === 'object' && 'scope' in auth
  const derived: ErrorKind[] = [
    ...(hasBody ? (['json_error', 'request_timeout', 'validation_error'] as const) : []),
    ...(needsToken ? (['unauthorized', 'forbidden'] as const) : []),
    ...(auth === 'operator' ? (['forbidden'] as const) : []),
    ...(hasBody && needsToken ? (['conflict'] as const) : []),
    ...(schema.params === IdParams ? (['decoding_error'] as const) : []),
    ...(auth === 'operator' || url.includes(':') ? (['not_found'] as const) : []),
  ]
  const keys = new Set([...keysOf(derived), ...errors])
  // The routes of the v2 API declare their 404, which has no body.
  const hasOwnAbsent = (schema.response as Record<string, unknown> | undefined)?.[404] !== undefined
  if (hasOwnAbsent && keys.delete('404 not_found')) keys.add('404')
  return [...keys].sort()
}

/** Returns the key of an error: `409 conflict`, or only the status if the response has no body. */
export function errorKey(status: number, error: string | undefined): string {
  return error === undefined ? String(status) : `${status} ${error}`
}

function keysOf(kinds: readonly ErrorKind[]): string[] {
  return kinds.map((kind) => errorKey(ERRORS[kind].status, ERRORS[kind].error))
}
