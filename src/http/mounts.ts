// Account, session, token and operator routes answer under two prefixes, the same handlers (decisions.md 2).
import type { App } from './server.ts'

const PREFIXES = ['/_internal', '/v2/_internal'] as const

/** Registers `routes` under both internal prefixes; the second is left out of the published description. */
export function mountInternal(app: App, routes: (scope: App) => void): void {
  for (const prefix of PREFIXES) {
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
