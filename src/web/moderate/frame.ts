// The frame of the pages for moderators: their paths, and the rail with the sections.
import type { FastifyReply } from 'fastify'
import type { PageContext } from '#platform/html/page-context.ts'
import type { Rail } from '#platform/html/work/frame.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { PATHS, withQuery } from '#web/kit/paths.ts'
import { showWork, type WorkPage } from '#web/kit/work/work-page.ts'

/** Paths of the pages for moderators. */
export const MODERATION = {
  queue: `${PATHS.moderation}/queue`,
  reports: `${PATHS.moderation}/reports`,
  scans: `${PATHS.moderation}/scans`,
  threads: `${PATHS.moderation}/threads`,
  texts: `${PATHS.moderation}/texts`,
  log: `${PATHS.moderation}/log`,
  takedown: `${PATHS.moderation}/takedown`,
} as const

export const moderatedReport = (id: string): string => `${MODERATION.reports}/${id}`
export const moderatedUser = (id: string): string => `${PATHS.moderation}/user/${id}`
export const moderatedProject = (id: string): string => `${PATHS.moderation}/project/${id}`
/** Returns the path of the takedown page for content. `report` is the report that led to it. */
export const takedownPath = (kind: string, id: string, report?: string): string =>
  withQuery(MODERATION.takedown, { kind, id, report })

/** Number of rows on a page of a list. */
export const ROWS = 50

/** Sections of the pages for moderators. */
export function moderationRail({ language: { t } }: PageContext, current: string): Rail {
  const items = [
    { path: PATHS.moderation, label: t('reports.rail.overview'), icon: 'dashboard' },
    { path: MODERATION.queue, label: t('reports.rail.queue'), icon: 'list-checks' },
    { path: MODERATION.reports, label: t('reports.rail.reports'), icon: 'flag' },
    { path: MODERATION.scans, label: t('reports.rail.scans'), icon: 'scan' },
    { path: MODERATION.threads, label: t('reports.rail.threads'), icon: 'chat' },
    { path: MODERATION.texts, label: t('reports.rail.texts'), icon: 'note' },
    { path: MODERATION.takedown, label: t('reports.rail.takedown'), icon: 'eye-off' },
    { path: MODERATION.log, label: t('reports.rail.log'), icon: 'history' },
  ] as const
  return { label: t('reports.rail'), current, groups: [{ items }] }
}

/** Shows a page in a section of the pages for moderators. `section` is the path of the section in the rail. */
export function showModeration(
  request: OwnRequest,
  { section, name, ...of }: Omit<WorkPage, 'subject' | 'sections'> & { section: string; name?: string },
): FastifyReply {
  const { page } = request
  const crumbs = [{ path: PATHS.moderation, label: page.language.t('reports.rail') }]
  return showWork(request, {
    ...of,
    subject: { name: name ?? of.title, crumbs },
    sections: moderationRail(page, section),
  })
}
