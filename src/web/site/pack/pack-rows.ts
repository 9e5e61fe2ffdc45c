// Lists of the projects and versions of a pack.
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import type { AnswerView, ChosenView } from '#features/catalogue/resolve/views.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { sidesOf } from '#ports/search-index/sides.ts'
import { projectPath, versionPath } from '#web/kit/paths.ts'
import { fileSize } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { note } from '#web/ui/parts/lists.ts'
import { tile } from '../lists/rows.ts'
import { runsOn } from '../names.ts'

type Named = { projects: ReadonlyMap<string, ProjectView>; versions: ReadonlyMap<string, VersionView> }

/** A row of the table. `chosen`: the version that the pack contains. */
export type PackItem = {
  projectId: string
  chosen?: ChosenView | undefined
  /** Name instead of that of the project. */
  name?: Part
  /** Lines below the name. */
  more?: Part
  /** Link or button at the end of the row. */
  act?: Part
}

/** Renders a table of projects with version, side and size; nothing without projects. */
export function packTable(page: PageContext, named: Named, title: string, items: readonly PackItem[]): Part {
  if (items.length === 0) return null
  const { language } = page
  const hasVersions = items.some(({ chosen }) => chosen !== undefined)
  const sideOf = ({ projectId, chosen }: PackItem) => {
    const types = named.projects.get(projectId)?.project_types ?? []
    const { client_side: client, server_side: server } = sidesOf(types, chosen?.environment[0] ?? null)
    return runsOn(language, client, server)
  }
  const hasSides = items.some((item) => sideOf(item) !== undefined)
  const side = hasSides && html`<th scope="col">${language.t('site.facet.e')}</th>`
  const heads = hasVersions
    ? html`<th scope="col">${language.t('site.version')}</th><th scope="col">${language.t('site.size')}</th>${side}`
    : null
  const hasActs = items.some(({ act }) => act !== undefined)
  const acts = hasActs && html`<th scope="col"><span class="vh">${language.t('site.pack.change')}</span></th>`
  const cells = (item: PackItem) => {
    if (!hasVersions) return null
    const { chosen } = item
    const number = named.versions.get(chosen?.version_id ?? '')?.version_number
    const size = chosen?.file == null ? null : fileSize(language, chosen.file.size)
    return html`<td class="long"><bdi>${number}</bdi></td><td class="num small">${size}</td>${hasSides && html`<td class="soft small">${sideOf(item)}</td>`}`
  }
  const rows = items.map(
    (item) =>
      html`<tr><th scope="row" class="people"><div>${pictureOf(page, named, item.projectId)}<div>${item.name ?? nameLink(page, named, item.projectId, item.chosen?.version_id)}${item.more}</div></div></th>${cells(item)}${hasActs && html`<td class="file">${item.act}</td>`}</tr>
`,
  )
  return html`<section class="scroll"><div class="section-head"><h2>${title}</h2></div>
<table class="versions folds"><thead><tr><th scope="col">${language.t('site.pack.project')}</th>${heads}${acts}</tr></thead><tbody>
${rows}</tbody></table></section>`
}

/** Returns the names of required files that neither the catalogue nor another file of the pack has. */
export const externalsOf = ({ external }: Pick<AnswerView, 'external'>, contained: ReadonlySet<string>): string[] =>
  external.map(({ file_name }) => file_name).filter((name) => !contained.has(name))

/** Lists what players have to get from elsewhere; nothing without names. */
export function externalList(page: PageContext, named: Named, names: readonly string[]): Part {
  const rows = names.map((name) => ({ projectId: '', name: html`<bdi>${name}</bdi>` }))
  return packTable(page, named, page.language.t('site.pack.external'), rows)
}

/** Warns that players need files that the pack does not contain; nothing without names. */
export function lackingNote(page: PageContext, names: readonly string[]): Part {
  const { t, tag } = page.language
  if (names.length === 0) return null
  return note(
    page,
    'warn',
    html`<p>${t('site.saved-pack.external', { names: new Intl.ListFormat(tag).format(names) })}</p>`,
  )
}

function pictureOf(page: PageContext, { projects }: Named, projectId: string): Markup {
  const project = projects.get(projectId)
  return project === undefined
    ? html`<span class="tile">${icon(page, 'file')}</span>`
    : tile(page, { iconUrl: project.icon_url, rawUrl: project.raw_icon_url }, 36, false)
}

/** Links to a version of a project if there is one, otherwise to the project. */
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
  return html`<a href="${pathTo(page, href)}"><bdi>${project.name}</bdi></a>`
}

/** Shows the icons of the first projects of a pack as one image. */
export function packCover(page: PageContext, { projects }: Pick<Named, 'projects'>, ids: readonly string[]): Markup {
  const icons = ids.flatMap((id) => projects.get(id)?.icon_url ?? []).slice(0, 4)
  const images = icons.map((url) => html`<img src="${url}" alt="" width="48" height="48">`)
  return html`<span class="tile${icons.length > 0 && ' cover'}${icons.length > 1 && ' many'}">${icons.length === 0 ? icon(page, 'package') : images}</span>`
}
