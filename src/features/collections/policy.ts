// Who sees a collection and who may change its status (decisions.md 6 and 11), with the SQL twins of what lists need.
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import type { DB } from '#db/schema.ts'
import { forbidden } from '#lib/errors.ts'
import { isModerator, type Viewer } from '#lib/viewer.ts'

export const COLLECTION_STATUSES = ['listed', 'unlisted', 'private', 'rejected'] as const
export type CollectionStatus = (typeof COLLECTION_STATUSES)[number]

/** What of a collection decides who may do what. */
export type CollectionFacts = { account_id: string; status: string }

/** Anyone who has the address sees these. */
const PUBLIC_STATUSES = ['listed', 'unlisted'] as const
/** What a creator may choose, and may leave. */
const CREATOR_STATUSES: readonly string[] = PUBLIC_STATUSES

export function isCreator(viewer: Viewer | null, collection: Pick<CollectionFacts, 'account_id'>): boolean {
  return viewer?.id === collection.account_id
}

/**
 * Whether a change of status is permitted: a moderator takes any collection from any status to any; a creator moves
 * between `listed` and `unlisted`, and cannot leave what a moderator has set.
 * @throws ApiError 403.
 */
export function requireStatusChange(viewer: Viewer, collection: CollectionFacts, to: CollectionStatus): void {
  if (isModerator(viewer)) return
  if (!CREATOR_STATUSES.includes(to)) throw forbidden(`Only moderators may set the status ${to}`)
  if (!CREATOR_STATUSES.includes(collection.status)) {
    throw forbidden(`Only moderators may take a collection out of the status ${collection.status}`)
  }
}

type CollectionExpressions = ExpressionBuilder<DB, 'collection'>
type CollectionFilter = (eb: CollectionExpressions) => Expression<SqlBool>

/** The collections that the viewer may see when he names them: the public ones, his own, and all for moderators. */
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
