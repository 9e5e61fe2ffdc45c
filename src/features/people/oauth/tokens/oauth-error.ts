// Errors of the token endpoints, in the format of RFC 6749, 5.2. In addition, they contain `description` like all other
// errors of this API.

import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { ApiError, type OAuthErrorName } from '#lib/errors.ts'
import { NamedObject } from '#lib/schema/schema-parts.ts'

export class OAuthError extends Error {
  readonly error: OAuthErrorName

  constructor(error: OAuthErrorName, description: string) {
    super(description)
    this.name = 'OAuthError'
    this.error = error
  }
}

const OAuthErrorBody = NamedObject('OAuthError', {
  error: Type.String(),
  error_description: Type.Optional(Type.String()),
  description: Type.String(),
})

export const OAuthErrorAnswers = { '4xx': OAuthErrorBody, '5xx': OAuthErrorBody } as const

/** Sends an error of the application in OAuth's format; throws others for the common error handler. */
export function sendOAuthError(thrown: Error, reply: FastifyReply): void {
  const error = toOAuthError(thrown)
  if (error === undefined) throw thrown
  const isUnknown = error.error === 'invalid_client'
  if (isUnknown) void reply.header('www-authenticate', 'Basic realm="Depot"')
  void reply
    .status(isUnknown ? 401 : 400)
    .header('cache-control', 'no-store')
    .header('pragma', 'no-cache')
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send({ error: error.error, error_description: error.message, description: error.message })
}

function toOAuthError(thrown: Error & { code?: string }): OAuthError | undefined {
  if (thrown instanceof OAuthError) return thrown
  if (thrown instanceof ApiError)
    return thrown.status === 400 ? new OAuthError('invalid_request', thrown.message) : undefined
  // Errors of Fastify about the body: wrong type, too large, wrong length.
  if (thrown.code?.startsWith('FST_ERR_CTP_') === true)
    return new OAuthError('invalid_request', 'The body must be a form (application/x-www-form-urlencoded)')
  return undefined
}
