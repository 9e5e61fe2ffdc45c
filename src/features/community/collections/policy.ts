// Who sees a collection and who may change what of it, with the SQL twins of what lists need.
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { isModerator, type Viewer } from '#lib/access/viewer.ts'
import { forbidden, notFound } from '#lib/errors.ts'
import type { DB } from '#platform/db/schema.ts'
import type { CollectionPatch } from './requests.ts'

export const COLLECTION_STATUSES = ['listed', 'unlisted', 'private', 'rejected'] as const
export type CollectionStatus = (typeof COLLECTION_STATUSES)[number]

/** What of a collection decides who may do what. */
export type CollectionFacts = { account_id: string; status: string }

/** Anyone who has the address sees these. */
const PUBLIC_STATUSES = ['listed', 'unlisted'] as const
/** What a creator may choose, and may leave. */
const CREATOR_STATUSES: readonly string[] = PUBLIC_STATUSES

/** @throws ApiError 404 when the collection is hidden, 403 for others than its creator, moderators included. */
export function requireEditable<Found extends CollectionFacts>(viewer: Viewer, collection: Found | undefined): Found {
  if (collection === undefined) throw notFound('collection')
  if (viewer.id !== collection.account_id) throw forbidden('Only its creator may edit or delete a collection')
  return collection
}

/**
 * A moderator who is not the creator changes the status and nothing else.
 * @throws ApiError 404 when the collection is hidden, 403.
 */
export function requirePermittedPatch(
  viewer: Viewer,
  collection: CollectionFacts | undefined,
  { status, ...rest }: CollectionPatch,
): void {
  const { name, description, new_projects: projects } = rest
  const isStatusOnly = status != null && name == null && description === undefined && projects == null
  if (collection === undefined || !isStatusOnly || !isModerator(viewer)) requireEditable(viewer, collection)
  if (collection !== undefined && status != null) requireStatusChange(viewer, collection, status)
}

/**
 * Whether a change of status is permitted: a moderator takes any collection from any status to any; a creator moves
 * between `listed` and `unlisted`, and cannot leave what a moderator has set.
 * @throws ApiError 403.
 */
function requireStatusChange(viewer: Viewer, collection: CollectionFacts, to: CollectionStatus): void {
  if (isModerator(viewer)) return
  if (!CREATOR_STATUSES.includes(to)) throw forbidden(`Only moderators may set the status ${to}`)
  if (!CREATOR_STATUSES.includes(collection.status)) {
    throw forbidden(`Only moderators may take a collection out of the status ${collection.status}`)
  }
}

type CollectionExpressions = ExpressionBuilder<DB, 'collection'>
type CollectionFilter = (eb: CollectionExpressions) => Expression<SqlBool>

/** The collections that the viewer may see by ID: the public ones, their own, and all for moderators. */
export function collectionVisibleTo(viewer: Viewer | null): CollectionFilter {
  return (eb) => withStatusOrOwn(eb, viewer, PUBLIC_STATUSES)
}

/** The collections that stand in a user's list for this viewer: others do not find unlisted ones there. */
export function collectionListedFor(viewer: Viewer | null): CollectionFilter {
  return (eb) => withStatusOrOwn(eb, viewer, ['listed'])
}

function withStatusOrOwn(eb: CollectionExpressions, viewer: Viewer | null, statuses: readonly CollectionStatus[]) {
  if (isModerator(viewer)) return sql<SqlBool>`true`
  const open = eb('collection.status', 'in', [...statuses])
  return viewer === null ? open : eb.or([open, eb('collection.account_id', '=', viewer.id)])
}
