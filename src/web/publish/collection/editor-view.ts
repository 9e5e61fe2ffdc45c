// The page of the collection editor: details, the search and the list for new projects, and the projects in their order.

import type { FastifyReply } from 'fastify'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listUpdates } from '#features/catalogue/versions/hashes/resolve-files.ts'
import { readVersionsInOrder } from '#features/catalogue/versions/lookup/version-cache.ts'
import { PROJECTS_MAX } from '#features/community/collections/requests.ts'
import { ApiError } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import { normalize } from '#ports/search-index/filter/normalize.ts'
import { isSet, type Setup } from '#web/kit/cookies.ts'
import { conflictNote, editBase } from '#web/kit/forms/edits.ts'
import { type FormState, stateOf } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { listPage, PATHS, projectPath } from '#web/kit/paths.ts'
import { showWork } from '#web/kit/work-page.ts'
import { findHits } from '#web/site/lists/list-query.ts'
import { type ProjectRow, rowOfHit, tile } from '#web/site/lists/rows.ts'
import { hueClass, setupName } from '#web/site/names.ts'
import { setupFilter } from '#web/site/project/offer.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import type { MessageKey } from '#web/ui/languages.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { saveBar, type Undo } from '#web/ui/parts/actions.ts'
import { optionCards } from '#web/ui/parts/choices.ts'
import { form, hiddenField, textArea } from '#web/ui/parts/fields.ts'
import { sheetHead, sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState, face, note, pager } from '#web/ui/parts/lists.ts'
import { dashboardSections } from '../dashboard/dashboard-frame.ts'
import { iconPart } from '../icon-part.ts'
import { withLastEdit } from '../settings.ts'
import { COLLECTION_FIELDS, type ManagedCollection, shownIds, valuesOf } from './managed-collection.ts'

const PAGE_SIZE = 50

type Shown = {
  state: FormState
  /** Number of projects that were added from a list with lines that name no project. */
  added?: number
}

export async function showEditor(
  request: OwnRequest,
  data: ManagedCollection,
  { state: given, added }: Shown,
): Promise<FastifyReply> {
  const { page, query, t } = request
  const { view, isCreator, path } = data
  const subject = { kind: 'collection', id: view.id } as const
  const state = await withLastEdit(request, stateOf(given), subject, editedField)
  const { shown, pages } = listPage(request, view.projects, { path: `${path}/edit`, size: PAGE_SIZE })
  const action = pages.href(pages.current)
  const listed = await loadListed(request, shown, { start: (pages.current - 1) * PAGE_SIZE, pages })
  const url = imageUrl(request.deps.config, view.icon_url)
  return showWork(request, {
    title: t('collections.edit.title', { name: view.name }),
    subject: {
      name: view.name,
      tile: face({ name: view.name, url, rawUrl: imageUrl(request.deps.config, view.raw_icon_url), isSquare: true }),
      facts: [
        t('publish.projects.count', { count: view.projects.length }),
        html`${icon(page, ICONS[view.status])}${statusLabel(page, view.status)}`,
      ],
      tools: html`<a class="button" href="${pathTo(page, path)}">${icon(page, 'eye')}${t('collections.view')}</a>${isCreator && html`<a class="button" href="${pathTo(page, `${path}/delete`)}">${icon(page, 'trash')}${t('collections.delete')}</a>`}`,
      crumbs: [{ path: PATHS.dashboardCollections, label: t('collections.title') }],
      hue: hueClass(view.color),
    },
    sections: dashboardSections(page, PATHS.dashboardCollections),
    form: given,
    notice: { count: Number(query('count')) || 0 },
    undo: undoOf(request, action),
    notes: notesOf(page, data, added),
    body: html`${sheetHead({ title: t('collections.edit'), text: isCreator ? t('collections.edit.text') : undefined })}
${await editForm(request, data, { state, listed, action })}
${isCreator && iconPart(page, { action, name: view.name, url, errors: given.errors })}`,
  })
}

const editedField = (name: string): string => (name.startsWith('place.') ? 'projects' : name)

const ICONS = { listed: 'globe', unlisted: 'link', private: 'lock', rejected: 'eye-off' } as const

export const statusLabel = (page: PageContext, status: ManagedCollection['view']['status']): string =>
  page.language.t(`collections.status.${status}`)

/** The form that returns a project that was removed. */
function undoOf({ query }: OwnRequest, action: string): Undo | undefined {
  if (query('done') !== 'project-removed') return undefined
  return { action, fields: { do: 'restore', project: query('project'), place: query('place') } }
}

function notesOf(page: PageContext, { isCreator, view, statuses }: ManagedCollection, added: number | undefined): Part {
  const { t } = page.language
  const notes = [
    added !== undefined && added > 0 && note(page, 'good', html`<p>${t('done.projects-added', { count: added })}</p>`),
    !isCreator && note(page, 'warn', html`<p>${t('collections.as-moderator')}</p>`),
    statuses.length === 0 && note(page, 'warn', html`<p>${t(`site.collection.${view.status}` as MessageKey)}</p>`),
  ].filter((part) => part !== false)
  return notes.length > 0 ? notes : undefined
}

