// Forms that applications send to the token endpoints.
import Type from 'typebox'
import { URL_LENGTH_MAX } from '#lib/text/text-rules.ts'
import { OAuthError } from './oauth-error.ts'

/** RFC 7636, 4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

// Only for the API description. The handlers parse the form, because RFC 6749 has its own error format.
const credentials = {
  client_id: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'ID of the application; required unless the Authorization header uses Basic',
    }),
  ),
  client_secret: Type.Optional(
    Type.String({
      maxLength: 512,
      description: 'Secret of the application; can be sent in the Authorization header instead',
    }),
  ),
}
export const TokenForm = Type.Object({
  ...credentials,
  code: Type.String({ maxLength: 128 }),
  redirect_uri: Type.String({ maxLength: URL_LENGTH_MAX, description: 'Redirect URI of the authorization request' }),
  grant_type: Type.Optional(Type.Literal('authorization_code')),
  code_verifier: Type.Optional(Type.String({ maxLength: 128 })),
})
export const TokenQueryForm = Type.Object({
  ...credentials,
  token: Type.String({ maxLength: 512 }),
  token_type_hint: Type.Optional(Type.String({ maxLength: 64 })),
})

/** A parsed form. A repeated field is a list. */
export type Form = Record<string, unknown>

/** Returns a field of a form; undefined if missing or empty (RFC 6749, 3.2). @throws OAuthError if it is repeated */
export function optionalField(form: unknown, name: string): string | undefined {
  const value = typeof form === 'object' && form !== null ? (form as Form)[name] : undefined
  if (value === undefined || value === '') return undefined
  if (typeof value !== 'string') throw new OAuthError('invalid_request', `${name} must be set only once`)
  return value
}

/** Returns a field of a form. @throws OAuthError if it is missing or repeated */
export function requiredField(form: unknown, name: string): string {
  const value = optionalField(form, name)
  if (value === undefined) throw new OAuthError('invalid_request', `${name} is required`)
  return value
}

/** @throws OAuthError `invalid_request` */
export function readVerifier(form: unknown): string | undefined {
  const verifier = optionalField(form, 'code_verifier')
  if (verifier !== undefined && !VERIFIER.test(verifier)) {
    throw new OAuthError(
      'invalid_request',
      'code_verifier must be 43 to 128 letters, digits, dots, underscores, tildes or hyphens',
    )
  }
  return verifier
}
