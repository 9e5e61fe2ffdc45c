/**
 * A fault that the person who runs Depot can mend. Its message says what is wrong and, where that is not plain, what to
 * do; it is printed without a stack. See `main.ts`.
 */
export class OperatorError extends Error {
  override name = 'OperatorError'
}
