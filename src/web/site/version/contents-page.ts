// The page with all entries of a version's archives: by folder, by part of the path, or only those that differ from the
// previous version.

import type { FastifyReply } from 'fastify'
import type { CachedProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { EntryRow } from '#features/community/moderation/entries/read-entries.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { listPage, withQuery } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { fileSize, visibleName } from '#web/ui/format.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { checkbox } from '#web/ui/parts/fields.ts'
import { emptyState, pager } from '#web/ui/parts/lists.ts'
import { projectPage } from '../project/project-frame.ts'
import { folderView } from './contents-view.ts'
import { type ContentsFile, findFolder, folderTree, loadContents } from './version-contents.ts'
import { loadVersion } from './version-page.ts'

const PER_PAGE = 200
const QUERY_LENGTH_MAX = 256

/** The choices in the query of the page. */
type Choice = { file: string; folder: string; text: string; isOnlyDifferent: boolean }

export async function showContents(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const { page, show, query, language } = request
  const loaded = await loadVersion(request, project)
  const { data, version, paths, previous } = loaded
  const before = previous === undefined ? undefined : viewOf(previous)
  const contents = await loadContents(request, version, before)
  const archives = contents?.filter(({ entries }) => entries !== undefined) ?? []
  const choice: Choice = {
    file: query('file'),
    folder: query('in'),
    text: query('q').slice(0, QUERY_LENGTH_MAX),
    isOnlyDifferent: query('only') === 'different' && before !== undefined,
  }
  const chosen = archives.find(({ id }) => id === choice.file) ?? archives[0]
  const path = `${paths.of(version)}/files`
  const body = html`<div class="section-head"><h1>${language.rich('project.contents.of', { version: html`<bdi>${version.version_number}</bdi>` })}</h1><a class="lone" href="${pathTo(page, paths.of(version))}">${icon(page, 'previous')}${language.t('project.contents.back')}</a></div>
${
  chosen === undefined
    ? emptyState(page, {
        icon: 'file',
        title: language.t(contents === undefined ? 'project.contents.failed' : 'project.contents.none'),
      })
    : html`${filterForm(page, { path, choice, chosen, archives, hasPrevious: before !== undefined })}
<div class="section">${entriesPart(request, { path, choice, chosen })}</div>`
}`
  const title = language.t('project.contents.title', { name: data.view.name, version: version.version_number })
  return show(
    projectPage(request, data, {
      tab: '/versions',
      title,
      body,
      canonical: path,
      status: contents === undefined ? 503 : 200,
    }),
  )
}

function filterForm(
  page: PageContext,
  of: { path: string; choice: Choice; chosen: ContentsFile; archives: readonly ContentsFile[]; hasPrevious: boolean },
): Markup {
  const { language } = page
  const { path, choice, chosen, archives, hasPrevious } = of
  const options = archives.map(
    ({ id, filename }) => html`<option${attributes({ value: id, selected: id === chosen.id })}>${filename}</option>`,
  )
  return html`<form class="narrowing" action="${pathTo(page, path)}">${archives.length > 1 && html`<label>${language.t('site.file')}<select name="file">${options}</select></label>`}
<label>${language.t('project.contents.search')}<input type="search" name="q" value="${choice.text}" maxlength="${QUERY_LENGTH_MAX}" dir="ltr"></label>
${hasPrevious && checkbox({ name: 'only', value: 'different', isChecked: choice.isOnlyDifferent, label: language.t('project.contents.different') })}
<button>${language.t('site.show-results')}</button></form>
`
}

function entriesPart(
  request: PageRequest,
  { path, choice, chosen }: { path: string; choice: Choice; chosen: ContentsFile },
): Part {
  const { page, language } = request
  const { entries = [], id } = chosen
  if (choice.text !== '' || choice.isOnlyDifferent) return entryList(request, { path, choice, chosen })
  const root = folderTree(entries)
  const folder = findFolder(root, choice.folder) ?? root
  const hrefOf = (folderPath: string) =>
    pathTo(page, withQuery(path, { file: choice.file === '' ? '' : id, in: folderPath }))
  return html`${folder.path !== '' && html`<p><a href="${hrefOf('')}"><bdi>${chosen.filename}</bdi></a> / <bdi dir="ltr">${visibleName(folder.path)}</bdi></p>`}
<p class="soft">${language.t('project.contents.total', { count: folder.count, size: fileSize(language, folder.size) })}</p>
${folderView(page, folder, { hrefOf, shownMax: PER_PAGE * 2 })}`
}

/** Lists the entries that match, with their full paths. */
function entryList(
  request: PageRequest,
  { path, choice, chosen }: { path: string; choice: Choice; chosen: ContentsFile },
): Part {
  const { page, language } = request
  const wanted = choice.text.toLowerCase()
  const matching = (chosen.entries ?? []).filter(
    (entry) =>
      entry.path.toLowerCase().includes(wanted) &&
      (choice.isOnlyDifferent ? entry.state !== 'same' : entry.state !== 'removed'),
  )
  const only = choice.isOnlyDifferent ? 'different' : ''
  const { shown, pages } = listPage(request, matching, {
    path: withQuery(path, { file: choice.file, q: choice.text, only }),
    size: PER_PAGE,
  })
  if (shown.length === 0) return emptyState(page, { icon: 'search', title: language.t('project.contents.nothing') })
  return html`<p class="soft">${language.t('project.contents.files', { count: matching.length })}</p>
<ul class="tree">
${shown.map((entry) => entryItem(page, entry, choice.isOnlyDifferent))}</ul>
${pager(page, pages)}`
}

const SIGNS = { added: 'plus', removed: 'x', changed: 'pencil', same: 'file' } as const

function entryItem(page: PageContext, { path, size, size_before, state }: EntryRow, showsState: boolean): Markup {
  const { language } = page
  const sign =
    showsState &&
    state !== 'same' &&
    html`${icon(page, SIGNS[state])}<span class="vh">${language.t(`project.compare.${state}`)} </span>`
  return html`<li${attributes({ class: showsState ? state : null })}><bdi dir="ltr">${sign}${visibleName(path)}</bdi><span class="soft num">${fileSize(language, size ?? size_before ?? 0)}</span></li>
`
}
