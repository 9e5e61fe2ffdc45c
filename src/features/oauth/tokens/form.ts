// Values of forms as OAuth sends them.
import { OAuthError } from './oauth-error.ts'

/** A form: a parameter that came twice is a list. */
export type Form = Record<string, unknown>

/** One value of a form; an empty one counts as absent (RFC 6749, 3.2). @throws OAuthError when it came twice */
export function optionalField(form: unknown, name: string): string | undefined {
  const value = typeof form === 'object' && form !== null ? (form as Form)[name] : undefined
  if (value === undefined || value === '') return undefined
  if (typeof value !== 'string') throw new OAuthError('invalid_request', `${name} may come only once`)
  return value
}

/** @throws OAuthError when it is absent or came twice */
export function requiredField(form: unknown, name: string): string {
  const value = optionalField(form, name)
  if (value === undefined) throw new OAuthError('invalid_request', `${name} is required`)
  return value
}