type Editing = { state: FormState; listed: Listed; action: string }

async function editForm(request: OwnRequest, data: ManagedCollection, { state, listed, action }: Editing) {
  const { page, t } = request
  const shown = listed.rows.map(({ id }) => id)
  const values = valuesOf(data, shown)
  const labels: Record<string, string> = { ...COLLECTION_FIELDS.labels(page), status: t('people.visibility') }
  for (const { id, name } of listed.rows)
    labels[`place.${id}`] = t('people.field', { field: t('collections.place'), name })
  const content = [
    // Enter in a field saves: browsers press the first button of the form.
    html`<button class="vh" name="do" value="save" tabindex="-1" aria-hidden="true">${t('work.save')}</button>`,
    editBase(state, values),
    data.isCreator && hiddenField('shown', shown.join('.')),
    sheetPart({ id: 'details', content: detailsFields(page, data, { state, labels }) }),
    data.isCreator && (await additionPart(request, data, state)),
    data.isCreator && projectsPart(page, { data, state, listed }),
    saveBar(page),
  ]
  return form(page, { action, content })
}

function detailsFields(
  page: PageContext,
  { view, isCreator, statuses }: ManagedCollection,
  { state, labels }: { state: FormState; labels: Readonly<Record<string, string>> },
): Markup {
  const { t } = page.language
  return html`${conflictNote(page, state, labels)}
${isCreator && COLLECTION_FIELDS.controls(page, state, view)}
${
  statuses.length > 0 &&
  optionCards({
    legend: t('people.visibility'),
    name: 'status',
    options: statuses.map((value) => ({
      value,
      label: statusLabel(page, value),
      text: t(`collections.status.${value}.text`),
      isChosen: state.text('status', view.status) === value,
    })),
  })
}`
}

/** Number of results of the search. */
const RESULTS = 8
/** Maximum length of the searched words. */
const WORDS_MAX = 256

async function additionPart(request: OwnRequest, { view }: ManagedCollection, state: FormState): Promise<Markup> {
  const { page, t } = request
  const words = state.text('find', request.query('find')).trim().slice(0, WORDS_MAX)
  const input = attributes({
    type: 'search',
    id: 'find',
    name: 'find',
    value: words,
    maxlength: WORDS_MAX,
    autocomplete: 'off',
    'data-swap': 'found',
    'data-do': 'search',
  })
  const search = html`<div class="field"><label for="find">${t('collections.search')}</label><div class="with-button"><input${input}><button name="do" value="search" formnovalidate>${icon(page, 'search')}${t('collections.search.do')}</button></div></div>
<div id="found">${words !== '' && results(page, await find(request, words), new Set(view.projects))}</div>`
  const list = html`<details${attributes({ class: 'more', open: state.text('lines') !== '' })}><summary>${t('collections.paste')}</summary><div class="stack">${textArea(
    page,
    {
      name: 'lines',
      label: t('collections.lines'),
      hint: t('collections.lines-hint', { max: PROJECTS_MAX }),
      value: state.text('lines'),
      rows: 4,
      isCode: true,
      isOptional: true,
      errors: state.errors,
    },
  )}<div class="line"><button name="do" value="save">${icon(page, 'plus')}${t('collections.paste.do')}</button></div></div></details>`
  return sheetPart({ id: 'add', title: t('collections.add'), content: html`<div class="stack">${search}${list}</div>` })
}

/** Returns the projects that the index finds; undefined while it is unavailable. */
async function find({ deps, req }: OwnRequest, text: string): Promise<ProjectRow[] | undefined> {
  const query = { text, sort: 'relevance', page: 1, caller: callerOf(req) } as const
  try {
    return (await findHits(deps, query, normalize([]), RESULTS)).hits.map(rowOfHit)
  } catch (error) {
    if (error instanceof ApiError && error.status === 503) return undefined
    throw error
  }
}

function results(page: PageContext, rows: readonly ProjectRow[] | undefined, known: ReadonlySet<string>): Part {
  const { t } = page.language
  if (rows === undefined) return html`<p class="soft">${t('collections.search.unavailable')}</p>`
  if (rows.length === 0) return html`<p class="soft">${t('collections.search.none')}</p>`
  const items = rows.map((row) => {
    const details = [row.by?.name, t('publish.downloads', { count: row.downloads })].filter(Boolean).join(' · ')
    const button = known.has(row.id)
      ? html`<span class="soft small">${icon(page, 'check')} ${t('collections.added')}</span>`
      : html`<button class="tight" name="do" value="add.${row.id}">${icon(page, 'plus')}${t('collections.add.do')}<span class="vh"> ${row.name}</span></button>`
    return html`<li><span class="who">${tile(page, row, 36)}<span><a href="${pathTo(page, row.path)}"><bdi>${row.name}</bdi></a><small>${details}</small></span></span><span class="act">${button}</span></li>
`
  })
  return html`<div class="entries-box"><ul class="entries places">${items}</ul></div>`
}

