// Parts that the lists and the pages of versions share.
import { listSharedNumbers } from '#features/catalogue/versions/lookup/version-list.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { versionPath } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { badge, note } from '#web/ui/parts/lists.ts'
import type { ProjectData } from '../project/project-data.ts'

type Named = Pick<VersionView, 'id' | 'version_number'>

/** Shows the release channel of a version. */
export function channelBadge({ language }: PageContext, { version_type }: Pick<VersionView, 'version_type'>): Markup {
  const kind = version_type === 'release' ? 'good' : version_type === 'beta' ? 'warn' : 'bad'
  return badge(kind, language.t(`site.channel.${version_type}`))
}

/** Shows that a version was withdrawn, and that an advisory is about it. `affected` has the IDs of such versions. */
export function warningBadges(
  { language }: PageContext,
  { id, withdrawn }: Pick<VersionView, 'id' | 'withdrawn'>,
  affected: ReadonlySet<string>,
): Part {
  return [
    withdrawn !== undefined && [' ', badge('bad', language.t('project.withdrawn'))],
    affected.has(id) && [' ', badge('bad', language.t('project.advisory'))],
  ]
}

/** Explains why a version was withdrawn, with a link to its replacement. */
export function withdrawnNote(
  page: PageContext,
  { withdrawn }: Pick<VersionView, 'withdrawn'>,
  replacement: { path: string; version_number: string } | undefined,
): Part {
  if (withdrawn === undefined) return false
  const { t, rich } = page.language
  const instead =
    replacement !== undefined &&
    html`<p>${rich('project.withdrawn.replacement', { version: html`<a href="${pathTo(page, replacement.path)}"><bdi>${replacement.version_number}</bdi></a>` })}</p>`
  return note(
    page,
    withdrawn.kind === 'superseded' ? 'warn' : 'bad',
    html`<p><span class="strong">${t(`project.withdrawn.${withdrawn.kind}`)}</span></p><p><q dir="auto">${withdrawn.reason}</q></p>${instead}`,
  )
}

/** Builds the paths of a project's versions: by number, or by ID if several versions have the number. */
export type VersionPaths = { of(version: Named): string; isShared(version: Named): boolean }

export async function loadVersionPaths({ deps }: PageRequest, { path, project }: ProjectData): Promise<VersionPaths> {
  const shared = new Set(await listSharedNumbers(deps, project.id))
  const isShared = ({ version_number }: Named) => shared.has(version_number)
  return {
    isShared,
    of: (version) => (isShared(version) ? `${path}/version/${version.id}` : versionPath(path, version)),
  }
}

/** Shows a button that copies the text of the element with this ID. A script shows the button. */
export function copyButton({ language }: PageContext, { id, what }: { id: string; what: string }): Markup {
  return html`<button class="tight" type="button" data-copy="${id}" data-done="${language.t('copied')}" hidden>${language.t('copy')}<span class="vh"> ${what}</span></button>`
}

/** Shows the button that shares or copies the address of the page. A script shows the button if the browser can share. */
export function shareButton(page: PageContext, { name }: { name: string }): Markup {
  const { t } = page.language
  const title = t('site.share', { name })
  const texts = { 'data-share': name, 'data-done': t('site.share.copied'), 'data-shared': t('site.share.done') }
  return html`<button${attributes({ type: 'button', ...texts, title, hidden: true })}>${icon(page, 'share')}<span class="vh" role="status">${title}</span></button>`
}
