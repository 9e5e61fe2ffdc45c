// Figures about the queue: its length by age, the median wait, and decisions by day and by moderator.
import type { FastifyReply } from 'fastify'
import { DAYS } from '#features/community/moderation/statistics/queries.ts'
import { readQueueStatistics } from '#features/community/moderation/statistics/routes.ts'
import type { QueueStatistics } from '#features/community/moderation/statistics/views.ts'
import { DAY_MS } from '#lib/time.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { shortDayText, timeAgo, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { sheetHead, sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { linePlot } from '#web/ui/plots/line-plot.ts'
import { showModeration } from './moderation-frame.ts'

/** Number of days in the table of waits. */
const SHOWN_DAYS = 14

export function queueStatisticsPages(pages: Pages): void {
  pages.own('GET', PATHS.moderationStatistics, 'moderationStatistics', showStatistics, {
    role: 'moderator',
    api: 'getQueueStatistics',
  })
}

async function showStatistics(request: OwnRequest): Promise<FastifyReply> {
  const { deps, page, t } = request
  const figures = await readQueueStatistics(deps)
  const body = html`${sheetHead({ title: t('moderate.statistics'), text: t('moderate.statistics.text') })}
${tiles(page, figures)}
${sheetPart({ id: 'ages', title: t('moderate.statistics.ages'), content: ages(page, figures) })}
${sheetPart({ id: 'days', content: days(page, figures) })}
${sheetPart({ id: 'moderators', title: t('moderate.statistics.moderators'), content: moderators(page, figures) })}`
  return showModeration(request, { current: PATHS.moderationStatistics, title: t('moderate.statistics.title'), body })
}

/** Formats a wait in the unit that suits it. */
function waitText({ language }: PageContext, minutes: number): string {
  if (minutes < 60) return language.t('moderate.wait.minutes', { count: Math.round(minutes) })
  if (minutes < 2 * 24 * 60) return language.t('moderate.wait.hours', { count: Math.round(minutes / 60) })
  return language.t('moderate.wait.days', { count: Math.round(minutes / (24 * 60)) })
}

function tiles(page: PageContext, { total, oldest, median_minutes: median, days }: QueueStatistics): Markup {
  const { language, now } = page
  const { t } = language
  const week = days.filter(({ day }) => now - Date.parse(day) < 7 * DAY_MS)
  const decided = week.reduce((sum, { approved, rejected }) => sum + approved + rejected, 0)
  const tile = (label: string, value: Part) => html`<div><dt>${label}</dt><dd class="big">${value}</dd></div>`
  return html`<dl class="tiles">${tile(t('moderate.count.queue'), wholeNumber(language, total))}${tile(t('moderate.statistics.oldest'), oldest === null ? '–' : timeAgo(language, new Date(oldest), now))}${tile(t('moderate.statistics.median'), median === null ? '–' : waitText(page, median))}${tile(t('moderate.statistics.week'), wholeNumber(language, decided))}</dl>`
}

function ages(page: PageContext, { ages: groups }: QueueStatistics): Markup {
  const { language } = page
  const { t } = language
  const last = groups.findLast(({ days: limit }) => limit !== null)?.days ?? 0
  const rows = groups.map(({ days: limit, projects }) => ({
    cells: [
      limit === null ? t('moderate.age.more', { days: last }) : t('moderate.age.up-to', { days: limit }),
      wholeNumber(language, projects),
    ],
  }))
  const columns = [{ label: t('moderate.column.waiting') }, { label: t('moderate.column.projects'), isNumber: true }]
  return listTable(page, { caption: t('moderate.statistics.ages'), columns, rows, isInner: true })
}

function days(page: PageContext, { days: rows }: QueueStatistics): Markup {
  const { language } = page
  const { t } = language
  if (rows.length === 0) return emptyState(page, { icon: 'chart', title: t('moderate.statistics.none') })
  const byDay = new Map(rows.map((row) => [row.day, row]))
  const series = (label: string, count: (row: typeof NO_DECISIONS) => number) => ({
    label,
    points: allDays(page).map((day) => ({ at: new Date(day), value: count(byDay.get(day) ?? NO_DECISIONS) })),
  })
  const plot = linePlot(page, {
    id: 'decisions',
    title: t('moderate.statistics.days'),
    summary: t('moderate.statistics.days.text', {
      count: rows.reduce((sum, { approved, rejected }) => sum + approved + rejected, 0),
    }),
    timeLabel: t('moderate.column.day'),
    series: [
      series(t('moderate.owner.approved'), ({ approved }) => approved),
      series(t('moderate.owner.rejected'), ({ rejected }) => rejected),
    ],
  })
  const waits = listTable(page, {
    caption: t('moderate.statistics.waits'),
    isInner: true,
    columns: [
      { label: t('moderate.column.day') },
      { label: t('moderate.owner.approved'), isNumber: true },
      { label: t('moderate.owner.rejected'), isNumber: true },
      { label: t('moderate.statistics.median'), isNumber: true, room: 'mid' },
    ],
    rows: rows
      .slice(-SHOWN_DAYS)
      .reverse()
      .map(({ day, approved, rejected, median_minutes: median }) => ({
        cells: [
          nameCell({
            name: html`<time datetime="${day}">${shortDayText(language, new Date(day))}</time>`,
            least: [waitText(page, median)],
          }),
          wholeNumber(language, approved),
          wholeNumber(language, rejected),
          waitText(page, median),
        ],
      })),
  })
  return html`${plot}
${waits}`
}

const NO_DECISIONS = { approved: 0, rejected: 0 }

/** Returns the days that the figures cover, oldest first. */
function allDays({ now }: PageContext): string[] {
  return Array.from({ length: DAYS }, (_, index) =>
    new Date(now - (DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length),
  )
}

function moderators(page: PageContext, { moderators: rows }: QueueStatistics): Markup {
  const { language } = page
  const { t } = language
  if (rows.length === 0) return html`<p class="soft">${t('moderate.statistics.none')}</p>`
  return listTable(page, {
    caption: t('moderate.statistics.moderators'),
    isInner: true,
    columns: [
      { label: t('moderate.column.moderator') },
      { label: t('moderate.owner.approved'), isNumber: true },
      { label: t('moderate.owner.rejected'), isNumber: true },
    ],
    rows: rows.map(({ username, approved, rejected }) => ({
      cells: [html`<bdi>${username}</bdi>`, wholeNumber(language, approved), wholeNumber(language, rejected)],
    })),
  })
}
