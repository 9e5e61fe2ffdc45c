// Converts errors to a form that crosses a channel, and back. The other side can distinguish them and send them to a client.
import { ApiError, type ErrorDetails, type ErrorKind } from '#lib/errors.ts'

export type SentError = {
  name: string
  message: string
  kind?: ErrorKind
  details?: ErrorDetails
  headers?: Record<string, string>
  /** Message of the cause, for the log. */
  cause?: string
}

export function describeError(error: unknown): SentError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) }
  const cause = error.cause instanceof Error ? { cause: error.cause.message } : {}
  if (!(error instanceof ApiError)) return { name: error.name, message: error.message, ...cause }
  return {
    name: error.name,
    message: error.message,
    kind: error.kind,
    ...(error.details === undefined ? {} : { details: error.details }),
    ...(error.headers === undefined ? {} : { headers: { ...error.headers } }),
    ...cause,
  }
}

export function reviveError({ name, message, kind, details, headers, cause: reason }: SentError): Error {
  const cause = reason === undefined ? {} : { cause: new Error(reason) }
  if (kind !== undefined) {
    return new ApiError(kind, message, {
      ...(details === undefined ? {} : { details }),
      ...(headers === undefined ? {} : { headers }),
      ...cause,
    })
  }
  const error = name === 'RangeError' ? new RangeError(message, cause) : new Error(message, cause)
  error.name = name
  return error
}
