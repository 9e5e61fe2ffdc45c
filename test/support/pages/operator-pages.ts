// An instance with figures, failed jobs, emails, a backup, a suspended account and an announcement, for the pages for operators.
import assert from 'node:assert/strict'
import { seedCatalogue } from '#demo/seed/seed-catalogue.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { deliverMail } from '#features/basics/mail/deliver-mail.ts'
import { publishPage } from '#features/basics/settings/pages/publish-page.ts'
import { updateSettings } from '#features/basics/settings/update-settings.ts'
import { addFigures } from '#features/operation/overview/figures/queries.ts'
import { listDeliveries } from '#features/operation/overview/mail/queries.ts'
import { recordMeasure } from '#features/operation/overview/storage/measure-storage.ts'
import { suspendAccount } from '#features/people/accounts/administration/suspend-account.ts'
import { createInvitation } from '#features/people/accounts/invitations/create-invitation.ts'
import { DAY_MS, MINUTE_MS } from '#lib/time.ts'
import { createFigureCounts } from '#platform/telemetry/figures.ts'
import type { TestApp } from '../app/test-app.ts'
import { pagesOf, type ShownPage } from './shown-page.ts'
import type { WorkPeople } from './work-pages.ts'

const DEMO_PROJECTS = 60

export async function makeOperatorPages(t: TestApp, { admin }: WorkPeople): Promise<ShownPage[]> {
  await seedCatalogue(t.deps, DEMO_PROJECTS)
  await addState(t)
  const session = await addPeople(t)
  const mail = await writeMail(t)
  const at = pagesOf(admin)
  return [
    at('operator-overview', 'operateOverview', '/operator'),
    at('operator-month', 'operateOverview', '/operator?period=30d'),
    at('operator-errors', 'operateErrors', '/operator/errors'),
    at('operator-jobs', 'operateJobs', '/operator/jobs'),
    at('operator-failed', 'operateJobs', '/operator/jobs?state=failed&task=files.remove'),
    at('operator-discard', 'operateJobsConfirm', '/operator/jobs/confirm?action=discard&task=files.remove'),
    at('operator-storage', 'operateStorage', '/operator/storage'),
    at('operator-index', 'operateIndex', '/operator/index'),
    at('operator-rebuild', 'operateRebuild', '/operator/index/rebuild'),
    at('operator-mail', 'operateMail', '/operator/mail'),
    at('operator-written-mail', 'operateWrittenMail', `/operator/mail/${mail}`),
    at('operator-webhooks', 'operateWebhooks', '/operator/webhooks'),
    at('operator-backups', 'operateBackups', '/operator/backups'),
    at('operator-users', 'operateAccounts', '/operator/users'),
    at('operator-users-none', 'operateAccounts', '/operator/users?query=nobody'),
    at('operator-user', 'operateAccount', '/operator/user/spammer'),
    at('operator-user-active', 'operateAccount', '/operator/user/jo'),
    at('operator-role', 'operateRole', '/operator/user/spammer/role'),
    at('operator-badges', 'operateBadges', '/operator/user/spammer/badges'),
    at('operator-suspend', 'operateSuspend', '/operator/user/spammer/suspend'),
    at('operator-unsuspend', 'operateUnsuspend', '/operator/user/spammer/unsuspend'),
    at('operator-sign-out', 'operateSignOut', '/operator/user/spammer/sign-out'),
    at('operator-end-session', 'operateEndSession', `/operator/user/jo/sessions/${session}`),
    at('operator-account-limits', 'operateAccountLimits', '/operator/user/jo/limits'),
    at('operator-export', 'operateExport', '/operator/user/jo/export'),
    at('operator-delete', 'operateDelete', '/operator/user/jo/delete'),
    at('operator-restore', 'operateRestore', '/operator/user/leaver/restore'),
    at('operator-two-factor', 'operateTwoFactor', '/operator/user/spammer/two-factor'),
    at('operator-email', 'operateEmail', '/operator/user/spammer/email'),
    at('operator-username', 'operateUsername', '/operator/user/spammer/username'),
    at('operator-password-link', 'operatePasswordLink', '/operator/user/spammer/password-link'),
    at('operator-invitations', 'operateInvitations', '/operator/invitations'),
    at('operator-sign-ups', 'operateSignUps', '/operator/sign-ups'),
    at('operator-limits', 'operateLimits', '/operator/limits'),
    at('operator-payouts', 'operatePayouts', '/operator/payouts?user=spammer'),
    at('operator-tags', 'operateTags', '/operator/tags/categories'),
    at('operator-tag', 'operateTag', '/operator/tags/categories/tag/mod%3Acursed'),
    at('operator-tag-loader', 'operateTag', '/operator/tags/loaders/tag/fabric'),
    at('operator-tag-field', 'operateTag', '/operator/tags/loader_fields/tag/environment'),
    at('operator-tag-new', 'operateNewTag', '/operator/tags/game_versions/new'),
    at('operator-tags-json', 'operateTagsJson', '/operator/tags/games/json'),
    at('operator-link-platforms', 'operateTags', '/operator/tags/link_platforms'),
    at('operator-game-versions', 'operateTags', '/operator/tags/game_versions'),
    at('operator-keys', 'operateKeys', '/operator/keys'),
    at('operator-settings', 'operateSettings', '/operator/settings'),
    at('operator-pages', 'operatePages', '/operator/pages'),
    at('operator-page', 'operatePage', '/operator/pages/terms'),
    at('operator-page-version', 'operatePageVersion', '/operator/pages/terms/version/1'),
    at('operator-announcement', 'operateAnnouncement', '/operator/announcement'),
    at('operator-read-only', 'operateReadOnly', '/operator/read-only'),
    at('operator-read-only-begin', 'operateReadOnlyBegin', '/operator/read-only/begin'),
    at('operator-audit-log', 'operateAuditLog', '/operator/audit-log'),
    at('operator-audit-error', 'operateAuditLog', '/operator/audit-log?actor=nobody', { status: 400 }),
    at('operator-first-steps', 'operateFirstSteps', '/operator/first-steps'),
  ]
}

