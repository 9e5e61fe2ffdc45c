// The application: a server with every feature, listed by hand. The list is the map of what Depot can do.
import { createAccountDeps } from '#features/accounts/account-deps.ts'
import { accountJobs } from '#features/accounts/jobs.ts'
import { accountRoutes } from '#features/accounts/routes.ts'
import { collectionRoutes } from '#features/collections/routes.ts'
import { contentImageJobs } from '#features/content-images/jobs.ts'
import { contentImageRoutes } from '#features/content-images/routes.ts'
import { createDownloadCounter } from '#features/downloads/download-counter.ts'
import { downloadRoutes } from '#features/downloads/routes.ts'
import { followJobs } from '#features/follows/jobs.ts'
import { followRoutes } from '#features/follows/routes.ts'
import { limitRoutes } from '#features/limits/routes.ts'
import { metaRoutes } from '#features/meta/routes.ts'
import { moderationRoutes } from '#features/moderation/routes.ts'
import { notificationJobs } from '#features/notifications/jobs.ts'
import { notificationRoutes } from '#features/notifications/routes.ts'
import { oauthJobs } from '#features/oauth/jobs.ts'
import { oauthRoutes } from '#features/oauth/routes.ts'
import { organizationRoutes } from '#features/organizations/routes.ts'
import { pageRoutes } from '#features/pages/routes.ts'
import { projectRoutes } from '#features/projects/routes.ts'
import { rateLimitRoutes } from '#features/rate-limits/routes.ts'
import { reportRoutes } from '#features/reports/routes.ts'
import { statisticsJobs } from '#features/statistics/jobs.ts'
import { statisticsRoutes } from '#features/statistics/routes.ts'
import { tagRoutes } from '#features/tags/routes.ts'
import { teamRoutes } from '#features/teams/routes.ts'
import { threadRoutes } from '#features/threads/routes.ts'
import { userRoutes } from '#features/users/routes.ts'
import { versionJobs } from '#features/versions/jobs.ts'
import { versionRoutes } from '#features/versions/routes.ts'
import { registerOpenApi } from '#http/openapi.ts'
import { createRateGrants, type RateGrantDirectory } from '#http/rate-grants.ts'
import { type App, buildServer } from '#http/server.ts'
import { createTokenDirectory } from '#http/token-directory.ts'
import { createTokenUse } from '#http/token-use.ts'
import type { JobHandlers, Schedule } from '#jobs/worker.ts'
import { VERSION } from './boot.ts'
import type { Deps } from './deps.ts'

/**
 * Builds the server with all its routes; `listen` or `inject` on what it returns. A process that hears of changes
 * passes the directory that it keeps current.
 */
export async function buildApp(deps: Deps, rateGrants: RateGrantDirectory = createRateGrants(deps)): Promise<App> {
  const { config, db, cache, now, log, metrics, counters } = deps
  const tokenUse = createTokenUse(deps)
  const tokens = createTokenDirectory({ db, cache, now, onUse: tokenUse.record })
  const app = await buildServer({
    log,
    metrics,
    counters,
    grants: rateGrants,
    tokens,
    adminKey: config.http.adminKey,
    rateLimitBypassKey: config.http.rateLimitBypassKey,
    clientAddressHeader: config.http.clientAddressHeader,
    blockedUserAgents: config.http.blockedUserAgents,
  })
  const downloads = createDownloadCounter(deps)
  const accounts = createAccountDeps(deps)
  app.addHook('onClose', async () => {
    await tokenUse.flush()
    await downloads.close()
    await accounts.passwords.close()
  })
  await registerOpenApi(app, { version: VERSION, baseUrl: config.http.baseUrl })
  metaRoutes(app, { ...deps, version: VERSION })
  userRoutes(app, deps)
  accountRoutes(app, accounts)
  oauthRoutes(app, deps)
  pageRoutes(app, { deps, accounts, tokens })
  followRoutes(app, deps)
  notificationRoutes(app, deps)
  tagRoutes(app, deps)
  projectRoutes(app, deps)
  teamRoutes(app, deps)
  organizationRoutes(app, deps)
  limitRoutes(app, deps)
  versionRoutes(app, deps)
  statisticsRoutes(app, deps)
  downloadRoutes(app, { ...deps, downloads })
  collectionRoutes(app, deps)
  contentImageRoutes(app, deps)
  reportRoutes(app, deps)
  threadRoutes(app, deps)
  moderationRoutes(app, deps)
  rateLimitRoutes(app, { ...deps, rateGrants })
  return app
}

/** The handlers of every job; one that is missing does not compile. */
export function jobHandlers(deps: Deps): JobHandlers {
  return {
    ...accountJobs(deps),
    ...oauthJobs(deps),
    ...contentImageJobs(deps),
    ...versionJobs(deps),
    ...statisticsJobs(deps),
    ...notificationJobs(deps),
    ...followJobs(deps),
  }
}

/** Jobs by the clock (UTC); of several processes one runs each tick. */
export const SCHEDULE: Schedule = [
  { job: 'accounts.expire', cron: '17 * * * *' },
  { job: 'oauth.expire', cron: '47 * * * *' },
  { job: 'files.sweep', cron: '27 * * * *' },
  { job: 'statistics.fold', cron: '*/5 * * * *' },
  { job: 'images.sweep', cron: '37 * * * *' },
]
