// The pages for moderators.
import { type MappedPage, pagesFor } from './page.ts'

const page = pagesFor('moderators')
const operators = pagesFor('operators')

export const MODERATION_PAGES: readonly MappedPage[] = [
  page('moderationHome', '/moderation', 'Counts, own claims, the beginning of the queue'),
  page(
    'moderationQueue',
    '/moderation/queue',
    'Projects under review, with filters',
    'listModerationQueue claimProject releaseClaim claimNextProject',
  ),
  page(
    'moderationReview',
    '/moderation/project/{id}',
    'A review: changes, files, findings, owner, thread, decision',
    'getProjectChanges',
  ),
  page(
    'moderationEntries',
    '/moderation/project/{id}/files',
    'Entries of the archives of a version',
    'listVersionEntries',
  ),
  page('moderationEntry', '/moderation/project/{id}/files/entry', 'The text of an entry', 'getVersionEntry'),
  page('moderationStatistics', '/moderation/statistics', 'Statistics of the queue', 'getQueueStatistics'),
  page('moderateReports', '/moderation/reports', 'Reports, grouped by the reported item', 'listReportGroups'),
  page(
    'moderateReport',
    '/moderation/reports/{id}',
    'The reported item then and now, reports about it, the thread',
    'getReportChanges updateReport closeReports',
  ),
  page(
    'moderateScans',
    '/moderation/scans',
    'Results of the scanner',
    'listVersionScans releaseVersion repeatVersionScan',
  ),
  page('moderateAdvisories', '/moderation/advisories', 'Advisories by status', 'listAdvisories'),
  page('moderateNewAdvisory', '/moderation/advisories/new', 'A new advisory without a project', 'createAdvisory'),
  page('moderateAdvisory', '/moderation/advisories/{id}', 'An advisory, and the decision about it', 'decideAdvisory'),
  page('moderateThreads', '/moderation/threads', 'Threads that wait for an answer', 'listUnansweredThreads'),
  page(
    'moderateUser',
    '/moderation/user/{id}',
    'The record of a user, the shared note',
    'getUserRecord getUserNote writeUserNote askOperators',
  ),
  page(
    'moderateTexts',
    '/moderation/texts',
    'Saved replies',
    'listSavedReplies createSavedReply orderSavedReplies updateSavedReply deleteSavedReply',
  ),
  page('moderateTakedown', '/moderation/takedown', 'A takedown with its consequences', 'takeDown listProjectsOfFiles'),
  page(
    'moderateTakedownResult',
    '/moderation/takedown/{id}',
    'The parts that a takedown changed, with Undo',
    'undoTakedown',
  ),
  page('moderateBlockedFiles', '/moderation/takedown/blocked', 'Blocked files', 'listBlockedFiles unblockFile'),
  operators('moderateDeletion', '/moderation/takedown/delete', 'Deletion of content that was taken down'),
  page('moderateLog', '/moderation/log', 'The actions of moderators', 'listModerationLog'),
]
