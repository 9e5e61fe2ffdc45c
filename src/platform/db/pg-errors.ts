// Maps error codes of PostgreSQL to errors of the API.
import { ApiError } from '#lib/errors.ts'
import { OperatorError } from '#lib/operator-error.ts'

const UNIQUE_VIOLATION = '23505'
const FOREIGN_KEY_VIOLATION = '23503'
const SERIALIZATION_FAILURE = '40001'
const DEADLOCK_DETECTED = '40P01'
const QUERY_CANCELED = '57014'

type PgError = Error & { code: string; constraint?: string; column?: string; detail?: string }

function isPgError(error: unknown): error is PgError {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
}

/** Returns whether `error` is a foreign-key violation; if `constraint` is set, of that constraint. */
export function isForeignKeyViolation(error: unknown, constraint?: string): boolean {
  return (
    isPgError(error) &&
    error.code === FOREIGN_KEY_VIOLATION &&
    (constraint === undefined || error.constraint === constraint)
  )
}

/** Returns whether the transaction might succeed if the caller repeats it. */
export function isRetryable(error: unknown): boolean {
  return isPgError(error) && (error.code === SERIALIZATION_FAILURE || error.code === DEADLOCK_DETECTED)
}

/**
 * Returns a promise handler that converts a violation of a unique constraint to the error listed for that constraint:
 * `await insert.execute().catch(onUnique({ account_username_key: () => conflict('username') }))`.
 */
export function onUnique(problems: Record<string, () => ApiError>): (error: unknown) => never {
  return (error) => {
    if (isPgError(error) && error.code === UNIQUE_VIOLATION) {
      const problem = problems[error.constraint ?? '']
      if (problem !== undefined) throw problem()
    }
    throw error
  }
}

/** Returns the API error for a database error that no caller has converted; undefined for other errors. */
export function toApiError(error: unknown): ApiError | undefined {
  if (!isPgError(error) || !/^[0-9A-Z]{5}$/.test(error.code)) {
    return isConnectionLoss(error)
      ? new ApiError('unavailable', 'The database is not available', { cause: error })
      : undefined
  }
  if (error.code === QUERY_CANCELED) return new ApiError('database_error', 'The query took too long', { cause: error })
  if (error.code.startsWith('08') || error.code.startsWith('57P') || error.code === '53300')
    return new ApiError('unavailable', 'The database is not available', { cause: error })
  if (error.code === FOREIGN_KEY_VIOLATION && /is not present in table/.test(error.detail ?? '')) {
    return new ApiError(
      'conflict',
      'A resource that this request refers to was deleted while the request was processed',
      { cause: error },
    )
  }
  return new ApiError('database_error', 'A database operation failed', { cause: error })
}

/** Returns whether PostgreSQL found a damaged page or a damaged index. */
export function isDamage(error: unknown): error is Error {
  return isPgError(error) && /^XX00[12]$/.test(error.code)
}

/** Returns a clause about an error of the database for operators, without the text of PostgreSQL; undefined for other errors. */
function describeDatabaseError(error: unknown): string | undefined {
  if (isDamage(error)) return 'a part of the database is damaged'
  if (isConnectionLoss(error)) return 'the connection to the database was lost'
  if (!isPgError(error) || !/^[0-9A-Z]{5}$/.test(error.code)) return undefined
  if (/^(08|57P)/.test(error.code)) return 'the connection to the database was lost'
  if (error.code.startsWith('53')) return 'the database has no memory, connections or space left'
  return `the database reported the error ${error.code}`
}

/** Replaces an error of PostgreSQL, whose text does not help operators, by a sentence around the reason. */
export function withoutDatabaseText(cause: unknown, sentence: (reason: string) => string): unknown {
  const reason = describeDatabaseError(cause)
  return reason === undefined ? cause : new OperatorError(sentence(reason), { cause })
}

/** Returns whether a statement exceeded the response timeout that `createPool` sets. */
export function isReadTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout'
}

/** Network error codes of an unreachable database. Clients of other services must wrap such errors. */
const NETWORK_FAULTS: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

/** Returns whether the connection to the database was lost or could not be established. */
export function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? error.code : undefined
  return (
    NETWORK_FAULTS.has(code) ||
    isReadTimeout(error) ||
    (code === 'ENOENT' && 'syscall' in error && error.syscall === 'connect') ||
    /Connection terminated|not queryable|timeout exceeded when trying to connect/.test(error.message)
  )
}
