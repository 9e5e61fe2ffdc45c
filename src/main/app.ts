// The application: a server with every feature, listed by hand. The list is the map of what Depot can do.

import { instanceSecret } from '#db/instance-secret.ts'
import { type AccountDeps, createAccountDeps } from '#features/accounts/account-deps.ts'
import { administrationRoutes } from '#features/accounts/administration/routes.ts'
import { type CodeHost, createCodeHost } from '#features/accounts/code-host/code-host.ts'
import { codeHostRoutes, markCodeHostTokens } from '#features/accounts/code-host/routes.ts'
import { createConfirmOwner } from '#features/accounts/credentials/confirm-owner.ts'
import { invitationRoutes } from '#features/accounts/invitations/routes.ts'
import { accountJobs } from '#features/accounts/jobs.ts'
import { accountRoutes } from '#features/accounts/routes.ts'
import { affiliateOperatorRoutes } from '#features/affiliates/operator-routes.ts'
import { affiliateRoutes } from '#features/affiliates/routes.ts'
import { createDownloadTrends } from '#features/analytics/download-trends.ts'
import { analyticsIngestRoutes } from '#features/analytics/ingest-routes.ts'
import { createProjectStatistics } from '#features/analytics/project-statistics.ts'
import { analyticsRoutes } from '#features/analytics/routes.ts'
import { projectStatisticsRoutes } from '#features/analytics/statistics-routes.ts'
import { createVisitorCaps, type VisitorCaps } from '#features/analytics/visitor-caps.ts'
import { auditJobs } from '#features/audit/jobs.ts'
import { auditOperatorRoutes, auditRoutes } from '#features/audit/routes.ts'
import { buildToolRoutes } from '#features/build-tools/routes.ts'
import { collectionRoutes } from '#features/collections/routes.ts'
import { contentImageJobs } from '#features/content-images/jobs.ts'
import { contentImageRoutes } from '#features/content-images/routes.ts'
import { downloadJobs } from '#features/downloads/jobs.ts'
import { downloadOperatorRoutes } from '#features/downloads/operator-routes.ts'
import { downloadRoutes } from '#features/downloads/routes.ts'
import { followJobs } from '#features/follows/jobs.ts'
import { followRoutes } from '#features/follows/routes.ts'
import { limitRoutes } from '#features/limits/routes.ts'
import { memberRoutes } from '#features/members/routes.ts'
import { metaRoutes } from '#features/meta/routes.ts'
import { moderationRoutes } from '#features/moderation/routes.ts'
import { notificationJobs } from '#features/notifications/jobs.ts'
import { notificationRoutes } from '#features/notifications/routes.ts'
import { oauthJobs } from '#features/oauth/jobs.ts'
import { oauthRoutes } from '#features/oauth/routes.ts'
import { organizationRoutes } from '#features/organizations/routes.ts'
import { userListRoutes } from '#features/organizations/user-routes.ts'
import { pageRoutes } from '#features/pages/routes.ts'
import { createSite } from '#features/pages/site.ts'
import { payoutOperatorRoutes } from '#features/payouts/operator-routes.ts'
import { payoutRoutes } from '#features/payouts/routes.ts'
import { personalDataJobs } from '#features/personal-data/jobs.ts'
import { personalDataRoutes } from '#features/personal-data/routes.ts'
import { projectImages } from '#features/projects/image-owner.ts'
import { projectRoutes } from '#features/projects/routes.ts'
import { publishingRoutes } from '#features/publishing/routes.ts'
import { rateLimitRoutes } from '#features/rate-limits/routes.ts'
import { releaseJobs } from '#features/releases/jobs.ts'
import { reportImages } from '#features/reports/image-owner.ts'
import { reportRoutes } from '#features/reports/routes.ts'
import { scanJobs } from '#features/scans/jobs.ts'
import { scanRoutes } from '#features/scans/routes.ts'
import { reindexRoutes, searchRoutes } from '#features/search/routes.ts'
import { seedJobs } from '#features/seed/jobs.ts'
import { instanceRoute, settingsRoutes } from '#features/settings/routes.ts'
import { getSettings } from '#features/settings/settings-cache.ts'
import { siteRoutes } from '#features/site/routes.ts'
import { statisticsJobs } from '#features/statistics/jobs.ts'
import { statisticsRoutes } from '#features/statistics/routes.ts'
import { tagRoutes } from '#features/tags/routes.ts'
import { teamRoutes } from '#features/teams/routes.ts'
import { messageImages } from '#features/threads/image-owner.ts'
import { threadRoutes } from '#features/threads/routes.ts'
import { userRoutes } from '#features/users/routes.ts'
import { v2Routes } from '#features/v2/routes.ts'
import { versionImages } from '#features/versions/image-owner.ts'
import { versionJobs } from '#features/versions/jobs.ts'
import { dependencyRoutes } from '#features/versions/lookup/dependency-routes.ts'
import { hashRoutes } from '#features/versions/lookup/hash-routes.ts'
import { updateRoutes } from '#features/versions/lookup/update-routes.ts'
import { versionRoutes } from '#features/versions/routes.ts'
import { registerOpenApi } from '#http/openapi.ts'
import { createRateGrants, type RateGrantDirectory } from '#http/rate-grants.ts'
import { type App, buildServer } from '#http/server.ts'
import { tagged } from '#http/tagged.ts'
import { createTokenDirectory, type TokenDirectory } from '#http/token-directory.ts'
import { createTokenUse } from '#http/token-use.ts'
import type { JobName } from '#jobs/queue.ts'
import type { Schedule } from '#jobs/schedule.ts'
import type { JobHandlers } from '#jobs/worker.ts'
import type { Deps } from './deps.ts'
import { VERSION } from './version.ts'

