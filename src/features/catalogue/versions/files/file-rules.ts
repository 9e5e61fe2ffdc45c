// Applies the file rules to one uploaded file: does it look like what its loaders take? The table is data
// (taxonomy/file-rules.json); here is only how it is read.
import { invalidInput, validationError } from '#lib/errors.ts'
import type { Archive } from '#platform/archives/inspect-archive.ts'
import type { Alternative, FileRule, FileRules } from '#platform/taxonomy/file-rules.ts'
import { type Embedded, listEmbedded, type PackOptions, readPackIndex } from './content-pack.ts'
import type { CheckedFilename } from './filename.ts'

export type FileToValidate = {
  /** The request part that an error names. */
  part: string
  name: CheckedFilename
  fileType: string | null
  /** Undefined for a file that is no archive (a signature). */
  archive: Archive | undefined
}

/** The version that the file belongs to. */
export type FileContext = {
  loaders: readonly string[]
  /** When each game version of the version was created. */
  gameVersionsCreated: readonly Date[]
  /** Addresses of this service, from which content packs may download as well. */
  ownOrigins: readonly string[]
}

export type Verdict = {
  result: 'pass' | 'warning'
  /** Why it is a warning. */
  reason?: string
  /** What a content pack embeds; absent for other files. */
  embedded?: Embedded[]
}

const PASS: Verdict = { result: 'pass' }

/**
 * Checks a file against the rules of its version's loaders.
 * @throws ApiError `invalid_input` naming the part: an archive that cannot be read, an extension that none of the
 * loaders takes, a signature that is no signature, a content pack with an invalid index.
 */
export async function validateFile(rules: FileRules, file: FileToValidate, context: FileContext): Promise<Verdict> {
  const { name, fileType, part } = file
  if (fileType !== null && rules.signatures.file_types.includes(fileType)) {
    if (rules.signatures.extensions.includes(name.extension)) return PASS
    throw invalidInput(`A signature must end in one of ${rules.signatures.extensions.join(', ')}`, part)
  }
  if (fileType !== null && rules.resourcePacks.fileTypes.includes(fileType)) {
    return applyRules(rules, [rules.resourcePacks.rule], file, context)
  }
  const ofLoaders = rules.rules.filter((rule) => isFor(rule, context))
  const ofExtension = ofLoaders.filter((rule) => rule.extensions.includes(name.extension))
  if (ofLoaders.length > 0 && ofExtension.length === 0) {
    const message = `The extension ${name.extension} does not fit the loaders ${context.loaders.join(', ')}`
    if (!rules.warned_extensions.includes(name.extension)) throw invalidInput(message, part)
    refuseUnreadable(file)
    return { result: 'warning', reason: message }
  }
  return applyRules(rules, ofExtension, file, context)
}

function isFor(rule: FileRule, { loaders, gameVersionsCreated }: FileContext): boolean {
  if (!rule.loaders.some((loader) => loaders.includes(loader))) return false
  const { from, until } = rule
  if (from === undefined && until === undefined) return true
  return gameVersionsCreated.some(
    (created) => (from === undefined || created >= from) && (until === undefined || created < until),
  )
}

/** The first warning wins. An archive that cannot be read passes only when every rule tolerates it. */
async function applyRules(
  rules: FileRules,
  applied: readonly FileRule[],
  file: FileToValidate,
  { ownOrigins }: FileContext,
): Promise<Verdict> {
  const { archive, part } = file
  if (archive === undefined) {
    if (applied.length === 0) return PASS
    throw invalidInput(`The file of part ${part} must be an archive`, part)
  }
  if (!archive.readable) {
    const words = applied.map((rule) => rule.tolerated_when_unreadable)
    for (const word of words.length === 0 ? [undefined] : words) {
      if (word === undefined || !(await archive.mentions(word))) refuseUnreadable(file)
    }
    return PASS
  }
  let verdict = PASS
  for (const rule of applied) {
    if (!matches(rule.contains, archive.entries)) return { result: 'warning', reason: rule.warning }
    if (rule.mod && matches(rules.looksLikeContentPack, archive.entries)) {
      return { result: 'warning', reason: 'The archive looks like a content pack, not like a single mod' }
    }
    if (rule.content_pack) {
      const options: PackOptions = { rules: rules.content_packs, ownOrigins, field: part }
      const index = await readPackIndex(archive, options)
      if (index === undefined) return { result: 'warning', reason: rule.warning }
      verdict = { result: 'pass', embedded: listEmbedded(archive, index, options) }
    }
  }
  return verdict
}

function refuseUnreadable({ archive, part }: FileToValidate): void {
  if (archive?.readable === false) throw invalidInput(archive.reason, part)
}

function matches(alternatives: readonly Alternative[], entries: readonly { name: string }[]): boolean {
  return alternatives.some((patterns) => patterns.every((pattern) => entries.some(({ name }) => pattern.test(name))))
}

/**
 * Which of a new version's files is its primary one, as an index: the part that `primaryPart` names; else the only
 * one, when the version declares a single file; else the first that passed; undefined when none did.
 * @throws ApiError `invalid_input`: `primaryPart` names no part, or the primary file has a warning (with its text).
 */
export function choosePrimary(
  files: readonly { part: string; verdict: Verdict }[],
  { primaryPart, declaredParts }: { primaryPart: string | undefined; declaredParts: number },
): number | undefined {
  const chosen = primaryIndex(files, primaryPart, declaredParts)
  if (primaryPart !== undefined && chosen === -1) {
    throw validationError('primary_file', 'names no file part of this request')
  }
  const file = files[chosen]
  if (file?.verdict.result === 'warning') throw invalidInput(file.verdict.reason ?? 'The file has a warning', file.part)
  return file && chosen
}

function primaryIndex(
  files: readonly { part: string; verdict: Verdict }[],
  primaryPart: string | undefined,
  declared: number,
) {
  if (primaryPart !== undefined) return files.findIndex(({ part }) => part === primaryPart)
  if (declared === 1) return 0
  return files.findIndex(({ verdict }) => verdict.result === 'pass')
}
