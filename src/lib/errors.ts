// The errors that clients can receive: the table of their codes, and the class that routes throw.

/**
 * Kind of error → the `error` code and the status of the response. The kind differs from the code only if one code comes
 * with two statuses. `reserved` codes are part of the contract, but no route returns them at present.
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
  method_not_allowed: { error: 'invalid_input', status: 405 },
  request_timeout: { error: 'invalid_input', status: 408 },
  conflict: { error: 'conflict', status: 409 },
  api_deprecated: { error: 'api_deprecated', status: 410 },
  cursor_expired: { error: 'cursor_expired', status: 410 },
  precondition_failed: { error: 'invalid_input', status: 412 },
  content_too_large: { error: 'invalid_input', status: 413 },
  path_too_long: { error: 'invalid_input', status: 414 },
  unsupported_media_type: { error: 'invalid_input', status: 415 },
  range_not_satisfiable: { error: 'invalid_input', status: 416 },
  checksum_mismatch: { error: 'invalid_input', status: 460 },
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

/** Kinds that can be thrown: all except the reserved ones. */
export type ErrorKind = {
  [Kind in keyof typeof ERRORS]: (typeof ERRORS)[Kind] extends { reserved: true } ? never : Kind
}[keyof typeof ERRORS]

/** Error codes of the token endpoints: RFC 6749, 5.2. */
export type OAuthErrorName =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'

/** An error that a route declares, such as `409 conflict`. A response without a body is only a status. */
export type DeclaredError =
  | { [Kind in ErrorKind]: `${(typeof ERRORS)[Kind]['status']} ${(typeof ERRORS)[Kind]['error']}` }[ErrorKind]
  | `${400 | 401} ${OAuthErrorName}`
  | `${number}`

/** One example per kind, for the API description. */
export const ERROR_EXAMPLES: Readonly<Record<ErrorKind, { description: string; details?: ErrorDetails }>> = {
  unauthorized: { description: 'The token is unknown, expired or revoked' },
  forbidden: { description: 'The token lacks the scope PROJECT_WRITE', details: { scope: 'PROJECT_WRITE' } },
  invalid_credentials: { description: 'The username or the password is wrong' },
  invalid_input: ofField('ids', 'ids must be a JSON array of strings'),
  validation_error: ofField('name', 'must be at least 3 characters long', 'Field name: '),
  json_error: { description: 'The body is empty; it must be JSON' },
  decoding_error: ofField('id', 'is not a base62 identifier of 1 to 11 characters', 'id '),
  captcha_error: ofField('challenge', 'was not solved', 'The captcha '),
  not_found: { description: 'The requested project does not exist' },
  method_not_allowed: { description: 'This page does not accept the method PUT. Use one of: GET, HEAD' },
  request_timeout: ofField('body', 'was not complete after 30 seconds', 'The body '),
  conflict: ofField('slug', 'is taken', 'This slug '),
  api_deprecated: { description: 'This version of the API was removed; use version 3' },
  cursor_expired: {
    description: 'The cursor is ahead of this instance. Start again without `since`.',
    details: { reason: 'ahead', start: '/v3/changes' },
  },
  precondition_failed: ofField('tus-resumable', 'must be 1.0.0', 'The header Tus-Resumable '),
  path_too_long: ofField('path', 'is longer than 2048 bytes', 'The path '),
  content_too_large: ofField('upload-length', 'The body goes beyond the length of the upload'),
  unsupported_media_type: ofField(
    'content-type',
    'must be application/offset+octet-stream',
    'The Content-Type of the body ',
  ),
  checksum_mismatch: ofField('upload-checksum', 'is not the checksum of the body', 'upload-checksum '),
  range_not_satisfiable: { description: 'The range is outside the 10000 bytes of the file' },
  ratelimit_error: { description: 'You are being rate-limited. Please wait 12000 milliseconds. 0/300 remaining.' },
  internal_error: { description: 'An unexpected error occurred' },
  database_error: { description: 'A database operation failed' },
  analytics_database_error: { description: 'The analytics query failed' },
  analytics_unavailable: { description: 'The analytics store is unavailable' },
  search_error: { description: 'The search index is being built' },
  file_hosting_error: { description: 'The file store failed; nothing was stored' },
  files_unavailable: { description: 'The file store is unavailable' },
  mail_error: { description: 'The email could not be sent' },
  unavailable: { description: 'The database is not available' },
  service_unavailable: { description: 'Too many requests are waiting; try again in a moment' },
  external_service_error: { description: 'The captcha service does not respond. Please try again later.' },
  limit_reached: {
    description: 'You have reached your limit for projects (256)',
    details: { kind: 'projects', current: 256, max: 256 },
  },
}

