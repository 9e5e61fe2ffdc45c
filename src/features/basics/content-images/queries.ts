// Pictures inside texts, as rows: each is unused at first, belongs to one thing once something uses it, and is
// deleted with that thing or when its text no longer contains it.
import { type ExpressionBuilder, sql } from 'kysely'
import type { Viewer } from '#lib/access/viewer.ts'
import { ApiError, accountDeleted, notFound, validationError } from '#lib/errors.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { isForeignKeyViolation } from '#platform/db/pg-errors.ts'
import type { DB } from '#platform/db/schema.ts'
import { removeLater } from '#ports/files/claims.ts'

export const IMAGE_CONTEXTS = ['project', 'version', 'report', 'thread_message'] as const
export type ImageContext = (typeof IMAGE_CONTEXTS)[number]

/** Something that has text with pictures in it. */
export type ImageTarget = { context: ImageContext; id: string }

/** Pictures that one thing holds. */
const IMAGES_PER_TARGET_MAX = 128
/** Pictures of one account that nothing uses yet. */
const WAITING_MAX = 64

const COLUMNS = {
  project: 'project_id',
  version: 'version_id',
  report: 'report_id',
  thread_message: 'thread_message_id',
} as const satisfies Record<ImageContext, keyof DB['image']>

/** Nothing uses the picture: not yet, or not any more. */
const isWaiting = (eb: ExpressionBuilder<DB, 'image'>) =>
  eb.and(Object.values(COLUMNS).map((column) => eb(column, 'is', null)))

export type NewImage = {
  id: string
  context: ImageContext
  url: string
  storage_key: string
  size_bytes: number
  created: Date
}

/**
 * Inserts a picture that waits to be used. The account's row stays locked meanwhile, so that uploads at once are
 * counted one after the other.
 * @throws ApiError `limit_reached` when too many wait.
 */
export async function insertImage(tx: Tx, viewer: Viewer, image: NewImage): Promise<void> {
  await tx.selectFrom('account').select('id').where('id', '=', viewer.id).forNoKeyUpdate().execute()
  const { count } = await tx
    .selectFrom('image')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('owner_id', '=', viewer.id)
    .where(isWaiting)
    .executeTakeFirstOrThrow()
  if (count >= WAITING_MAX) {
    throw new ApiError(
      'limit_reached',
      `${count} of your pictures wait to be used, and no more than ${WAITING_MAX} may`,
    )
  }
  await tx
    .insertInto('image')
    .values({ ...image, owner_id: viewer.id })
    .execute()
    .catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? accountDeleted() : error
    })
}

/**
 * Attaches pictures to what uses them from now on. Each must be the viewer's own, made for such a place and used by
 * nothing yet; of two that ask for the same picture at once, one gets it.
 * @param field the list of the request that names them.
 * @throws ApiError `validation_error` naming the first that is none of these (`uploaded_images.2`).
 */
export async function attachImages(
  tx: Tx,
  viewer: Viewer,
  { ids, target, field }: { ids: readonly string[]; target: ImageTarget; field: string },
): Promise<void> {
  if (ids.length === 0) return
  const taken = await claimImages(tx, viewer, { ids, target })
  const missing = ids.findIndex((id) => !taken.has(id))
  if (missing >= 0) throw validationError(`${field}.${missing}`, 'names no unused picture of yours for this place')
}

/** The same for pictures that are attached where they are uploaded. @throws ApiError `limit_reached`. */
export async function claimImages(
  tx: Tx,
  viewer: Viewer,
  { ids, target }: { ids: readonly string[]; target: ImageTarget },
): Promise<Set<string>> {
  const column = COLUMNS[target.context]
  const rows = await tx
    .updateTable('image')
    .set({ [column]: target.id })
    .where('id', 'in', ids)
    .where('owner_id', '=', viewer.id)
    .where('context', '=', target.context)
    .where(isWaiting)
    .returning('id')
    .execute()
  const { count } = await tx
    .selectFrom('image')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where(column, '=', target.id)
    .executeTakeFirstOrThrow()
  if (count > IMAGES_PER_TARGET_MAX)
    throw new ApiError('limit_reached', `One text holds at most ${IMAGES_PER_TARGET_MAX} pictures`)
  return new Set(rows.map(({ id }) => id))
}

/**
 * Locks a place until the transaction ends: it was looked up before the picture arrived, and may be gone.
 * @throws ApiError 404
 */
export async function lockTarget(tx: Tx, { context, id }: ImageTarget): Promise<void> {
  const row = await tx
    .selectFrom(context)
    .select(`${context}.id`)
    .where(`${context}.id`, '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (row === undefined) throw notFound(context)
}

/** Removes the pictures of a place whose address its text, now `text`, does not contain. */
export async function dropUnusedImages(tx: Tx, { context, id }: ImageTarget, text: string): Promise<void> {
  const rows = await tx
    .deleteFrom('image')
    .where(COLUMNS[context], '=', id)
    .where(sql<boolean>`strpos(${text}, image.url) = 0`)
    .returning('storage_key')
    .execute()
  await removeStored(tx, rows)
}

/** Removes all pictures of these places: they are about to be deleted. */
export async function dropImages(tx: Tx, context: ImageContext, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const rows = await tx.deleteFrom('image').where(COLUMNS[context], 'in', ids).returning('storage_key').execute()
  await removeStored(tx, rows)
}

/**
 * Removes an account's pictures before it is deleted. Those in projects and versions stay with them, since these stay
 * too; nobody is named as their owner any more.
 */
export async function dropImagesOf(tx: Tx, accountId: string): Promise<void> {
  const rows = await tx
    .deleteFrom('image')
    .where('owner_id', '=', accountId)
    .where((eb) => eb.or([eb('context', 'in', ['report', 'thread_message']), isWaiting(eb)]))
    .returning('storage_key')
    .execute()
  await removeStored(tx, rows)
}

/** Whose picture it is; undefined when it has gone, null when nobody's any more. */
export async function findImageOwner(db: Db, id: string): Promise<string | null | undefined> {
  return (await db.selectFrom('image').select('owner_id').where('id', '=', id).executeTakeFirst())?.owner_id
}

/** The row of a picture that could not be stored. */
export async function deleteImage(db: Db, id: string): Promise<void> {
  await db.deleteFrom('image').where('id', '=', id).execute()
}

/** Removes up to `limit` pictures that were made before `before` and that nothing uses; returns how many. */
export async function dropWaitingImages(tx: Tx, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const rows = await tx
    .deleteFrom('image')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('image')
        .select('id')
        .where(isWaiting)
        .where('created', '<', before)
        .orderBy('created')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning('storage_key')
    .execute()
  await removeStored(tx, rows)
  return rows.length
}

async function removeStored(tx: Tx, rows: readonly { storage_key: string }[]): Promise<void> {
  await removeLater(
    tx,
    rows.map(({ storage_key }) => storage_key),
  )
}
