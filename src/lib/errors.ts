// The one table of what can go wrong in a way a client may see, and the one class that carries it.

/**
 * Kind of error → the `error` word on the wire and its HTTP status. A kind has a key of its own only where one word
 * stands for two statuses. `reserved` words belong to the contract and are answered by nothing at present.
 */
export const ERRORS = {
  unauthorized: { error: 'unauthorized', status: 401 },
  forbidden: { error: 'unauthorized', status: 403 },
  auth_error: { error: 'auth_error', status: 401, reserved: true },
  invalid_credentials: { error: 'invalid_credentials', status: 401 },
  invalid_auth_method: { error: 'invalid_auth_method', status: 401, reserved: true },
  invalid_input: { error: 'invalid_input', status: 400 },
  validation_error: { error: 'validation_error', status: 400 },
  json_error: { error: 'json_error', status: 400 },
  xml_error: { error: 'xml_error', status: 400, reserved: true },
  decoding_error: { error: 'decoding_error', status: 400 },
  captcha_error: { error: 'captcha_error', status: 400 },
  not_found: { error: 'not_found', status: 404 },
  conflict: { error: 'conflict', status: 409 },
  api_deprecated: { error: 'api_deprecated', status: 410 },
  range_not_satisfiable: { error: 'invalid_input', status: 416 },
  ratelimit_error: { error: 'ratelimit_error', status: 429 },
  internal_error: { error: 'internal_error', status: 500 },
  database_error: { error: 'database_error', status: 500 },
  cache_database_error: { error: 'cache_database_error', status: 500, reserved: true },
  analytics_database_error: { error: 'analytics_database_error', status: 500 },
  analytics_unavailable: { error: 'analytics_database_error', status: 503 },
  search_error: { error: 'search_error', status: 500 },
  file_hosting_error: { error: 'file_hosting_error', status: 500 },
  files_unavailable: { error: 'file_hosting_error', status: 503 },
  mail_error: { error: 'mail_error', status: 500 },
  unavailable: { error: 'database_error', status: 503 },
  service_unavailable: { error: 'service_unavailable', status: 503 },
  payments_error: { error: 'payments_error', status: 424, reserved: true },
  payment_provider_error: { error: 'payment_provider_error', status: 424, reserved: true },
  chat_provider_error: { error: 'chat_provider_error', status: 424, reserved: true },
  external_service_error: { error: 'auth_error', status: 424 },
  limit_reached: { error: 'LimitReached', status: 400 },
} as const

/** What can be thrown: every kind but the reserved ones. */
export type ErrorKind = {
  [Kind in keyof typeof ERRORS]: (typeof ERRORS)[Kind] extends { reserved: true } ? never : Kind
}[keyof typeof ERRORS]

/** The JSON object `details` of an error; `field` is in dotted form (`dependencies.3.project_id`). */
export type ErrorDetails = Record<string, unknown>

/**
 * An error meant for the client. `description` is public; what only the log may see goes into `cause`.
 * Throw it, never return it: returning from a transaction callback commits.
 */
export class ApiError extends Error {
  readonly kind: ErrorKind
  readonly details: ErrorDetails | undefined
  readonly headers: Readonly<Record<string, string>> | undefined

  constructor(
    kind: ErrorKind,
    description: string,
    options: { details?: ErrorDetails; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(description, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ApiError'
    this.kind = kind
    this.details = options.details
    this.headers = options.headers
  }

  get status(): number {
    return ERRORS[this.kind].status
  }

  get error(): string {
    return ERRORS[this.kind].error
  }
}

/** 404: absent, or hidden from this caller; the two must not be told apart. `what` names the kind ("project"). */
export function notFound(what: string): ApiError {
  return new ApiError('not_found', `The requested ${what} does not exist`)
}

/** 400 for a bad path or query value or a broken rule; `field` names the value where there is one. */
export function invalidInput(description: string, field?: string): ApiError {
  return new ApiError(
    'invalid_input',
    description,
    field === undefined ? {} : { details: { field, message: description } },
  )
}

/** 400 for a body field of wrong shape, length, range or content. */
export function validationError(field: string, message: string): ApiError {
  return new ApiError('validation_error', `Field ${field}: ${message}`, { details: { field, message } })
}

/** 403: the caller sees the thing but may not do this to it. */
export function forbidden(description: string): ApiError {
  return new ApiError('forbidden', description)
}

/** For a caller whose account was deleted after their token was checked. */
export function accountDeleted(): ApiError {
  return new ApiError('unauthorized', 'The account of this token does not exist any more')
}
