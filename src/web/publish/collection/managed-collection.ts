// The collection of an editor page, what the viewer can change, and the values that the form compares with the stored ones.

import { isModerator } from '#features/basics/access/viewer.ts'
import { listCollections } from '#features/community/collections/queries.ts'
import { CollectionInput } from '#features/community/collections/requests.ts'
import { type CollectionView, toCollectionView } from '#features/community/collections/views.ts'
import { notFound } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { fields } from '#web/kit/forms/fields.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { collectionPath } from '#web/kit/paths.ts'

type CollectionStatus = CollectionView['status']

/** Statuses that a creator can choose. A status that a moderator has set stays. */
const OWN_STATUSES: readonly CollectionStatus[] = ['listed', 'unlisted']

/** The details of a collection. */
export const COLLECTION_FIELDS = fields(CollectionInput, {
  name: { label: 'manage.name' },
  description: { label: 'collections.description', hint: 'collections.description-hint', rows: 3, isOptional: true },
})

export type ManagedCollection = {
  view: CollectionView
  /** Whether the viewer is the creator, who can edit everything. Moderators can only change the status. */
  isCreator: boolean
  /** Statuses that the viewer can choose now. */
  statuses: readonly CollectionStatus[]
  /** Path of the public page. */
  path: string
}

/** Returns the collection of the path. @throws ApiError 404 unless the viewer is its creator or a moderator */
export async function loadManagedCollection({ deps, viewer, param }: OwnRequest): Promise<ManagedCollection> {
  const id = param('id')
  const [row] = isIdForm(id) ? await listCollections(deps.db, viewer, [id]) : []
  const isCreator = row?.account_id === viewer.id
  if (row === undefined || !(isCreator || isModerator(viewer))) throw notFound('collection')
  const view = toCollectionView(deps.config)(row)
  const statuses: readonly CollectionStatus[] = isModerator(viewer)
    ? [...OWN_STATUSES, 'private', 'rejected']
    : OWN_STATUSES.includes(view.status)
      ? OWN_STATUSES
      : []
  return { view, isCreator, statuses, path: collectionPath(id) }
}

/** Returns the IDs of the projects whose positions are in the form. */
export const shownIds = (state: FormState): string[] => state.text('shown').split('.').filter(Boolean)

/** Returns the values of the form: details, and the positions of the shown projects, from 1. */
export function valuesOf(
  { view, isCreator, statuses }: ManagedCollection,
  shown: readonly string[],
): Record<string, string> {
  const places = new Map(view.projects.map((id, index) => [id, String(index + 1)]))
  const positions = shown.flatMap((id) => (places.has(id) ? [[`place.${id}`, places.get(id) ?? '']] : []))
  return {
    ...(isCreator ? COLLECTION_FIELDS.stored(view) : {}),
    ...(statuses.length > 0 ? { status: view.status } : {}),
    ...Object.fromEntries(positions),
  }
}