/**
 * Builds the server with all its routes; `listen` or `inject` on what it returns. A process that hears of changes
 * passes the directory that it keeps current.
 */
export async function buildApp(deps: Deps, rateGrants: RateGrantDirectory = createRateGrants(deps)): Promise<App> {
  const { config, db, cache, now, log, metrics, counters } = deps
  const tokenUse = createTokenUse(deps)
  const codeHost = createCodeHost(deps)
  const tokens = createTokenDirectory({
    db,
    cache,
    now,
    onUse: tokenUse.record,
    ...(codeHost === undefined ? {} : { foreignTokens: codeHost.authenticate }),
  })
  const app = await buildServer({
    log,
    metrics,
    counters,
    grants: rateGrants,
    tokens,
    adminKey: config.http.adminKey,
    rateLimitBypassKey: config.http.rateLimitBypassKey,
    countsUnchanged: config.http.countsUnchanged,
    connectionsPerAddress: config.http.connectionsPerAddress,
    bodies: config.http.bodies,
    readOnly: async () => {
      const settings = await getSettings(deps)
      return settings.read_only ? settings.read_only_message : undefined
    },
    clientAddressHeader: config.http.clientAddressHeader,
    blockedUserAgents: config.http.blockedUserAgents,
  })
  const accounts = createAccountDeps({ ...deps, codeHost })
  app.addHook('onClose', async () => {
    await tokenUse.flush()
    await accounts.passwords.close()
  })
  await registerOpenApi(app, { version: VERSION, baseUrl: config.http.baseUrl })
  markCodeHostTokens(app)
  const caps = createVisitorCaps({ counters, now, secret: await instanceSecret(db, 'visitors') })
  addFeatures(app, { deps, accounts, codeHost, tokens, rateGrants, caps })
  return app
}

/** What routes need beside `Deps`: made once, together with the server. */
type Shared = {
  deps: Deps
  accounts: AccountDeps
  codeHost: CodeHost | undefined
  tokens: TokenDirectory
  rateGrants: RateGrantDirectory
  caps: VisitorCaps
}

