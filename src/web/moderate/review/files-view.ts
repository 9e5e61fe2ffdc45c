// The files of a review: new and changed versions, verdicts of the scanner, and the entries that differ.
import type { EntryRow, FileEntries } from '#features/community/moderation/entries/read-entries.ts'
import { reviewPath, versionPath, withQuery } from '#web/kit/paths.ts'
import { dayText, fileSize, timeAgo, visibleName } from '#web/ui/format.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { buttonForm } from '#web/ui/parts/fields.ts'
import { badge } from '#web/ui/parts/lists.ts'
import { status, statusOf } from '#web/ui/parts/status.ts'
import type { ShownDetails } from './details-view.ts'
import { EXPANDED, type Review, type ReviewedVersion } from './load-review.ts'
import { section } from './section.ts'

/** Returns the path of the page with all entries of a version. */
export function entriesPath(
  projectId: string,
  query: { version: string; against?: string | undefined; file?: string | undefined; state?: string; path?: string },
): string {
  const { path, ...values } = query
  return withQuery(`${reviewPath(projectId)}/files${path === undefined ? '' : '/entry'}`, { ...values, path })
}

export function filesPart(
  page: PageContext,
  review: Review,
  { projectPath, details }: { projectPath: string; details: ShownDetails },
): Markup {
  const { t } = page.language
  const { added, removed, changed, omitted } = review.changes.versions
  const shown = added.slice(0, EXPANDED).map((version) => versionItem(page, review, { version, projectPath, details }))
  const more = added.slice(EXPANDED)
  const content = [
    sharedFiles(page, review),
    heldVersions(page, review),
    shown.length > 0 && html`<ul class="file-list">${shown}</ul>`,
    more.length > 0 &&
      html`<details class="more"><summary>${t('moderate.files.more', { count: more.length + omitted })}</summary><ul>${more.map((version) => html`<li>${versionLink(page, version, projectPath)}</li>`)}</ul></details>`,
    changed.length > 0 &&
      html`<h3>${t('moderate.files.changed')}</h3><ul class="file-list">${changed.map(({ before, after }) => changedItem(page, review, { before, after, projectPath }))}</ul>`,
    removed.length > 0 &&
      html`<p>${t('moderate.files.removed', { count: removed.length })} ${removed.slice(0, 20).map((version, index) => [index > 0 && ', ', html`<del dir="auto">${version.number}</del>`])}</p>`,
    added.length + changed.length + removed.length === 0 && html`<p>${t('moderate.files.none')}</p>`,
  ]
  const text = t('moderate.files.text', { added: added.length, changed: changed.length })
  return section({ id: 'files', title: t('moderate.files'), text, content })
}

function versionLink(page: PageContext, version: ReviewedVersion, projectPath: string): Markup {
  const path = versionPath(projectPath, { id: version.id, version_number: version.number })
  return html`<a href="${pathTo(page, path)}"><bdi>${version.number}</bdi></a> <span class="soft" dir="auto">${version.name}</span>`
}

function versionItem(
  page: PageContext,
  review: Review,
  { version, projectPath, details }: { version: ReviewedVersion; projectPath: string; details: ShownDetails },
): Markup {
  const { language, now } = page
  const loaders = [...version.loaders, ...version.game_versions.slice(0, 4)].join(', ')
  const entries = review.entries.get(version.id)
  return html`<li>${icon(page, 'file')}<div><p class="name">${versionLink(page, version, projectPath)}</p>
<p class="facts">${newBadge(page, review, version)} ${statusOf(page, 'version', version.status)} <span>${loaders}</span> <span>${timeAgo(language, new Date(version.published), now)}</span></p>
<ul>${version.files.map(({ filename, size }) => html`<li><code dir="auto">${filename}</code> <span class="soft">${fileSize(language, size)}</span></li>`)}</ul>
${details.get(version.id)}${entries === undefined ? allEntriesLink(page, review, version) : entriesOf(page, review, { version, files: entries })}
</div></li>
`
}

/** In a first review, all versions are new: the badge marks those that came or changed since the last look. */
function newBadge(page: PageContext, { changes: { recent, review, since } }: Review, { id }: ReviewedVersion): Part {
  if (review === 'repeat' || since === null || recent === null) return badge('good', page.language.t('moderate.new'))
  const { added, changed } = recent.versions
  const isRecent = [...added, ...changed.map(({ after }) => after)].some((version) => version.id === id)
  const day = dayText(page.language, new Date(since.at))
  return isRecent && badge('warn', page.language.t(`moderate.changes.since.${since.reason}`, { day }))
}

function changedItem(
  page: PageContext,
  review: Review,
  { before, after, projectPath }: { before: ReviewedVersion; after: ReviewedVersion; projectPath: string },
): Markup {
  const { t } = page.language
  const kept = new Set(before.files.map(({ id }) => id))
  const now = new Set(after.files.map(({ id }) => id))
  const texts = (['number', 'name', 'channel', 'status'] as const)
    .filter((field) => before[field] !== after[field])
    .map((field) => html`<li><del dir="auto">${before[field]}</del> <ins dir="auto">${after[field]}</ins></li>`)
  const files = [
    ...after.files
      .filter(({ id }) => !kept.has(id))
      .map(({ filename }) => html`<li><ins dir="auto">${filename}</ins></li>`),
    ...before.files
      .filter(({ id }) => !now.has(id))
      .map(({ filename }) => html`<li><del dir="auto">${filename}</del></li>`),
  ]
  return html`<li>${icon(page, 'pencil')}<div><p class="name">${versionLink(page, after, projectPath)}</p>
<ul>${texts}${files}${texts.length + files.length === 0 && html`<li>${t('moderate.files.compatibility')}</li>`}</ul>
${files.length > 0 && allEntriesLink(page, review, after)}</div></li>
`
}

