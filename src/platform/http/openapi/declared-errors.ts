// Which errors each operation may answer with, and an example of each: what the description lists and what the tests
// hold every answer against. Errors that any operation can give are made here, by the functions that throw them; all
// others were seen in an answer of the operation itself and stand in seen-errors.json (`npm run record-errors`).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ApiError } from '#lib/errors.ts'
import { parseJson } from '../bodies/json-body.ts'
import { type ErrorBody, errorBody } from '../error-handler.ts'
import { tooManyRequests } from '../limits/rate-limit.ts'
import { agentBlocked, agentMissing, noAddress } from '../request-context.ts'
import type { RouteEntry } from '../route-config.ts'

/** One error of an operation. `example` is a whole answer, or undefined where the answer has no body. */
export type DeclaredError = { status: number; error: string; example: ErrorBody | undefined }

/** Operation → `status error` → the answer without its `error`; null where it has no body. */
export type SeenErrors = Record<string, Record<string, Omit<ErrorBody, 'error'> | null>>

export const SEEN_ERRORS_FILE = join(import.meta.dirname, 'seen-errors.json')

/** The request ID in all examples. */
export const REQUEST_ID = '0f8fad5b-d9cb-469f-a165-70867728950e'

/** What every operation can answer. */
const INTERNAL = toDeclared(new ApiError('internal_error', 'An unexpected error occurred'))

/** What every operation can answer that the limiter counts. */
const COUNTED: readonly DeclaredError[] = [
  agentMissing(),
  noAddress(),
  agentBlocked(),
  tooManyRequests({ retryAfterMs: 12_000, limit: 300, resetSeconds: 12 }),
  new ApiError('database_error', 'A database operation failed'),
  new ApiError('unavailable', 'The database is not available'),
  new ApiError('service_unavailable', 'Too many requests are waiting; try again in a moment'),
].map(toDeclared)

/** What every operation can answer that takes a method with a body, whether it reads the body or not. */
const WITH_BODY: readonly DeclaredError[] = [thrownBy(() => parseJson(Buffer.from('{'))), tooDeep()].map(toDeclared)

/** What every change by a known caller can answer: two requests may meet. */
const CHANGES: readonly DeclaredError[] = [
  new ApiError('conflict', 'What this refers to was deleted at the same moment'),
].map(toDeclared)

/** The errors of a route, by status and word; `seen` are those of `readSeenErrors`. */
export function declaredErrors(
  { method, operationId, config }: Pick<RouteEntry, 'method' | 'operationId' | 'config'>,
  seen: SeenErrors,
): DeclaredError[] {
  const takesBody = method !== 'GET'
  const isChange = takesBody && typeof config.auth === 'object' && 'scope' in config.auth
  const all = new Map<string, DeclaredError>()
  const shared = [
    INTERNAL,
    ...(config.unlimited === true ? [] : COUNTED),
    ...(takesBody ? WITH_BODY : []),
    ...(isChange ? CHANGES : []),
  ]
  for (const declared of shared) all.set(keyOf(declared), declared)
  for (const [key, body] of Object.entries(seen[operationId] ?? {})) {
    const [status = '', error = ''] = key.split(' ')
    all.set(key, { status: Number(status), error, example: body === null ? undefined : { error, ...body } })
  }
  return [...all.values()].sort((a, b) => a.status - b.status || (a.error < b.error ? -1 : 1))
}

/** What tests have seen, as it was when the process started to ask. */
export function readSeenErrors(): SeenErrors {
  return JSON.parse(readFileSync(SEEN_ERRORS_FILE, 'utf8')) as SeenErrors
}

/** An error among those of one operation: `409 conflict`, or the status alone where the answer has no body. */
export function keyOf({ status, error }: { status: number; error: string }): string {
  return error === '' ? String(status) : `${status} ${error}`
}

function toDeclared(error: ApiError): DeclaredError {
  return { status: error.status, error: error.error, example: errorBody(error, REQUEST_ID) }
}

function tooDeep(): ApiError {
  return thrownBy(() => parseJson(Buffer.from('['.repeat(100))))
}

function thrownBy(act: () => unknown): ApiError {
  try {
    act()
  } catch (error) {
    if (error instanceof ApiError) return error
  }
  throw new Error('An example of an error is none')
}
