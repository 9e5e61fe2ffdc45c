// Advisories by status. Those in review wait for a moderator.
import { countAdvisories, listAdvisoryPage } from '#features/catalogue/versions/advisories/queries.ts'
import { STATUSES } from '#features/catalogue/versions/advisories/requests.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, pageNumber, withQuery } from '#web/kit/paths.ts'
import { advisoryTable } from '#web/publish/advisories/advisory-table.ts'
import { html } from '#web/ui/html.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { emptyState, tabs } from '#web/ui/parts/lists.ts'
import { moderatedAdvisory, ROWS, showSection } from '../frame.ts'
import { listPager, offsetOf } from '../parts.ts'

export function advisoryListPage(pages: Pages): void {
  pages.own('GET', PATHS.moderationAdvisories, 'moderateAdvisories', showAdvisories, {
    role: 'moderator',
    api: 'listAdvisories',
  })
}

async function showAdvisories(request: OwnRequest) {
  const { deps, page, query, t } = request
  const status = STATUSES.find((each) => each === query('status')) ?? 'review'
  const current = pageNumber(request)
  const counts = await countAdvisories(deps.db)
  const rows = await listAdvisoryPage(deps.db, { status, count: ROWS, offset: offsetOf(current) })
  const items = STATUSES.map((each) => ({
    href: pathTo(page, withQuery(PATHS.moderationAdvisories, { status: each })),
    label: t(`advisories.status.${each}`),
    icon: 'warning' as const,
    count: counts[each],
    isCurrent: each === status,
  }))
  const add = html`<a class="button" href="${pathTo(page, PATHS.newModeratedAdvisory)}">${icon(page, 'plus')}${t('advisories.new')}</a>`
  return showSection(request, {
    section: PATHS.moderationAdvisories,
    title: t('advisories.title'),
    body: [
      tabs(page, t('advisories.status'), items),
      sheetHead({ title: t(`advisories.status.${status}`), action: add }),
      rows.length === 0
        ? emptyState(page, { icon: 'warning', title: t('advisories.list.none') })
        : advisoryTable(page, rows, moderatedAdvisory),
      listPager(page, { path: PATHS.moderationAdvisories, current, total: counts[status], query: { status } }),
    ],
  })
}
