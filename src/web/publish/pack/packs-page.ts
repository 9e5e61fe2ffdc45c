// The packs of the user.
import type { FastifyReply } from 'fastify'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { listPacksOf, type PackReadRow } from '#features/community/packs/queries.ts'
import { PACKS_MAX } from '#features/community/packs/requests.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { listPage, PATHS, savedPackPath } from '#web/kit/paths.ts'
import { setupName } from '#web/site/names.ts'
import { packCover } from '#web/site/pack/pack-rows.ts'
import { timeAgo, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { emptyState, pager } from '#web/ui/parts/lists.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { statusLabel } from '../collection/editor-view.ts'
import { showDashboardPage } from '../dashboard/dashboard-frame.ts'

const PAGE_SIZE = 50

export function ownPacksPage(pages: Pages): void {
  pages.own('GET', PATHS.dashboardPacks, 'ownPacks', showPacks, { api: 'listUserPacks' })
}

async function showPacks(request: OwnRequest): Promise<FastifyReply> {
  const { page, deps, viewer, t } = request
  const all = (await listPacksOf(deps.db, viewer, viewer.id)).filter(({ account_id }) => account_id === viewer.id)
  const { shown, pages } = listPage(request, all, { path: PATHS.dashboardPacks, size: PAGE_SIZE })
  const covered = shown.flatMap(({ projects }) => projects.slice(0, 4))
  const projects = (await listVisibleProjects(deps, viewer, [...new Set(covered)])).map(viewOf)
  const icons = new Map(projects.map((project) => [project.id, project]))
  const create = html`<a class="button main" href="${pathTo(page, PATHS.pack)}">${icon(page, 'plus')}${t('collections.packs.new')}</a>`
  const none = emptyState(page, {
    icon: 'package',
    title: t('collections.packs.none'),
    text: t('collections.packs.none-text'),
    action: create,
  })
  return showDashboardPage(request, {
    path: PATHS.dashboardPacks,
    title: t('collections.packs.title'),
    facts: [t('collections.packs.limit', { count: all.length, max: PACKS_MAX })],
    ...(all.length === 0 ? {} : { tools: create }),
    body: html`${sheetHead({ title: t('collections.packs.title'), text: t('collections.packs.text') })}
${all.length === 0 ? none : packTable(request, shown, icons)}
${pager(page, pages)}`,
  })
}

function packTable(
  { page, account, language, t }: OwnRequest,
  packs: readonly PackReadRow[],
  icons: ReadonlyMap<string, ProjectView>,
): Markup {
  return listTable(page, {
    caption: t('collections.packs.title'),
    columns: [
      { label: t('publish.column.name') },
      { label: t('people.visibility'), room: 'mid' },
      { label: t('collections.packs.setup'), room: 'far' },
      { label: t('publish.projects'), isNumber: true, room: 'mid' },
      { label: t('publish.column.updated'), room: 'far' },
      { label: t('collections.packs.edit'), isAction: true },
    ],
    rows: packs.map(({ name, slug, status, loader, game_version: gameVersion, projects, updated }) => {
      const path = savedPackPath(account.username, slug)
      const [state, changed] = [statusLabel(page, status), timeAgo(language, updated, page.now)]
      const near = t('publish.projects.count', { count: projects.length })
      return {
        cells: [
          nameCell({
            tile: packCover(page, { projects: icons }, projects.slice(0, 4)),
            href: pathTo(page, path),
            name,
            least: [state, near],
            near: changed,
          }),
          state,
          setupName(language, { gameVersion, loader: loader ?? '' }),
          wholeNumber(language, projects.length),
          changed,
          html`<a class="button tight" href="${pathTo(page, `${path}/edit`)}">${icon(page, 'cog')}<span class="vh">${t('collections.packs.edit')}: ${name}</span></a>`,
        ],
      }
    }),
  })
}
