// Converts errors to responses and logs them. Responses contain no internal details.

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, type FieldError, invalidInput } from '#lib/errors.ts'
import { describeBytes } from '#lib/text/sizes.ts'
import { toApiError } from '#platform/db/pg-errors.ts'
import type { Log } from '#platform/telemetry/log.ts'

export type ErrorBody = {
  error: string
  description: string
  details?: Record<string, unknown>
  errors?: readonly FieldError[]
}

/**
 * Returns the ApiError for a thrown value. Unexpected errors become `internal_error`. `bodyLimit` is the limit of the route
 * in bytes, for the error about a larger body.
 */
export function asApiError(error: unknown, bodyLimit?: number): ApiError {
  if (error instanceof ApiError) return error
  return (
    fastifyError(error, bodyLimit) ??
    toApiError(error) ??
    new ApiError('internal_error', 'An unexpected error occurred', { cause: error })
  )
}

/**
 * Returns the body of an error response. A 5xx contains the request ID, with which the log has the details. A 400 lists the
 * errors of fields, except for clients of the v2 API, which know one error only.
 */
export function errorBody(error: ApiError, { id, url }: Pick<FastifyRequest, 'id' | 'url'>): ErrorBody {
  const { status, details } = error
  const description = status >= 500 ? `${error.message} (request ${id})` : error.message
  const errors = status === 400 && !url.startsWith('/v2/') ? error.fieldErrors : []
  return {
    error: error.error,
    description,
    ...(details === undefined ? {} : { details }),
    ...(errors.length === 0 ? {} : { errors }),
  }
}

/** Headers of a response that an error replaces. */
const CONTENT_HEADERS = ['etag', 'content-encoding', 'content-disposition', 'accept-ranges']

export function handleError(log: Log) {
  return (thrown: FastifyError | Error, req: FastifyRequest, reply: FastifyReply): void => {
    const error = asApiError(thrown, req.routeOptions.bodyLimit)
    if (error.status >= 500) noteFailure(log, req, error)
    for (const [name, value] of Object.entries(error.headers ?? {})) void reply.header(name, value)
    for (const name of CONTENT_HEADERS) void reply.removeHeader(name)
    void reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').status(error.status)
    void reply.serializer(JSON.stringify).send(errorBody(error, req))
  }
}

/** Logs the cause of a response with 5xx, and notes its error code for the figures. */
export function noteFailure(log: Log, req: FastifyRequest, error: ApiError): void {
  log.error({ request_id: req.id, err: error.cause ?? error }, error.message)
  req.errorCode = error.error
}

/** Converts Fastify's own errors. */
function fastifyError(error: unknown, bodyLimit: number | undefined): ApiError | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  switch (error.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return invalidInput('This route does not accept the Content-Type of the body', 'content-type')
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return invalidInput(
        bodyLimit === undefined
          ? 'The body is too large'
          : `The body is larger than the limit of ${describeBytes(bodyLimit)}`,
        'body',
      )
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return invalidInput('The body does not have the length that Content-Length specifies', 'content-length')
    case 'ECONNRESET':
    case 'ERR_STREAM_PREMATURE_CLOSE':
      return isRequestCut(error)
        ? invalidInput('The connection closed before the body was complete', 'body')
        : undefined
    case 'FST_ERR_BAD_URL':
      return invalidInput('The path has a malformed percent-encoding', 'path')
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return invalidInput('The path has a part that is too long', 'path')
    default:
      return error.code.startsWith('FST_') && 'statusCode' in error && error.statusCode === 400
        ? invalidInput(error.message)
        : undefined
  }
}

/** Whether the client disconnected. Other sockets report the same codes for internal errors. */
function isRequestCut(error: Error): boolean {
  return error.message === 'aborted' || error.message === 'Premature close'
}
