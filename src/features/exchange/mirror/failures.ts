// Reasons why an object of the source was not copied. Every run tries it again.

export const FAILURE_CODES = ['hash_mismatch', 'too_large', 'unavailable', 'refused', 'max_bytes'] as const
export type FailureCode = (typeof FAILURE_CODES)[number]

/** One version, file or image could not be copied; the run continues. */
export class CopyFailure extends Error {
  readonly code: FailureCode
  constructor(code: FailureCode, message: string) {
    super(message)
    this.code = code
  }
}
