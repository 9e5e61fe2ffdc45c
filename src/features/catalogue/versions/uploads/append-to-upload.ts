// Adds a part to an upload. Each part is an object of the store, so that every process can continue an upload.
import type { Readable } from 'node:stream'
import { sql } from 'kysely'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { ApiError, invalidInput } from '#lib/errors.ts'
import { newId, randomBase62 } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { dropClaims, withClaims } from '#ports/files/claims.ts'
import type { Received, ReceiveOptions } from '#ports/files/files.ts'
import { FILE_BYTES_MAX } from '../publish/prepare-files.ts'
import type { Checksum } from './headers.ts'
import { requireSize, tooLarge } from './policy.ts'
import {
  expiryOf,
  getUpload,
  lockUpload,
  lockUsage,
  requireRoomFor,
  type UploadRow,
  uploadConflict,
} from './queries.ts'
import { shortenPart } from './shorten-part.ts'

/** The lease of a request that has sent nothing for this long ends. */
const LEASE = sql<Date>`clock_timestamp() + interval '10 seconds'`
const RENEW_MS = 2_000
/** Bounds the objects of one upload. */
const PARTS_MAX = 4096

export type UploadPatch = {
  offset: number
  /** The length, if it was deferred. */
  length: number | undefined
  checksum: Checksum | undefined
  /** Length of the body, if the request states it. */
  bodyLength: number | undefined
  body: Readable
}

/**
 * Adds the body at the stored offset. If the connection breaks, stores the bytes received until then, unless the request has
 * a checksum.
 * @throws ApiError 404, 409 for another offset and while another request writes, 413, 460, `limit_reached`.
 */
export async function appendToUpload(deps: Deps, viewer: Viewer, id: string, patch: UploadPatch): Promise<UploadRow> {
  const lease = newId()
  const { room, last, sealed } = await takeLease(deps, viewer, { id, lease, patch })
  const holder = holdLease(deps, id, lease)
  try {
    if (sealed !== undefined) await shortenPart(deps, sealed.key)
    await deps.files.assertAvailable()
    const options = {
      maxBytes: room,
      signal: holder.signal,
      tooLarge: () => tooLarge('The body goes beyond the length of the upload'),
      onChunk: (chunk: Buffer) => {
        holder.touch()
        patch.checksum?.update(chunk)
      },
    }
    const writing = { id, lease, offset: patch.offset, holder }
    const check = ({ cut }: Pick<Received, 'cut'>) => {
      if (patch.checksum !== undefined && (cut !== undefined || !patch.checksum.matches())) throw mismatch()
    }
    const cut =
      deps.files.extensible === undefined || last === undefined
        ? await receiveNew(deps, viewer, { ...writing, body: patch.body, options, check })
        : await extendLast(deps, viewer, { ...writing, body: patch.body, options, check, last })
    if (holder.signal.aborted) throw holder.signal.reason
    if (cut !== undefined) throw invalidInput('The connection closed before the body was complete')
  } finally {
    await holder.release()
  }
  const row = await getUpload(deps, viewer, id)
  if (row.received === row.length && row.received > patch.offset)
    recordEvent(deps, 'upload.finished', { upload_id: id })
  return row
}

type Writing = {
  id: string
  lease: string
  offset: number
  holder: Holder
  body: Readable
  options: ReceiveOptions
  /** @throws ApiError if the checksum differs. */
  check: (received: Pick<Received, 'cut'>) => void
}

/** Stores the body as a new part. Returns the error of the connection, if it was cut. */
async function receiveNew(deps: Deps, viewer: Viewer, { body, options, check, ...writing }: Writing): Promise<unknown> {
  const { part, cut } = await deps.files.receive(body, options)
  try {
    check({ cut })
    if (part.sizeBytes > 0) await storePart(deps, viewer, { ...writing, part })
    return cut
  } finally {
    await deps.files.discard(part)
  }
}

/** Adds the body to the last part. If the body is not accepted, none of its bytes remain. */
async function extendLast(deps: Deps, viewer: Viewer, writing: Writing & { last: LastPart }): Promise<unknown> {
  try {
    return await extend(deps, viewer, writing)
  } catch (error) {
    await shortenPart(deps, writing.last.key).catch((cause: unknown) => {
      deps.log.warn({ err: cause }, 'Could not remove the bytes of a refused part')
    })
    throw error
  }
}

async function extend(
  deps: Deps,
  viewer: Viewer,
  { body, options, check, last, ...writing }: Writing & { last: LastPart },
): Promise<unknown> {
  const { key, at } = last
  const received = await deps.files.extensible?.extend(body, { key, at }, options)
  if (received === undefined) throw new Error('The store cannot extend files')
  const { sizeBytes, cut } = received
  check({ cut })
  writing.holder.storing()
  if (sizeBytes > 0) {
    await transaction(deps, async (tx) => {
      await moveOffset(tx, deps, viewer, { ...writing, sizeBytes })
      await tx
        .updateTable('upload_part')
        .set({ size_bytes: at + sizeBytes })
        .where('storage_key', '=', key)
        .execute()
    })
  }
  return cut
}

function mismatch(): ApiError {
  const message = 'is not the checksum of the body'
  return new ApiError('checksum_mismatch', `upload-checksum ${message}`, {
    details: { field: 'upload-checksum', message },
  })
}

type LastPart = { key: string; at: number }

