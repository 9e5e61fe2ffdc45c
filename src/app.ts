// The application: a server with every feature, listed by hand. The list is the map of what Depot can do.
import { metaRoutes } from '#features/meta/routes.ts'
import { userRoutes } from '#features/users/routes.ts'
import { registerOpenApi } from '#http/openapi.ts'
import { type App, buildServer } from '#http/server.ts'
import { createTokenDirectory } from '#http/token-directory.ts'
import { createTokenUse } from '#http/token-use.ts'
import type { JobHandlers, Schedule } from '#jobs/worker.ts'
import { VERSION } from './boot.ts'
import type { Deps } from './deps.ts'

/** Builds the server with all its routes; `listen` or `inject` on what it returns. */
export async function buildApp(deps: Deps): Promise<App> {
  const { config, db, cache, now, log, metrics, counters } = deps
  const tokenUse = createTokenUse(deps)
  const app = await buildServer({
    log,
    metrics,
    counters,
    grants: { forRequest: () => undefined },
    tokens: createTokenDirectory({ db, cache, now, onUse: tokenUse.record }),
    adminKey: config.http.adminKey,
    rateLimitBypassKey: config.http.rateLimitBypassKey,
    clientAddressHeader: config.http.clientAddressHeader,
    blockedUserAgents: config.http.blockedUserAgents,
  })
  app.addHook('onClose', () => tokenUse.flush())
  await registerOpenApi(app, { version: VERSION, baseUrl: config.http.baseUrl })
  metaRoutes(app, { ...deps, version: VERSION })
  userRoutes(app, deps)
  return app
}

/** The handlers of every job; one that is missing does not compile. */
export function jobHandlers(_deps: Deps): JobHandlers {
  return {} as JobHandlers
}

/** Jobs by the clock (UTC); of several processes one runs each tick. */
export const SCHEDULE: Schedule = []
