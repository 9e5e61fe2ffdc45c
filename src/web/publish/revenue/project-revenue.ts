// The revenue of a project by month, for members with VIEW_PAYOUTS.
import type { FastifyReply } from 'fastify'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { listProjectRevenue } from '#features/people/payouts/queries.ts'
import { formatUnits, parseUnits } from '#lib/decimal.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, projectSegments } from '#web/kit/paths.ts'
import { moneyText, monthText } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { barPlot } from '#web/ui/plots/bar-plot.ts'
import { loadManagedProject, type ManagedProject, may } from '../project/managed-project.ts'
import { showProjectSettings, toCanonical } from '../project/settings-frame.ts'
import { amountLabel } from './revenue-page.ts'

/** Number of months that the plot draws; the table has all. */
const DRAWN_MAX = 12

export function projectRevenuePages(pages: Pages, taxonomy: Taxonomy): void {
  for (const segment of projectSegments(taxonomy))
    pages.own('GET', `/${segment}/:slug/settings/revenue`, 'manageRevenue', async (request) => {
      const data = await loadManagedProject(request)
      return toCanonical(request, data) ?? showProjectRevenue(request, data)
    })
}

async function showProjectRevenue(request: OwnRequest, data: ManagedProject): Promise<FastifyReply> {
  const { page, t, rich } = request
  const sees = may(data, 'VIEW_PAYOUTS')
  const members = (text: Part) => html`<a href="${pathTo(page, `${data.settings}/members`)}">${text}</a>`
  const own = (text: Part) => html`<a href="${pathTo(page, PATHS.revenue)}">${text}</a>`
  return showProjectSettings(request, data, {
    section: '/revenue',
    title: t('revenue.project.title', { name: data.view.name }),
    heading: t('revenue.project'),
    text: rich('revenue.project.text', { members, own }),
    needs: 'VIEW_PAYOUTS',
    isToSee: true,
    body: sees && (await months(request, data)),
  })
}

async function months({ deps, page, language, t }: OwnRequest, { project, view }: ManagedProject): Promise<Part> {
  const rows = await listProjectRevenue(deps.db, project.id)
  const { currency } = await getSettings(deps)
  const isMonetized = view.monetization_status === 'monetized'
  if (rows.length === 0) {
    const text = isMonetized ? t('revenue.project.empty.text') : t('revenue.project.not-monetized')
    return emptyState(page, { icon: 'coins', title: t('revenue.project.empty'), text })
  }
  const total = formatUnits(rows.reduce((sum, { amount }) => sum + parseUnits(amount), 0n))
  const bars = rows.map(({ month, amount }) => ({
    label: monthText(language, month),
    value: Number(amount),
    text: moneyText(language, amount, null),
  }))
  const plot = barPlot(page, {
    id: 'months',
    title: t('revenue.project.months'),
    summary: t('revenue.project.summary', { total: moneyText(language, total, currency), count: rows.length }),
    bars,
    labels: [t('revenue.month'), amountLabel(page, currency)],
    shownMax: DRAWN_MAX,
  })
  const notice = !isMonetized && html`<p class="part soft">${t('revenue.project.not-monetized')}</p>`
  return html`${notice}<div class="plots">${plot}</div>`
}
