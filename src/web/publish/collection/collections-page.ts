// The collections of the user.
import type { FastifyReply } from 'fastify'
import { getQuota } from '#features/basics/limits/quota.ts'
import { listCollectionsOf } from '#features/community/collections/queries.ts'
import { type CollectionView, toCollectionView } from '#features/community/collections/views.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { collectionPath, listPage, PATHS } from '#web/kit/paths.ts'
import { timeAgo, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { emptyState, face, pager } from '#web/ui/parts/lists.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { showDashboardPage } from '../dashboard/dashboard-frame.ts'
import { statusLabel } from './editor-view.ts'

const PAGE_SIZE = 50

export function ownCollectionsPage(pages: Pages): void {
  pages.own('GET', PATHS.dashboardCollections, 'ownCollections', showCollections)
}

async function showCollections(request: OwnRequest): Promise<FastifyReply> {
  const { page, deps, viewer, t } = request
  const all = await listCollectionsOf(deps.db, viewer, viewer.id)
  const { max } = await getQuota(deps.db, deps.config, viewer, 'collections')
  const { shown, pages } = listPage(request, all, { path: PATHS.dashboardCollections, size: PAGE_SIZE })
  const create = html`<a class="button main" href="${pathTo(page, PATHS.newCollection)}">${icon(page, 'plus')}${t('collections.new')}</a>`
  const none = emptyState(page, {
    icon: 'bookmark',
    title: t('collections.none'),
    text: t('collections.none-text'),
    action: create,
  })
  return showDashboardPage(request, {
    path: PATHS.dashboardCollections,
    title: t('collections.title'),
    facts: [
      max === null ? t('collections.count', { count: all.length }) : t('collections.limit', { count: all.length, max }),
    ],
    ...(all.length === 0 ? {} : { tools: create }),
    body: html`${sheetHead({ title: t('collections.title'), text: t('collections.text') })}
${all.length === 0 ? none : collectionTable(page, shown.map(toCollectionView(deps.config)))}
${pager(page, pages)}`,
  })
}

function collectionTable(page: PageContext, collections: readonly CollectionView[]): Markup {
  const { language, now } = page
  const { t } = language
  return listTable(page, {
    caption: t('collections.title'),
    columns: [
      { label: t('publish.column.name') },
      { label: t('people.visibility'), room: 'mid' },
      { label: t('publish.projects'), isNumber: true, room: 'mid' },
      { label: t('publish.column.updated'), room: 'far' },
      { label: t('collections.view'), isAction: true },
    ],
    rows: collections.map(({ id, name, icon_url, status, projects, updated }) => {
      const path = collectionPath(id)
      const [state, changed] = [statusLabel(page, status), timeAgo(language, new Date(updated), now)]
      return {
        cells: [
          nameCell({
            tile: face({ name, url: icon_url, isSquare: true }),
            href: pathTo(page, `${path}/edit`),
            name,
            least: [state, t('publish.projects.count', { count: projects.length })],
            near: changed,
          }),
          state,
          wholeNumber(language, projects.length),
          changed,
          html`<a class="button tight" href="${pathTo(page, path)}">${icon(page, 'eye')}<span class="vh">${t('collections.view')}: ${name}</span></a>`,
        ],
      }
    }),
  })
}
