/**
 * An error that the operator can fix. The message says what is wrong and, if that is not obvious, what to do. Depot prints
 * it without a stack trace.
 */
export class OperatorError extends Error {
  override name = 'OperatorError'
  /** Name of the unavailable dependency, as in /ready. */
  readonly dependency: string | undefined

  constructor(message: string, { cause, dependency }: { cause?: unknown; dependency?: string } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.dependency = dependency
  }
}

/** Returns the error code of a failed system call (such as `ENOSPC`), or undefined for other errors. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined
}
