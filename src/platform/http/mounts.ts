// Registers groups of routes: with a tag, with two prefixes, and those that were removed from the API.
import { ApiError } from '#lib/errors.ts'
import type { TagName } from './openapi/texts.ts'
import type { App } from './server.ts'

const PREFIXES = ['/_internal', '/v2/_internal'] as const

/** Registers `routes` with both internal prefixes and with those of `alsoUnder`. The API description has the first. */
export function mountInternal(
  app: App,
  routes: (scope: App) => void,
  { alsoUnder = [] }: { alsoUnder?: readonly string[] } = {},
): void {
  for (const prefix of [...PREFIXES, ...alsoUnder]) {
    app.register(
      async (scope) => {
        if (prefix !== PREFIXES[0]) {
          scope.addHook('onRoute', (route) => {
            route.schema = { ...route.schema, hide: true }
          })
        }
        routes(scope as App)
      },
      { prefix },
    )
  }
}

/** Registers routes with a tag of the API description. A route can declare another tag. */
export function tagged(app: App, tag: TagName, routes: (scope: App) => void): void {
  app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      if (route.schema?.hide !== true) route.schema = { tags: [tag], ...route.schema }
    })
    routes(scope as App)
  })
}

/** Returns 410 `api_deprecated` for every method at `urls`. They are not in the API description. */
export function rejectRetired(app: App, urls: readonly string[], description: string): void {
  const schema = { hide: true, operationId: 'retired' }
  const refuse = (): never => {
    throw new ApiError('api_deprecated', description)
  }
  // In the hook, before the body is read.
  for (const url of urls) app.all(url, { config: { auth: 'public' }, schema, onRequest: async () => refuse() }, refuse)
}
