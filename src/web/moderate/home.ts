// The start page of moderators: counts, the projects that they have claimed, and the start of the queue.
import type { FastifyReply } from 'fastify'
import { listQueue, readModerationCounts } from '#features/community/moderation/queries.ts'
import { recentMedianWait } from '#features/community/moderation/statistics/queries.ts'
import { listOwnerRecords } from '#features/community/moderation/users/queries.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { html } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { sheetHead, sheetPart } from '#web/ui/parts/frame.ts'
import { showModeration } from './moderation-frame.ts'
import { emptyQueue, figure, startButton } from './queue/queue-page.ts'
import { readQueueChoice } from './queue/queue-request.ts'
import { queueTable } from './queue/queue-table.ts'

/** Number of projects of the queue on this page. */
const SHOWN = 10
/** Maximum number of claims on this page. */
const CLAIMS_MAX = 50

export function moderationHomePages(pages: Pages): void {
  pages.own('GET', PATHS.moderation, 'moderationHome', showHome, {
    role: 'moderator',
    shows: 'Counts, own claims, the beginning of the queue',
  })
}

async function showHome(request: OwnRequest): Promise<FastifyReply> {
  const { deps, viewer, page, t } = request
  const all = { text: '', loaders: undefined, sort: 'oldest', offset: 0 } as const
  const [counts, mine, oldest, median] = await Promise.all([
    readModerationCounts(deps.db, viewer.id),
    listQueue(deps.db, { ...all, claim: 'mine', count: CLAIMS_MAX }, viewer.id),
    listQueue(deps.db, { ...all, claim: 'unassigned', count: SHOWN }, viewer.id),
    recentMedianWait(deps.db),
  ])
  const owners = [...mine, ...oldest].flatMap(({ owner }) => owner ?? [])
  const records = await listOwnerRecords(deps.db, owners)
  const choice = readQueueChoice(request, deps.taxonomy)
  const figures = html`<dl class="tiles">${figure(request, { label: t('moderate.count.queue'), value: counts.queue, path: PATHS.moderationQueue })}${figure(request, { label: t('moderate.count.mine'), value: counts.mine, path: `${PATHS.moderationQueue}?claim=mine` })}${figure(request, { label: t('moderate.count.reports'), value: counts.reports, path: PATHS.moderationReports })}${figure(request, { label: t('moderate.count.quarantined'), value: counts.quarantined, path: PATHS.moderationScans })}${figure(request, { label: t('moderate.count.threads'), value: counts.threads, path: PATHS.moderationThreads })}</dl>`
  const claims = sheetPart({
    id: 'claims',
    title: t('moderate.claims'),
    content:
      mine.length === 0
        ? html`<p class="soft">${t('moderate.claims.none')}</p>`
        : queueTable(request, { rows: mine, records, median, caption: t('moderate.claims'), isInner: true }),
  })
  const waiting = sheetPart({
    id: 'waiting',
    title: t('moderate.unassigned.title'),
    action: html`<a href="${pathTo(page, PATHS.moderationQueue)}">${t('moderate.queue.all')}</a>`,
    content:
      oldest.length === 0
        ? emptyQueue(page, counts)
        : queueTable(request, {
            rows: oldest,
            records,
            median,
            caption: t('moderate.unassigned.title'),
            isInner: true,
          }),
  })
  return showModeration(request, {
    current: PATHS.moderation,
    counts,
    title: t('moderate.moderation'),
    body: html`${sheetHead({ title: t('moderate.home'), action: startButton(request, { choice: { ...choice, page: 1 }, total: oldest.length }) })}
${figures}
${claims}
${waiting}`,
  })
}
