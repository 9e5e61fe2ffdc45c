// Errors of the embedded database, with messages for the operator who starts Depot.
import { OperatorError } from '#lib/operator-error.ts'

/** Error that the command line prints without a stack trace. The message states the problem, then the solution. */
export class EmbeddedPostgresError extends OperatorError {
  override name = 'EmbeddedPostgresError'
}

/** Returns the error code of a failed system call (such as `ENOSPC`), or undefined for other errors. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined
}
