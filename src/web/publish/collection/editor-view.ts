// The page of the collection editor: details, the search and the list for new projects, and the projects in their order.
import type { FastifyReply } from 'fastify'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { conflictNote, editBase } from '#web/kit/forms/edits.ts'
import { type FormState, stateOf } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { listPage, PATHS } from '#web/kit/paths.ts'
import { showWork } from '#web/kit/work-page.ts'
import { hueClass } from '#web/site/names.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { MessageKey } from '#web/ui/languages.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { saveBar, type Undo } from '#web/ui/parts/actions.ts'
import { optionCards } from '#web/ui/parts/choices.ts'
import { form, hiddenField } from '#web/ui/parts/fields.ts'
import { sheetHead, sheetPart } from '#web/ui/parts/frame.ts'
import { face, note } from '#web/ui/parts/lists.ts'
import { dashboardSections } from '../dashboard/dashboard-frame.ts'
import { iconPart } from '../icon-part.ts'
import { withLastEdit } from '../settings.ts'
import { additionPart } from './addition-part.ts'
import { COLLECTION_FIELDS, type ManagedCollection, valuesOf } from './managed-collection.ts'
import { type Listed, loadListed, projectsPart } from './projects-part.ts'

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

async function editForm(
  request: OwnRequest,
  data: ManagedCollection,
  { state, listed, action }: Editing,
): Promise<Markup> {
  const { page, t } = request
  const shown = listed.rows.map(({ id }) => id)
  const values = valuesOf(data, shown)
  const labels: Record<string, string> = {
    ...COLLECTION_FIELDS.labels(page),
    status: t('people.visibility'),
  }
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