/** Every route of Depot, by the group of the published description that it belongs to. */
function addFeatures(app: App, { deps, accounts, codeHost, tokens, rateGrants, caps }: Shared): void {
  const confirmOwner = createConfirmOwner(accounts)
  tagged(app, 'meta', (scope) => {
    metaRoutes(scope, { ...deps, version: VERSION })
    instanceRoute(scope, deps)
  })
  tagged(app, 'users', (scope) => {
    userRoutes(scope, { ...deps, confirmOwner })
    userListRoutes(scope, deps)
    personalDataRoutes(scope, { ...deps, confirmOwner })
  })
  tagged(app, 'accounts', (scope) => {
    accountRoutes(scope, accounts)
    codeHostRoutes(scope, accounts, codeHost)
    auditRoutes(scope, deps)
  })
  tagged(app, 'oauth', (scope) => oauthRoutes(scope, deps))
  const site = createSite(deps)
  const statistics = createProjectStatistics(deps)
  const trends = createDownloadTrends(deps)
  pageRoutes(app, { deps, accounts, tokens, site })
  if (deps.config.site.isServed) siteRoutes(app, { deps, tokens, site, statistics, trends })
  tagged(app, 'follows', (scope) => followRoutes(scope, deps))
  tagged(app, 'notifications', (scope) => notificationRoutes(scope, deps))
  tagged(app, 'tags', (scope) => tagRoutes(scope, deps))
  tagged(app, 'projects', (scope) => {
    projectRoutes(scope, deps)
    publishingRoutes(scope, deps)
    dependencyRoutes(scope, deps)
  })
  tagged(app, 'teams', (scope) => {
    teamRoutes(scope, deps)
    memberRoutes(scope, deps)
  })
  tagged(app, 'organizations', (scope) => organizationRoutes(scope, deps))
  tagged(app, 'limits', (scope) => limitRoutes(scope, deps))
  tagged(app, 'versions', (scope) => versionRoutes(scope, deps))
  tagged(app, 'version files', (scope) => {
    hashRoutes(scope, deps)
    updateRoutes(scope, deps)
  })
  tagged(app, 'build tools', (scope) => buildToolRoutes(scope, deps))
  tagged(app, 'search', (scope) => searchRoutes(scope, deps))
  tagged(app, 'statistics', (scope) => statisticsRoutes(scope, deps))
  tagged(app, 'files', (scope) => downloadRoutes(scope, { ...deps, caps }))
  tagged(app, 'analytics', (scope) => {
    analyticsIngestRoutes(scope, { ...deps, caps })
    analyticsRoutes(scope, deps)
    projectStatisticsRoutes(scope, { ...deps, statistics })
  })
  tagged(app, 'affiliates', (scope) => affiliateRoutes(scope, deps))
  tagged(app, 'payouts', (scope) => payoutRoutes(scope, deps))
  tagged(app, 'collections', (scope) => collectionRoutes(scope, deps))
  tagged(app, 'images', (scope) =>
    contentImageRoutes(scope, deps, {
      project: projectImages(deps),
      version: versionImages(deps),
      report: reportImages(deps),
      thread_message: messageImages(deps),
    }),
  )
  tagged(app, 'reports', (scope) => reportRoutes(scope, deps))
  tagged(app, 'threads', (scope) => threadRoutes(scope, deps))
  tagged(app, 'moderation', (scope) => {
    moderationRoutes(scope, deps)
    scanRoutes(scope, deps)
  })
  v2Routes(app, { ...deps, confirmOwner })
  tagged(app, 'operator', (scope) => {
    reindexRoutes(scope, deps)
    downloadOperatorRoutes(scope, { ...deps, caps })
    affiliateOperatorRoutes(scope, deps)
    payoutOperatorRoutes(scope, deps)
    rateLimitRoutes(scope, { ...deps, rateGrants })
    auditOperatorRoutes(scope, deps)
    settingsRoutes(scope, deps)
    administrationRoutes(scope, deps)
    invitationRoutes(scope, deps)
  })
}

/** Jobs that change content and find their work again by themselves: they wait while the service is read-only. */
const WAITING_JOBS: readonly JobName[] = [
  'accounts.delete-due',
  'projects.release',
  'versions.release',
  'releases.sweep',
  'scans.judge',
  'images.sweep',
  'files.sweep',
]

/** The handlers of every job; one that is missing does not compile. */
export function jobHandlers(deps: Deps): JobHandlers {
  const handlers = allHandlers(deps)
  const waiting = WAITING_JOBS.map((name) => {
    const handle = handlers[name] as (payload: unknown, signal: AbortSignal) => Promise<void>
    return [
      name,
      async (payload: unknown, signal: AbortSignal) => {
        if (!(await getSettings(deps)).read_only) await handle(payload, signal)
      },
    ]
  })
  return { ...handlers, ...Object.fromEntries(waiting) }
}

function allHandlers(deps: Deps): JobHandlers {
  return {
    ...accountJobs(deps),
    ...auditJobs(deps),
    ...oauthJobs(deps),
    ...personalDataJobs(deps),
    ...contentImageJobs(deps),
    ...downloadJobs(deps),
    ...versionJobs(deps),
    ...statisticsJobs(deps),
    ...notificationJobs(deps),
    ...followJobs(deps),
    ...releaseJobs(deps),
    ...scanJobs(deps),
    ...seedJobs(deps),
  }
}

/** In minutes. */
const HOUR = 60
const DAY = 24 * HOUR

/** Jobs by the clock (UTC); of several processes one enqueues each. */
export const SCHEDULE: Schedule = [
  { job: 'accounts.expire', everyMinutes: HOUR, atMinute: 17 },
  { job: 'accounts.delete-due', everyMinutes: HOUR, atMinute: 7 },
  { job: 'oauth.expire', everyMinutes: HOUR, atMinute: 47 },
  { job: 'files.sweep', everyMinutes: HOUR, atMinute: 27 },
  { job: 'audit.expire', everyMinutes: DAY, atMinute: 4 * HOUR + 13 },
  { job: 'downloads.reconcile', everyMinutes: DAY, atMinute: 3 * HOUR + 43 },
  { job: 'statistics.fold', everyMinutes: 5 },
  { job: 'images.sweep', everyMinutes: HOUR, atMinute: 37 },
  { job: 'releases.sweep', everyMinutes: 1 },
  { job: 'scans.judge', everyMinutes: 1 },
]
