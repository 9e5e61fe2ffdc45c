// Checks whether an uploaded file looks like a file for its loaders. The rules are data: taxonomy/file-rules.json.
import { invalidInput, validationError } from '#lib/errors.ts'
import type { Archive } from '#platform/archives/inspect-archive.ts'
import type { Alternative, FileRule, FileRules } from '#taxonomy/file-rules.ts'
import { packLoadersOf } from '../manifests/pack-manifests.ts'
import { type Embedded, listEmbedded, type PackOptions, readPackIndex } from './content-pack.ts'
import type { CheckedFilename } from './filename.ts'

export type FileToValidate = {
  /** Name of the form part, for errors. */
  part: string
  name: CheckedFilename
  fileType: string | null
  /** Undefined for a file that is not an archive, such as a signature. */
  archive: Archive | undefined
}

/** The version that the file belongs to. */
export type FileContext = {
  loaders: readonly string[]
  /** When each game version of the version was created. */
  gameVersionsCreated: readonly Date[]
  /** Origins of this instance, from which content packs can also download. */
  ownOrigins: readonly string[]
}

export type Verdict = {
  result: 'pass' | 'warning'
  /** Reason for the warning. */
  reason?: string
  /** Files that a content pack embeds; absent for other files. */
  embedded?: Embedded[]
  /** Loaders that the index of a content pack names; absent for other files. */
  packLoaders?: string[]
}

const PASS: Verdict = { result: 'pass' }

/**
 * Checks a file against the rules of its version's loaders.
 * @throws ApiError `invalid_input` naming the part: for an unreadable archive, an extension that no loader accepts, a
 * signature with another extension, or a content pack with an invalid index.
 */
export async function validateFile(rules: FileRules, file: FileToValidate, context: FileContext): Promise<Verdict> {
  const { name, fileType, part } = file
  if (fileType !== null && rules.signatures.file_types.includes(fileType)) {
    if (rules.signatures.extensions.includes(name.extension)) return PASS
    throw invalidInput(`A signature must end in one of ${rules.signatures.extensions.join(', ')}`, part)
  }
  if (fileType !== null && rules.resourcePacks.fileTypes.includes(fileType))
    return applyRules(rules, [rules.resourcePacks.rule], file, context)
  const loaderRules = rules.rules.filter((rule) => isFor(rule, context))
  const matchingRules = loaderRules.filter((rule) => rule.extensions.includes(name.extension))
  if (loaderRules.length > 0 && matchingRules.length === 0) {
    const message = `The loaders ${context.loaders.join(', ')} do not accept files with the extension ${name.extension}`
    if (!rules.warned_extensions.includes(name.extension)) throw invalidInput(message, part)
    rejectUnreadable(file)
    return { result: 'warning', reason: message }
  }
  return applyRules(rules, matchingRules, file, context)
}

function isFor(rule: FileRule, { loaders, gameVersionsCreated }: FileContext): boolean {
  if (!rule.loaders.some((loader) => loaders.includes(loader))) return false
  const { from, until } = rule
  if (from === undefined && until === undefined) return true
  return gameVersionsCreated.some(
    (created) => (from === undefined || created >= from) && (until === undefined || created < until),
  )
}

/** Returns the first warning. An unreadable archive passes only if every rule tolerates it. */
async function applyRules(
  rules: FileRules,
  applied: readonly FileRule[],
  file: FileToValidate,
  { ownOrigins }: FileContext,
): Promise<Verdict> {
  const { archive, part } = file
  if (archive === undefined) {
    if (applied.length === 0) return PASS
    throw invalidInput(`The file in part ${part} must be an archive`, part)
  }
  if (!archive.readable) {
    const terms = applied.map((rule) => rule.tolerated_when_unreadable)
    for (const term of terms.length === 0 ? [undefined] : terms) {
      if (term === undefined || !(await archive.mentions(term))) rejectUnreadable(file)
    }
    return PASS
  }
  let verdict = PASS
  for (const rule of applied) {
    if (!matches(rule.contains, archive.entries)) return { result: 'warning', reason: rule.warning }
    if (rule.mod && matches(rules.looksLikeContentPack, archive.entries))
      return { result: 'warning', reason: 'The archive looks like a content pack, not a single mod' }
    if (rule.content_pack) {
      const options: PackOptions = { rules: rules.content_packs, ownOrigins, field: part }
      const index = await readPackIndex(archive, options)
      if (index === undefined) return { result: 'warning', reason: rule.warning }
      verdict = {
        result: 'pass',
        embedded: listEmbedded(archive, index, options),
        packLoaders: packLoadersOf(index.dependencies),
      }
    }
  }
  return verdict
}

function rejectUnreadable({ archive, part }: FileToValidate): void {
  if (archive?.readable === false) throw invalidInput(archive.reason, part)
}

function matches(alternatives: readonly Alternative[], entries: readonly { name: string }[]): boolean {
  return alternatives.some((patterns) => patterns.every((pattern) => entries.some(({ name }) => pattern(name))))
}

/**
 * Returns the index of a new version's primary file: the file in `primaryPart`, otherwise the only declared file,
 * otherwise the first file without a warning. Returns undefined if every file has a warning.
 * @throws ApiError `validation_error` if `primaryPart` is unknown, `invalid_input` if the primary file has a warning.
 */
export function choosePrimary(
  files: readonly { part: string; verdict: Verdict }[],
  { primaryPart, declaredParts }: { primaryPart: string | undefined; declaredParts: number },
): number | undefined {
  const chosen =
    primaryPart === undefined
      ? files.findIndex(({ verdict }) => declaredParts === 1 || verdict.result === 'pass')
      : files.findIndex(({ part }) => part === primaryPart)
  if (primaryPart !== undefined && chosen === -1)
    throw validationError('primary_file', 'must be the name of a file part of this request')
  const file = files[chosen]
  if (file?.verdict.result === 'warning') throw invalidInput(file.verdict.reason ?? 'The file has a warning', file.part)
  return file && chosen
}
