// Paths and the frame of the pages for reports, users and texts.
import type { FastifyReply } from 'fastify'
import type { OwnRequest } from '#web/kit/pages.ts'
import { PATHS, withQuery } from '#web/kit/paths.ts'
import type { WorkPage } from '#web/kit/work-page.ts'
import { showModeration } from './moderation-frame.ts'

export const moderatedReport = (id: string): string => `${PATHS.moderationReports}/${id}`
export const moderatedAdvisory = (id: string): string => `${PATHS.moderationAdvisories}/${id}`
export const moderatedUser = (id: string): string => `${PATHS.moderation}/user/${id}`
/** Returns the path of the takedown page for content. `report` is the report that led to it. */
export const takedownPath = (kind: string, id: string, known: { report?: string; reason?: string } = {}): string =>
  withQuery(PATHS.moderationTakedown, { kind, id, ...known })

export const takedownResult = (id: string): string => `${PATHS.moderationTakedown}/${id}`

/** Number of rows on a page of a list. */
export const ROWS = 50

type SectionPage = Omit<WorkPage, 'subject' | 'sections'> & {
  /** Path of the section in the rail. */
  section: string
  /** Heading of the page. Default: the title. */
  name?: string
}

/** Shows a page in a section of the pages for moderators. */
export function showSection(request: OwnRequest, { section, name, ...of }: SectionPage): Promise<FastifyReply> {
  const { address, language } = request.page
  // The section itself is titled in its sheet, as in the other areas.
  if (name === undefined && address.split('?')[0] === section)
    return showModeration(request, { ...of, current: section })
  const crumbs = [{ path: PATHS.moderation, label: language.t('moderate.moderation') }]
  return showModeration(request, { ...of, current: section, subject: { name: name ?? of.title, crumbs } })
}
