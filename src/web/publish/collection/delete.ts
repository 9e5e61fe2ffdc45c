// Deletes a collection after its name was typed.
import type { FastifyReply } from 'fastify'
import { deleteCollection } from '#features/community/collections/update-collection.ts'
import { notFound, validationError } from '#lib/errors.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { confirmation } from '#web/ui/parts/actions.ts'
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
  { page, show }: OwnRequest,
  { view, path, statuses }: ManagedCollection,
  state: FormState,
): Promise<FastifyReply> {
  const { t } = page.language
  const title = t('collections.delete.title', { name: view.name })
  const edit = pathTo(page, `${path}/edit`)
  const body = confirmation(page, {
    title,
    consequences: [t('collections.delete.list', { count: view.projects.length }), t('collections.delete.links')],
    ...(view.status === 'listed' && statuses.includes('unlisted')
      ? { instead: { text: t('collections.unlist.text'), href: `${edit}#status`, label: t('collections.unlist') } }
      : {}),
    action: pathTo(page, `${path}/delete`),
    button: t('people.delete.button', { name: view.name }),
    cancel: edit,
    typed: view.name,
    errors: state.errors,
  })
  return show({ title, body, refusal: state.refusal })
}
