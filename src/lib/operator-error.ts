/**
 * An error that the person who runs Depot can mend. Its message says what is wrong and, where that is not plain, what to
 * do; it is printed without a stack. See `main.ts`.
 */
export class OperatorError extends Error {
  override name = 'OperatorError'
  /** The dependency that cannot be opened, by its name at /ready. */
  readonly dependency: string | undefined

  constructor(message: string, { cause, dependency }: { cause?: unknown; dependency?: string } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.dependency = dependency
  }
}
