// The warnings on the pages of a project: advisories about it and its versions.
import { listShownAdvisories, type ShownAdvisory } from '#features/catalogue/versions/advisories/shown-advisories.ts'
import { advisoryPath } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { note } from '#web/ui/parts/lists.ts'

/** Number of advisories that a warning names, and of versions that it names for each. */
const ADVISORIES_MAX = 5
const VERSIONS_MAX = 8

/** Returns the IDs of the project's versions that a published advisory is about. */
export async function loadAffected({ deps }: PageRequest, projectId: string): Promise<ReadonlySet<string>> {
  const advisories = await listShownAdvisories(deps, projectId)
  return new Set(advisories.flatMap(({ versionIds }) => [...versionIds]))
}

export function advisoryLink(page: PageContext, { id, summary }: Pick<ShownAdvisory, 'id' | 'summary'>): Markup {
  return html`<a href="${pathTo(page, advisoryPath(id))}"><bdi>${summary}</bdi></a>`
}

type Named = { id: string; version_number: string }

/** Names the advisories about a project with the listed versions that they concern. `offered` is the version for download. */
export function projectAdvisories(
  page: PageContext,
  {
    advisories,
    versions,
    offered,
  }: { advisories: readonly ShownAdvisory[]; versions: readonly Named[]; offered?: string },
): Part {
  if (advisories.length === 0) return null
  const { t } = page.language
  const isOffered = offered !== undefined && advisories.some(({ versionIds }) => versionIds.has(offered))
  const items = advisories.slice(0, ADVISORIES_MAX).map((advisory) => {
    const named = versions.filter(({ id }) => advisory.versionIds.has(id))
    return html`<li>${advisoryLink(page, advisory)}${named.length > 0 && html`<br><span class="small">${versionNames(page, named)}</span>`}</li>`
  })
  const more = advisories.length - ADVISORIES_MAX
  return note(
    page,
    isOffered ? 'bad' : 'warn',
    html`<p class="strong">${t(isOffered ? 'project.advisory.offered' : 'project.advisory.title', { count: advisories.length })}</p><ul>${items}${more > 0 && html`<li>${t('project.advisory.more', { count: more })}</li>`}</ul>`,
  )
}

/** Names the affected versions: `Versions 1.0, 1.1 and 3 more`. */
export function versionNames({ language }: PageContext, versions: readonly Pick<Named, 'version_number'>[]): Part {
  const shown = versions.slice(0, VERSIONS_MAX)
  const names = shown.map(({ version_number }, index) => html`${index > 0 && ', '}<bdi>${version_number}</bdi>`)
  const more = versions.length - shown.length
  return language.rich('project.advisory.versions', { count: versions.length, versions: html`${names}`, more })
}

/** Names the advisories about one version. */
export function versionAdvisories(page: PageContext, advisories: readonly ShownAdvisory[]): Part {
  if (advisories.length === 0) return null
  const { t } = page.language
  const items = advisories.slice(0, ADVISORIES_MAX).map((advisory) => html`<li>${advisoryLink(page, advisory)}</li>`)
  const more = advisories.length - ADVISORIES_MAX
  return note(
    page,
    'bad',
    html`<p class="strong">${t('project.advisory.version', { count: advisories.length })}</p><ul>${items}${more > 0 && html`<li>${t('project.advisory.more', { count: more })}</li>`}</ul>`,
  )
}
