// Rows of images inside texts. An image is unused at first, then belongs to one target, and is deleted with its target
// or when the text no longer contains it.
import { type ExpressionBuilder, sql } from 'kysely'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { IMAGE_KEYS } from '#features/basics/images/hosted-image.ts'
import { ApiError, accountDeleted, notFound, validationError } from '#lib/errors.ts'
import { countRows, type Db, type Tx } from '#platform/db/db.ts'
import { isForeignKeyViolation } from '#platform/db/pg-errors.ts'
import type { DB } from '#platform/db/schema.ts'
import { removeLater } from '#ports/files/claims.ts'

export const IMAGE_CONTEXTS = ['project', 'version', 'report', 'thread_message'] as const
export type ImageContext = (typeof IMAGE_CONTEXTS)[number]

/** A resource whose text can contain images. */
export type ImageTarget = { context: ImageContext; id: string }

/** Maximum number of images of a target. */
const IMAGES_PER_TARGET_MAX = 128
/** Maximum number of unused images of an account. */
const UNUSED_MAX = 64

const COLUMNS = {
  project: 'project_id',
  version: 'version_id',
  report: 'report_id',
  thread_message: 'thread_message_id',
} as const satisfies Record<ImageContext, keyof DB['image']>

/** The condition that no text uses the image. */
const isUnused = (eb: ExpressionBuilder<DB, 'image'>) =>
  eb.and(Object.values(COLUMNS).map((column) => eb(column, 'is', null)))

export type NewImage = { id: string; context: ImageContext; storage_key: string; size_bytes: number; created: Date }

/**
 * Inserts an unused image. Locks the account's row, so that concurrent uploads count each other.
 * @throws ApiError `limit_reached` if the account has too many unused images.
 */
export async function insertImage(tx: Tx, viewer: Viewer, image: NewImage): Promise<void> {
  await tx.selectFrom('account').select('id').where('id', '=', viewer.id).forNoKeyUpdate().execute()
  const count = await countRows(tx.selectFrom('image').where('owner_id', '=', viewer.id).where(isUnused))
  if (count >= UNUSED_MAX) {
    throw new ApiError(
      'limit_reached',
      `You have ${count} unused images and can have at most ${UNUSED_MAX}. Use them in a text before you upload more.`,
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
 * Attaches images to a target. Each must be an unused image that the viewer uploaded for this context. If two requests
 * name the same image concurrently, one of them fails.
 * @param field name of the request field with the IDs.
 * @throws ApiError `validation_error` naming the first invalid ID (`uploaded_images.2`), `limit_reached`.
 */
export async function attachImages(
  tx: Tx,
  viewer: Viewer,
  { ids, target, field }: { ids: readonly string[]; target: ImageTarget; field: string },
): Promise<void> {
  if (ids.length === 0) return
  const claimed = await claimImages(tx, viewer, { ids, target })
  const missing = ids.findIndex((id) => !claimed.has(id))
  if (missing >= 0) {
    const message = 'must be the ID of an unused image that you uploaded for this context'
    throw validationError(`${field}.${missing}`, message)
  }
}

/** Attaches the images that the viewer can use for the target; returns their IDs. @throws ApiError `limit_reached`. */
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
    .where(isUnused)
    .returning('id')
    .execute()
  const count = await countRows(tx.selectFrom('image').where(column, '=', target.id))
  if (count > IMAGES_PER_TARGET_MAX)
    throw new ApiError('limit_reached', `A text can contain at most ${IMAGES_PER_TARGET_MAX} images`)
  return new Set(rows.map(({ id }) => id))
}

/**
 * Locks a target until the transaction ends. @throws ApiError 404 if it was deleted during the upload.
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

/** Deletes the images of a target that its new text does not contain, at any base URL. */
export async function dropUnusedImages(tx: Tx, { context, id }: ImageTarget, text: string): Promise<void> {
  const rows = await tx
    .deleteFrom('image')
    .where(COLUMNS[context], '=', id)
    .where(sql<boolean>`strpos(${text}, substr(image.storage_key, ${IMAGE_KEYS.length})) = 0`)
    .returning('storage_key')
    .execute()
  await removeStored(tx, rows)
}

/** Deletes all images of targets that are about to be deleted. */
export async function dropImages(tx: Tx, context: ImageContext, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const rows = await tx.deleteFrom('image').where(COLUMNS[context], 'in', ids).returning('storage_key').execute()
  await removeStored(tx, rows)
}

/**
 * Deletes an account's images before the account is deleted. Images in projects and versions remain, without an owner,
 * because the projects and versions remain.
 */
export async function dropImagesOf(tx: Tx, accountId: string): Promise<void> {
  const rows = await tx
    .deleteFrom('image')
    .where('owner_id', '=', accountId)
    .where((eb) => eb.or([eb('context', 'in', ['report', 'thread_message']), isUnused(eb)]))
    .returning('storage_key')
    .execute()
  await removeStored(tx, rows)
}

/** Returns the ID of the image's owner: null if the owner was deleted, undefined if the image does not exist. */
export async function findImageOwner(db: Db, id: string): Promise<string | null | undefined> {
  return (await db.selectFrom('image').select('owner_id').where('id', '=', id).executeTakeFirst())?.owner_id
}

/** Deletes the row of an image whose file could not be stored. */
export async function deleteImage(db: Db, id: string): Promise<void> {
  await db.deleteFrom('image').where('id', '=', id).execute()
}

/** Deletes at most `limit` unused images that were created before `before`; returns their number. */
export async function dropUnclaimedImages(tx: Tx, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const rows = await tx
    .deleteFrom('image')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('image')
        .select('id')
        .where(isUnused)
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
