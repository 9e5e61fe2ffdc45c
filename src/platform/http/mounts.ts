// Account, session, token and operator routes answer under two prefixes, with the same handlers.
import type { App } from './server.ts'

const PREFIXES = ['/_internal', '/v2/_internal'] as const

/**
 * Registers `routes` under both internal prefixes, and under others where clients expect them there. The published
 * description has the first.
 */
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
