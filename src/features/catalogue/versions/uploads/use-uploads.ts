// Uploads in place of file parts: entries `upload:ID` of `file_parts`.
import { Readable } from 'node:stream'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { invalidInput, validationError } from '#lib/errors.ts'
import { Refusals } from '#lib/schema/refusals.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import type { StagedFile } from '#ports/files/files.ts'
import { checkFilename } from '../files/filename.ts'
import { FILE_BYTES_MAX, type UploadedPart } from '../publish/prepare-files.ts'
import { metadataOf } from './headers.ts'
import { eraseUploads, keepForDraft, ownUploads, type UploadRow } from './queries.ts'

const PREFIX = 'upload:'

/** The uploads that a request names. */
export type NamedUploads = { finished: readonly NamedUpload[]; unfinished: readonly string[] }
type NamedUpload = { id: string; part: string; filename: string; sizeBytes: number }

export const NO_UPLOADS: NamedUploads = { finished: [], unfinished: [] }

export const isUploadPart = (name: string): boolean => name.startsWith(PREFIX)
/** The name of an upload in `file_parts`. */
export const uploadPart = (id: string): string => PREFIX + id

/**
 * Checks the uploads among the names of parts, before any of them is read. Runs at most one statement.
 * @param at dotted path of the list of names.
 * @param isDraft whether uploads can be unfinished.
 * @throws ApiError `validation_error` naming the entries that are not uploads of this account, or unfinished.
 */
export async function findNamedUploads(
  deps: Pick<Deps, 'db' | 'now' | 'fileRules'>,
  viewer: Viewer,
  { names, at = 'file_parts', isDraft = false }: { names: readonly string[]; at?: string; isDraft?: boolean },
): Promise<NamedUploads> {
  const ids = names.filter(isUploadPart).map((name) => name.slice(PREFIX.length))
  if (ids.length === 0) return NO_UPLOADS
  const rows = await ownUploads(deps.db, viewer, deps.now()).where('id', 'in', ids).execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  const refusals = new Refusals()
  const finished: NamedUpload[] = []
  const unfinished: string[] = []
  refusals.each(names, (name, index) => {
    if (!isUploadPart(name)) return
    const field = `${at}.${index}`
    const row = byId.get(name.slice(PREFIX.length))
    if (row === undefined)
      throw validationError(field, 'must be the ID of an upload of this account that has not expired')
    const upload = { ...named(deps, row, field), part: name }
    if (row.received === row.length) finished.push(upload)
    else if (isDraft) unfinished.push(row.id)
    else
      throw validationError(field, `is not finished: ${row.received} of ${row.length ?? 'unknown'} bytes were received`)
  })
  refusals.throwAny()
  return { finished, unfinished }
}

function named({ fileRules }: Pick<Deps, 'fileRules'>, { id, metadata, received }: UploadRow, field: string) {
  const filename = metadataOf(metadata).get('filename')
  if (filename === undefined || filename === '')
    throw validationError(field, 'has no file name: send filename in Upload-Metadata')
  checkFilename(fileRules, field, filename)
  return { id, filename, sizeBytes: received }
}

/**
 * Runs `use` with the files that a request has sent and those of its uploads, in the order of `names`. Then discards those
 * that were not published, even after an error. The uploads stay as they are.
 */
export async function withUploads<T>(
  deps: Deps,
  { sent, uploads, names }: { sent: readonly UploadedPart[]; uploads: NamedUploads; names: readonly string[] },
  use: (parts: readonly UploadedPart[]) => Promise<T>,
): Promise<T> {
  const parts = [...sent]
  try {
    for (const upload of uploads.finished)
      parts.push({ name: upload.part, filename: upload.filename, staged: await stageUpload(deps, upload) })
    return await use(inOrder(parts, names))
  } finally {
    await Promise.allSettled(parts.map(({ staged }) => deps.files.discard(staged)))
  }
}

async function stageUpload(deps: Deps, { id, part, sizeBytes }: NamedUpload): Promise<StagedFile> {
  const rows = await deps.db
    .selectFrom('upload_part')
    .select(['storage_key', 'size_bytes', 'sealed'])
    .where('upload_id', '=', id)
    .orderBy('start')
    .execute()
  const [only, ...others] = rows
  const { extensible } = deps.files
  if (
    extensible !== undefined &&
    only !== undefined &&
    others.length === 0 &&
    !only.sealed &&
    only.size_bytes === sizeBytes
  )
    return extensible.stageStored({ key: only.storage_key, sizeBytes })
  const source = Readable.from(read(deps, rows), { objectMode: true })
  const staged = await deps.files.stage(source, { maxBytes: FILE_BYTES_MAX, field: part })
  if (staged.sizeBytes === sizeBytes) return staged
  await deps.files.discard(staged)
  throw usedElsewhere(part)
}

/** Reads the known bytes of each part: an interrupted request can have left more. */
async function* read(
  { files }: Pick<Deps, 'files'>,
  parts: readonly { storage_key: string; size_bytes: number }[],
): AsyncGenerator<Buffer> {
  for (const { storage_key, size_bytes } of parts) {
    const opened = await files.open(storage_key, { end: size_bytes - 1 })
    if (opened !== undefined) yield* opened.stream as AsyncIterable<Buffer>
  }
}

const usedElsewhere = (part: string) =>
  invalidInput(`The upload of ${part} was used or deleted by another request`, part)

/**
 * Takes the uploads in the transaction that stores their files. An upload can be used once. After a rollback it is there again.
 * @throws ApiError `invalid_input` if another request has used one.
 */
export async function takeUploads(
  tx: Tx,
  { finished, unfinished }: NamedUploads,
  { versionId, now }: { versionId?: string; now: number },
): Promise<void> {
  const ids = finished.map(({ id }) => id)
  if ((await eraseUploads(tx, ids)) < ids.length) throw usedElsewhere(finished[0]?.part ?? '')
  if (versionId !== undefined) await keepForDraft(tx, unfinished, versionId, now)
}

/** Sorts parts in the order in which `names` lists them. */
function inOrder(parts: readonly UploadedPart[], names: readonly string[]): UploadedPart[] {
  const rank = new Map(names.map((name, index) => [name, index]))
  return parts.toSorted((a, b) => (rank.get(a.name) ?? names.length) - (rank.get(b.name) ?? names.length))
}
