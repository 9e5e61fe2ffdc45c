// Paths that were removed from the API.
import { ApiError } from '#lib/errors.ts'
import type { App } from './server.ts'

/** Returns 410 `api_deprecated` for every method at `urls`. They are not in the API description. */
export function rejectRetired(app: App, urls: readonly string[], description: string): void {
  const schema = { hide: true, operationId: 'retired' }
  const refuse = (): never => {
    throw new ApiError('api_deprecated', description)
  }
  for (const url of urls) {
    // In the hook, before the body is read.
    app.all(url, { config: { auth: 'public' }, schema, onRequest: async () => refuse() }, refuse)
  }
}
