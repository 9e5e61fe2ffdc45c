// Registers account, session, token and operator routes with two prefixes.
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
