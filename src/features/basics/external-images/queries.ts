// Rows of images of other hosts: the cached copies, and the blocked URLs.
import { createHash } from 'node:crypto'
import { type Insertable, type Selectable, sql } from 'kysely'
import { countRows, type Db, type Tx } from '#platform/db/db.ts'
import type { BlockedExternalImage, ExternalImage } from '#platform/db/schema.ts'
import { removeLater } from '#ports/files/claims.ts'

export type ImageRow = Selectable<ExternalImage>
export type BlockedRow = Pick<Selectable<BlockedExternalImage>, 'id' | 'url' | 'created' | 'takedown_id'> & {
  blocked_by: string | null
}

/** Returns the key of a URL. */
export const imageIdOf = (url: string): string => createHash('sha256').update(url).digest('hex')

/** Returns the cached image of a URL, and whether the URL is blocked. */
export async function findExternalImage(
  db: Db,
  id: string,
): Promise<{ row: ImageRow | undefined; isBlocked: boolean }> {
  const row = await db.selectFrom('external_image').selectAll().where('id', '=', id).executeTakeFirst()
  return { row, isBlocked: await isBlocked(db, id) }
}

export async function isBlocked(db: Db, id: string): Promise<boolean> {
  return (await countRows(db.selectFrom('blocked_external_image').where('id', '=', id))) > 0
}

/** Inserts the row of a URL unless it exists, and returns it locked. */
export async function lockExternalImage(
  tx: Tx,
  row: Insertable<ExternalImage>,
): Promise<Pick<ImageRow, 'storage_key' | 'failures'>> {
  await tx
    .insertInto('external_image')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return tx
    .selectFrom('external_image')
    .select(['storage_key', 'failures'])
    .where('id', '=', row.id)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

/** Notes that the image was shown, at most once per hour, because each request would write otherwise. */
export async function touchExternalImage(db: Db, { id, now }: { id: string; now: Date }): Promise<void> {
  await db.updateTable('external_image').set({ last_used: now }).where('id', '=', id).execute()
}

/** Deletes the cached copies of these URLs; their files are removed by a job. */
export async function deleteExternalImages(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const rows = await tx.deleteFrom('external_image').where('id', 'in', ids).returning('storage_key').execute()
  await removeLater(
    tx,
    rows.flatMap(({ storage_key }) => storage_key ?? []),
  )
}

export type Expired = { id: string; size_bytes: number }

/**
 * Returns at most `limit` images that the cache no longer needs: the least recently used ones beyond `cacheBytes`, those that
 * nobody has seen since `unusedSince`, and blocked ones.
 */
export async function listExpiredImages(
  db: Db,
  { cacheBytes, unusedSince, limit }: { cacheBytes: number; unusedSince: Date; limit: number },
): Promise<Expired[]> {
  const { rows } = await sql<Expired>`select id, size_bytes from (
      select id, size_bytes, last_used, sum(size_bytes) over (order by last_used desc, id) as total from external_image
    ) image
    where total > ${cacheBytes} or last_used < ${unusedSince} or id in (select id from blocked_external_image)
    order by last_used limit ${limit}`.execute(db)
  return rows
}

/** Returns the number and size of the cached images. */
export async function measureExternalImages(db: Db): Promise<{ count: number; bytes: number }> {
  const { rows } = await sql<{ count: number; bytes: number }>`select count(*)::int as count,
    coalesce(sum(size_bytes), 0)::bigint as bytes from external_image where storage_key is not null`.execute(db)
  return rows[0] ?? { count: 0, bytes: 0 }
}

/** Returns which of these URLs are blocked. */
export async function listBlockedIds(db: Db, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await db.selectFrom('blocked_external_image').select('id').where('id', 'in', ids).execute()
  return new Set(rows.map(({ id }) => id))
}

/** Returns the URLs of these that Depot has fetched. */
export async function listFetchedUrls(db: Db, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await db.selectFrom('external_image').select('url').where('id', 'in', ids).execute()
  return rows.map(({ url }) => url)
}

/** Returns blocked URLs, newest first. */
export function listBlockedImages(db: Db, { limit, offset }: { limit: number; offset: number }): Promise<BlockedRow[]> {
  return db
    .selectFrom('blocked_external_image as blocked')
    .leftJoin('account', 'account.id', 'blocked.blocked_by_id')
    .select(['blocked.id', 'blocked.url', 'blocked.created', 'blocked.takedown_id', 'account.username as blocked_by'])
    .orderBy('blocked.created', 'desc')
    .orderBy('blocked.id')
    .limit(limit)
    .offset(offset)
    .execute()
}

export const countBlockedImages = (db: Db): Promise<number> => countRows(db.selectFrom('blocked_external_image'))

/** Returns the IDs of the URLs that were not blocked before. */
export async function insertBlocks(tx: Tx, rows: Insertable<BlockedExternalImage>[]): Promise<string[]> {
  if (rows.length === 0) return []
  const inserted = await tx
    .insertInto('blocked_external_image')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute()
  return inserted.map(({ id }) => id)
}

/** Returns the URL of the deleted block; undefined if the URL was not blocked. */
export async function deleteBlock(tx: Tx, id: string): Promise<string | undefined> {
  const row = await tx.deleteFrom('blocked_external_image').where('id', '=', id).returning('url').executeTakeFirst()
  return row?.url
}
