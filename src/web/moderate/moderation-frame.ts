// The frame of the pages for moderators: the rail with the work that waits.
import type { FastifyReply } from 'fastify'
import { type ModerationCounts, readModerationCounts } from '#features/community/moderation/queries.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { showWork, twoFactorNote, type WorkPage } from '#web/kit/work-page.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import type { Rail } from '#web/ui/parts/frame.ts'

export type ModerationPage = Omit<WorkPage, 'sections' | 'subject'> & {
  /** Path of the open section. */
  current: string
  /** Default: moderation as a whole. */
  subject?: WorkPage['subject']
  /** Counts of the rail, if the page has read them. */
  counts?: ModerationCounts
}

/** Shows a page for moderators with the rail of their sections. */
export async function showModeration(
  request: OwnRequest,
  { current, subject, counts, ...of }: ModerationPage,
): Promise<FastifyReply> {
  const { page, deps, viewer } = request
  return showWork(request, {
    ...of,
    notes: [twoFactorNote(request), of.notes],
    subject: subject ?? { name: page.language.t('moderate.moderation') },
    sections: moderationRail(page, counts ?? (await readModerationCounts(deps.db, viewer.id)), current),
  })
}

function moderationRail({ language: { t } }: PageContext, counts: ModerationCounts, current: string): Rail {
  return {
    label: t('moderate.moderation'),
    current,
    groups: [
      {
        items: [
          { path: PATHS.moderation, label: t('moderate.home'), icon: 'home' },
          { path: PATHS.moderationQueue, label: t('moderate.queue'), icon: 'list-checks', count: counts.queue },
          { path: PATHS.moderationReports, label: t('reports.rail.reports'), icon: 'flag', count: counts.reports },
          { path: PATHS.moderationScans, label: t('reports.rail.scans'), icon: 'scan', count: counts.quarantined },
          { path: PATHS.moderationAdvisories, label: t('advisories.title'), icon: 'warning', count: counts.advisories },
          { path: PATHS.moderationThreads, label: t('reports.rail.threads'), icon: 'chat', count: counts.threads },
        ],
      },
      {
        items: [
          {
            path: PATHS.moderationUsers,
            label: t('moderate.accounts'),
            icon: 'users',
            ...(counts.accounts === 0 ? {} : { count: counts.accounts }),
          },
          { path: PATHS.moderationTakedown, label: t('reports.rail.takedown'), icon: 'eye-off' },
          { path: PATHS.moderationTexts, label: t('reports.rail.texts'), icon: 'note' },
          { path: PATHS.moderationLog, label: t('reports.rail.log'), icon: 'history' },
          { path: PATHS.moderationStatistics, label: t('moderate.statistics'), icon: 'chart' },
        ],
      },
    ],
  }
}
