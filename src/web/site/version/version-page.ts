// The page of one version: its changes, files, contents, and texts for build tools; and the page with all its entries.

import type { FastifyReply } from 'fastify'
import { isModerator } from '#features/basics/access/viewer.ts'
import { listBlocked } from '#features/catalogue/contents/blocked-contents.ts'
import type { CachedProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { findScan } from '#features/catalogue/scans/queries.ts'
import { listShownAdvisories, type ShownAdvisory } from '#features/catalogue/versions/advisories/shown-advisories.ts'
import {
  type CachedVersion,
  getVersion,
  listCachedVersions,
  listVisibleVersions,
} from '#features/catalogue/versions/lookup/version-cache.ts'
import { listVersionIdsFor } from '#features/catalogue/versions/lookup/version-list.ts'
import { findVersionIdByNumber } from '#features/catalogue/versions/queries.ts'
import type { ProvenanceView, VersionView } from '#features/catalogue/versions/views.ts'
import { notFound } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { sidesOf } from '#ports/search-index/sides.ts'
import { reportPath, withQuery } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { countOf, exactTime, fileSize } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { versionAdvisories } from '../advisory/advisory-notes.ts'
import { fieldTexts } from '../lists/rows.ts'
import { environmentText, tagNames, versionRuns } from '../names.ts'
import { type DependencyNode, dependencyGroups } from '../project/dependency-list.ts'
import { mirroredFrom } from '../project/mirrored-from.ts'
import { loadDependencies, type Offer } from '../project/offer.ts'
import { loadProject, type ProjectData } from '../project/project-data.ts'
import { archiveLink, projectPage } from '../project/project-frame.ts'
import { memberScan, passedScan } from '../project/scan-verdict.ts'
import { versionStructure } from '../project/structured-data.ts'
import { buildSnippets, snippetList } from './build-snippets.ts'
import { folderView, manifestView } from './contents-view.ts'
import { comparison } from './version-compare.ts'
import { type ContentsFile, folderTree, loadContents } from './version-contents.ts'
import {
  channelBadge,
  copyButton,
  loadVersionPaths,
  type VersionPaths,
  warningBadges,
  withdrawnNote,
} from './version-parts.ts'

/** Maximum number of files whose contents are on the page of a version. */
const CONTENTS_MAX = 4

/** The data of all pages of a version. */
export type VersionData = {
  data: ProjectData
  offer: Offer
  version: VersionView
  paths: VersionPaths
  /** The adjacent versions that share a loader with this version. */
  previous: CachedVersion | undefined
  next: CachedVersion | undefined
  /** Published advisories about the version. */
  advisories: readonly ShownAdvisory[]
}

/**
 * Loads a version by its number or ID. Users who can see an unlisted version find it by its ID.
 * @throws ApiError 404 if the project has no such version that the viewer can see
 */
export async function loadVersion(request: PageRequest, project: CachedProject): Promise<VersionData> {
  const { deps, viewer, param } = request
  const name = param('version')
  const id = (await findVersionIdByNumber(deps.db, project.id, name)) ?? (isIdForm(name) ? name : undefined)
  if (id === undefined) throw notFound('version')
  const cached = await getVersion(deps, viewer, id)
  if (cached.project.id !== project.id) throw notFound('version')
  const data = await loadProject(request, project, cached)
  const { offer } = data
  if (offer === undefined) throw notFound('version')
  const ids = await listVersionIdsFor(deps, project.id, { loaders: offer.version.loaders })
  const at = ids.indexOf(id)
  const around = at < 0 ? [] : [ids[at + 1], ids[at - 1]]
  const adjacent = new Map(
    (
      await listCachedVersions(
        deps,
        around.filter((each) => each !== undefined),
      )
    ).map((each) => [each.id, each]),
  )
  return {
    data,
    offer,
    version: offer.version,
    paths: await loadVersionPaths(request, data),
    previous: adjacent.get(around[0] ?? ''),
    next: adjacent.get(around[1] ?? ''),
    advisories: (await listShownAdvisories(deps, project.id)).filter(({ versionIds }) => versionIds.has(id)),
  }
}

export async function showVersion(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const { deps, viewer, page, show, texts, language } = request
  const loaded = await loadVersion(request, project)
  const { data, offer, version, paths, previous } = loaded
  const changelog = await texts.render(version.changelog ?? '', page, data.view)
  const blocked = await listBlocked(
    deps.db,
    version.files.map(({ hashes }) => hashes.sha512),
  )
  const before = previous === undefined ? undefined : viewOf(previous)
  const contents = await loadContents(request, version, before)
  const scan = data.isMember || isModerator(viewer) ? await findScan(deps.db, version.id) : undefined
  const seesScan = data.isMember || isModerator(viewer)
  const compared =
    before !== undefined &&
    html`<section><h2>${language.rich('project.compare.since', { version: html`<a href="${pathTo(page, paths.of(before))}"><bdi>${before.version_number}</bdi></a>` })}</h2>
${comparison(page, deps.taxonomy, {
  now: { version, dependencies: offer.dependencies },
  before: { version: before, dependencies: await loadDependencies(request, before) },
  contents,
  entriesHref: pathTo(page, `${paths.of(version)}/files?only=different`),
})}</section>`
  const snippets = buildSnippets({
    url: page.site.url,
    name: data.view.name,
    slug: data.view.slug,
    version,
    isNumberShared: paths.isShared(version),
    sides: sidesOf(version.project_types, fieldText(version, 'environment')),
  })
  const body = html`<div class="body parts">
${versionHead(request, loaded)}
${versionAdvisories(page, loaded.advisories)}
${withdrawnNote(page, version, await loadReplacement(request, loaded))}
<section><h2>${language.t('site.tab.changelog')}</h2>${String(changelog) === '' ? html`<p class="soft">${language.t('site.no-changelog')}</p>` : changelog}</section>
${offer.dependencies.length > 0 && html`<section><h2>${language.t('site.tab.dependencies')}</h2>${dependencyGroups(page, withChosen(offer))}</section>`}
${compared}
${contentsSection(page, loaded, contents)}
${snippets.length > 0 && html`<section><h2>${language.t('project.snippets')}</h2>${snippetList(page, snippets)}</section>`}
</div>
<aside aria-label="${language.t('site.about', { name: version.version_number })}">
${detailsPanel(request, loaded, seesScan ? memberScan(page, scan) : passedScan(page, offer))}
${filesPanel(page, offer, blocked)}
</aside>`
  const title = language.t('site.title.version', { name: data.view.name, version: version.version_number })
  const canonical = paths.of(version)
  const structuredData = versionStructure(page, data, { version, canonical })
  return show(projectPage(request, data, { tab: '/versions', title, body, canonical, structuredData, isSplit: true }))
}

/** Returns the version that replaces a withdrawn version, if the viewer can see it. */
async function loadReplacement({ deps, viewer }: PageRequest, { version, paths }: VersionData) {
  const id = version.withdrawn?.replacement
  const [cached] = id === undefined ? [] : await listVisibleVersions(deps, viewer, [id])
  if (cached === undefined) return undefined
  const replacement = viewOf(cached)
  return { path: paths.of(replacement), version_number: replacement.version_number }
}

/** Adds the versions that the archive of the offer contains. */
function withChosen({ dependencies, chosen }: Offer): DependencyNode[] {
  return dependencies.map((each) =>
    each.type === 'required' ? { ...each, chosen: chosen.get(each.project?.id ?? '') } : each,
  )
}

function fieldText(version: VersionView, name: string): string | null {
  const value = (version as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : null
}

/** Shows the name of a version, with links to the adjacent versions and back to the list. */
function versionHead({ page }: PageRequest, { data, version, paths, previous, next, advisories }: VersionData): Markup {
  const { language } = page
  const affected = new Set(advisories.length > 0 ? [version.id] : [])
  const link = (cached: CachedVersion | undefined, name: 'previous' | 'next') => {
    if (cached === undefined) return null
    const other = viewOf(cached)
    const text = html`<span class="vh">${language.t(`project.version.${name}`)} </span><bdi>${other.version_number}</bdi>`
    return html`<li><a href="${pathTo(page, paths.of(other))}" rel="${name === 'next' ? 'next' : 'prev'}">${name === 'previous' && icon(page, 'previous')}${text}${name === 'next' && icon(page, 'next')}</a></li>`
  }
  return html`<header><h1><bdi>${version.name}</bdi> ${channelBadge(page, version)}${warningBadges(page, version, affected)}</h1>
<nav class="steps" aria-label="${language.t('site.tab.versions')}"><ul>${link(previous, 'previous')}<li><a href="${pathTo(page, `${data.path}/versions`)}">${icon(page, 'list')}${language.t('project.version.all')}</a></li>${link(next, 'next')}</ul></nav></header>`
}

function detailsPanel({ page, deps, language, t }: PageRequest, { version }: VersionData, scan: Part): Markup {
  const games = versionRuns(deps.taxonomy, fieldTexts(version, 'game_versions'))
  const runs = environmentText(language, version.project_types, fieldText(version, 'environment'))
  return html`<section class="panel"><h2>${t('site.details')}</h2><dl class="pairs"><dt>${t('site.version')}</dt><dd><bdi>${version.version_number}</bdi></dd><dt>${t('site.facet.v')}</dt><dd>${games.join(', ')}</dd><dt>${t('site.facet.l')}</dt><dd>${tagNames(language, version.loaders).join(', ')}</dd>${runs !== undefined && html`<dt>${t('site.facet.e')}</dt><dd>${runs}</dd>`}<dt>${t('site.published')}</dt><dd>${exactTime(language, new Date(version.date_published))}</dd><dt>${t('site.column.downloads')}</dt><dd>${countOf(language, version.downloads)}</dd>${scan}${version.provenance !== undefined && builtFrom(page, version.provenance)}${version.origin !== undefined && html`<dt>${t('project.mirrored')}</dt><dd>${mirroredFrom(page, version.origin)}</dd>`}<dt>${t('site.version-id')}</dt><dd><code id="version-id">${version.id}</code></dd></dl>
<p class="lone">${copyButton(page, { id: 'version-id', what: t('site.version-id') })}<a class="lone" href="${pathTo(page, reportPath('version', version.id))}">${icon(page, 'flag')}${t('site.report.version')}</a></p></section>`
}

/** States where a trusted publisher built the version, with a link to the build if its service has a known kind. */
function builtFrom({ language }: PageContext, { commit, repository, workflow, run_url: run }: ProvenanceView): Markup {
  const short = html`<code title="${commit}">${commit.slice(0, 10)}</code>`
  const text = language.rich('project.built.text', {
    commit: short,
    repository: html`<bdi>${repository}</bdi>`,
    workflow: html`<bdi>${workflow.slice(workflow.lastIndexOf('/') + 1)}</bdi>`,
  })
  return html`<dt>${language.t('project.built')}</dt><dd>${text}${run !== null && html` <a href="${run}" rel="nofollow noopener">${language.t('project.built.run')}</a>`}</dd>`
}

function filesPanel(page: PageContext, offer: Offer, blocked: ReadonlySet<string>): Markup {
  const { language } = page
  const { files, dependencies } = offer.version
  const hasArchive = files.length > 1 || dependencies.some(({ dependency_type: type }) => type === 'required')
  const items = files.map((file, index) => {
    const hash = (name: string, value: string) => {
      const id = `${name.toLowerCase().replace('-', '')}-${index}`
      return html`<dt>${name}</dt><dd><code class="long" id="${id}">${value}</code>${copyButton(page, { id, what: name })}</dd>`
    }
    if (blocked.has(file.hashes.sha512))
      return html`<li>${language.rich('site.version.blocked', { name: html`<bdi>${file.filename}</bdi>` })}</li>
`
    return html`<li><a class="button tight" href="${file.url}" download>${icon(page, 'download')}<bdi>${file.filename}</bdi></a> <span class="soft">${fileSize(language, file.size)}</span>
<details><summary>${language.t('site.hashes')}<span class="vh"> ${file.filename}</span></summary><dl class="hashes">${hash('SHA-1', file.hashes.sha1)}${hash('SHA-512', file.hashes.sha512)}</dl></details></li>
`
  })
  return html`<section class="panel"><h2>${language.t('site.files')}</h2>${files.length > 0 ? html`<ul class="files">${items}</ul>` : html`<p class="soft">${language.t('site.get.none')}</p>`}${files.length > 0 && hasArchive && archiveLink(page, offer)}</section>`
}

function contentsSection(
  page: PageContext,
  { version, paths }: VersionData,
  contents: readonly ContentsFile[] | undefined,
): Part {
  const { language } = page
  const archives = contents?.filter(({ entries }) => entries !== undefined).slice(0, CONTENTS_MAX) ?? []
  if (archives.length === 0) return null
  const all = `${paths.of(version)}/files`
  const items = archives.map(({ id, filename, entries = [], manifests }) => {
    const tree = folderTree(entries)
    const file = archives.length > 1 ? id : ''
    const hrefOf = (path: string) => pathTo(page, withQuery(all, { file, in: path }))
    return html`${archives.length > 1 && html`<h3><bdi>${filename}</bdi></h3>`}
${manifests.map((manifest) => manifestView(page, manifest))}
<p class="soft">${language.t('project.contents.total', { count: tree.count, size: fileSize(language, tree.size) })}</p>
${folderView(page, tree, { hrefOf })}
`
  })
  return html`<section><h2>${language.t('project.contents')}</h2>
${items}<p><a class="lone" href="${pathTo(page, all)}">${icon(page, 'search')}${language.t('project.contents.all')}</a></p></section>`
}
