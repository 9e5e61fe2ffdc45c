// The items of reports, as the reporter can see them now.

import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listVisibleVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import type { ReportRow } from '#features/community/reports/queries.ts'
import type { ItemType } from '#features/community/reports/requests.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { projectPath, userPath, versionPath } from '#web/kit/paths.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'

export type ReportedItem = { name: string; path: string }

/** Returns the reported items that the viewer can see, by their ID. Runs a constant number of statements. */
export async function loadReportedItems(
  { deps, viewer }: OwnRequest,
  reports: readonly ReportRow[],
): Promise<ReadonlyMap<string, ReportedItem>> {
  const idsOf = (type: ItemType) => [
    ...new Set(reports.flatMap((report) => (report.item_type === type ? [report.item_id] : []))),
  ]
  const versions = (await listVisibleVersions(deps, viewer, idsOf('version'))).map(viewOf)
  const ids = [...new Set([...idsOf('project'), ...versions.map(({ project_id }) => project_id)])]
  const projects = new Map((await listVisibleProjects(deps, viewer, ids)).map(viewOf).map((view) => [view.id, view]))
  const items = new Map<string, ReportedItem>()
  for (const [id, view] of projects) items.set(id, { name: view.name, path: projectPath(view) })
  for (const version of versions) {
    const view = projects.get(version.project_id)
    if (view === undefined) continue
    const name = `${view.name} ${version.version_number}`
    items.set(version.id, { name, path: versionPath(projectPath(view), version) })
  }
  for (const { id, username } of await listCachedUsers(deps, idsOf('user'))) {
    items.set(id, { name: username, path: userPath(username) })
  }
  return items
}

/** Returns the kind of the reported item: a project, a version or a user. */
export function kindOf({ language: { t } }: PageContext, { item_type }: ReportRow): string {
  return t(`reports.item-type.${item_type as ItemType}`)
}

/** Renders the kind of the reported item and a link to it, or its ID if the reporter cannot see it. */
export function reportedLink(page: PageContext, report: ReportRow, item: ReportedItem | undefined): Markup {
  const { t } = page.language
  const shown =
    item === undefined
      ? t('reports.own.item.hidden', { id: report.item_id })
      : html`<a href="${pathTo(page, item.path)}"><bdi>${item.name}</bdi></a>`
  return html`<span>${kindOf(page, report)}: ${shown}</span>`
}
