// The table of an analytics page: parts of the metric with share and change, sorted and searched by the URL; and as CSV.
import { csvLines } from '#lib/text/csv.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { hiddenField } from '#web/ui/parts/fields.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { emptyState, segments } from '#web/ui/parts/lists.ts'
import { type Column, listTable, nameCell } from '#web/ui/parts/tables.ts'
import { type Listed, listParts, type PartRow, type Parts } from './breakdown.ts'
import { apiRequest, type Shown } from './chart-view.ts'
import type { Amounts } from './load-numbers.ts'
import { amountText, type Breakdown, changeText, isDerived, type MetricName, shareText } from './metrics.ts'
import { breakdownsOf, hrefOf, type Sort, tableBody } from './selection.ts'

/** Number of rows from which the table has a search field. */
const SEARCHED_MIN = 10

export function breakdownSection(page: PageContext, of: Shown, parts: Parts): Part {
  const { subject, typed, selection } = of
  const { by, metric, search } = selection
  if (by === undefined || (parts.all.length === 0 && isNothing(parts.unnamed))) return null
  const { t } = page.language
  const listed = listParts(page.language, parts, selection)
  const links = segments(
    t('numbers.breakdown'),
    breakdownsOf(metric, subject.offer).map((name) => ({
      href: pathTo(page, `${hrefOf(subject.path, typed, { by: name })}#breakdown-h`),
      label: t(`numbers.by.${name}`),
      isCurrent: name === by,
    })),
  )
  const metricName = t(`numbers.metric.${metric}`)
  const csv = html`<p class="small">${icon(page, 'table')} <a href="${pathTo(page, hrefOf(`${subject.path}.csv`, typed, { by }))}">${t('plot.csv')}</a></p>`
  return html`<section aria-labelledby="breakdown-h">${sheetHead({ id: 'breakdown-h', title: t(`numbers.by.${by}.title`, { metric: metricName }), text: aboutOf(page, metric, by), isRuled: true })}
<div class="part by">${links}
${parts.all.length >= SEARCHED_MIN && searchForm(page, of)}</div>
<div id="parts">${listed.rows.length === 0 && listed.other === undefined ? emptyState(page, { icon: 'search', title: t('numbers.none-found', { search }) }) : table(page, of, listed)}
${listed.found > listed.rows.length && html`<p class="part small soft">${t('numbers.shown', { shown: listed.rows.length, count: listed.found })}</p>`}</div>
<div class="part">${csv}
${apiRequest(page, of, tableBody(selection, subject.counted))}</div></section>`
}

const isNothing = ({ now, before }: Amounts): boolean => now === 0 && before === 0

function aboutOf({ language: { t } }: PageContext, metric: MetricName, by: Breakdown): string | undefined {
  if (isDerived(metric, by)) return t(by === 'loader' ? 'numbers.about.loader' : 'numbers.about.game_version')
  return by === 'country' || by === 'domain' || by === 'version' ? t(`numbers.about.${by}`) : undefined
}

function searchForm(page: PageContext, { subject, typed, selection }: Shown): Markup {
  const { t } = page.language
  const kept = (['m', 'project', 'version', 'from', 'to', 'step', 'by', 'compare', 'sort'] as const).map(
    (name) => typed[name] !== '' && hiddenField(name, typed[name]),
  )
  const action = pathTo(page, subject.path)
  return html`<form method="get" action="${action}" role="search" class="period">${kept}
<div class="field"><label for="find-part">${t('numbers.search.label')}</label><input id="find-part" type="search" name="q" value="${selection.search}" maxlength="100" data-swap="parts"></div>
<button>${t('numbers.search')}</button></form>`
}

function table(page: PageContext, of: Shown, { rows, other }: Listed): Markup {
  const { subject, typed, selection, numbers } = of
  const { t } = page.language
  const { metric, by } = selection
  const total = numbers.totals.get(metric) ?? { now: 0, before: 0 }
  const sorted = (name: string, label: string, first: Sort, more: Partial<Column> = {}): Column => {
    const order = selection.sort === name ? 'ascending' : selection.sort === `-${name}` ? 'descending' : 'none'
    const opposite = first.startsWith('-') ? name : `-${name}`
    const next = selection.sort === first ? opposite : first
    const href = pathTo(page, `${hrefOf(subject.path, typed, { sort: next, q: typed.q })}#breakdown-h`)
    return { label, ...more, sort: { href, order } }
  }
  const metricName = t(`numbers.metric.${metric}`)
  const cells = (name: Part, amounts: Amounts, href?: string): Part[] => {
    const amount = amountText(page.language, metric, amounts.now)
    const share = total.now === 0 ? 0 : (amounts.now / total.now) * 100
    const change = changeText(page.language, amounts.before, amounts.now)
    return [
      nameCell({
        name,
        ...(href === undefined ? {} : { href: pathTo(page, href) }),
        near: html`${shareText(page.language, share)}, ${change}`,
      }),
      amount,
      shareBar(page, share),
      change,
    ]
  }
  return listTable(page, {
    caption: t(`numbers.by.${by ?? 'version'}.title`, { metric: metricName }),
    columns: [
      sorted('name', t(`numbers.by.${by ?? 'version'}`), 'name'),
      sorted('value', metricName, '-value', { isNumber: true }),
      { label: t('numbers.column.share'), room: 'far' },
      sorted('change', t('numbers.column.change'), '-change', { room: 'far' }),
    ],
    rows: [
      ...rows.map((row) => ({ cells: cells(row.name, row, row.path) })),
      ...(other === undefined ? [] : [{ cells: cells(html`<em>${t('numbers.other')}</em>`, other) }]),
    ],
  })
}

/** The bar repeats the number next to it, so that screen readers skip it. */
const shareBar = (page: PageContext, share: number): Markup =>
  html`<span class="share"><progress value="${Math.round(share * 10) / 10}" max="100" aria-hidden="true"></progress>${shareText(page.language, share)}</span>`

/** Returns all parts as CSV. */
export function partsCsv(
  { language: { t } }: PageContext,
  { selection }: Pick<Shown, 'selection'>,
  parts: Parts,
): string {
  const { by = 'version', metric } = selection
  const amount = metric === 'playtime' ? t('numbers.metric.playtime-seconds') : t(`numbers.metric.${metric}`)
  const hasKeys = by === 'version' || by === 'project' || by === 'country'
  const rowOf = (name: string, key: string, { now, before }: Amounts) => [name, ...(hasKeys ? [key] : []), now, before]
  return csvLines([
    [t(`numbers.by.${by}`), ...(hasKeys ? [t('numbers.column.key')] : []), amount, t('numbers.before')],
    ...parts.all.map((row: PartRow) => rowOf(row.name, row.key, row)),
    ...(isNothing(parts.unnamed) ? [] : [rowOf(t('numbers.other'), '', parts.unnamed)]),
  ])
}
