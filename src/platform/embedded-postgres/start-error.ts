// What can stop the embedded database, said to the person who starts Depot.
import { OperatorError } from '#lib/operator-error.ts'

/** Its message is one sentence (two where a remedy follows) for the operator, to be printed without a stack. */
export class EmbeddedPostgresError extends OperatorError {
  override name = 'EmbeddedPostgresError'
}

/** The system's word for a failed call (`ENOSPC`), or undefined when the error is not the system's. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined
}
