// Shows the contents of archives: folders with their files and sizes, and what the manifests declare.
import type { Manifest } from '#features/catalogue/versions/manifests/manifest.ts'
import { fileSize, visibleName } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext } from '#web/ui/page-context.ts'
import { tagNames } from '../names.ts'
import type { Folder } from './version-contents.ts'

/** Maximum number of folders and files that a tree shows, and that one folder in it shows. */
const SHOWN_MAX = 160
const FOLDER_SHOWN_MAX = 60

type Tree = { hrefOf: (path: string) => string; left: number }

/** Shows a folder as a tree. Folders that would make the page too long are links to `hrefOf`. */
export function folderView(
  page: PageContext,
  folder: Folder,
  { hrefOf, shownMax = SHOWN_MAX }: { hrefOf: (path: string) => string; shownMax?: number },
): Markup {
  return branch(page, folder, { hrefOf, left: shownMax })
}

/** Reduces the number of items that are left in the tree. */
function branch(page: PageContext, folder: Folder, tree: Tree): Markup {
  const { language } = page
  const shownFolders = folder.folders.slice(0, tree.left)
  const shownFiles = folder.files.slice(0, tree.left - shownFolders.length)
  tree.left -= shownFolders.length + shownFiles.length
  const line = (name: Part, size: number) => html`${name}<span class="soft num">${fileSize(language, size)}</span>`
  const label = ({ name, count }: Folder) =>
    html`<bdi dir="ltr">${visibleName(name)}/</bdi> <span class="soft">${language.t('project.contents.files', { count })}</span>`
  const folders = shownFolders.map((each) => {
    const items = each.folders.length + each.files.length
    return items <= Math.min(tree.left, FOLDER_SHOWN_MAX)
      ? html`<li><details><summary>${line(label(each), each.size)}</summary>
${branch(page, each, tree)}</details></li>
`
      : html`<li>${line(html`<a href="${tree.hrefOf(each.path)}">${label(each)}</a>`, each.size)}</li>
`
  })
  const files = shownFiles.map(
    ({ name, size }) => html`<li>${line(html`<bdi dir="ltr">${visibleName(name)}</bdi>`, size)}</li>
`,
  )
  const more = folder.folders.length + folder.files.length - shownFolders.length - shownFiles.length
  return html`<ul class="tree">
${folders}${files}${
  more > 0 &&
  html`<li class="soft">${language.t('project.contents.more', { count: more })}</li>
`
}</ul>`
}

/** Shows what a manifest declares about its archive. */
export function manifestView(page: PageContext, manifest: Manifest): Markup {
  const { language } = page
  const { t } = language
  const { entry, loaders, id, number, name, gameVersions, environment, dependencies } = manifest
  const pair = (label: string, value: Part) => value !== undefined && html`<dt>${label}</dt><dd>${value}</dd>`
  const text = (value: string | undefined) => (value === undefined ? undefined : html`<bdi>${value}</bdi>`)
  const declared = dependencies.map(
    (each) => html`<li><code>${each.id}</code> <span class="soft">${t(`site.dependency.${each.type}`)}</span></li>`,
  )
  const games = gameVersions?.ranges.join(gameVersions.form === 'listed' ? ', ' : ' · ')
  return html`<details><summary>${icon(page, 'file')} <code>${entry}</code></summary>
<dl class="pairs wide">${pair(t('project.manifest.id'), id === undefined ? undefined : html`<code>${id}</code>`)}${pair(t('project.manifest.name'), text(name))}${pair(t('site.version'), text(number))}${pair(t('site.facet.l'), loaders.length === 0 ? undefined : tagNames(page.language, loaders).join(', '))}${pair(t('site.facet.v'), games === undefined ? undefined : html`<code>${games}</code>`)}${pair(t('site.facet.e'), environment === undefined ? undefined : html`<code>${environment}</code>`)}${pair(t('site.tab.dependencies'), declared.length === 0 ? undefined : html`<ul>${declared}</ul>`)}</dl></details>
`
}
