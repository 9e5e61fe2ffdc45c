// The scope of routes whose bodies are forms, and whose faults have OAuth's form.
import formbody from '@fastify/formbody'
import type { App } from '#http/server.ts'
import { sendOAuthError } from './oauth-error.ts'

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
