// Publishes a draft: checks that it is complete, and checks its files by the rules of its loaders, which could change
// until then.

import type { Viewer } from '#features/basics/access/viewer.ts'
import { ApiError, invalidInput } from '#lib/errors.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import type { LoaderFieldValues } from '#taxonomy/loader-fields.ts'
import { sourceOf } from '../files/archive-entries.ts'
import type { Embedded } from '../files/content-pack.ts'
import { type Verdict, validateFile } from '../files/file-rules.ts'
import { checkFilename } from '../files/filename.ts'
import { withPackLoaders } from '../files/pack-loaders.ts'
import { unknownPrimary } from '../lifecycle/edit-files.ts'
import type { VersionPatch } from '../lifecycle/requests.ts'
import { embeddedDependencies, insertDependencies } from '../publish/dependencies.ts'
import { rejectSameVersion } from '../publish/insert-version.ts'
import { fileContext } from '../publish/prepare-files.ts'
import type { VersionRow } from '../queries.ts'
import { requireComplete } from './completeness.ts'
import { type DraftFile, listDraftFiles } from './draft-files.ts'

/** A draft as it would be published. */
export type NextVersion = Pick<
  VersionRow,
  'id' | 'project_id' | 'name' | 'version_number' | 'loaders' | 'is_new_draft'
> & { fields: LoaderFieldValues }

/** Files that have passed the rules of these loaders and game versions. */
export type CheckedFiles = {
  key: string
  embedded: Embedded[]
  /** Loaders that the index of the primary file names, if it is a content pack. */
  packLoaders: string[]
}

/** The changes of files that come with the publication. */
type FileEdit = { [Key in 'primary_file' | 'file_types']: VersionPatch[Key] | undefined }

/**
 * Checks the stored files of a version by the rules of its next loaders. Runs outside the transaction, because it reads
 * archives.
 * @throws ApiError `validation_error` if the version is incomplete, `invalid_input` naming the file (`files.2`), 503 if too
 * many archives wait for inspection.
 */
export async function checkDraftFiles(
  deps: Deps,
  viewer: Viewer,
  { next, edit }: { next: NextVersion; edit: FileEdit },
): Promise<CheckedFiles> {
  const files = editedFiles(await listDraftFiles(deps.db, next.id), edit)
  if (edit.primary_file !== undefined && !files.some((file) => file.is_primary)) throw unknownPrimary()
  if (next.is_new_draft) requireComplete(deps.taxonomy, { ...next, files: files.length })
  const context = fileContext(deps, { columns: next, fields: next.fields })
  const embedded: Embedded[] = []
  const packLoaders: string[] = []
  for (const [index, file] of files.entries()) {
    // The other files of a published version were checked before.
    if (!next.is_new_draft && !file.is_primary) continue
    const part = `files.${index}`
    const verdict = await checkStoredFile(deps, { file, part, context, caller: viewer.caller })
    if (file.is_primary && verdict.result === 'warning')
      throw invalidInput(verdict.reason ?? 'The file has a warning', part)
    embedded.push(...(verdict.embedded ?? []))
    if (file.is_primary) packLoaders.push(...(verdict.packLoaders ?? []))
  }
  return { key: keyOf(next, files), embedded, packLoaders }
}

/** Returns the files as they are after the edit, in the same order. */
function editedFiles(files: readonly DraftFile[], { primary_file, file_types = [] }: FileEdit): DraftFile[] {
  const primary = primary_file?.toLowerCase()
  const types = new Map(file_types.map(({ hash, file_type }) => [hash.toLowerCase(), file_type]))
  return files.map((file) => ({
    ...file,
    is_primary: primary === undefined ? file.is_primary : file.sha512 === primary,
    file_type: types.get(file.sha512) ?? types.get(file.sha1) ?? file.file_type,
  }))
}

async function checkStoredFile(
  deps: Deps,
  {
    file,
    part,
    context,
    caller,
  }: { file: DraftFile; part: string; context: Parameters<typeof validateFile>[2]; caller: string },
): Promise<Verdict> {
  const name = checkFilename(deps.fileRules, part, file.filename)
  const source = sourceOf(deps.files, file)
  const archive = name.isArchive ? await deps.archives.reopen(source, { field: part, caller }) : undefined
  return validateFile(deps.fileRules, { part, name, fileType: file.file_type, archive }, context)
}

/** Identifies the values that `checkDraftFiles` depends on. */
function keyOf({ loaders, fields }: NextVersion, files: readonly DraftFile[]): string {
  const rows = files.map(({ id, file_type, is_primary }) => `${id} ${file_type} ${is_primary}`).sort()
  return JSON.stringify([loaders, fields['game_versions'], rows])
}

/**
 * Completes the publication of a locked draft, and returns the columns that change in addition to its status.
 * @param checked result of `checkDraftFiles`.
 * @throws ApiError `validation_error` if the draft is incomplete; `conflict` if someone else has changed it since its files
 * were checked, or if the project already has a version with this number and these files.
 */
export async function completeDraft(
  tx: Tx,
  deps: Pick<Deps, 'taxonomy' | 'now'>,
  { next, checked }: { next: NextVersion; checked: CheckedFiles | undefined },
) {
  const files = await listDraftFiles(tx, next.id)
  requireComplete(deps.taxonomy, { ...next, files: files.length })
  if (checked?.key !== keyOf(next, files))
    throw new ApiError('conflict', 'Someone else has changed this draft at the same time; send the request again')
  const hashes = files.map(({ sha512 }) => sha512)
  await rejectSameVersion(tx, { projectId: next.project_id, number: next.version_number, hashes })
  await addEmbedded(tx, next.id, checked.embedded)
  const fields = JSON.stringify(withPackLoaders(next.fields, checked.packLoaders))
  return { fields, is_new_draft: false, draft_expires: null, date_published: new Date(deps.now()) }
}

/** Adds the files that content packs embed, unless the publisher has declared dependencies. */
async function addEmbedded(tx: Tx, versionId: string, embedded: readonly Embedded[]): Promise<void> {
  if (embedded.length === 0) return
  const declared = await tx
    .selectFrom('dependency')
    .select('id')
    .where('dependent_id', '=', versionId)
    .executeTakeFirst()
  if (declared === undefined) await insertDependencies(tx, versionId, await embeddedDependencies(tx, embedded))
}
