// Registers groups of routes: with a tag, with two prefixes, and those that were removed from the API.
import type { FastifyInstance } from 'fastify'
import { ApiError } from '#lib/errors.ts'
import type { App } from './server.ts'

const PREFIXES = ['/_internal', '/v2/_internal'] as const

/** Opens a scope: its hooks, parsers and error handler apply only to the routes that `add` registers. */
export function openScope(
  app: App,
  add: (scope: App) => void | Promise<void>,
  options: { prefix?: string } = {},
): void {
  const plugin = async (scope: FastifyInstance): Promise<void> => add(scope as App)
  // To name a plugin without this name, Fastify compares it with the exports of every loaded module.
  app.register(Object.assign(plugin, { [Symbol.for('fastify.display-name')]: 'scope' }), options)
}

/** Registers `routes` with both internal prefixes and with those of `alsoUnder`. The API description has the first. */
export function mountInternal(
  app: App,
  routes: (scope: App) => void,
  { alsoUnder = [] }: { alsoUnder?: readonly string[] } = {},
): void {
  for (const prefix of [...PREFIXES, ...alsoUnder]) {
    openScope(
      app,
      (scope) => {
        if (prefix !== PREFIXES[0]) {
          scope.addHook('onRoute', (route) => {
            route.schema = { ...route.schema, hide: true }
          })
        }
        routes(scope)
      },
      { prefix },
    )
  }
}

/** Registers routes with a tag of the API description. A route can declare another tag. */
export function tagged(app: App, tag: string, routes: (scope: App) => void): void {
  openScope(app, (scope) => {
    scope.addHook('onRoute', (route) => {
      if (route.schema?.hide !== true) route.schema = { tags: [tag], ...route.schema }
    })
    routes(scope)
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