function allEntriesLink(page: PageContext, { project }: Review, { id, compare_with: against }: ReviewedVersion) {
  const path = entriesPath(project.id, { version: id, against: against ?? undefined })
  return html`<p class="small"><a href="${pathTo(page, path)}">${page.language.t('moderate.entries.all')}</a></p>`
}

/** Renders the files that other projects also contain. */
function sharedFiles(page: PageContext, { changes: { shared_files: shared } }: Review): Part {
  const { t, rich } = page.language
  if (shared.length === 0) return null
  const items = shared.map(({ filename, version_number: number, project }) => {
    const name = html`<a href="${pathTo(page, reviewPath(project.id))}"><bdi>${project.name}</bdi></a>`
    const file = html`<code dir="auto">${filename}</code>`
    const text = rich('moderate.files.shared', { file, number, name })
    return html`<li data-finding>${icon(page, 'warning')}<div><p>${text} ${statusOf(page, 'project', project.status)} ${project.is_owner && html`<span class="soft">${t('moderate.files.shared.first')}</span>`}</p></div></li>
`
  })
  return html`<ul class="file-list">${items}</ul>`
}

/** Renders the versions that the scanner holds back or warns about, with the decisions about them. */
function heldVersions(page: PageContext, { scans, project }: Review): Part {
  const { t } = page.language
  if (scans.length === 0) return null
  const action = pathTo(page, reviewPath(project.id))
  return html`<ul class="file-list">${scans.map(({ version_id: version, version_number: number, state, reason }) => {
    const button = (command: string, text: string) =>
      buttonForm(page, { action, text, isTight: true, fields: { do: command, version } })
    return html`<li data-finding>${icon(page, 'scan')}<div><p class="name"><bdi>${number}</bdi></p><p class="facts">${statusOf(page, 'scan', state)}${reason !== null && html` <q dir="auto">${reason}</q>`}</p></div><div class="line">${state === 'quarantine' && button('scan-release', t('moderate.scan.release'))}${button('scan-repeat', t('moderate.scan.repeat'))}</div></li>
`
  })}</ul>`
}

function entriesOf(
  page: PageContext,
  review: Review,
  { version, files }: { version: ReviewedVersion; files: readonly FileEntries[] },
): Markup {
  const { t } = page.language
  const id = review.project.id
  const against = version.compare_with ?? undefined
  return html`${files.map(({ file, listed, against: other }) => {
    if (listed === undefined)
      return html`<p class="small soft">${t('moderate.entries.no-archive', { name: file.filename })}</p>`
    const { counts, entries, matches } = listed
    const total = counts.added + counts.changed + counts.same
    const summary =
      other === undefined
        ? t('moderate.entries.count', { count: total })
        : t('moderate.entries.compared', { ...counts, total, name: other.filename })
    const paths = { version: version.id, against, file: file.id }
    return html`<details${attributes({ class: 'more', open: other !== undefined })}><summary>${summary}</summary>
${entryTree(page, entries, (path) => pathTo(page, entriesPath(id, { ...paths, path })))}
<p class="line small"><a href="${pathTo(page, entriesPath(id, paths))}">${t('moderate.entries.all')}</a>${matches > entries.length && html`<span class="soft">${t('moderate.entries.more', { count: matches - entries.length })}</span>`}</p></details>`
  })}`
}

const STATES: Readonly<Record<EntryRow['state'], { className: string | null; icon: IconName }>> = {
  added: { className: 'new', icon: 'plus' },
  removed: { className: 'gone', icon: 'trash' },
  changed: { className: null, icon: 'pencil' },
  same: { className: null, icon: 'file' },
}

/** Renders entries of an archive. Names are shown with a visible sign for each hidden character. */
export function entryTree(page: PageContext, entries: readonly EntryRow[], hrefOf: (path: string) => string): Markup {
  const { language } = page
  return html`<ul class="tree">${entries.map(({ path, size, size_before: before, state, labels }) => {
    const { className, icon: name } = STATES[state]
    const label = [language.t(`moderate.entry.${state}`), ...labels.map((one) => language.t(`moderate.label.${one}`))]
    const text = html`<code dir="ltr">${visibleName(path)}</code>`
    const mark =
      labels.length > 0
        ? status(page, { kind: 'wait', icon: 'warning', label: label.join(', ') })
        : html`<span class="soft">${label}</span>`
    return html`<li${attributes({ class: labels.length > 0 ? 'hot' : className, 'data-finding': labels.length > 0 })}>${icon(page, name)}${size === null ? text : html`<a href="${hrefOf(path)}">${text}</a>`}<span class="mark">${mark}</span><span class="size">${fileSize(language, size ?? before ?? 0)}</span></li>
`
  })}</ul>`
}
