// Checks the names of published files: one path component that is safe on every operating system.
import { type ApiError, invalidInput } from '#lib/errors.ts'
import type { FileRules } from '#taxonomy/file-rules.ts'

export type CheckedFilename = {
  /** The name as sent. */
  readonly filename: string
  /** Lower case, without the dot. */
  readonly extension: string
  readonly contentType: string
  /** Whether files with this extension are archives, which are inspected. */
  readonly isArchive: boolean
}

const NAME_BYTES_MAX = 255
const WINDOWS_DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])[ ]*(\.|$)/i
// Separators, characters that Windows forbids, control characters, and characters that disguise a name: direction marks
// and zero-width characters. Joiners are allowed, because Persian and emoji need them.
const UNSAFE =
  /[/\\:*?"<>|\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufffd]|\p{Cs}/u

/** Returns why a name is not a safe path component on every operating system, or undefined if it is. */
export function nameProblem(name: string): string | undefined {
  if (name === '') return 'is empty'
  if (Buffer.byteLength(name) > NAME_BYTES_MAX) return `is longer than ${NAME_BYTES_MAX} bytes`
  if (UNSAFE.test(name)) return 'contains a character that is not allowed in a file name'
  if (name === '.' || name === '..') return 'is a folder'
  if (/[. ]$/.test(name)) return 'ends in a dot or a space'
  return WINDOWS_DEVICE.test(name) ? 'is the name of a device' : undefined
}

/** Checks that the name is safe and its extension known. @throws ApiError `invalid_input` naming the part. */
export function checkFilename(rules: Pick<FileRules, 'extensions'>, part: string, filename: string): CheckedFilename {
  const nameError = (reason: string): ApiError => invalidInput(`The file name of part ${part} ${reason}`, part)
  const problem = nameProblem(filename)
  if (problem !== undefined) throw nameError(problem)
  const dot = filename.lastIndexOf('.')
  const extension = dot === -1 ? '' : filename.slice(dot + 1).toLowerCase()
  const rule = Object.hasOwn(rules.extensions, extension) ? rules.extensions[extension] : undefined
  if (rule === undefined || dot === 0)
    throw nameError(`must end in one of the extensions ${Object.keys(rules.extensions).join(', ')}`)
  return { filename, extension, contentType: rule.content_type, isArchive: rule.archive }
}
