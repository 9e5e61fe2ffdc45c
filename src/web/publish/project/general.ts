// Project settings: name, URL, summary and icon.

import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { projectIconOwner } from '#features/catalogue/projects/edit/icon.ts'
import { ProjectPatch } from '#features/catalogue/projects/edit/requests.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { fields } from '#web/kit/forms/fields.ts'
import { type FormState, type Outcome, stateOf } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { projectPath } from '#web/kit/paths.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { saveForm } from '#web/ui/parts/actions.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { ICON_LABELS, iconCommands, iconPart } from '../icon-part.ts'
import { fromFileNotice } from '../start/from-file-notice.ts'
import { type ManagedProject, may, saveFields } from './managed-project.ts'
import { projectForm, showProjectSettings } from './settings-frame.ts'

/** The fields of a project that every project has. */
export const PROJECT_FIELDS = fields(ProjectPatch, {
  name: { label: 'manage.name' },
  slug: { label: 'manage.slug', said: 'The URL', hint: 'manage.slug.hint', isName: true },
  summary: { label: 'manage.summary', hint: 'manage.summary.hint', rows: 3 },
})

export function generalPages(pages: Pages, taxonomy: Taxonomy): void {
  projectForm(pages, taxonomy, {
    below: '/settings',
    name: 'manageGeneral',
    shows: 'Name, URL, summary, icon',
    api: 'updateProject setProjectIcon deleteProjectIcon',
    show: showGeneral,
    commands: { save: saveGeneral, ...iconCommands<ManagedProject>(projectIconOwner, ({ project }) => project.id) },
    labels: { ...PROJECT_FIELDS.said, ...ICON_LABELS },
  })
}

async function saveGeneral(request: OwnRequest, data: ManagedProject, form: FormState): Promise<Outcome> {
  const { view } = data
  const { slug = view.slug } = await saveFields(request, data, PROJECT_FIELDS.changes(form, view))
  return { done: 'saved', path: `${projectPath({ ...view, slug: slug.toLowerCase() })}/settings` }
}

async function showGeneral(request: OwnRequest, data: ManagedProject, state: FormState) {
  const { page, t } = request
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
    ...(await fromFileNotice(request, data)),
    body: isEditable
      ? [
          saveForm(page, { id: 'details', path: settings, content: PROJECT_FIELDS.edit(page, stateOf(state), view) }),
          icon,
        ]
      : sheetPart({ id: 'details', content: PROJECT_FIELDS.facts(page, view) }),
  })
}
