// The editor of a collection: details, and the projects in their order. All buttons of the form save everything that was
// entered. Each edit is applied to the stored list, so that projects that another request added or moved remain.
import { findProjectIds } from '#features/community/collections/queries.ts'
import { CollectionPatch, PROJECTS_MAX } from '#features/community/collections/requests.ts'
import { collectionIconOwner, updateCollection } from '#features/community/collections/update-collection.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import { EMPTY, type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { ICON_LABELS, iconCommands } from '../icon-part.ts'
import { showEditor } from './editor-view.ts'
import {
  COLLECTION_FIELDS,
  loadManagedCollection,
  type ManagedCollection,
  shownIds,
  valuesOf,
} from './managed-collection.ts'
import { linesOf, placed, projectNameIn } from './order.ts'

const LABELS = {
  ...COLLECTION_FIELDS.said,
  status: 'The visibility',
  lines: 'The list',
  new_projects: 'The list of projects',
  ...ICON_LABELS,
}

export function collectionEditorPage(pages: Pages): void {
  formPage<ManagedCollection>(pages, {
    path: '/collection/:id/edit',
    name: 'manageCollection',
    shows: 'Name, description, visibility, icon and projects of a collection',
    api: 'updateCollection setCollectionIcon deleteCollectionIcon',
    load: loadManagedCollection,
    show: (request, data, state) => showEditor(request, data, { state }),
    commands: {
      save: (request, data, state) => save(request, data, { state, done: 'saved' }),
      // Shows the results with everything that was entered.
      search: (request, data, state) => showEditor(request, data, { state }),
      add,
      earlier: (request, data, state) => moveBy(request, data, { state, step: -1 }),
      later: (request, data, state) => moveBy(request, data, { state, step: 1 }),
      place: moveTo,
      remove,
      restore,
      ...iconCommands<ManagedCollection>(collectionIconOwner, ({ view }) => view.id),
    },
    labels: ({ view }) => ({
      ...LABELS,
      ...Object.fromEntries(view.projects.map((id) => [`place.${id}`, 'The position'])),
    }),
  })
}

/** Saves a patch. If another request has changed the collection, the command runs again on the new state. */
async function savePatch(
  { deps, viewer }: OwnRequest,
  { view: { id, revision } }: ManagedCollection,
  patch: CollectionPatch,
): Promise<void> {
  if (Object.keys(patch).length === 0) return
  const checked = checkValues(CollectionPatch, patch)
  // The page does not contain projects that are hidden now, and their positions are not edited.
  await updateCollection(deps, viewer, { id, patch: checked, revision, keepsHidden: true })
}

type Edit = (list: readonly string[]) => string[]
type Saving = { state: FormState; done: NonNullable<Extract<Outcome, { done?: unknown }>['done']>; edit?: Edit }

/** Saves the form: details, positions and pasted lines. `edit` is the change of the pressed button. */
async function save(request: OwnRequest, data: ManagedCollection, { state, done, edit }: Saving): Promise<Outcome> {
  const pasted = await readLines(request, state)
  const { patch, list } = readForm(data, state)
  const known = new Set(list)
  const fresh = pasted.ids.filter((id) => !known.has(id))
  const projects = [...(edit?.(list) ?? list), ...fresh]
  if (projects.length > PROJECTS_MAX) throw tooMany(fresh.length > 0 ? 'lines' : undefined, projects.length)
  const isSame = projects.join() === data.view.projects.join()
  await savePatch(request, data, isSame ? patch : { ...patch, new_projects: projects })
  if (pasted.unknown.length > 0) return showUnknown(request, { added: fresh.length, unknown: pasted.unknown })
  const where = { page: request.query('page'), find: state.text('find') }
  if (pasted.ids.length > 0) return { done: 'projects-added', with: { ...where, count: String(fresh.length) } }
  return { done, with: where, ...(done === 'moved' ? { fragment: `item-${state.argument}` } : {}) }
}

function tooMany(field: string | undefined, count: number): ApiError {
  const message = `A collection can have at most ${PROJECTS_MAX} projects, and this change would make it ${count}. Nothing was changed`
  return new ApiError('validation_error', message, { details: { field, message } })
}

