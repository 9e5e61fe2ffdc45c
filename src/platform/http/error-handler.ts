// The one place where errors become answers, where they are logged, and where what only we may know is kept back.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, invalidInput } from '#lib/errors.ts'
import { toApiError } from '#platform/db/pg-errors.ts'
import type { Log } from '#platform/telemetry/log.ts'

export type ErrorBody = { error: string; description: string; details?: Record<string, unknown> }

/**
 * Any thrown value → the ApiError whose answer the client gets; what nobody foresaw becomes `internal_error`.
 * `bodyLimit` is the route's limit in bytes, which the answer to a larger body names.
 */
export function asApiError(error: unknown, bodyLimit?: number): ApiError {
  if (error instanceof ApiError) return error
  return (
    fastifyError(error, bodyLimit) ??
    toApiError(error) ??
    new ApiError('internal_error', 'An unexpected error occurred', { cause: error })
  )
}

/** The wire form. A 5xx says no more than its kind and the request's ID, under which the log has the rest. */
export function errorBody(error: ApiError, requestId: string): ErrorBody {
  const description = error.status >= 500 ? `${error.message} (request ${requestId})` : error.message
  return { error: error.error, description, ...(error.details === undefined ? {} : { details: error.details }) }
}

export function handleError(log: Log) {
  return (thrown: FastifyError | Error, req: FastifyRequest, reply: FastifyReply): void => {
    const error = asApiError(thrown, req.routeOptions.bodyLimit)
    if (error.status >= 500) log.error({ request_id: req.id, err: error.cause ?? error }, error.message)
    for (const [name, value] of Object.entries(error.headers ?? {})) void reply.header(name, value)
    void reply.removeHeader('etag').removeHeader('content-disposition').removeHeader('accept-ranges')
    void reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').status(error.status)
    void reply.serializer(JSON.stringify).send(errorBody(error, req.id))
  }
}

/** Errors that Fastify finds itself, in the specification's words. */
function fastifyError(error: unknown, bodyLimit: number | undefined): ApiError | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  switch (error.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return invalidInput('The Content-Type of the body is not one this route takes', 'content-type')
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return invalidInput(
        bodyLimit === undefined ? 'The body is too large' : `The body is larger than the limit of ${bodyLimit} bytes`,
        'body',
      )
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return invalidInput('The body is not as long as Content-Length says', 'content-length')
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

/** Node's own word for a request whose client went away; the same codes from other sockets are our trouble. */
function isRequestCut(error: Error): boolean {
  return error.message === 'aborted' || error.message === 'Premature close'
}
