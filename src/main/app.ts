// The application: a server with every feature and the handlers of all jobs, listed by hand. The list is the map of what
// Depot can do.

import { seedJobs } from '#demo/jobs.ts'
import { auditJobs } from '#features/basics/audit/jobs.ts'
import { auditOperatorRoutes, auditRoutes, moderationLogRoute } from '#features/basics/audit/routes.ts'
import { createAccessControl } from '#features/basics/authentication/access-control.ts'
import { createTokenDirectory, type TokenDirectory } from '#features/basics/authentication/token-directory.ts'
import { createTokenUse } from '#features/basics/authentication/token-use.ts'
import { contentImageJobs } from '#features/basics/content-images/jobs.ts'
import { contentImageRoutes } from '#features/basics/content-images/routes.ts'
import { discoveryRoutes } from '#features/basics/discovery/routes.ts'
import { eventJobs } from '#features/basics/events/jobs.ts'
import { externalImageJobs } from '#features/basics/external-images/jobs.ts'
import { externalImageRoutes } from '#features/basics/external-images/routes.ts'
import { instanceKeyRoutes } from '#features/basics/instance-key/routes.ts'
import { limitRoutes } from '#features/basics/limits/routes.ts'
import { sharedChecks } from '#features/basics/meta/readiness.ts'
import { metaRoutes } from '#features/basics/meta/routes.ts'
import { rateLimitRoutes } from '#features/basics/rate-limits/routes.ts'
import { pageRoute, pageVersionRoutes } from '#features/basics/settings/pages/routes.ts'
import { instanceRoute, settingsRoutes } from '#features/basics/settings/routes.ts'
import { createStaffRule, getSettings } from '#features/basics/settings/settings-cache.ts'
import { statisticsJobs } from '#features/basics/statistics/jobs.ts'
import { statisticsRoutes } from '#features/basics/statistics/routes.ts'
import { tagJobs } from '#features/basics/tags/edit/jobs.ts'
import { tagEditRoutes } from '#features/basics/tags/edit/routes.ts'
import { tagRoutes } from '#features/basics/tags/routes.ts'
import { followJobs } from '#features/catalogue/follows/jobs.ts'
import { followRoutes } from '#features/catalogue/follows/routes.ts'
import { projectRoutes } from '#features/catalogue/projects/routes.ts'
import { publishingRoutes } from '#features/catalogue/publishing/routes.ts'
import { releaseJobs } from '#features/catalogue/releases/jobs.ts'
import { resolveJobs } from '#features/catalogue/resolve/jobs.ts'
import { resolveRoutes } from '#features/catalogue/resolve/routes.ts'
import { reviewJobs } from '#features/catalogue/reviews/jobs.ts'
import { scanJobs } from '#features/catalogue/scans/jobs.ts'
import { scanRoutes } from '#features/catalogue/scans/routes.ts'
import { messageImages } from '#features/catalogue/threads/image-owner.ts'
import { threadRoutes } from '#features/catalogue/threads/routes.ts'
import { dependencyRoutes } from '#features/catalogue/versions/dependencies/routes.ts'
import { hashRoutes } from '#features/catalogue/versions/hashes/hash-routes.ts'
import { updateRoutes } from '#features/catalogue/versions/hashes/update-routes.ts'
import { projectImages, versionImages } from '#features/catalogue/versions/image-owner.ts'
import { versionJobs } from '#features/catalogue/versions/jobs.ts'
import { versionEditRoutes } from '#features/catalogue/versions/lifecycle/routes.ts'
import { versionReadRoutes } from '#features/catalogue/versions/lookup/routes.ts'
import { proposalRoutes } from '#features/catalogue/versions/proposals/routes.ts'
import { versionUploadRoutes } from '#features/catalogue/versions/publish/routes.ts'
import { uploadRoutes } from '#features/catalogue/versions/uploads/routes.ts'
import { attentionRoutes } from '#features/community/attention/routes.ts'
import { collectionRoutes } from '#features/community/collections/routes.ts'
import { memberRoutes } from '#features/community/members/routes.ts'
import { cleanupJobs } from '#features/community/moderation/cleanup/jobs.ts'
import { moderationRoutes } from '#features/community/moderation/routes.ts'
import { takedownJobs } from '#features/community/moderation/takedown/jobs.ts'
import { organizationRoutes } from '#features/community/organizations/routes.ts'
import { userListRoutes } from '#features/community/organizations/user-routes.ts'
import { packRoutes } from '#features/community/packs/routes.ts'
import { personalDataJobs } from '#features/community/personal-data/jobs.ts'
import { personalDataRoutes, userExportRoute } from '#features/community/personal-data/routes.ts'
import { reportImages } from '#features/community/reports/image-owner.ts'
import { reportRoutes } from '#features/community/reports/routes.ts'
import { serviceAccountRoutes } from '#features/community/service-accounts/routes.ts'
import { teamEditRoute, teamRoutes } from '#features/community/teams/routes.ts'
import { exchangeRoutes } from '#features/community/trusted-publishers/exchange/routes.ts'
import { publisherJobs } from '#features/community/trusted-publishers/jobs.ts'
import { trustedPublisherRoutes } from '#features/community/trusted-publishers/routes.ts'
import { buildToolRoutes } from '#features/compat/build-tools/routes.ts'
import { v2Routes } from '#features/compat/v2/routes.ts'
import { projectFolderRoutes } from '#features/exchange/project-folder/routes.ts'
import { webhookJobs } from '#features/exchange/webhooks/jobs.ts'
import { instanceWebhookRoute, webhookRoutes } from '#features/exchange/webhooks/routes.ts'
import { backupJobs } from '#features/operation/backup/jobs.ts'
import { listTarget } from '#features/operation/backup/scheduled/target.ts'
import { overviewJobs } from '#features/operation/overview/jobs.ts'
import { overviewRoutes } from '#features/operation/overview/routes.ts'
import { createForeignUseLog } from '#features/people/accounts/access-tokens/record-foreign-use.ts'
import { type AccountDeps, createAccountDeps } from '#features/people/accounts/account-deps.ts'
import { administrationRoutes } from '#features/people/accounts/administration/routes.ts'
import { createCodeHost } from '#features/people/accounts/code-host/code-host.ts'
import { codeHostRoutes, markCodeHostTokens } from '#features/people/accounts/code-host/routes.ts'
import { createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { invitationRoutes } from '#features/people/accounts/invitations/routes.ts'
import { accountJobs } from '#features/people/accounts/jobs.ts'
import { leakedTokenRoutes } from '#features/people/accounts/leaked-tokens/routes.ts'
import { accountRoutes } from '#features/people/accounts/routes.ts'
import { signUpBlockRoutes } from '#features/people/accounts/sign-up-blocks/routes.ts'
import { affiliateOperatorRoutes } from '#features/people/affiliates/operator-routes.ts'
import { affiliateRoutes } from '#features/people/affiliates/routes.ts'
import { notificationJobs } from '#features/people/notifications/jobs.ts'
import { notificationRoutes } from '#features/people/notifications/routes.ts'
import { oauthJobs } from '#features/people/oauth/jobs.ts'
import { oauthRoutes } from '#features/people/oauth/routes.ts'
import { payoutOperatorRoutes } from '#features/people/payouts/operator-routes.ts'
import { payoutRoutes } from '#features/people/payouts/routes.ts'
import { endLostAccess } from '#features/people/revocation/end-access.ts'
import { userRoutes } from '#features/people/users/routes.ts'
import { analyticsIngestRoutes } from '#features/reading/analytics/ingest/routes.ts'
import { createVisitorCaps, type VisitorCaps } from '#features/reading/analytics/ingest/visitor-caps.ts'
import { analyticsRoutes } from '#features/reading/analytics/routes.ts'
import { createDownloadTrends } from '#features/reading/analytics/statistics/download-trends.ts'
import { createProjectStatistics } from '#features/reading/analytics/statistics/project-statistics.ts'
import { projectStatisticsRoutes } from '#features/reading/analytics/statistics/routes.ts'
import { changeJobs } from '#features/reading/changes/jobs.ts'
import { changeRoutes } from '#features/reading/changes/routes.ts'
import { downloadJobs } from '#features/reading/downloads/jobs.ts'
import { downloadOperatorRoutes } from '#features/reading/downloads/operator-routes.ts'
import { downloadRoutes } from '#features/reading/downloads/routes.ts'
import { indexStateRoute, reindexRoutes, searchRoutes } from '#features/reading/search/routes.ts'
import { VERSION } from '#platform/config/version.ts'
import { instanceSecret } from '#platform/db/instance-secret.ts'
import { createRateGrants, type RateGrantDirectory } from '#platform/http/limits/rate-grants.ts'
import { mountInternal, tagged } from '#platform/http/mounts.ts'
import { registerOpenApi } from '#platform/http/openapi/openapi.ts'
import { type App, buildServer } from '#platform/http/server.ts'
import { type JobHandlers, unlessReadOnly } from '#platform/jobs/job.ts'
import type { Deps } from '#ports/deps.ts'
import { webRoutes } from '#web/routes.ts'
import { API_DESCRIPTIONS } from './api-description.ts'
import { withBackupTarget } from './open-backup-target.ts'

/** Builds the server with all its routes. A process that follows changes passes the directory that it keeps up to date. */
export async function buildApp(deps: Deps, rateGrants: RateGrantDirectory = createRateGrants(deps)): Promise<App> {
  const { config, db, cache, now, log, metrics, counters } = deps
  const tokenUse = createTokenUse(deps)
  const codeHost = createCodeHost(deps)
  const tokens = createTokenDirectory({
    db,
    cache,
    now,
    onUse: tokenUse.record,
    staffRule: createStaffRule(deps),
    onForeignAddress: createForeignUseLog(deps),
    ...(codeHost === undefined ? {} : { foreignTokens: codeHost.authenticate }),
  })
  const app = buildServer({
    log,
    metrics,
    counters,
    grants: rateGrants,
    access: createAccessControl({ tokens, adminKey: config.http.adminKey }),
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
  await registerOpenApi(app, { version: VERSION, baseUrl: config.http.baseUrl }, Object.values(API_DESCRIPTIONS))
  markCodeHostTokens(app)
  const caps = createVisitorCaps({ counters, now, secret: await instanceSecret(db, 'visitors') })
  addFeatures(app, { deps, accounts, tokens, rateGrants, caps })
  return app
}

/** Objects that routes need in addition to `Deps`, created once per server. */
type Shared = {
  deps: Deps
  accounts: AccountDeps
  tokens: TokenDirectory
  rateGrants: RateGrantDirectory
  caps: VisitorCaps
}

function addVersions(app: App, deps: Deps): void {
  tagged(app, 'versions', (scope) => {
    versionReadRoutes(scope, deps)
    versionUploadRoutes(scope, deps)
    uploadRoutes(scope, deps)
    proposalRoutes(scope, deps)
    versionEditRoutes(scope, deps)
  })
  tagged(app, 'version files', (scope) => {
    hashRoutes(scope, deps)
    updateRoutes(scope, deps)
  })
  tagged(app, 'packs', (scope) => {
    resolveRoutes(scope, deps)
    packRoutes(scope, deps)
  })
}

/** Adds every route, by its group in the API description. */
function addFeatures(app: App, { deps, accounts, tokens, rateGrants, caps }: Shared): void {
  const confirmOwner = createConfirmOwner(accounts)
  const checks = sharedChecks(deps)
  tagged(app, 'meta', (scope) => {
    metaRoutes(scope, { ...deps, checks })
    instanceRoute(scope, deps)
    pageRoute(scope, deps)
    instanceKeyRoutes(scope, deps)
    discoveryRoutes(scope, deps)
  })
  tagged(app, 'users', (scope) => {
    userRoutes(scope, { ...deps, confirmOwner, endLostAccess })
    userListRoutes(scope, deps)
    attentionRoutes(scope, deps)
    personalDataRoutes(scope, { ...deps, confirmOwner })
  })
  tagged(app, 'accounts', (scope) => {
    accountRoutes(scope, accounts)
    leakedTokenRoutes(scope, deps)
    codeHostRoutes(scope, accounts)
    auditRoutes(scope, deps)
  })
  tagged(app, 'oauth', (scope) => oauthRoutes(scope, deps))
  const statistics = createProjectStatistics(deps)
  const trends = createDownloadTrends(deps)
  webRoutes(app, { deps, accounts, tokens, rateGrants, statistics, trends, checks })
  tagged(app, 'follows', (scope) => followRoutes(scope, deps))
  tagged(app, 'notifications', (scope) => notificationRoutes(scope, deps))
  tagged(app, 'tags', (scope) => tagRoutes(scope, deps))
  tagged(app, 'projects', (scope) => {
    projectRoutes(scope, deps)
    publishingRoutes(scope, deps)
    dependencyRoutes(scope, deps)
    projectFolderRoutes(scope, deps)
  })
  tagged(app, 'teams', (scope) => {
    teamRoutes(scope, deps)
    teamEditRoute(scope, deps)
    memberRoutes(scope, deps)
  })
  tagged(app, 'organizations', (scope) => {
    organizationRoutes(scope, deps)
    serviceAccountRoutes(scope, { ...deps, confirmOwner })
  })
  tagged(app, 'publishing', (scope) => {
    trustedPublisherRoutes(scope, { ...deps, confirmOwner })
    exchangeRoutes(scope, deps)
  })
  tagged(app, 'limits', (scope) => limitRoutes(scope, deps))
  addVersions(app, deps)
  tagged(app, 'build tools', (scope) => buildToolRoutes(scope, deps))
  tagged(app, 'search', (scope) => searchRoutes(scope, deps))
  tagged(app, 'changes', (scope) => changeRoutes(scope, deps))
  tagged(app, 'webhooks', (scope) => webhookRoutes(scope, deps))
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
    moderationRoutes(scope, { ...deps, confirmOwner, endLostAccess })
    moderationLogRoute(scope, deps)
    mountInternal(scope, (inner) => externalImageRoutes(inner, deps))
    scanRoutes(scope, deps)
  })
  v2Routes(app, { ...deps, confirmOwner, endLostAccess })
  tagged(app, 'operator', (scope) => addOperatorRoutes(scope, { deps, confirmOwner, rateGrants, caps, checks }))
}

function addOperatorRoutes(
  scope: App,
  {
    deps,
    confirmOwner,
    rateGrants,
    caps,
    checks,
  }: Omit<Shared, 'accounts' | 'tokens'> & {
    confirmOwner: ReturnType<typeof createConfirmOwner>
    checks: ReturnType<typeof sharedChecks>
  },
): void {
  reindexRoutes(scope, deps)
  downloadOperatorRoutes(scope, { ...deps, caps })
  affiliateOperatorRoutes(scope, deps)
  payoutOperatorRoutes(scope, deps)
  signUpBlockRoutes(scope, deps)
  rateLimitRoutes(scope, { ...deps, rateGrants })
  auditOperatorRoutes(scope, deps)
  settingsRoutes(scope, deps)
  pageVersionRoutes(scope, deps)
  tagEditRoutes(scope, deps)
  administrationRoutes(scope, { ...deps, confirmOwner })
  userExportRoute(scope, { ...deps, confirmOwner })
  invitationRoutes(scope, deps)
  instanceWebhookRoute(scope, deps)
  indexStateRoute(scope, deps)
  overviewRoutes(scope, { ...deps, checks })
}

/** Returns the handlers of all jobs. A missing handler does not compile. */
export function jobHandlers(deps: Deps): JobHandlers {
  const handlers: JobHandlers = {
    ...accountJobs(deps),
    ...auditJobs(deps),
    ...tagJobs(deps),
    ...backupJobs(deps),
    ...eventJobs(deps),
    ...oauthJobs(deps),
    ...personalDataJobs(deps),
    ...contentImageJobs(deps),
    ...externalImageJobs(deps),
    ...downloadJobs(deps),
    ...versionJobs(deps),
    ...statisticsJobs(deps),
    ...changeJobs(deps),
    ...notificationJobs(deps),
    ...followJobs(deps),
    ...releaseJobs(deps),
    ...resolveJobs(deps),
    ...reviewJobs(deps),
    ...cleanupJobs(deps),
    ...takedownJobs(deps),
    ...scanJobs(deps),
    ...publisherJobs(deps),
    ...webhookJobs(deps),
    ...overviewJobs(deps, () => withBackupTarget(deps, listTarget)),
    ...seedJobs(deps),
  }
  return unlessReadOnly(handlers, async () => (await getSettings(deps)).read_only)
}
