// Project settings: name, URL, summary and icon.

import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { projectIconOwner } from '#features/catalogue/projects/edit/icon.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { conflictNote, editBase } from '#web/kit/forms/edits.ts'
import { editState, type FormState, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { projectPath } from '#web/kit/paths.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { saveBar } from '#web/ui/parts/actions.ts'
import { form, textArea, textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { ICON_LABELS, iconCommands, iconPart } from '../icon-part.ts'
import { type ManagedProject, may, saveFields } from './managed-project.ts'
import { projectForm, showProjectSettings } from './settings-frame.ts'

const editable = ({ view: { name, slug, summary } }: ManagedProject) => ({ name, slug, summary })

const LABELS = { name: 'The name', slug: 'The URL', summary: 'The summary', ...ICON_LABELS }

export function generalPages(pages: Pages, taxonomy: Taxonomy): void {
  projectForm(pages, taxonomy, {
    below: '/settings',
    name: 'manageGeneral',
    shows: 'Name, URL, summary, icon',
    api: 'updateProject setProjectIcon deleteProjectIcon',
    show: showGeneral,
    commands: { save: saveGeneral, ...iconCommands<ManagedProject>(projectIconOwner, ({ project }) => project.id) },
    labels: LABELS,
  })
}

async function saveGeneral(request: OwnRequest, data: ManagedProject, form: FormState): Promise<Outcome> {
  const { view } = data
  const { slug = view.slug } = await saveFields(request, data, form.edited(editable(data)))
  return { done: 'saved', path: `${projectPath({ ...view, slug: slug.toLowerCase() })}/settings` }
}

function showGeneral(request: OwnRequest, data: ManagedProject, state: FormState) {
  const { page } = request
  const { t } = page.language
  // A refused form shows what was entered, even if the permission was removed in the meantime.
  const isEditable = may(data, 'EDIT_DETAILS') || state.isSubmitted
  const { view, settings } = data
  const url = imageUrl(request.deps.config, view.icon_url)
  const icon = iconPart(page, { action: pathTo(page, settings), name: view.name, url, errors: state.errors })
  return showProjectSettings(request, data, {
    section: '',
    heading: t('manage.general'),
    text: t('manage.general.text'),
    needs: 'EDIT_DETAILS',
    form: state,
    body: isEditable ? [detailsForm(page, data, editState(state)), icon] : facts(page, data),
  })
}

function detailsForm(page: PageContext, data: ManagedProject, state: FormState): Markup {
  const { view, settings } = data
  const { t } = page.language
  const { errors } = state
  const labels = { name: t('manage.name'), slug: t('manage.slug'), summary: t('manage.summary') }
  const content = html`${editBase(state, editable(data))}${conflictNote(page, state, labels)}
${textField(page, { name: 'name', label: t('manage.name'), value: state.text('name', view.name), minLength: 3, maxLength: 64, errors })}
${textField(page, { name: 'slug', label: t('manage.slug'), hint: t('manage.slug.hint'), value: state.text('slug', view.slug), minLength: 3, maxLength: 64, isName: true, errors })}
${textArea(page, { name: 'summary', label: t('manage.summary'), hint: t('manage.summary.hint'), value: state.text('summary', view.summary), maxLength: 256, rows: 3, errors })}`
  return form(page, {
    action: pathTo(page, settings),
    content: [sheetPart({ id: 'details', content }), saveBar(page)],
  })
}

function facts(page: PageContext, { view }: ManagedProject): Markup {
  const { t } = page.language
  const rows = [
    [t('manage.name'), view.name],
    [t('manage.slug'), view.slug],
    [t('manage.summary'), view.summary],
  ]
  const content = html`<dl class="pairs wide">${rows.map(([label, value]) => html`<dt>${label}</dt><dd dir="auto">${value}</dd>`)}</dl>`
  return sheetPart({ id: 'details', content })
}
