// Lists of dependencies, by their kind.
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { versionPath } from '#web/kit/paths.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { tile } from '../lists/rows.ts'
import type { Dependency } from './offer.ts'

/** Kinds of dependencies, in the order in which pages show them. */
const KINDS = ['required', 'optional', 'embedded', 'incompatible', 'compatible'] as const

/** Maximum number of dependencies of a kind. A pack can contain thousands. */
const SHOWN_MAX = 100

/** A dependency with the version that suits the setup, and the dependencies of that version. */
export type DependencyNode = Dependency & { chosen?: VersionView | undefined; below?: readonly DependencyNode[] }

/** Shows dependencies below a heading for each kind, with the number of each kind. */
export function dependencyGroups(
  page: PageContext,
  dependencies: readonly DependencyNode[],
  { heading = 'h3' }: { heading?: 'h2' | 'h3' } = {},
): Markup[] {
  const { language } = page
  return KINDS.flatMap((kind) => {
    const ofKind = dependencies.filter(({ type }) => type === kind)
    if (ofKind.length === 0) return []
    const text = language.t(`project.dependencies.${kind}`, { count: ofKind.length })
    const more = ofKind.length - SHOWN_MAX
    return [
      html`<section class="needed">${heading === 'h2' ? html`<h2>${text}</h2>` : html`<h3>${text}</h3>`}
<ul class="named">
${ofKind.slice(0, SHOWN_MAX).map((each) => dependencyItem(page, each))}</ul>${more > 0 && html`<p class="soft">${language.t('project.dependencies.more', { count: more })}</p>`}</section>
`,
    ]
  })
}

function dependencyItem(page: PageContext, node: DependencyNode): Markup {
  const { project, below = [] } = node
  const tree =
    below.length > 0 &&
    html`<ul class="below">${below.slice(0, SHOWN_MAX).map((each) => html`<li>${icon(page, 'link')}<span>${nameOf(page, each)}${versionOf(page, each)} <span class="soft">${page.language.t(`site.dependency.${each.type as 'required'}`)}</span></span></li>`)}</ul>`
  const summary = project !== undefined && html`<span class="soft what" dir="auto">${project.summary}</span>`
  return html`<li>${project === undefined ? html`<span class="tile">${icon(page, 'file')}</span>` : projectTile(page, project)}<div>${nameOf(page, node)}${versionOf(page, node)}${summary}${tree}</div></li>
`
}

const projectTile = (page: PageContext, { icon_url, raw_icon_url }: ProjectView): Markup =>
  tile(page, { iconUrl: icon_url, rawUrl: raw_icon_url }, 36, false)

function nameOf(page: PageContext, { project, path, fileName }: DependencyNode): Markup {
  if (project === undefined) return html`<bdi>${fileName}</bdi>`
  return html`<a href="${pathTo(page, path)}"><bdi>${project.name}</bdi></a>`
}

/** Links to the chosen version, otherwise to the version that the dependency names. */
function versionOf(page: PageContext, { path, version, chosen }: DependencyNode): Part {
  const shown = chosen ?? version
  if (shown === undefined) return null
  // By its ID, because several versions can have the number.
  const href = pathTo(page, versionPath(path, { id: shown.id, version_number: '' }))
  return html` <a class="soft" href="${href}"><bdi>${shown.version_number}</bdi></a>`
}
