import { parseToken } from '#lib/access/tokens.ts'
import { parseId } from '#lib/ids.ts'

/** A session of the caller, by its ID or by its secret. */
export type SessionReference = { id: string } | { hash: Buffer }

/** @throws ApiError 400 for what is neither an ID nor a secret. */
export function parseSessionReference(text: string): SessionReference {
  const secret = parseToken(text)
  return secret?.kind === 'session' ? { hash: secret.hash } : { id: parseId(text, 'id') }
}