type ListedRow = {
  id: string
  name: string
  path: string
  tile: Markup
  /** Number of the newest version that fits the setup; null if none fits, undefined without a setup. */
  version: string | null | undefined
}

/** One page of the projects. */
type Listed = {
  rows: readonly ListedRow[]
  setup: Setup
  /** Number of projects on the pages before. */
  start: number
  pages: Parameters<typeof pager>[1]
}

/** Loads the projects with these IDs, with a constant number of statements. */
async function loadListed(
  { deps, viewer, page, setup }: OwnRequest,
  ids: readonly string[],
  where: Omit<Listed, 'rows' | 'setup'>,
): Promise<Listed> {
  const views = (ids.length === 0 ? [] : await listVisibleProjects(deps, viewer, ids)).map(viewOf)
  const checks = views.map((view) => ({
    projectId: view.id,
    filter: setupFilter(deps.taxonomy, setup, view.project_types),
  }))
  const versions = isSet(setup) ? await readVersionsInOrder(deps, await listUpdates(deps, checks)) : []
  const rows = views.map((view, index) => {
    const version = versions[index]
    return {
      id: view.id,
      name: view.name,
      path: projectPath(view),
      tile: tile(page, { iconUrl: view.icon_url, rawUrl: view.raw_icon_url }, 36, index < 5),
      version: !isSet(setup) ? undefined : version === undefined ? null : viewOf(version).version_number,
    }
  })
  return { ...where, rows, setup }
}

function projectsPart(
  page: PageContext,
  { data, state, listed }: { data: ManagedCollection; state: FormState; listed: Listed },
): Markup {
  const { t } = page.language
  const entered = new Set(shownIds(state))
  const rows = listed.rows.map((row, index) =>
    entry(page, row, { state, entered, place: listed.start + index + 1, count: data.view.projects.length }),
  )
  const content =
    rows.length === 0
      ? emptyState(page, { icon: 'bookmark', title: t('collections.empty') })
      : html`<div class="entries-box"><ol class="entries places" data-order="place" start="${listed.start + 1}">${rows}</ol></div>
${pager(page, listed.pages)}`
  return sheetPart({
    id: 'projects',
    title: t('publish.projects'),
    ...(rows.length === 0 ? {} : { text: setupText(page, listed.setup) }),
    content,
  })
}

/** Renders the setup that the projects are compared with, with a link to change it. */
function setupText(page: PageContext, setup: Setup): Part {
  const { t } = page.language
  const change = html`<a href="${pathTo(page, PATHS.setup)}">${t('reports.follows.change-setup')}</a>`
  if (!isSet(setup)) return html`${t('collections.order')} ${t('collections.no-setup')} ${change}`
  return html`${t('collections.order')} ${t('collections.setup', { setup: setupName(page.language, setup) })} ${change}`
}

type Entry = { state: FormState; entered: ReadonlySet<string>; place: number; count: number }

function entry(page: PageContext, row: ListedRow, { state, entered, place, count }: Entry): Markup {
  const { t } = page.language
  const { id, name } = row
  const field = `place.${id}`
  const error = state.errors.find((each) => each.field === field)
  // Projects that came to this page since the form was loaded have no entered position.
  const value = entered.has(id) ? state.text(field, String(place)) : String(place)
  const input = attributes({
    type: 'number',
    id: field,
    name: field,
    value,
    min: 1,
    max: count,
    'aria-invalid': error !== undefined && 'true',
    'aria-describedby': error !== undefined && `${field}-e`,
  })
  const button = (command: string, symbol: IconName, label: string, isShown: boolean) =>
    isShown &&
    html`<button class="tight" name="do" value="${command}.${id}" title="${label}">${icon(page, symbol)}<span class="vh">${label}: ${name}</span></button>`
  return html`<li data-item="${id}" id="item-${id}" tabindex="-1"><span class="who">${row.tile}<span><a href="${pathTo(page, row.path)}"><bdi>${name}</bdi></a>${fits(page, row)}</span></span>
<span class="set"><label for="${field}">${t('collections.place')}<span class="vh"> ${name}</span></label><input${input}></span>
<span class="act line">${button('earlier', 'arrow-up', t('collections.earlier'), place > 1)}${button('later', 'arrow-down', t('collections.later'), place < count)}${button('remove', 'x', t('people.remove'), true)}</span>${error !== undefined && html`<small class="error why" id="${field}-e"${attributes({ lang: error.lang })}>${error.message}</small>`}</li>
`
}

/** Whether the project fits the setup. */
function fits(page: PageContext, { version }: ListedRow): Part {
  const { t } = page.language
  if (version === undefined) return null
  if (version === null) return html`<small>${icon(page, 'warning')}${t('collections.fits.no')}</small>`
  return html`<small>${icon(page, 'check')}${t('collections.fits', { version })}</small>`
}
