// The reasons for which a token of a build is rejected.
import { ApiError } from '#lib/errors.ts'

export const REFUSALS = [
  'malformed',
  'unknown_issuer',
  'unknown_key',
  'signature',
  'audience',
  'expired',
  'not_yet_valid',
  'replayed',
  'no_publisher',
  'event',
] as const
export type Refusal = (typeof REFUSALS)[number]

/** Facts for the audit log, known when the token was rejected. */
export type ExchangeFacts = { issuer?: string; repository?: string; run?: string }

/** 400 `invalid_input` with the code in the details. */
export class RefusedToken extends ApiError {
  readonly refusal: Refusal
  readonly facts: ExchangeFacts

  constructor(refusal: Refusal, message: string, facts: ExchangeFacts = {}) {
    super('invalid_input', message, { details: { code: refusal } })
    this.refusal = refusal
    this.facts = facts
  }
}
