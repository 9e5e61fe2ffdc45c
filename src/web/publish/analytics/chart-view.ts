// The tiles and the chart of an analytics page.
import { listVersionTraits } from '#features/catalogue/versions/queries.ts'
import { MINUTE_MS } from '#lib/time.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { dayText, moneyTile, wholeNumber } from '#web/ui/format.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { type ColumnPlot, columnPlot } from '#web/ui/plots/column-plot.ts'
import type { Mark } from '#web/ui/plots/time-plot.ts'
import type { Numbers } from './load-numbers.ts'
import { amountText, changeText, chartText, chartValue, METRICS, tileText } from './metrics.ts'
import { chartBody, hrefOf, isPartial, type Selection, STEPS, type Typed } from './selection.ts'
import type { Subject } from './subject.ts'

/** Maximum number of releases that the chart marks: the newest ones. */
const MARKS_MAX = 40

export type Shown = { subject: Subject; typed: Typed; selection: Selection; numbers: Numbers }
/** `currency`: the name that the operator set. */
type ShownTiles = Shown & { currency: string | null }

/** Renders a tile per metric, which links to its chart. */
export function metricTiles(page: PageContext, { subject, typed, selection, numbers, currency }: ShownTiles): Markup {
  const { language } = page
  const tiles = [...numbers.totals].map(([name, { now, before }]) => {
    const link = attributes({
      href: pathTo(page, hrefOf(subject.path, typed, { m: name })),
      'aria-current': name === selection.metric && 'true',
    })
    return html`<div><dt>${icon(page, METRICS[name].icon)}<a${link}>${language.t(`numbers.metric.${name}`)}</a></dt><dd class="big" title="${amountText(language, name, now)}">${name === 'revenue' ? moneyTile(language, String(now), currency) : tileText(language, name, now)}</dd><dd class="change">${changeText(language, before, now)}</dd></div>
`
  })
  return html`<dl class="tiles linked">${tiles}</dl>`
}

/** Renders the counters of the database, which need no analytics store. */
export function counterTiles(page: PageContext, { projects }: Subject): Markup {
  const { language } = page
  const views = [...projects.values()]
  const counter = (key: 'downloads' | 'followers') => views.reduce((sum, view) => sum + view[key], 0)
  const tile = (symbol: 'download' | 'heart', label: string, value: number) =>
    html`<div><dt>${icon(page, symbol)}${label}</dt><dd class="big">${wholeNumber(language, value)}</dd></div>`
  return html`<dl class="tiles">${tile('download', language.t('numbers.counter.downloads'), counter('downloads'))}
${tile('heart', language.t('numbers.counter.followers'), counter('followers'))}</dl>`
}

/** Renders the chart with its table, or the sentence that the period is empty. */
export async function chartFigure({ page, deps }: OwnRequest, of: Shown): Promise<Markup> {
  const { subject, selection, numbers } = of
  const total = numbers.totals.get(selection.metric)
  const isEmpty = total?.now === 0 && (!selection.isCompared || total.before === 0)
  if (isEmpty) {
    const { metric, from, to } = selection
    const days = { from: dayText(page.language, new Date(from)), to: dayText(page.language, new Date(to)) }
    return emptyState(page, { icon: 'chart', title: page.language.t(`numbers.empty.${metric}`, days) })
  }
  const plot = plotOf(page, of)
  const releases = subject.project === undefined ? [] : await listVersionTraits(deps.db, subject.project.id, {})
  const marks: Mark[] = releases
    .map(({ version_number, date_published }) => ({ at: date_published, label: version_number }))
    .filter(({ at }) => at.getTime() >= selection.startMs && at.getTime() < selection.endMs)
    .sort((a, b) => b.at.getTime() - a.at.getTime())
    .slice(0, MARKS_MAX)
  return html`<div class="plots">${columnPlot(page, { ...plot, marks, more: apiRequest(page, of, chartBody(selection, subject.counted)) })}</div>`
}

/** Returns the chart, also for its CSV file. */
export function plotOf(page: PageContext, { subject, typed, selection, numbers }: Shown): ColumnPlot {
  const { language } = page
  const { t } = language
  const { metric, step, isCompared } = selection
  const label = t(`numbers.metric.${metric}`)
  const seriesOf = (key: 'now' | 'before', name: string) => ({
    label: name,
    points: numbers.columns.map((column) => ({ at: column.at, value: chartValue(metric, column[key]) })),
  })
  const unit = metric === 'playtime' ? t('numbers.metric.playtime-hours') : label
  return {
    id: 'chart',
    title: t(`numbers.per.${step}`, { metric: unit }),
    summary: summaryOf(page, selection, numbers),
    csvHref: pathTo(page, hrefOf(`${subject.path}.csv`, typed, { by: '' })),
    timeLabel: t(`numbers.column.${step}`),
    hasTimes: step === 'hour',
    stepMs: STEPS[step] * MINUTE_MS,
    isPartial: isPartial(selection),
    valueText: (value) => chartText(language, metric, value),
    series: [seriesOf('now', unit), ...(isCompared ? [seriesOf('before', t('numbers.before'))] : [])],
  }
}

function summaryOf({ language }: PageContext, selection: Selection, { totals, columns }: Numbers): string {
  const { metric, step, from, to } = selection
  const total = totals.get(metric)?.now ?? 0
  const average = total / Math.max(1, columns.length)
  const text = language.t('numbers.chart.text', {
    from: dayText(language, new Date(from)),
    to: dayText(language, new Date(to)),
    total: amountText(language, metric, total),
    average: amountText(language, metric, metric === 'revenue' ? Math.round(average * 100) / 100 : Math.round(average)),
    step,
  })
  return isPartial(selection) ? `${text} ${language.t('numbers.chart.partial')}` : text
}

/** Renders the body of the API that returns the same numbers. */
export function apiRequest(page: PageContext, { selection }: Shown, body: object): Part {
  const { t, rich } = page.language
  const scopes = selection.metric === 'revenue' ? ['ANALYTICS', 'PAYOUTS_READ'] : ['ANALYTICS']
  const names = new Intl.ListFormat(page.language.tag).formatToParts(scopes)
  return html`<details class="request"><summary>${t('numbers.api')}</summary>
<p>${rich('numbers.api.text', {
    request: html`<code>POST /v3/analytics</code>`,
    count: scopes.length,
    scopes: html`${names.map(({ type, value }) => (type === 'element' ? html`<code>${value}</code>` : value))}`,
  })}</p>
<pre tabindex="0"><code>${JSON.stringify(body, null, 2)}</code></pre></details>`
}
