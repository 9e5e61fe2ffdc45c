// Parts that the public page of an advisory and the page for moderators share.

import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { AdvisoryView } from '#features/catalogue/versions/advisories/document.ts'
import type { AdvisoryRow } from '#features/catalogue/versions/advisories/queries.ts'
import { listVisibleVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { projectPath } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { messageOr } from '#web/ui/languages.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { note } from '#web/ui/parts/lists.ts'

/** Returns the pairs of names and values that describe an advisory. The names of hidden projects and versions are not links. */
export async function advisoryFacts(
  { deps, viewer, page }: Pick<PageRequest, 'deps' | 'viewer' | 'page'>,
  { id, project_id, versions, severity, reference_list, aliases }: AdvisoryRow,
): Promise<[string, Part][]> {
  const { t } = page.language
  const [project] = project_id === null ? [] : await listVisibleProjects(deps, viewer, [project_id])
  const view = project === undefined ? undefined : viewOf(project)
  const path = view === undefined ? undefined : projectPath(view)
  const ids = versions.map((version) => version.id)
  const shown = await listVisibleVersions(deps, viewer, ids)
  const visible = new Set(path === undefined ? [] : shown.map((cached) => viewOf(cached).id))
  const versionName = (version: AdvisoryRow['versions'][number]): Markup =>
    path !== undefined && visible.has(version.id)
      ? html`<a href="${pathTo(page, `${path}/version/${version.id}`)}"><bdi>${version.name}</bdi></a>`
      : html`<bdi>${version.name}</bdi>`
  const references = reference_list as AdvisoryView['references'] & unknown[]
  return [
    [t('site.advisory.id'), html`<code>${id}</code>`],
    [
      t('site.advisory.project'),
      view !== undefined && path !== undefined
        ? html`<a href="${pathTo(page, path)}"><bdi>${view.name}</bdi></a>`
        : project_id !== null && html`<code>${project_id}</code>`,
    ],
    [t('site.tab.versions'), versions.length > 0 && listOf(versions.map(versionName))],
    [
      t('site.advisory.severity'),
      severityOf(severity).length > 0 && listOf(severityOf(severity).map(({ score }) => html`<code>${score}</code>`)),
    ],
    [t('site.advisory.aliases'), aliases.length > 0 && listOf(aliases.map((alias) => html`<code>${alias}</code>`))],
    [
      t('site.advisory.references'),
      references.length > 0 && listOf(references.map((reference) => referenceLink(page, reference))),
    ],
  ]
}

const severityOf = (severity: unknown) => severity as AdvisoryView['severity'] & unknown[]

const listOf = (items: readonly Markup[]): Markup =>
  html`<ul class="plain">${items.map((item) => html`<li>${item}</li>`)}</ul>`

function referenceLink({ language }: PageContext, { type, url }: { type: string; url: string }): Markup {
  const name = messageOr(language, `site.advisory.reference.${type}`, type)
  return html`<a href="${url}" rel="nofollow ugc noopener">${name} (<bdi>${new URL(url).host}</bdi>)</a>`
}

/** Renders the status of an advisory that is not published. */
export function advisoryStatusNote(page: PageContext, { status, retracted }: AdvisoryRow): Part {
  if (status === 'published') return null
  const key = status === 'withdrawn' && retracted !== null ? 'withdrawn' : status === 'rejected' ? 'rejected' : 'review'
  return note(page, 'warn', html`<p>${page.language.t(`site.advisory.state.${key}`)}</p>`)
}

/** Renders the description. The API allows an empty one. */
export async function advisoryDetails({ page, texts }: PageRequest, { details }: AdvisoryRow): Promise<Markup> {
  const text = await texts.render(details, page)
  return String(text) === '' ? html`<p class="soft">${page.language.t('site.advisory.no-details')}</p>` : text
}

/** Renders the hashes of the affected files, which programs compare. */
export function advisoryHashes({ language }: PageContext, { hashes }: AdvisoryRow): Part {
  if (hashes.length === 0) return null
  return html`<details><summary>${language.t('site.advisory.hashes', { count: hashes.length })}</summary><ul class="plain small">${hashes.map((hash) => html`<li><code class="long">${hash}</code></li>`)}</ul></details>`
}
