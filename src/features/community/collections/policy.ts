// Decides who can see and change a collection.
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { isModerator, type Viewer } from '#features/basics/access/viewer.ts'
import { forbidden, notFound } from '#lib/errors.ts'
import type { DB } from '#platform/db/schema.ts'

export const COLLECTION_STATUSES = ['listed', 'unlisted', 'private', 'rejected'] as const
export type CollectionStatus = (typeof COLLECTION_STATUSES)[number]

/** The facts that decide who can see and change a collection. */
export type CollectionFacts = { account_id: string; status: string }

/** The fields of a patch that decide who may apply it. Null means absent, except in `description`. */
type PatchFacts = { name?: unknown; description?: unknown; new_projects?: unknown; status?: CollectionStatus | null }

/** Statuses of collections that everyone who has the link can see. A creator can switch between them. */
const PUBLIC_STATUSES: readonly CollectionStatus[] = ['listed', 'unlisted']

/** @throws ApiError 404 if the collection is hidden, 403 unless the viewer is its creator, even for moderators. */
export function requireEditable<Collection extends CollectionFacts>(
  viewer: Viewer,
  collection: Collection | undefined,
): Collection {
  if (collection === undefined) throw notFound('collection')
  if (viewer.id !== collection.account_id) throw forbidden('Only the creator can edit or delete a collection')
  return collection
}

/**
 * The creator can change every field; a moderator can change the status only.
 * @throws ApiError 404 if the collection is hidden, 403.
 */
export function requirePermittedPatch(
  viewer: Viewer,
  collection: CollectionFacts | undefined,
  { status, name, description, new_projects: projects }: PatchFacts,
): void {
  const isStatusOnly = status != null && name == null && description === undefined && projects == null
  if (collection === undefined || !isStatusOnly || !isModerator(viewer)) requireEditable(viewer, collection)
  if (collection !== undefined && status != null) requireStatusChange(viewer, collection, status)
}

/**
 * A moderator can set every status. A creator can switch between `listed` and `unlisted`, but cannot change a status that
 * only moderators set.
 * @throws ApiError 403.
 */
function requireStatusChange(viewer: Viewer, collection: CollectionFacts, to: CollectionStatus): void {
  if (isModerator(viewer)) return
  if (!PUBLIC_STATUSES.includes(to)) throw forbidden(`Only moderators can set the status ${to}`)
  if (!PUBLIC_STATUSES.some((status) => status === collection.status))
    throw forbidden(`Only moderators can change the status of a collection from ${collection.status}`)
}

type CollectionExpressions = ExpressionBuilder<DB, 'collection'>
type CollectionFilter = (eb: CollectionExpressions) => Expression<SqlBool>

/** SQL condition for collections that the viewer can see by ID: public ones and their own; all for moderators. */
export function collectionVisibleTo(viewer: Viewer | null): CollectionFilter {
  return (eb) => withStatusOrOwn(eb, viewer, PUBLIC_STATUSES)
}

/** SQL condition for collections that a user's list shows to the viewer: without unlisted ones of other users. */
export function collectionListedFor(viewer: Viewer | null): CollectionFilter {
  return (eb) => withStatusOrOwn(eb, viewer, ['listed'])
}

function withStatusOrOwn(eb: CollectionExpressions, viewer: Viewer | null, statuses: readonly CollectionStatus[]) {
  if (isModerator(viewer)) return sql<SqlBool>`true`
  const open = eb('collection.status', 'in', [...statuses])
  return viewer === null ? open : eb.or([open, eb('collection.account_id', '=', viewer.id)])
}
