// Checks uploaded files before they are published: their names, their content and the rules of the loaders.

import { type ApiError, invalidInput, validationError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { fileNameKey } from '#lib/text/file-names.ts'
import type { Deps } from '#ports/deps.ts'
import type { StagedFile } from '#ports/files/files.ts'
import type { LoaderFieldValues } from '#taxonomy/loader-fields.ts'
import type { Embedded } from '../files/content-pack.ts'
import { choosePrimary, type FileContext, type Verdict, validateFile } from '../files/file-rules.ts'
import { checkFilename } from '../files/filename.ts'
import type { FileType } from '../kinds.ts'
import type { Manifest } from '../manifests/manifest.ts'
import { readManifests, unreadableEntries } from '../manifests/read-manifests.ts'
import type { FileTypes } from './requests.ts'

/** A file part of a form, staged on the local disk. */
export type UploadedPart = { readonly name: string; readonly filename: string; readonly staged: StagedFile }

/** A form after reading: its description and its staged files. */
export type ReceivedFiles<Description> = { description: Description; parts: readonly UploadedPart[] }

/** Runs `use`, and then discards the staged files that were not published, even after an error. */
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

/** A file that has passed all checks that do not need the database. */
export type PreparedFile = {
  /** Name of the form part, for errors. */
  part: string
  id: string
  storageKey: string
  staged: StagedFile
  filename: string
  contentType: string
  fileType: FileType | null
  isPrimary: boolean
  /** Files that a content pack embeds. */
  embedded: Embedded[]
  /** Loaders that the index of a content pack names. */
  packLoaders: string[]
  manifests: Manifest[]
}

/** Maximum size of a file, in bytes. */
export const FILE_BYTES_MAX = 500 * 1024 * 1024

type PreparingVersion = { columns: { loaders: readonly string[] }; fields: LoaderFieldValues; fileTypes: FileTypes }

/**
 * Checks the files of one version and chooses the primary file.
 * @param choose rules for the primary file; absent if the version already has one.
 * @param at dotted path of the version in the request; empty for the whole body.
 * @param caller key of the uploader's IP address, for fair scheduling of archive inspections.
 * @throws ApiError `invalid_input` naming the part, 503 if too many archives wait for inspection.
 */
export async function prepareFiles(
  deps: Pick<Deps, 'archives' | 'fileRules' | 'taxonomy' | 'config' | 'dryRun'>,
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
  rejectDuplicates(parts)
  rejectUnknownTypes(version.fileTypes, parts, at)
  const context = fileContext(deps, version)
  const partNames = new Set(parts.map(({ name }) => name))
  const files: (PreparedFile & { verdict: Verdict })[] = []
  for (const { name: part, filename, staged } of parts) {
    const name = checkFilename(deps.fileRules, part, filename)
    const typeOfName = partNames.has(filename) ? undefined : version.fileTypes.get(filename)
    const fileType = version.fileTypes.get(part) ?? typeOfName ?? null
    const archive = name.isArchive ? await deps.archives.inspect(staged.path, { field: part, caller }) : undefined
    const verdict = await validateFile(deps.fileRules, { part, name, fileType, archive }, context)
    if (verdict.reason !== undefined) deps.dryRun?.warn(part, verdict.reason)
    const id = newId()
    const storageKey = `versions/${versionId}/${id}`
    const { contentType } = name
    const { embedded = [], packLoaders = [] } = verdict
    const manifests = await readManifests(archive)
    for (const entry of unreadableEntries(manifests)) deps.dryRun?.warn(part, unreadableManifest(entry))
    files.push({
      part,
      id,
      storageKey,
      staged,
      filename,
      contentType,
      fileType,
      isPrimary: false,
      embedded,
      packLoaders,
      manifests,
      verdict,
    })
  }
  const primary = choose === undefined ? undefined : choosePrimary(files, choose)
  return files.map((file, index) => ({ ...file, isPrimary: index === primary }))
}

/** Warning of a dry run. */
const unreadableManifest = (entry: string) => `The manifest ${entry} cannot be parsed, so nothing was read from it`

/** Rejects files with the same name or content, because only one of them could be downloaded. */
function rejectDuplicates(parts: readonly UploadedPart[]): void {
  const names = new Map<string, string>()
  const contents = new Set<string>()
  for (const { name, filename, staged } of parts) {
    const other = names.get(fileNameKey(filename))
    if (other === filename) throw invalidInput(`Two files of this request are named ${filename}`, name)
    if (other !== undefined) throw oneFile(filename, other, name)
    if (contents.has(staged.sha512))
      throw invalidInput(`The file in part ${name} has the same content as another file in this request`, name)
    names.set(fileNameKey(filename), filename)
    contents.add(staged.sha512)
  }
}

/** The error for a name that differs from another only in case or composition. */
export function oneFile(filename: string, other: string, part: string): ApiError {
  return invalidInput(`The names ${other} and ${filename} are the same file on Windows and macOS`, part)
}

/** @throws ApiError `validation_error` if a key of `file_types` is neither a part nor a file name. */
function rejectUnknownTypes(types: FileTypes, parts: readonly UploadedPart[], at: string): void {
  for (const name of types.keys()) {
    if (parts.some((part) => part.name === name || part.filename === name)) continue
    throw validationError(
      `${at === '' ? '' : `${at}.`}file_types.${name}`,
      'must be the name of a file part of this request',
    )
  }
}

/** Returns the properties of a version that decide which rules apply to its files. */
export function fileContext(
  { taxonomy, config }: Pick<Deps, 'taxonomy' | 'config'>,
  version: Omit<PreparingVersion, 'fileTypes'>,
): FileContext {
  const knownVersions = taxonomy.fields.get('game_versions')?.enumValues
  const gameVersions = version.fields['game_versions']
  const created = Array.isArray(gameVersions)
    ? gameVersions.flatMap((value) => knownVersions?.get(String(value))?.created ?? [])
    : []
  const origins = [config.files.baseUrl, config.http.baseUrl].map((url) => new URL(url).origin)
  return {
    loaders: version.columns.loaders,
    gameVersionsCreated: created.map((date) => new Date(date)),
    ownOrigins: [...new Set(origins)],
  }
}
