// All entries of the archives of a version, with a filter, and the text of one entry.

import type { FastifyReply } from 'fastify'
import { getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { getVersion } from '#features/catalogue/versions/lookup/version-cache.ts'
import { findAnyVersionId } from '#features/catalogue/versions/queries.ts'
import { LABELS } from '#features/community/moderation/entries/labels.ts'
import {
  type FileEntries,
  listEntries,
  readEntryText,
  STATES,
} from '#features/community/moderation/entries/read-entries.ts'
import { notFound } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, pageNumber, reviewPath, withQuery } from '#web/kit/paths.ts'
import { showWork } from '#web/kit/work-page.ts'
import { fileSize, visibleName } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { emptyState, pager } from '#web/ui/parts/lists.ts'
import { tile } from '../../site/lists/rows.ts'
import { filterForm } from '../parts.ts'
import { entriesPath, entryTree } from './files-view.ts'

const PER_PAGE = 50

export function entryPages(pages: Pages): void {
  pages.own('GET', `${reviewPath(':id')}/files`, 'moderationEntries', showEntries, {
    role: 'moderator',
    api: 'listVersionEntries',
  })
  pages.own('GET', `${reviewPath(':id')}/files/entry`, 'moderationEntry', showEntry, {
    role: 'moderator',
    api: 'getVersionEntry',
  })
}

type Subject = {
  projectId: string
  view: ProjectView
  version: { id: string; version_number: string }
  against: { id: string; version_number: string } | undefined
}

/** @throws ApiError 404 unless the query names a version of the project */
async function loadSubject({ deps, viewer, param, query }: OwnRequest): Promise<Subject> {
  if (!isIdForm(param('id'))) throw notFound('project')
  const { project } = await getProjectAsMember(deps, viewer, param('id'))
  const load = async (name: string) => {
    const id = await findAnyVersionId(deps.db, project.id, name)
    if (id === undefined) throw notFound('version')
    const version = await getVersion(deps, viewer, id)
    return viewOf(version)
  }
  const version = await load(query('version'))
  const against = query('against') === '' ? undefined : await load(query('against'))
  return { projectId: project.id, view: viewOf(project), version, against }
}

const oneOf = <Value extends string>(values: readonly Value[], text: string): Value | undefined =>
  values.find((value) => value === text)

async function showEntries(request: OwnRequest): Promise<FastifyReply> {
  const { deps, page, query, t } = request
  const subject = await loadSubject(request)
  const { projectId, version, against } = subject
  const current = pageNumber(request)
  const state = oneOf([...STATES, 'different'] as const, query('state'))
  const chosen = { text: query('query').slice(0, 256), state, label: oneOf(LABELS, query('label')) }
  const file = isIdForm(query('file')) ? query('file') : undefined
  const { files, omitted } = await listEntries(
    deps,
    { versionId: version.id, against: against?.id },
    {
      ...(file === undefined ? {} : { file }),
      text: chosen.text,
      states: state === 'different' ? ['added', 'removed', 'changed'] : state === undefined ? undefined : [state],
      label: chosen.label,
      count: PER_PAGE,
      offset: file === undefined ? 0 : (current - 1) * PER_PAGE,
    },
  )
  const values = {
    version: version.id,
    against: against?.id,
    query: chosen.text,
    state: state ?? '',
    label: chosen.label ?? '',
  }
  const hrefOf = (more: Record<string, string>) =>
    pathTo(page, withQuery(`${reviewPath(projectId)}/files`, { ...values, file, ...more }))
  const lists = files.map((entries) => fileEntries(request, subject, { entries, current, file, hrefOf }))
  const body = html`${sheetHead({ title: titleOf(request, subject), text: t('moderate.entries.text') })}
${filter(request, subject, { ...chosen, file })}
${lists}
${omitted > 0 && html`<p class="part soft">${t('moderate.entries.omitted', { count: omitted })}</p>`}`
  return showWork(request, { ...frameOf(request, subject), body })
}

function titleOf({ page }: OwnRequest, { version, against }: Subject): string {
  const { t } = page.language
  return against === undefined
    ? t('moderate.entries.of', { version: version.version_number })
    : t('moderate.entries.of-compared', { version: version.version_number, against: against.version_number })
}