function ofField(field: string, message: string, prefix = '') {
  return { description: `${prefix}${message}`, details: { field, message } }
}

/** The object `details` of an error. `field` is in dotted form (`dependencies.3.project_id`). */
export type ErrorDetails = Record<string, unknown>

/** An error of a field, in the list of a refused body. */
export type FieldError = { error: string; field: string; message: string }

/**
 * An error for the client. `description` is public; details for the log go into `cause`. Throw it, never return it: a
 * transaction callback that returns commits.
 */
export class ApiError extends Error {
  readonly kind: ErrorKind
  readonly details: ErrorDetails | undefined
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly #errors: readonly FieldError[] | undefined

  /** `errors`: all errors of the body, of which this is the first. */
  constructor(
    kind: ErrorKind,
    description: string,
    options: {
      details?: ErrorDetails
      headers?: Readonly<Record<string, string>>
      cause?: unknown
      errors?: readonly FieldError[]
    } = {},
  ) {
    super(description, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ApiError'
    this.kind = kind
    this.details = options.details
    this.headers = options.headers
    this.#errors = options.errors
  }

  /** The errors of fields that the client sent; empty if the error names no field, or is not about what was sent. */
  get fieldErrors(): readonly FieldError[] {
    if (this.#errors !== undefined) return this.#errors
    const { field, message } = this.details ?? {}
    if ((this.status !== 400 && this.status !== 409) || typeof field !== 'string') return []
    return [{ error: this.error, field, message: typeof message === 'string' ? message : this.message }]
  }

  get status(): number {
    return ERRORS[this.kind].status
  }

  get error(): string {
    return ERRORS[this.kind].error
  }
}

/** 404 for a missing or hidden resource, without a difference between them. `what` names the kind ("project"). */
export function notFound(what: string): ApiError {
  return new ApiError('not_found', `The requested ${what} does not exist`)
}

/** 400 for an invalid path or query value, or an operation that the state does not allow. `field` names the value. */
export function invalidInput(description: string, field?: string): ApiError {
  const options = field === undefined ? {} : { details: { field, message: description } }
  return new ApiError('invalid_input', description, options)
}

/** 400 for a body field of the wrong type, length, range or content. */
export function validationError(field: string, message: string): ApiError {
  return new ApiError('validation_error', `Field ${field}: ${message}`, { details: { field, message } })
}

/** 403: the caller can see the resource but is not permitted to do this. */
export function forbidden(description: string): ApiError {
  return new ApiError('forbidden', description)
}

/** For a caller whose account was deleted after their token was checked. */
export function accountDeleted(): ApiError {
  return new ApiError('unauthorized', 'The account of this token was deleted')
}

/** Kinds of errors whose cause tells the operator what to do: it names the file, or is the response of the mail server. */
const EXPLAINED_BY_CAUSE: readonly ErrorKind[] = ['file_hosting_error', 'mail_error']

/** Returns the message of an error for the operator, with its cause if the cause says more. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isExplained = error instanceof ApiError && EXPLAINED_BY_CAUSE.includes(error.kind)
  return isExplained && error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}
