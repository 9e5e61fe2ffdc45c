// The projects that the user follows, with the latest version of each for the user's setup.

import { deleteFollowFeed, hasFollowFeed, renewFollowFeed } from '#features/catalogue/follows/follow-feed.ts'
import { type LatestVersion, listFollowedIds, listLatestVersions } from '#features/catalogue/follows/queries.ts'
import { toFollowFeedView } from '#features/catalogue/follows/views.ts'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { isSet, type Setup, setupFor } from '#web/kit/cookies.ts'
import { formPage } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { listPage, PATHS, projectPath, versionPath } from '#web/kit/paths.ts'
import { showWork } from '#web/kit/work-page.ts'
import { timeAgo } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { form } from '#web/ui/parts/fields.ts'
import { sheetHead, sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState, face, note, pager } from '#web/ui/parts/lists.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { dashboardSections } from '../dashboard/dashboard-frame.ts'

const ROWS = 50

export function followsPage(pages: Pages): void {
  formPage<null>(pages, {
    path: PATHS.follows,
    name: 'ownFollows',
    shows: 'Followed projects with their versions for the own setup, and the address of their feed',
    api: 'listUserFollows createFollowFeed deleteFollowFeed',
    load: async () => null,
    show: (request) => showFollows(request),
    commands: {
      create: async (request) => {
        const { deps, viewer } = request
        return showFollows(request, toFollowFeedView(deps.config, await renewFollowFeed(deps.db, viewer.id)))
      },
      delete: async ({ deps, viewer }) => {
        await deleteFollowFeed(deps.db, viewer.id)
        return { done: 'feed-deleted' }
      },
    },
  })
}

/** `created`: the addresses of a feed, which the page shows once. */
async function showFollows(request: OwnRequest, created?: Addresses) {
  const { deps, viewer, page, setup, t } = request
  const ids = await listFollowedIds(deps.db, viewer.id)
  const { shown, pages } = listPage(request, ids, { path: PATHS.follows, size: ROWS })
  const projects = (await listVisibleProjects(deps, viewer, shown)).map(viewOf)
  const wanted = projects.map(({ id, project_types }) => ({ id, ...setupFor(deps.taxonomy, setup, project_types) }))
  const versions = await listLatestVersions(deps.db, wanted)
  const byProject = new Map(versions.map((version) => [version.project_id, version]))
  return showWork(request, {
    title: t('reports.follows.title'),
    subject: {
      name: t('reports.follows.title'),
      crumbs: [{ path: PATHS.dashboard, label: t('reports.own.dashboard') }],
    },
    sections: dashboardSections(page, PATHS.follows),
    body: [
      sheetHead({ title: t('reports.follows.count', { count: ids.length }), text: setupText(page, setup) }),
      projects.length === 0
        ? emptyState(page, { icon: 'heart', title: t('reports.follows.empty'), text: t('reports.follows.empty.text') })
        : projectTable(page, projects, byProject),
      pager(page, pages),
      feedPart(page, created, await hasFollowFeed(deps.db, viewer.id)),
    ],
  })
}

type Addresses = ReturnType<typeof toFollowFeedView>

function feedPart(page: PageContext, created: Addresses | undefined, exists: boolean): Markup {
  const { t } = page.language
  const button = (command: string, label: string, kind: string) =>
    html`<button name="do" value="${command}" class="${kind}">${label}</button>`
  const shown =
    created !== undefined &&
    html`${note(page, 'warn', html`<p>${t('reports.follows.feed.once')}</p>`)}
${(['atom', 'json'] as const).map(
  (format) => html`<div class="field"><label for="feed-${format}">${t(`reports.follows.feed.${format}`)}</label>
<div class="with-button"><input type="text" class="mono" id="feed-${format}" value="${created[format]}" readonly autocomplete="off" spellcheck="false">
<button type="button" data-copy="feed-${format}" data-done="${t('copied')}" hidden>${t('copy')}</button></div></div>`,
)}`
  return sheetPart({
    id: 'feed',
    title: t('reports.follows.feed'),
    text: t('reports.follows.feed.text'),
    content: html`${shown}${form(page, {
      action: pathTo(page, PATHS.follows),
      content: html`<div class="line">${button('create', t(exists ? 'reports.follows.feed.renew' : 'reports.follows.feed.create'), '')}${exists && button('delete', t('reports.follows.feed.delete'), 'danger')}</div>`,
    })}`,
  })
}

/** Renders the setup that the versions fit, with a link to change it. */
function setupText(page: PageContext, setup: Setup): Part {
  const { t } = page.language
  const change = html`<a href="${pathTo(page, PATHS.setup)}">${t('reports.follows.change-setup')}</a>`
  if (!isSet(setup)) return html`${t('reports.follows.no-setup')} ${change}`
  const setupName = [setup.gameVersion, setup.loader].filter(Boolean).join(', ')
  return html`${t('reports.follows.setup', { setup: setupName })} ${change}`
}

function projectTable(
  page: PageContext,
  projects: readonly ProjectView[],
  versions: ReadonlyMap<string, LatestVersion>,
): Markup {
  const { language } = page
  const { t } = language
  return listTable(page, {
    caption: t('reports.follows.title'),
    columns: [
      { label: t('reports.user.project') },
      { label: t('reports.follows.latest') },
      { label: t('reports.follows.published'), room: 'far' },
    ],
    rows: projects.map((project) => {
      const version = versions.get(project.id)
      const path = projectPath(project)
      const published = version !== undefined && timeAgo(language, version.date_published, page.now)
      return {
        cells: [
          nameCell({
            tile: face({ name: project.name, url: project.icon_url, isSquare: true }),
            href: pathTo(page, path),
            name: project.name,
            near: published,
          }),
          version === undefined
            ? html`<span class="soft">${t('reports.follows.none')}</span>`
            : html`<a href="${pathTo(page, versionPath(path, version))}">${icon(page, 'download')}<bdi>${version.version_number}</bdi></a>`,
          published,
        ],
      }
    }),
  })
}