/** Returns the edited details, and the list with the entered positions. */
function readForm(data: ManagedCollection, state: FormState): { patch: CollectionPatch; list: string[] } {
  const { projects } = data.view
  const edited = state.edited(valuesOf(data, shownIds(state)))
  const { name, description, status } = edited
  const places = new Map<string, number>()
  for (const [key, value] of Object.entries(edited)) {
    const [field, id = ''] = key.split('.')
    if (field !== 'place' || value === undefined) continue
    const number = /^\d{1,4}$/.test(value.trim()) ? Number(value) : 0
    if (number < 1 || number > projects.length)
      throw validationError(key, `must be a whole number from 1 to ${projects.length}`)
    places.set(id, number - 1)
  }
  const patch: Record<string, unknown> = {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description: description === '' ? null : description }),
    ...(status === undefined ? {} : { status }),
  }
  return { patch: patch as CollectionPatch, list: placed(projects, places) }
}

/** Returns the projects that the pasted lines name, and the lines that name no project that the viewer can see. */
async function readLines({ deps, viewer, page }: OwnRequest, state: FormState) {
  const lines = linesOf(state.text('lines'))
  if (lines.length > PROJECTS_MAX) throw validationError('lines', `must have at most ${PROJECTS_MAX} lines`)
  const names = lines.map((line) => projectNameIn(line, page.site.url))
  const found = await findProjectIds(
    deps.db,
    viewer,
    names.map((name) => name ?? ''),
  )
  return {
    ids: [...new Set(found.filter((id) => id !== undefined))],
    unknown: lines.filter((_line, index) => found[index] === undefined),
  }
}

/** Shows the saved collection, with the lines that were not recognised in the field. */
async function showUnknown(
  request: OwnRequest,
  { added, unknown }: { added: number; unknown: readonly string[] },
): Promise<Outcome> {
  const { t } = request
  const refusal = { field: 'lines', message: t('collections.unknown', { count: unknown.length }), status: 400 }
  const text: FormState['text'] = (name, current = '') => (name === 'lines' ? unknown.join('\n') : current)
  const state = { ...EMPTY, refusal, errors: [refusal], text }
  return showEditor(request, await loadManagedCollection(request), { state, added })
}

/** Returns the place of the project that a button names. @throws ApiError 409 if another request has removed it */
function placeOf(list: readonly string[], id: string): number {
  const place = list.indexOf(id)
  if (place === -1) throw new ApiError('conflict', 'This project is not in the collection any more')
  return place
}

function moveBy(request: OwnRequest, data: ManagedCollection, { state, step }: { state: FormState; step: 1 | -1 }) {
  const id = state.argument
  const edit: Edit = (list) => placed(list, new Map([[id, Math.max(0, placeOf(list, id) + step)]]))
  return save(request, data, { state, done: 'moved', edit })
}

/** Moves a project to a place on the shown page: what dragging sends. */
function moveTo(request: OwnRequest, data: ManagedCollection, state: FormState): Promise<Outcome> {
  const id = state.argument
  const first = shownIds(state)[0] ?? ''
  const edit: Edit = (list) => {
    placeOf(list, id)
    const start = Math.max(0, list.indexOf(first))
    return placed(list, new Map([[id, start + (Number(state.text('place')) || 0)]]))
  }
  return save(request, data, { state, done: 'moved', edit })
}

/** Adds a project from the results of the search at the end. */
function add(request: OwnRequest, data: ManagedCollection, state: FormState): Promise<Outcome> {
  const id = state.argument
  const edit: Edit = (list) => (list.includes(id) ? [...list] : [...list, id])
  return save(request, data, { state, done: 'project-added', edit })
}

async function remove(request: OwnRequest, data: ManagedCollection, state: FormState): Promise<Outcome> {
  const id = state.argument
  let place = 0
  const edit: Edit = (list) => {
    place = placeOf(list, id)
    return list.filter((other) => other !== id)
  }
  const outcome = await save(request, data, { state, done: 'project-removed', edit })
  return 'statusCode' in outcome
    ? outcome
    : { ...outcome, with: { ...outcome.with, project: id, place: String(place) } }
}

/** Returns a removed project to its place. */
async function restore(request: OwnRequest, data: ManagedCollection, state: FormState): Promise<Outcome> {
  const id = state.text('project')
  const place = Number(state.text('place')) || 0
  const { projects } = data.view
  await savePatch(request, data, projects.includes(id) ? {} : { new_projects: projects.toSpliced(place, 0, id) })
  return { done: 'project-restored', with: { page: request.query('page') } }
}
