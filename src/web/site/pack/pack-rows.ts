// Lists of the projects and versions of a pack.
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { projectPath, versionPath } from '#web/kit/paths.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { tile } from '../lists/rows.ts'

type Named = { projects: ReadonlyMap<string, ProjectView>; versions: ReadonlyMap<string, VersionView> }

export function section(title: string, rows: readonly Markup[]): Part {
  return (
    rows.length > 0 &&
    html`<section class="needed"><h2>${title}</h2>
<ul class="named">
${rows}</ul></section>`
  )
}

export function row(
  page: PageContext,
  { projects }: Pick<Named, 'projects'>,
  projectId: string,
  content: Part,
): Markup {
  const project = projects.get(projectId)
  const picture =
    project === undefined
      ? html`<span class="tile">${icon(page, 'file')}</span>`
      : tile(page, { iconUrl: project.icon_url, rawUrl: project.raw_icon_url }, 36, false)
  return html`<li>${picture}<div>${content}</div></li>
`
}

/** Links to a version of a project if there is one, otherwise to the project. One link, because a short number would be too small. */
export function nameLink(
  page: PageContext,
  { projects, versions }: Named,
  id: string,
  versionId?: string | null,
): Markup {
  const project = projects.get(id)
  if (project === undefined) return html`<bdi>${id}</bdi>`
  const version = versions.get(versionId ?? '')
  const path = projectPath(project)
  // By its ID, because several versions can have the number.
  const href = version === undefined ? path : versionPath(path, { id: version.id, version_number: '' })
  const number = version !== undefined && html` <span class="soft"><bdi>${version.version_number}</bdi></span>`
  return html`<a href="${pathTo(page, href)}"><bdi>${project.name}</bdi>${number}</a>`
}