/** Adds figures of a day, measures of the storage, failed jobs, deliveries and a backup. */
export async function addState(t: TestApp): Promise<void> {
  const { deps } = t
  await addDay(t, Date.now())
  const ago = (days: number) => ({ ...deps, now: () => Date.now() - days * DAY_MS })
  for (const days of [3, 2, 1, 0]) {
    const project = await t.make.project({ name: `Lantern ${days}` })
    const version = await t.make.version({ project })
    await t.make.file({ project, version, bytes: Buffer.alloc(300_000 * (4 - days)), filename: `lantern-${days}.jar` })
    await recordMeasure(ago(days), new AbortController().signal)
  }
  await deps.pool.query("select graphile_worker.add_job('files.remove', '{\"keys\":[]}') from generate_series(1, 3)")
  await deps.pool.query(
    "update graphile_worker._private_jobs set attempts = max_attempts, last_error = 'ENOSPC: no space left on device, unlink ''/var/lib/depot/files/objects/data/a-rather-long-name-without-a-space.jar'''",
  )
  const deliveries = [
    { kind: 'verify-email', is_sent: true, response: '250 2.0.0 Ok: queued as 4F1' },
    {
      kind: 'notification',
      is_sent: false,
      response: '550 5.1.1 <[address]>: Recipient address rejected: User unknown',
    },
  ]
  await deps.db
    .insertInto('mail_delivery')
    .values(deliveries.map((delivery) => ({ ...delivery, at: new Date(), account_id: null })))
    .execute()
  const details = {
    id: 'b1',
    name: 'daily-2026-11-22.tar',
    rows: 9_000,
    files: 120,
    events: 7,
    bytes: 61e9,
    missing: 0,
  }
  await recordAudit(deps.db, { action: 'backup.made', actor: COMMAND, details })
}