function frameOf({ page }: OwnRequest, { projectId, view, version }: Subject) {
  const { t } = page.language
  return {
    title: t('moderate.entries.title', { version: version.version_number, name: view.name }),
    subject: {
      name: view.name,
      tile: tile(page, { iconUrl: view.icon_url, rawUrl: view.raw_icon_url }, 48),
      crumbs: [
        { path: PATHS.moderation, label: t('moderate.moderation') },
        { path: PATHS.moderationQueue, label: t('moderate.queue') },
        { path: reviewPath(projectId), label: view.name },
      ],
    },
  }
}

function fileEntries(
  request: OwnRequest,
  { projectId, version, against }: Subject,
  of: {
    entries: FileEntries
    current: number
    file: string | undefined
    hrefOf: (more: Record<string, string>) => string
  },
): Markup {
  const { page, t } = request
  const { file, listed, against: other } = of.entries
  const head = html`<h3 id="f-${file.id}"><bdi>${file.filename}</bdi></h3>`
  if (listed === undefined)
    return html`<section class="part" aria-labelledby="f-${file.id}">${head}<p class="soft">${t('moderate.entries.no-archive', { name: file.filename })}</p></section>`
  const { counts, entries, matches } = listed
  const total = counts.added + counts.changed + counts.same
  const text =
    other === undefined
      ? t('moderate.entries.count', { count: total })
      : t('moderate.entries.compared', { ...counts, total, name: other.filename })
  const toText = (path: string) =>
    pathTo(page, entriesPath(projectId, { version: version.id, against: against?.id, file: file.id, path }))
  const isPaged = of.file === file.id
  const more: Part = isPaged
    ? pager(page, {
        current: of.current,
        last: Math.max(1, Math.ceil(matches / PER_PAGE)),
        href: (number) => of.hrefOf({ page: String(number) }),
      })
    : matches > entries.length &&
      html`<p><a href="${of.hrefOf({ file: file.id })}">${t('moderate.entries.show-all', { count: matches })}</a></p>`
  return html`<section class="part" aria-labelledby="f-${file.id}">${head}
<p class="soft">${text}</p>
${entries.length > 0 ? entryTree(page, entries, toText) : emptyState(page, { icon: 'search', title: t('moderate.entries.none') })}
${more}</section>
`
}

function filter(
  { page }: OwnRequest,
  { version, against }: Subject,
  of: { text: string; state: string | undefined; label: string | undefined; file: string | undefined },
): Markup {
  const { t } = page.language
  const states = [...(against === undefined ? [] : (['different'] as const)), ...STATES]
  return filterForm(page, {
    search: { name: 'query', label: t('moderate.filter.path'), value: of.text, isCode: true },
    selects: [
      {
        name: 'state',
        label: t('moderate.filter.state'),
        value: of.state ?? '',
        choices: states.map((value) => ({ value, label: t(`moderate.entry.${value}`) })),
      },
      {
        name: 'label',
        label: t('moderate.filter.label'),
        value: of.label ?? '',
        choices: LABELS.map((value) => ({ value, label: t(`moderate.label.${value}`) })),
      },
    ],
    hidden: { version: version.id, against: against?.id, file: of.file },
  })
}

async function showEntry(request: OwnRequest): Promise<FastifyReply> {
  const { deps, page, query, language } = request
  const subject = await loadSubject(request)
  const { projectId, version, against } = subject
  const fileId = query('file')
  const entry = await readEntryText(deps, { versionId: version.id, fileId, path: query('path') })
  const back = entriesPath(projectId, { version: version.id, against: against?.id, file: fileId })
  const text =
    entry.text === null
      ? html`<p class="soft">${language.t('moderate.entry.binary')}</p>`
      : html`<section class="scroll" tabindex="0" aria-label="${language.t('moderate.entry.content')}"><pre dir="ltr"><code>${readable(entry.text)}</code></pre></section>${!entry.complete && html`<p class="soft">${language.t('moderate.entry.cut')}</p>`}`
  const body = html`${sheetHead({
    title: visibleName(entry.path),
    text: fileSize(language, entry.size),
    action: html`<a class="button tight" href="${pathTo(page, back)}">${language.t('moderate.entries.all')}</a>`,
  })}
<div class="part">${text}</div>`
  return showWork(request, { ...frameOf(request, subject), body })
}

/** Shows hidden characters by their code, except the white space of texts. */
const readable = (text: string): string =>
  text
    .split(/(?<=[\n\t\r])|(?=[\n\t\r])/)
    .map((piece) => (/^[\n\t\r]$/.test(piece) ? piece : visibleName(piece)))
    .join('')
