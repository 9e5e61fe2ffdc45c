// The figures of the last 30 days, compared with the 30 days before: one analytics query of two slices.
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { runAnalyticsQuery } from '#features/operations/analytics/query/run-query.ts'
import { parseAnalyticsQuery } from '#features/operations/analytics/requests.ts'
import { getBalance } from '#features/people/payouts/queries.ts'
import { DAY_MS } from '#lib/time.ts'
import { moneyText, moneyTile, shortNumber, wholeNumber } from '#platform/html/format.ts'
import { html, type Markup, type Part } from '#platform/html/html.ts'
import type { IconName } from '#platform/html/icons.ts'
import { icon, type PageContext } from '#platform/html/page-context.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import type { OwnProject } from './dashboard-frame.ts'

const DAYS = 30
/** The page does not wait longer for the analytics store. */
const PATIENCE_MS = 300

type Counted = { downloads: number; views: number }

/** Returns the counts of the previous and of the last period; null if the analytics store does not respond in time. */
async function countPeriods({ deps, viewer, page, req }: OwnRequest): Promise<[Counted, Counted] | null> {
  const time = (ms: number): string => new Date(ms).toISOString()
  const query = parseAnalyticsQuery({
    time_range: { start: time(page.now - 2 * DAYS * DAY_MS), end: time(page.now), resolution: { slices: 2 } },
    return_metrics: { project_views: {}, project_downloads: {} },
  })
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const slices = await runAnalyticsQuery(deps, viewer, { query, signal })
    const sum = (slice: number, name: string): number =>
      (slices[slice] ?? []).reduce((total, point) => total + Number(point[name] ?? 0), 0)
    const [before, last] = [0, 1].map((slice) => ({ downloads: sum(slice, 'downloads'), views: sum(slice, 'views') }))
    return before === undefined || last === undefined ? null : [before, last]
  } catch (error) {
    req.log.warn({ err: error }, 'The dashboard shows no figures, because the analytics store did not respond')
    return null
  }
}

/** Renders the tiles. */
export async function figures(request: OwnRequest, projects: readonly OwnProject[]): Promise<Markup> {
  const { page, deps, viewer } = request
  const { t } = page.language
  const periods = await countPeriods(request)
  const balance = await getBalance(deps.db, viewer.id, page.now)
  const { currency } = await getSettings(deps)
  const followers = projects.reduce((total, { view }) => total + view.followers, 0)
  const counted = (name: keyof Counted): [Part, Part] =>
    periods === null
      ? ['–', t('publish.figures.unavailable')]
      : [shortNumber(page.language, periods[1][name]), change(page, periods[0][name], periods[1][name])]
  const tiles: readonly (readonly [IconName, string, readonly [Part, Part]])[] = [
    ['download', t('publish.figures.downloads'), counted('downloads')],
    ['eye', t('publish.figures.views'), counted('views')],
    ['heart', t('publish.figures.followers'), [wholeNumber(page.language, followers), null]],
    [
      'coins',
      t('publish.figures.balance'),
      [
        moneyTile(page.language, balance.available, currency),
        t('publish.figures.pending', { amount: moneyText(page.language, balance.pending, currency) }),
      ],
    ],
  ]
  return html`<dl class="tiles">${tiles.map(([name, label, [value, more]]) => html`<div><dt>${icon(page, name)}${label}</dt><dd class="big">${value}</dd>${more !== null && html`<dd class="change">${more}</dd>`}</div>`)}</dl>`
}

function change(page: PageContext, before: number, last: number): Part {
  const { t, tag } = page.language
  if (before === 0) return last === 0 ? t('publish.figures.same') : t('publish.figures.new')
  const share = (last - before) / before
  const percent = new Intl.NumberFormat(tag, { style: 'percent', maximumFractionDigits: 0 }).format(Math.abs(share))
  if (Math.round(Math.abs(share) * 100) === 0) return t('publish.figures.same')
  return t(share > 0 ? 'publish.figures.up' : 'publish.figures.down', { percent })
}