/** Writes an email to the outbox. Returns the ID of its delivery. */
async function writeMail({ deps }: TestApp): Promise<number | undefined> {
  const subject = 'Depot: reset your password'
  const link = `https://depot.test/account/reset-password?flow=${'aFyF5fnNPNegtXfRfLyb'.repeat(3)}`
  const text = `Hello mira,\n\nA new password was requested for your account. To set it, open this page within 24 hours:\n\n${link}\n`
  await deliverMail(deps, {
    kind: 'reset-password',
    accountId: null,
    message: { to: 'mira@example.org', subject, text },
  })
  const [delivery] = await listDeliveries(deps.db, { limit: 1 })
  return delivery?.id
}

/** Adds an account with a suspension, an invitation, a rate limit, a payout and an announcement. */
/** Returns the ID of a session of the user jo. */
async function addPeople(t: TestApp): Promise<string> {
  const { deps } = t
  const spammer = await t.make.account({ username: 'spammer' })
  const leaver = await t.make.account({ username: 'leaver' })
  const deletion_due = new Date(Date.now() + 20 * DAY_MS)
  await deps.db.updateTable('account').set({ deletion_due }).where('id', '=', leaver.id).execute()
  const reason = 'Advertising in every project, although moderators asked for its end.'
  await suspendAccount(deps, COMMAND, { name: 'spammer', reason, until: new Date(Date.now() + 9 * DAY_MS) })
  // On a phone, the short link to the user who acted is directly above the link to the subject.
  const jo = await t.make.account({ username: 'jo' })
  const project = await t.make.project({ owner: jo })
  for (const summary of ['Lights the deep.', 'Lights the deepest caves.'])
    assert.equal((await t.as(jo).patch(`/v3/project/${project.id}`, { summary })).statusCode, 204)
  const expires = new Date(Date.now() + 14 * DAY_MS)
  await createInvitation(deps, COMMAND, { uses: 5, expires, email: 'mira@example.org', note: 'For the translators' })
  const grant = { id: 'AAAABBBB', token_id: null, address_range: '2001:db8:1234::/48', requests_per_minute: 12_000 }
  await deps.db
    .insertInto('rate_limit_grant')
    .values({ ...grant, note: 'A mirror of the university' })
    .execute()
  await deps.db
    .insertInto('payout')
    .values({
      id: 'CCCCDDDD',
      external_id: 'transfer-2026-11',
      account_id: spammer.id,
      amount: '12.5',
      status: 'success',
    })
    .execute()
  for (const text of [
    'Be kind.',
    '## Use\n\nYou publish only what is **yours**.\n\n## End\n\nYou can leave at any time.',
  ])
    await publishPage(deps, COMMAND, { kind: 'terms', text })
  const footer_links = [{ label: 'Forum', url: 'https://forum.example.org' }]
  const announcement = 'On Sunday from 08:00 to 10:00 UTC, the instance moves to another machine.'
  await updateSettings(deps, COMMAND, { announcement, footer_links, announcement_start: '2056-01-31T08:00:00Z' })
  const session = await deps.db
    .selectFrom('session')
    .select('id')
    .where('account_id', '=', jo.id)
    .executeTakeFirstOrThrow()
  return session.id
}

/** Adds figures of the last day, with an hour of trouble. */
async function addDay(t: TestApp, now: number): Promise<void> {
  const counts = createFigureCounts()
  const minutes = Array.from({ length: 1_440 }, (_, index) => {
    const hour = index / 60
    const requests = Math.round(12 + 8 * Math.sin((hour / 24) * 2 * Math.PI))
    for (let n = 0; n < requests; n += 1) {
      const status = hour > 15 && hour < 16 && n % 5 === 0 ? 500 : n === 0 ? 429 : 200
      counts.request({ operation: 'getProject', status, milliseconds: 2 + ((n * 7 + index) % 60) })
    }
    if (hour > 15 && hour < 16)
      counts.error({
        code: 'analytics_database_error',
        route: 'POST /v3/analytics',
        requestId: '7f3a9eb8-0000-4000-8000-0000000000c1',
      })
    return { minute: new Date(now - (1_440 - index) * MINUTE_MS), ...counts.take() }
  })
  for (let start = 0; start < minutes.length; start += 60) await addFigures(t.deps.db, minutes.slice(start, start + 60))
}
