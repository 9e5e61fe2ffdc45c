// Project settings: archive the project, or delete it with everything in it.
import type { FastifyReply } from 'fastify'
import { deleteProject } from '#features/catalogue/projects/edit/delete-project.ts'
import { countDependents } from '#features/catalogue/versions/dependencies/dependents.ts'
import { countCollectionsWith } from '#features/community/collections/queries.ts'
import { validationError } from '#lib/errors.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { wholeNumber } from '#web/ui/format.ts'
import { html } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { buttonForm } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { deletionForm } from '../settings.ts'
import { impactOf } from '../version/impact-view.ts'
import { type ManagedProject, may } from './managed-project.ts'
import { projectForm, showProjectSettings } from './settings-frame.ts'

export function deletionPages(pages: Pages, taxonomy: Taxonomy): void {
  projectForm(pages, taxonomy, {
    below: '/settings/delete',
    name: 'manageDeletion',
    shows: 'Archiving or deletion',
    api: 'deleteProject',
    show: showDeletion,
    commands: { delete: remove },
    labels: { name: 'The name' },
  })
}

async function remove({ deps, viewer }: OwnRequest, data: ManagedProject, state: FormState): Promise<Outcome> {
  const { project, membership, view } = data
  if (state.text('name').trim() !== view.slug) throw validationError('name', `must be ${view.slug}`)
  await deleteProject(deps, viewer, { project, membership })
  return { done: 'project-deleted', path: PATHS.dashboard }
}

async function showDeletion(request: OwnRequest, data: ManagedProject, state: FormState): Promise<FastifyReply> {
  const { page, deps, language, t } = request
  const { view, settings } = data
  const [dependents, collections] = await Promise.all([
    countDependents(deps.db, view.id),
    countCollectionsWith(deps.db, view.id),
  ])
  const impact = await impactOf(request, { projectId: view.id, versionId: null, action: 'remove' })
  const canArchive = may(data, 'EDIT_DETAILS') && ['approved', 'unlisted', 'private'].includes(view.status)
  const archive = sheetPart({
    id: 'archive',
    title: t('people.archive'),
    text: t('people.archive.text'),
    content: buttonForm(page, {
      action: pathTo(page, `${settings}/visibility`),
      text: t('people.archive.button', { name: view.name }),
      fields: { do: 'restore', status: 'archived' },
    }),
  })
  const effects = [
    t('people.delete.versions', { count: view.versions.length }),
    t('people.delete.downloads', { count: wholeNumber(language, view.downloads) }),
    t('people.delete.dependents', { count: dependents }),
    ...impact,
    t('people.delete.collections', { count: collections }),
    t('people.delete.url'),
  ]
  const content = deletionForm(page, view, { settings, state, effects })
  const isEditable = may(data, 'DELETE_PROJECT') || state.isSubmitted
  return showProjectSettings(request, data, {
    section: '/delete',
    heading: t('people.delete'),
    needs: 'DELETE_PROJECT',
    form: state,
    body: html`${canArchive && archive}${isEditable && sheetPart({ id: 'delete', title: t('people.delete.heading'), content })}`,
  })
}
