// Rows of unfinished uploads: reading, locking, limits and deletion.
import { type Selectable, sql } from 'kysely'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { DAY_MS } from '#lib/time.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Upload } from '#platform/db/schema.ts'
import type { Deps } from '#ports/deps.ts'
import { removeLater } from '#ports/files/claims.ts'

export type UploadRow = Selectable<Upload>

export const UPLOADS_MAX = 20
export const UNFINISHED_BYTES_MAX = 2 * 1024 * 1024 * 1024
/** An upload expires this long after its last byte, or after a draft names it. */
const EXPIRES_MS = DAY_MS
const DRAFT_EXPIRES_MS = 7 * DAY_MS
/** Maximum number of keys per job. */
const KEYS_PER_JOB = 1000

/** `tokenOwner`: the fine-grained token or the trusted publisher that owns the uploads; null: the account. */
type UploadOwner = { accountId: string; tokenOwner: string | null }

/**
 * Returns the owner of the caller's uploads. A token with limits has separate uploads, because those of its account can
 * contain files of other projects.
 */
export function uploadOwner({ id, limits, token }: Viewer): UploadOwner {
  return { accountId: id, tokenOwner: limits === undefined ? null : (token.publisherId ?? token.id) }
}

export function expiryOf({ version_id, expires }: Pick<UploadRow, 'version_id' | 'expires'>, now: number): Date {
  const next = new Date(now + EXPIRES_MS)
  return version_id !== null && expires > next ? expires : next
}

export const firstExpiry = (now: number): Date => new Date(now + EXPIRES_MS)

/** @throws ApiError 404, also for an upload of another owner. */
export async function getUpload(deps: Pick<Deps, 'db' | 'now'>, viewer: Viewer, id: string): Promise<UploadRow> {
  const row = await ownUploads(deps.db, viewer, deps.now()).where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw notFound('upload')
  return row
}

/** Oldest first. @param versionId the draft that names the uploads. Default: all. */
export function listUploads(
  deps: Pick<Deps, 'db' | 'now'>,
  viewer: Viewer,
  { versionId }: { versionId?: string } = {},
): Promise<UploadRow[]> {
  const uploads = ownUploads(deps.db, viewer, deps.now()).orderBy('created').orderBy('id')
  return (versionId === undefined ? uploads : uploads.where('version_id', '=', versionId)).execute()
}

/** The uploads of the caller that have not expired. */
export function ownUploads(db: Db, viewer: Viewer, now: number) {
  const { accountId, tokenOwner } = uploadOwner(viewer)
  return db
    .selectFrom('upload')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('token_owner', 'is not distinct from', tokenOwner)
    .where('expires', '>', new Date(now))
}

/** Locks an upload that no other request writes. @throws ApiError 404, 409 while another request writes. */
export async function lockUpload(tx: Tx, viewer: Viewer, id: string, now: number): Promise<UploadRow> {
  const row = await ownUploads(tx, viewer, now)
    .select(sql<boolean>`coalesce(lease_until > clock_timestamp(), false)`.as('is_leased'))
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  if (row === undefined) throw notFound('upload')
  if (row.is_leased) throw uploadConflict(row, 'Another request writes this upload', { 'retry-after': '1' })
  return row
}

export function uploadConflict(
  { received }: Pick<UploadRow, 'received'>,
  message: string,
  headers: Record<string, string> = {},
): ApiError {
  return new ApiError('conflict', message, {
    details: { field: 'upload-offset', message: `${message}; ${received} bytes are stored` },
    headers: { ...headers, 'upload-offset': String(received) },
  })
}

/** Locks the account, so that concurrent requests count each other. Returns the bytes of all its uploads and their number. */
export async function lockUsage(tx: Tx, owner: { id: string }): Promise<{ count: number; bytes: number }> {
  await tx.selectFrom('account').select('id').where('id', '=', owner.id).forNoKeyUpdate().execute()
  const { rows } = await sql<{ count: number; bytes: number }>`
    select count(*)::int as count, coalesce(sum(coalesce(length, received)), 0)::float8 as bytes
    from upload where account_id = ${owner.id}`.execute(tx)
  return rows[0] ?? { count: 0, bytes: 0 }
}

/** @throws ApiError `limit_reached`. */
export function requireRoomFor(usage: { count: number; bytes: number }, added: { count: number; bytes: number }): void {
  const count = usage.count + added.count
  const bytes = usage.bytes + added.bytes
  if (added.count > 0 && count > UPLOADS_MAX) throw limitReached('uploads', usage.count, UPLOADS_MAX)
  if (bytes > UNFINISHED_BYTES_MAX) throw limitReached('upload_bytes', usage.bytes, UNFINISHED_BYTES_MAX)
}

function limitReached(kind: string, current: number, max: number): ApiError {
  const what = kind === 'uploads' ? `${max} uploads` : `${max} bytes of uploads`
  return new ApiError('limit_reached', `An account can have at most ${what}. Use or delete one first.`, {
    details: { kind, current, max },
  })
}

/** Deletes rows, and later their parts. Returns the number of rows. */
export async function eraseUploads(tx: Tx, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0
  const parts = await tx.deleteFrom('upload_part').where('upload_id', 'in', ids).returning('storage_key').execute()
  const keys = parts.map(({ storage_key }) => storage_key)
  for (let start = 0; start < keys.length; start += KEYS_PER_JOB)
    await removeLater(tx, keys.slice(start, start + KEYS_PER_JOB))
  const rows = await tx.deleteFrom('upload').where('id', 'in', ids).returning('id').execute()
  return rows.length
}

/** Deletes the uploads that a draft names. */
export async function eraseUploadsOf(tx: Tx, versionId: string): Promise<void> {
  const rows = await tx.selectFrom('upload').select('id').where('version_id', '=', versionId).forUpdate().execute()
  const ids = rows.map(({ id }) => id)
  await eraseUploads(tx, ids)
}

/** Keeps uploads that a draft names longer. */
export async function keepForDraft(tx: Tx, ids: readonly string[], versionId: string, now: number): Promise<void> {
  if (ids.length === 0) return
  const expires = new Date(now + DRAFT_EXPIRES_MS)
  await tx.updateTable('upload').set({ version_id: versionId, expires }).where('id', 'in', ids).execute()
}
