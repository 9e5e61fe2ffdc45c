// The pages for operators.
import { type MappedPage, pagesFor } from './page.ts'

const page = pagesFor('operators')

export const OPERATOR_PAGES: readonly MappedPage[] = [
  page('operateOverview', '/operator', 'Problems, dependencies, figures, jobs, errors', 'getReadiness getOverview'),
  page('operateErrors', '/operator/errors', 'Responses with 5xx by code and endpoint', 'listServerErrors'),
  page('operateJobs', '/operator/jobs', 'Background jobs', 'listJobs retryJob'),
  page('operateJobsConfirm', '/operator/jobs/confirm', 'Retrying or discarding failed jobs', 'retryJobs discardJobs'),
  page('operateStorage', '/operator/storage', 'Usage by kind and by project, growth', 'getStorage measureStorage'),
  page('operateIndex', '/operator/index', 'State of the search index', 'getSearchIndex'),
  page('operateRebuild', '/operator/index/rebuild', 'Rebuilding the search index', 'rebuildSearch'),
  page(
    'operateMail',
    '/operator/mail',
    'Queued, sent and rejected emails, with a test',
    'getOutgoingMail sendTestMail',
  ),
  page('operateWebhooks', '/operator/webhooks', 'Webhooks of the instance', 'listInstanceWebhooks'),
  page('operateBackups', '/operator/backups', 'Known backups and their age', 'listBackups'),
  page(
    'operateAccounts',
    '/operator/users',
    'Accounts by name, ID or email address',
    'listSuspendedUsers listDeletedUsers',
  ),
  page('operateAccount', '/operator/user/{id}', 'One account', 'getUserByEmail'),
  page('operateRole', '/operator/user/{id}/role', 'The role of an account'),
  page('operateBadges', '/operator/user/{id}/badges', 'The badges of an account'),
  page('operateSuspend', '/operator/user/{id}/suspend', 'Suspension of an account', 'suspendUser'),
  page('operateUnsuspend', '/operator/user/{id}/unsuspend', 'The end of a suspension', 'unsuspendUser'),
  page('operateSignOut', '/operator/user/{id}/sign-out', 'Ending all sessions of an account', 'signOutUser'),
  page('operatePasswordLink', '/operator/user/{id}/password-link', 'A link for a new password', 'makePasswordLink'),
  page('operateRestore', '/operator/user/{id}/restore', 'Undoing the deletion of an account', 'restoreUser'),
  page(
    'operateInvitations',
    '/operator/invitations',
    'Invitations',
    'listInvitations createInvitation revokeInvitation',
  ),
  page('operateLimits', '/operator/limits', 'Granted request rates', 'listRateLimits createRateLimit deleteRateLimit'),
  page('operatePayouts', '/operator/payouts', 'Payouts and revenue', 'recordPayout updatePayout distributeRevenue'),
  page(
    'operateTags',
    '/operator/tags/{list}',
    'Categories, game versions, loaders and games',
    'getEditableTags updateGames resetGames updateLoaders resetLoaders updateCategories resetCategories ' +
      'updateGameVersions resetGameVersions renameCategories renameGameVersions',
  ),
  page('operateKeys', '/operator/keys', 'Kinds of tokens'),
  page(
    'operateSettings',
    '/operator/settings',
    'Name, colour, logo, texts, registration',
    'getSettings updateSettings setMark deleteMark',
  ),
  page('operateAnnouncement', '/operator/announcement', 'The announcement'),
  page('operateReadOnly', '/operator/read-only', 'State and end of the read-only mode'),
  page('operateReadOnlyBegin', '/operator/read-only/begin', 'Beginning of the read-only mode'),
  page('operateAuditLog', '/operator/audit-log', 'The audit log, with filters', 'listAuditEntries exportAuditEntries'),
  page('operateFirstSteps', '/operator/first-steps', 'Name, registration and demo of a new instance'),
]
