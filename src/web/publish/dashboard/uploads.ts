// Unfinished uploads: the drafts of versions in the user's projects.
import type { FastifyReply } from 'fastify'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { type DraftRow, listDrafts } from '#features/catalogue/versions/drafts/queries.ts'
import { fileSize, timeAgo } from '#platform/html/format.ts'
import { html, type Markup } from '#platform/html/html.ts'
import { emptyState } from '#platform/html/lists.ts'
import { pathTo } from '#platform/html/page-context.ts'
import { sheetHead } from '#platform/html/work/frame.ts'
import { listTable, nameCell } from '#platform/html/work/tables.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, projectPath, withQuery } from '#web/kit/paths.ts'
import { tile } from '#web/site/lists/rows.ts'
import { listOwnProjects, showDashboardPage } from './dashboard-frame.ts'

export function uploadsPage(pages: Pages): void {
  pages.own('GET', PATHS.dashboardUploads, 'publishUploads', showUploads)
}

async function showUploads(request: OwnRequest): Promise<FastifyReply> {
  const { page, deps } = request
  const { t } = page.language
  const views = new Map((await listOwnProjects(request)).map(({ view }) => [view.id, view]))
  const drafts = await listDrafts(deps.db, [...views.keys()])
  const rows = drafts.flatMap((draft) => {
    const view = views.get(draft.project_id)
    return view === undefined ? [] : [{ draft, view }]
  })
  return showDashboardPage(request, {
    path: PATHS.dashboardUploads,
    title: t('publish.uploads'),
    facts: [t('publish.uploads.count', { count: rows.length })],
    body: html`${sheetHead({ title: t('publish.uploads'), text: t('publish.uploads.text') })}
${rows.length === 0 ? emptyState(page, { icon: 'upload', title: t('publish.uploads.none') }) : draftTable(request, rows)}`,
  })
}

function draftTable({ page }: OwnRequest, rows: readonly { draft: DraftRow; view: ProjectView }[]): Markup {
  const { language, now } = page
  const { t } = language
  return listTable(page, {
    caption: t('publish.uploads'),
    columns: [
      { label: t('publish.uploads.version') },
      { label: t('publish.uploads.files'), room: 'mid' },
      { label: t('publish.uploads.stored'), room: 'far' },
      { label: t('publish.uploads.continue'), isAction: true },
    ],
    rows: rows.map(({ draft, view }) => {
      const number = draft.version_number === '' ? t('publish.uploads.no-number') : draft.version_number
      const files = t('publish.uploads.size', { count: draft.files, size: fileSize(language, draft.size_bytes) })
      const stored =
        draft.draft_expires === null ? t('publish.uploads.complete') : timeAgo(language, draft.draft_expires, now)
      const href = pathTo(page, withQuery(`${projectPath(view)}/versions/new`, { draft: draft.id }))
      return {
        cells: [
          nameCell({
            tile: tile(page, { iconUrl: view.icon_url, rawUrl: view.raw_icon_url }, 27),
            href,
            name: html`${view.name} ${number}`,
            details: html`<bdi>${draft.author}</bdi>, ${timeAgo(language, draft.created, now)}`,
            least: [files],
            near: stored,
          }),
          files,
          stored,
          html`<a class="button tight" href="${href}">${t('publish.uploads.continue')}<span class="vh">: ${view.name} ${number}</span></a>`,
        ],
      }
    }),
  })
}
