// Addresses that once were part of the API and never come back.
import { ApiError } from '#lib/errors.ts'
import type { App } from './server.ts'

/** Answers every method at `urls` with 410 `api_deprecated`, whatever the body. They are not in the description. */
export function rejectRetired(app: App, urls: readonly string[], description: string): void {
  const schema = { hide: true, operationId: 'retired' }
  const refuse = (): never => {
    throw new ApiError('api_deprecated', description)
  }
  for (const url of urls) {
    // In the hook, so that no body is looked at.
    app.all(url, { config: { auth: 'public' }, schema, onRequest: async () => refuse() }, refuse)
  }
}