/** Returns how many bytes the request can add, and the last part: `last` if the request can extend it. */
async function takeLease(
  deps: Deps,
  viewer: Viewer,
  { id, lease, patch }: { id: string; lease: string; patch: UploadPatch },
): Promise<{ room: number; last: LastPart | undefined; sealed: LastPart | undefined }> {
  return transaction(deps, async (tx) => {
    const usage = await lockUsage(tx, viewer)
    const row = await lockUpload(tx, viewer, id, deps.now())
    if (patch.offset !== row.received) throw uploadConflict(row, 'Upload-Offset is not the stored offset')
    const length = nextLength(row, patch.length)
    if (row.length === null && length !== null) requireRoomFor(usage, { count: 0, bytes: length - row.received })
    const end = length ?? FILE_BYTES_MAX
    if (row.received + (patch.bodyLength ?? 0) > end) throw tooLarge('The body goes beyond the length of the upload')
    // The request that has lost its lease might still write.
    if (row.lease !== null)
      await tx.updateTable('upload_part').set({ sealed: true }).where('upload_id', '=', id).execute()
    const { rows } = await sql<LastPart & { count: number; sealed: boolean }>`
      select storage_key as key, size_bytes as at, sealed, count(*) over ()::int as count from upload_part
      where upload_id = ${id} order by start desc limit 1`.execute(tx)
    const [last] = rows
    const isExtended = deps.files.extensible !== undefined && last?.sealed === false
    if (!isExtended && (last?.count ?? 0) >= PARTS_MAX)
      throw invalidInput(`An upload can have at most ${PARTS_MAX} parts; send larger ones`, 'upload-offset')
    await tx.updateTable('upload').set({ length, lease, lease_until: LEASE }).where('id', '=', id).execute()
    const isSealed = row.lease !== null
    return { room: end - row.received, last: isExtended ? last : undefined, sealed: isSealed ? last : undefined }
  })
}

function nextLength(row: UploadRow, announced: number | undefined): number | null {
  if (announced === undefined || announced === row.length) return row.length
  if (row.length !== null) throw invalidInput('The length of an upload cannot change', 'upload-length')
  if (announced < row.received)
    throw invalidInput(`Upload-Length is less than the ${row.received} stored bytes`, 'upload-length')
  requireSize(announced)
  return announced
}

type Holder = ReturnType<typeof holdLease>

/** Renews the lease while bytes arrive or are stored. `signal` aborts when another request has taken over. */
function holdLease({ db }: Pick<Deps, 'db'>, id: string, lease: string) {
  const stop = new AbortController()
  let isActive = true
  let isStoring = false
  const own = db.updateTable('upload').where('id', '=', id).where('lease', '=', lease)
  const timer = setInterval(() => {
    if (!isActive && !isStoring) return
    isActive = false
    own
      .set({ lease_until: LEASE })
      .executeTakeFirst()
      .then(({ numUpdatedRows }) => {
        if (numUpdatedRows === 0n && !isStoring) stop.abort(takenOver())
      })
      .catch(() => undefined)
  }, RENEW_MS)
  timer.unref()
  return {
    signal: stop.signal,
    touch: () => {
      isActive = true
    },
    storing: () => {
      isStoring = true
    },
    async release(): Promise<void> {
      clearInterval(timer)
      await own.set({ lease: null, lease_until: null }).execute()
    },
  }
}

function takenOver(): ApiError {
  const message = 'Another request writes this upload now'
  return new ApiError('conflict', message, {
    details: { field: 'upload-offset', message },
    headers: { 'retry-after': '1' },
  })
}

/** Stores a received part durably, and then moves the offset. */
async function storePart(
  deps: Deps,
  viewer: Viewer,
  {
    id,
    lease,
    offset,
    part,
    holder,
  }: { id: string; lease: string; offset: number; part: { path: string; sizeBytes: number }; holder: Holder },
): Promise<void> {
  holder.storing()
  // A separate key for each request: one that has lost its lease overwrites nothing.
  const key = `uploads/${id}/${offset}-${randomBase62(8)}`
  await withClaims(deps, {
    keys: [key],
    store: () => deps.files.publish(part, key, { contentType: 'application/octet-stream' }),
    commit: () =>
      transaction(deps, async (tx) => {
        await moveOffset(tx, deps, viewer, { id, lease, offset, sizeBytes: part.sizeBytes })
        await tx
          .insertInto('upload_part')
          .values({ storage_key: key, upload_id: id, start: offset, size_bytes: part.sizeBytes })
          .execute()
        await dropClaims(tx, [key])
      }),
  })
}

/** @throws ApiError 409 if the request has lost its lease, `limit_reached`. */
async function moveOffset(
  tx: Tx,
  deps: Pick<Deps, 'now'>,
  viewer: Viewer,
  { id, lease, offset, sizeBytes }: { id: string; lease: string; offset: number; sizeBytes: number },
): Promise<void> {
  const usage = await lockUsage(tx, viewer)
  const own = tx.selectFrom('upload').selectAll().where('id', '=', id).where('lease', '=', lease)
  const row = await own.forUpdate().executeTakeFirst()
  if (row === undefined) throw takenOver()
  if (row.length === null) requireRoomFor(usage, { count: 0, bytes: sizeBytes })
  const values = { received: offset + sizeBytes, expires: expiryOf(row, deps.now()) }
  await tx.updateTable('upload').set(values).where('id', '=', id).execute()
}
