// Forms as OAuth sends them.
import formbody from '@fastify/formbody'
import type { App } from '#http/server.ts'
import { OAuthError, sendOAuthError } from './oauth-error.ts'

/** A form: a parameter that came twice is a list. */
export type Form = Record<string, unknown>

const FORM_BYTES_MAX = 32 * 1024

/** Runs `routes` in a scope whose bodies are forms, and whose faults have OAuth's form. */
export function withForms(app: App, routes: (scope: App) => void): void {
  app.register(async (plain) => {
    const scope = plain as App
    scope.removeAllContentTypeParsers()
    await scope.register(formbody, { bodyLimit: FORM_BYTES_MAX })
    scope.setErrorHandler((error: Error, _req, reply) => sendOAuthError(error, reply))
    routes(scope)
  })
}

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
