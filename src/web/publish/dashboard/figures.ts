// The figures of the dashboard: downloads and views of the last 30 days with their trend, followers, balance.
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { getBalance } from '#features/people/payouts/queries.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { moneyText, moneyTile, shortNumber, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import { icon, type PageContext } from '#web/ui/page-context.ts'
import { spark } from '#web/ui/plots/spark.ts'
import { changeText } from '../analytics/metrics.ts'
import type { OwnProject } from './dashboard-frame.ts'
import type { Trends } from './trends.ts'

type Tile = { icon: IconName; label: string; value: Part; more?: Part; days?: readonly number[] }

/** Renders the tiles. */
export async function figures(
  request: OwnRequest,
  { projects, trends }: { projects: readonly OwnProject[]; trends: Trends | undefined },
): Promise<Markup> {
  const { page, deps, viewer, t } = request
  const balance = await getBalance(deps.db, viewer.id, page.now)
  const { currency } = await getSettings(deps)
  const followers = projects.reduce((total, { view }) => total + view.followers, 0)
  const counted = (name: 'downloads' | 'views', symbol: IconName): Tile => {
    const label = t(`publish.figures.${name}`)
    if (trends === undefined) return { icon: symbol, label, value: '–', more: t('publish.figures.unavailable') }
    const { days, now, before } = trends[name]
    return {
      icon: symbol,
      label,
      value: shortNumber(page.language, now),
      more: changeText(page.language, before, now),
      days,
    }
  }
  const tiles: readonly Tile[] = [
    counted('downloads', 'download'),
    counted('views', 'eye'),
    { icon: 'heart', label: t('publish.figures.followers'), value: wholeNumber(page.language, followers) },
    {
      icon: 'coins',
      label: t('publish.figures.balance'),
      value: moneyTile(page.language, balance.available, currency),
      more: t('publish.figures.pending', { amount: moneyText(page.language, balance.pending, currency) }),
    },
  ]
  return html`<dl class="tiles">${tiles.map((tile) => tileOf(page, tile))}</dl>`
}

function tileOf(page: PageContext, { icon: symbol, label, value, more, days }: Tile): Markup {
  return html`<div><dt>${icon(page, symbol)}${label}</dt><dd class="big">${value}</dd>${more !== undefined && html`<dd class="change">${more}</dd>`}${days !== undefined && html`<dd>${spark(days)}</dd>`}</div>`
}
