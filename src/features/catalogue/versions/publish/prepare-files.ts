// From uploaded parts to files ready to be published: names, content, the rules of the loaders, and which is primary.

import { invalidInput, validationError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import type { Deps } from '#ports/deps.ts'
import type { StagedFile } from '#ports/files/files.ts'
import type { Embedded } from '../files/content-pack.ts'
import { choosePrimary, type FileContext, type Verdict, validateFile } from '../files/file-rules.ts'
import { type CheckedFilename, checkFilename } from '../files/filename.ts'
import type { FileType } from '../kinds.ts'
import type { FileTypes, NewVersion } from './requests.ts'

/** A file part of a form, staged. */
export type UploadedPart = { readonly name: string; readonly filename: string; readonly staged: StagedFile }

/** A form that was read: what it says, and its files, staged. */
export type ReceivedFiles<Description> = { description: Description; parts: readonly UploadedPart[] }

/** Runs `use` and removes the staged files that it has not published, whatever became of it. */
export async function withParts<T>(
  { files }: Pick<Deps, 'files'>,
  parts: readonly UploadedPart[],
  use: () => Promise<T>,
): Promise<T> {
  try {
    return await use()
  } finally {
    await Promise.allSettled(parts.map(({ staged }) => files.discard(staged)))
  }
}

/** A file that has passed every check that needs no database. */
export type PreparedFile = {
  /** The request part that an error names. */
  part: string
  id: string
  storageKey: string
  staged: StagedFile
  filename: string
  contentType: string
  fileType: FileType | null
  isPrimary: boolean
  /** What a content pack embeds. */
  embedded: Embedded[]
}

/** 500 MiB. */
export const FILE_BYTES_MAX = 500 * 1024 * 1024

export type PreparingVersion = Pick<NewVersion, 'loaders' | 'fields' | 'fileTypes'>

/**
 * Checks the files of one version.
 * @param choose how the primary one is found; absent when files are added to a version that has one.
 * @param at dotted path of the version in the request, empty for the body itself.
 * @param caller the uploader's address key: archives wait fairly between callers.
 * @throws ApiError `invalid_input` naming the part; 503 when too many archives wait.
 */
export async function prepareFiles(
  deps: Pick<Deps, 'archives' | 'fileRules' | 'taxonomy' | 'config'>,
  {
    version,
    versionId,
    parts,
    choose,
    caller,
    at = '',
  }: {
    version: PreparingVersion
    versionId: string
    parts: readonly UploadedPart[]
    choose?: { primaryPart: string | undefined; declaredParts: number }
    caller: string
    at?: string
  },
): Promise<PreparedFile[]> {
  refuseDoubles(parts)
  refuseUnknownTypes(version.fileTypes, parts, at)
  const context = fileContext(deps, version)
  const checked: {
    part: string
    name: CheckedFilename
    fileType: FileType | null
    verdict: Verdict
    staged: StagedFile
  }[] = []
  for (const { name: part, filename, staged } of parts) {
    const name = checkFilename(deps.fileRules, part, filename)
    const fileType = version.fileTypes.get(part) ?? version.fileTypes.get(filename) ?? null
    const archive = name.isArchive ? await deps.archives.inspect(staged.path, { field: part, caller }) : undefined
    const verdict = await validateFile(deps.fileRules, { part, name, fileType, archive }, context)
    checked.push({ part, name, fileType, verdict, staged })
  }
  const primary = choose === undefined ? undefined : choosePrimary(checked, choose)
  return checked.map(({ part, name, fileType, verdict, staged }, index) => {
    const id = newId()
    return {
      part,
      id,
      storageKey: `versions/${versionId}/${id}`,
      staged,
      filename: name.filename,
      contentType: name.contentType,
      fileType,
      isPrimary: index === primary,
      embedded: verdict.embedded ?? [],
    }
  })
}

/** Of two files with the same name or the same bytes one could not be downloaded. */
function refuseDoubles(parts: readonly UploadedPart[]): void {
  const names = new Set<string>()
  const contents = new Set<string>()
  for (const { name, filename, staged } of parts) {
    if (names.has(filename)) throw invalidInput(`The file name ${filename} occurs twice`, name)
    if (contents.has(staged.sha512)) throw invalidInput(`The file of part ${name} is the same as another one`, name)
    names.add(filename)
    contents.add(staged.sha512)
  }
}

/** @throws ApiError `validation_error` for a type of what is neither a part nor a file name. */
function refuseUnknownTypes(types: FileTypes, parts: readonly UploadedPart[], at: string): void {
  for (const name of types.keys()) {
    if (parts.some((part) => part.name === name || part.filename === name)) continue
    throw validationError(`${at === '' ? '' : `${at}.`}file_types.${name}`, 'names no file part of this request')
  }
}

function fileContext({ taxonomy, config }: Pick<Deps, 'taxonomy' | 'config'>, version: PreparingVersion): FileContext {
  const known = taxonomy.fields.get('game_versions')?.enumValues
  const gameVersions = version.fields['game_versions']
  const created = Array.isArray(gameVersions)
    ? gameVersions.flatMap((value) => known?.get(String(value))?.created ?? [])
    : []
  const origins = [config.files.baseUrl, config.http.baseUrl].map((url) => new URL(url).origin)
  return {
    loaders: version.loaders,
    gameVersionsCreated: created.map((date) => new Date(date)),
    ownOrigins: [...new Set(origins)],
  }
}
