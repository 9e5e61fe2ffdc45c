// Deletes a collection after its name was typed.

import type { FastifyReply } from 'fastify'
import { deleteCollection } from '#features/community/collections/update-collection.ts'
import { notFound, validationError } from '#lib/errors.ts'
import { showConfirmation } from '#web/kit/forms/confirm.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { loadManagedCollection, type ManagedCollection } from './managed-collection.ts'

export function collectionDeletionPage(pages: Pages): void {
  formPage<ManagedCollection>(pages, {
    path: '/collection/:id/delete',
    name: 'manageCollectionDeletion',
    api: 'deleteCollection',
    load: async (request) => {
      const data = await loadManagedCollection(request)
      if (!data.isCreator) throw notFound('collection')
      return data
    },
    show: showDeletion,
    commands: { confirm: remove },
    labels: { name: 'The name' },
  })
}

async function remove({ deps, viewer }: OwnRequest, { view }: ManagedCollection, state: FormState): Promise<Outcome> {
  if (typed(state.text('name')) !== typed(view.name)) throw validationError('name', `must be ${view.name}`)
  await deleteCollection(deps, viewer, view.id)
  return { done: 'collection-deleted', path: PATHS.dashboardCollections }
}

/** Returns a name as a page shows it, with one space between words. */
const typed = (name: string): string => name.normalize().replaceAll(/\s+/g, ' ').trim()
async function showDeletion(
  request: OwnRequest,
  { view, path, statuses }: ManagedCollection,
  state: FormState,
): Promise<FastifyReply> {
  const { page, t } = request
  const edit = `${path}/edit`
  const href = `${pathTo(page, edit)}#status`
  const question = {
    title: t('collections.delete.title', { name: view.name }),
    consequences: [t('collections.delete.list', { count: view.projects.length }), t('collections.delete.links')],
    ...(view.status === 'listed' && statuses.includes('unlisted')
      ? { instead: { text: t('collections.unlist.text'), href, label: t('collections.unlist') } }
      : {}),
    path: `${path}/delete`,
    button: t('people.delete.button', { name: view.name }),
    cancel: edit,
    typed: view.name,
  }
  return showConfirmation(request, question, state)
}
