// Project settings: who can see the project, from when, and what visitors see of its statistics.

import type { FastifyReply } from 'fastify'
import { isModerator } from '#features/basics/access/viewer.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import { isTimeZone, toZoned, zonedTime } from '#lib/zoned-time.ts'
import { mayOwnerMove, type ProjectStatus } from '#taxonomy/project-status.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { conflictNote, editBase } from '#web/kit/forms/edits.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { saveForm } from '#web/ui/parts/actions.ts'
import { optionCards } from '#web/ui/parts/choices.ts'
import { checkbox, selectField, textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { statusOf } from '#web/ui/parts/status.ts'
import { lastZone, rememberZone } from '../zone.ts'
import { type ManagedProject, may, saveFields } from './managed-project.ts'
import { projectForm, showProjectSettings } from './settings-frame.ts'

const CHOICES = ['approved', 'unlisted', 'private', 'archived'] as const
const LABELS = {
  status: 'The visibility',
  requested_status: 'The visibility after the review',
  scheduled_at: 'The time',
  zone: 'The time zone',
  public_statistics: 'The statistics',
  version_order: 'The order of versions',
  monetization_status: 'The monetization',
}

export function visibilityPages(pages: Pages, taxonomy: Taxonomy): void {
  projectForm(pages, taxonomy, {
    below: '/settings/visibility',
    name: 'manageVisibility',
    shows: 'Visibility, schedule, order of versions, public statistics',
    show: showVisibility,
    commands: { save, restore },
    labels: LABELS,
  })
}

/** Whether the viewer can choose the visibility now. Before the first review, they choose the one after it. */
const isReviewed = ({ viewer }: OwnRequest, { view }: ManagedProject): boolean =>
  isModerator(viewer) || view.status === 'scheduled' || mayOwnerMove(view.status as ProjectStatus, 'unlisted')

function editable(request: OwnRequest, data: ManagedProject) {
  const { status, requested_status, public_statistics, version_order, monetization_status } = data.view
  const later = requested_status ?? 'approved'
  return {
    ...(isReviewed(request, data)
      ? { status: status === 'scheduled' ? 'scheduled' : status }
      : { requested_status: later }),
    public_statistics: public_statistics ? ['on'] : [],
    by_number: version_order === 'number' ? ['on'] : [],
    ...(monetization_status === 'force-demonetized'
      ? {}
      : { monetized: monetization_status === 'monetized' ? ['on'] : [] }),
  }
}

async function save(request: OwnRequest, data: ManagedProject, state: FormState): Promise<Outcome> {
  const { deps, reply } = request
  const { view } = data
  const edited: Record<string, string | readonly string[] | undefined> = state.edited(editable(request, data))
  const { status, requested_status, public_statistics, by_number, monetized } = edited
  const schedule = (status ?? state.text('status')) === 'scheduled' ? scheduleOf(state) : undefined
  const isSame = view.status === 'scheduled' && schedule?.scheduled_at === view.scheduled_at
  const patch = await saveFields(request, data, {
    ...(requested_status === undefined ? {} : { requested_status }),
    ...(status === undefined || schedule !== undefined ? {} : { status }),
    ...(schedule === undefined || isSame ? {} : { status: 'scheduled', ...schedule }),
    ...(public_statistics === undefined ? {} : { public_statistics: public_statistics.length > 0 }),
    ...(by_number === undefined ? {} : { version_order: by_number.length > 0 ? 'number' : 'date' }),
    ...(monetized === undefined ? {} : { monetization_status: monetized.length > 0 ? 'monetized' : 'demonetized' }),
  })
  if (schedule !== undefined) rememberZone({ deps, reply }, state.text('zone'))
  if (patch.status === undefined || schedule !== undefined) return { done: 'saved' }
  return { done: 'visibility', with: { before: view.status, status: patch.status } }
}

function scheduleOf(state: FormState): { scheduled_at: string; requested_status: string } {
  const zone = state.text('zone')
  if (!isTimeZone(zone)) throw validationError('zone', 'must be one of the list')
  const at = zonedTime(state.text('scheduled_at'), zone)
  if (at === undefined) throw validationError('scheduled_at', 'must be a date and a time that exists in this time zone')
  return { scheduled_at: new Date(at).toISOString(), requested_status: 'approved' }
}

/** Undoes the change of the visibility that the notice confirms. @throws ApiError `conflict` if it was changed since */
async function restore(request: OwnRequest, data: ManagedProject, state: FormState): Promise<Outcome> {
  if (state.text('undone') !== data.view.status)
    throw new ApiError('conflict', 'Another user has changed the visibility since then. Nothing was undone.')
  await saveFields(request, data, { status: state.text('status') })
  return { done: 'saved' }
}

function showVisibility(request: OwnRequest, data: ManagedProject, state: FormState): Promise<FastifyReply> {
  const { page, query, t } = request
  const path = `${data.settings}/visibility`
  const [before, status] = [query('before'), query('status')]
  const mayUndo =
    query('done') === 'visibility' && status === data.view.status && CHOICES.some((each) => each === before)
  return showProjectSettings(request, data, {
    section: '/visibility',
    heading: t('people.visibility'),
    text: t('people.visibility.text'),
    needs: 'EDIT_DETAILS',
    form: state,
    undo: mayUndo ? { action: path, fields: { do: 'restore', status: before, undone: status } } : undefined,
    body:
      may(data, 'EDIT_DETAILS') || state.isSubmitted
        ? visibilityForm(request, data, { state, path })
        : sheetPart({ id: 'visibility', content: html`<p>${statusOf(page, 'project', data.view.status)}</p>` }),
  })
}

type Shown = { state: FormState; path: string }

function visibilityForm(request: OwnRequest, data: ManagedProject, { state, path }: Shown): Markup {
  const { page, t } = request
  const current = editable(request, data)
  const labels = { status: t('people.visibility'), requested_status: t('people.visibility.later') }
  const box = (name: 'public_statistics' | 'by_number' | 'monetized'): Part =>
    checkbox({
      name,
      value: 'on',
      isChecked: state.list(name, current[name] ?? []).includes('on'),
      label: t(`people.${name}`),
      hint: t(`people.${name}.hint`),
    })
  const cards = html`${editBase(state, current)}${conflictNote(page, state, labels)}${statusCards(request, data, state)}`
  const numbers = html`<div class="stack">${box('public_statistics')}${'monetized' in current ? box('monetized') : html`<p>${t('people.demonetized')}</p>`}</div>`
  return saveForm(page, {
    path,
    parts: [
      sheetPart({ id: 'visibility', content: cards }),
      sheetPart({ id: 'order', title: t('people.newest'), content: box('by_number') }),
      sheetPart({ id: 'numbers', title: t('people.numbers'), content: numbers }),
    ],
  })
}

function statusCards(request: OwnRequest, data: ManagedProject, state: FormState): Markup {
  const { page, t } = request
  const { view } = data
  const reviewed = isReviewed(request, data)
  const name = reviewed ? 'status' : 'requested_status'
  const stored = reviewed ? view.status : (view.requested_status ?? 'approved')
  const chosen = state.text(name, stored)
  const choices: string[] = reviewed ? [...CHOICES] : CHOICES.filter((each) => each !== 'archived')
  if (reviewed && view.approved !== null) choices.push('scheduled')
  if (!choices.includes(stored)) choices.unshift(stored)
  const cards = optionCards({
    legend: t(reviewed ? 'people.visibility' : 'people.visibility.later'),
    name,
    error: cardError(state, name),
    options: choices.map((value) => ({
      value,
      label: t(`work.project.${value as (typeof CHOICES)[number]}`),
      text: t(`people.visibility.${value as (typeof CHOICES)[number]}`),
      isChosen: chosen === value,
    })),
  })
  return html`${!reviewed && html`<p>${statusOf(page, 'project', view.status)}</p>`}${cards}${reviewed && view.approved !== null && scheduleFields(request, data, state)}`
}

function cardError({ errors }: FormState, name: string): Part {
  const error = errors.find(({ field }) => field === name)
  return (
    error !== undefined &&
    html`<p class="error"${error.lang === undefined ? '' : html` lang="${error.lang}"`}>${error.message}</p>`
  )
}

function scheduleFields(request: OwnRequest, { view }: ManagedProject, state: FormState): Markup {
  const { page, t } = request
  const zone = state.text('zone', lastZone(request))
  const shownZone = isTimeZone(zone) ? zone : 'UTC'
  const at = view.scheduled_at === null ? '' : toZoned(Date.parse(view.scheduled_at), shownZone)
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((each) => each !== 'UTC')]
  return html`<div class="pair">${textField(page, { name: 'scheduled_at', type: 'datetime-local', label: t('people.scheduled-at'), hint: t('people.scheduled-at.hint'), value: state.text('scheduled_at', at), isOptional: true, errors: state.errors })}
${selectField(page, { name: 'zone', label: t('people.zone'), errors: state.errors, choices: zones.map((value) => ({ value, label: value.replaceAll('_', ' '), isChosen: value === shownZone })) })}</div>`
}
