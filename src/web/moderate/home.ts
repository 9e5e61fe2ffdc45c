// The start page of moderators: counts, the projects that they have claimed, and the start of the queue.
import type { FastifyReply } from 'fastify'
import { listQueue, type ModerationCounts, readModerationCounts } from '#features/community/moderation/queries.ts'
import { recentMedianWait } from '#features/community/moderation/statistics/queries.ts'
import { listOwnerRecords } from '#features/community/moderation/users/queries.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, withQuery } from '#web/kit/paths.ts'
import { wholeNumber } from '#web/ui/format.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { sheetHead, sheetPart } from '#web/ui/parts/frame.ts'
import { showModeration } from './moderation-frame.ts'
import { emptyQueue, startButton } from './queue/queue-page.ts'
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

type Work = Omit<ModerationCounts, 'mine'> & { mine?: number }

/** Renders how much work waits for moderators, with links. `accounts` is the path of the list of accounts. */
export function workTiles(page: PageContext, work: Work, { accounts }: { accounts: string }): Markup {
  const { language } = page
  const { t } = language
  const tiles: [label: string, count: number | undefined, path: string][] = [
    [t('moderate.count.queue'), work.queue, PATHS.moderationQueue],
    [t('moderate.count.mine'), work.mine, withQuery(PATHS.moderationQueue, { claim: 'mine' })],
    [t('moderate.count.reports'), work.reports, PATHS.moderationReports],
    [t('moderate.count.quarantined'), work.quarantined, PATHS.moderationScans],
    [t('moderate.count.threads'), work.threads, PATHS.moderationThreads],
    [t('moderate.count.advisories'), work.advisories, PATHS.moderationAdvisories],
    [t('moderate.count.accounts'), work.accounts, withQuery(accounts, { waiting: 'yes' })],
  ]
  return html`<dl class="tiles">${tiles.map(
    ([label, count, path]) =>
      count !== undefined &&
      html`<div><dt>${label}</dt><dd class="big"><a href="${pathTo(page, path)}">${wholeNumber(language, count)}</a></dd></div>`,
  )}</dl>`
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
${workTiles(page, counts, { accounts: PATHS.moderationUsers })}
${claims}
${waiting}`,
  })
}
